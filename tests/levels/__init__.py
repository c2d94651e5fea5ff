"""Numeric and temporal tasks and plans, made with a seed, and other validators as their judges."""
