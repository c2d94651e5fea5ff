"""Methods: ways in which a model plans through a planner or a search. Each has a room of its own, and knows no
other."""
