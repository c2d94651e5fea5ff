"""Graphplan (Blum and Furst, 1997) with an optional adviser, who prunes actions and decides which to try first.

The algorithm (`search.plan_graph`) calls one function with questions for the adviser, and one with events. The last
pass prunes nothing, so that wrong answers cost time but never a plan. This file imports nothing, so that code which
only needs the values (`values.py`) does not load the algorithm.
"""
