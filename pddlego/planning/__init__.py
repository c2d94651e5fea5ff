"""Finds, validates and compares plans.

`ProcessPlanner` plans in a process of its own, which loads what the planner needs.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from pddlego.planning.result import Plan, Planner, PlanResult, PlanStatus, PlanStep, Search
from pddlego.planning.validation import validate

if TYPE_CHECKING:
    from pddlego.planning.ladder import LadderResult, Rung, TriedRung, climb
    from pddlego.planning.process import ProcessPlanner

__all__ = [
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

if not TYPE_CHECKING:  # `check` needs no engine

    def __getattr__(name: str) -> Any:
        if name not in __all__:
            raise AttributeError(f"module 'pddlego.planning' has no attribute {name!r}")
        place = "process" if name == "ProcessPlanner" else "ladder"
        return globals().setdefault(name, getattr(import_module(f"pddlego.planning.{place}"), name))
