"""Text in, plan out. Imports nothing of the rest but `pddl`.

Imports stay lazy: a planner is chosen by `make_planner`, and what it needs is loaded in the planner's own process.
"""

from pddlego.planning.ladder import LadderResult, Rung, TriedRung, climb
from pddlego.planning.process import ENGINES, ProcessPlanner
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
