"""Finds, validates and compares plans.

`ProcessPlanner` plans in a process of its own, which loads what the planner needs.
"""

from pddlego.planning.engines import ENGINES
from pddlego.planning.ladder import LadderResult, Rung, TriedRung, climb
from pddlego.planning.process import ProcessPlanner
from pddlego.planning.result import Plan, Planner, PlanResult, PlanStatus, PlanStep, Search
from pddlego.planning.validate import validate

__all__ = [
    "ENGINES",
    "LadderResult",
    "Plan",
    "PlanResult",
    "PlanStatus",
    "PlanStep",
    "Planner",
    "ProcessPlanner",
    "Rung",
    "Search",
    "TriedRung",
    "climb",
    "validate",
]
