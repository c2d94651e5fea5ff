"""Finds, validates and compares plans.

`ProcessPlanner` plans in a process of its own, which loads what the planner needs.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from pddlego.planning.result import Plan, Planner, PlanResult, PlanStatus, PlanStep, Search
from pddlego.planning.validate import validate

if TYPE_CHECKING:
    from pddlego.planning.engines import ENGINES
    from pddlego.planning.ladder import LadderResult, Rung, TriedRung, climb
    from pddlego.planning.process import ProcessPlanner

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

if not TYPE_CHECKING:  # `check` needs no engine

    def __getattr__(name: str) -> Any:
        if name not in __all__:
            raise AttributeError(f"module 'pddlego.planning' has no attribute {name!r}")
        place = {"ENGINES": "engines", "ProcessPlanner": "process"}.get(name, "ladder")
        return globals().setdefault(name, getattr(import_module(f"pddlego.planning.{place}"), name))
