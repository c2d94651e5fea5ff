"""Which facts of a model are true: a reference, the alignment of names, verdicts."""
