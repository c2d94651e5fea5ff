"""Graphplan (Blum and Furst, 1997), which may ask which actions to keep and which to try first.

The algorithm (`search.plan_graph`) calls two functions: one answers its questions, one is given what happens. Whatever
the answers are, the last pass prunes nothing: wrong answers cost time, and never a plan. Nothing is imported here, so
that code which only uses the values (`values.py`) does not load the algorithm.
"""
