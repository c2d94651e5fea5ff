"""pddlego: agents that play text games by planning.

A language model reads what a game says and writes or edits a PDDL problem, a classical planner finds a plan for the
best goal that can be reached now, the plan is executed, and what is seen next goes back to the model (Zhang et al.,
2024, *PDDLEGO: Iterative Planning in Textual Environments*).
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from pddlego.api import build, evaluate, load_runs, play

if TYPE_CHECKING:
    from pddlego.tools import check, compare, repair, repair_files, simulate, solve, validate

__all__ = [
    "build",
    "check",
    "compare",
    "evaluate",
    "load_runs",
    "play",
    "repair",
    "repair_files",
    "simulate",
    "solve",
    "validate",
]

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    """The functions for PDDL files, which are loaded when they are first used."""
    if name in __all__:
        return getattr(import_module("pddlego.tools"), name)
    raise AttributeError(f"module 'pddlego' has no attribute {name!r}")
