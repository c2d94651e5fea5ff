"""Methods: ways in which a model plans through a planner or a search. No method imports another."""
