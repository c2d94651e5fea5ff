"""Audits of benchmarks: which labels of their PDDL pairs are wrong, with the evidence."""
