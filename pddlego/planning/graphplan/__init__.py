"""Graphplan (Blum and Furst, 1997) with somebody asked which actions to keep and which to try first.

The algorithm is a generator: it yields questions and what happens, takes answers, and returns how it ended. Who answers
is nothing to it; whatever the answers are, the last pass prunes nothing, so that mistakes cost time and no plan.
"""

from pddlego.planning.graphplan.search import plan_graph
from pddlego.planning.graphplan.task import GraphTask, compile_task
from pddlego.planning.graphplan.values import (
    Expanded,
    GraphSearch,
    Moment,
    Passed,
    Planned,
    Question,
    Searched,
    Searching,
)

__all__ = [
    "Expanded",
    "GraphSearch",
    "GraphTask",
    "Moment",
    "Passed",
    "Planned",
    "Question",
    "Searched",
    "Searching",
    "compile_task",
    "plan_graph",
]
