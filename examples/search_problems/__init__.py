"""Makes the lists of states in `domains/`: unit tests and instances of our search problems, the same in every run."""
