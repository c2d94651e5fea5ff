"""Graphplan (Blum and Furst, 1997) with somebody asked which actions to keep and which to try first.

The algorithm (`search.plan_graph`) is a generator: it yields questions and what happens, takes answers, and returns how
it ended. Who answers is nothing to it; whatever the answers are, the last pass prunes nothing, so that mistakes cost
time and no plan. Nothing is imported here: whoever only passes the values on need not load the algorithm.
"""
