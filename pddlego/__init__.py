"""pddlego: agents that play text games by planning.

A language model reads what a game says and writes or edits a PDDL problem, a classical planner finds a plan for the
best goal that can be reached now, the plan is executed, and what is seen next goes back to the model (Zhang et al.,
2024, *PDDLEGO: Iterative Planning in Textual Environments*).
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from pddlego.api.play import Stream, evaluate, load, play, play_async, stream
from pddlego.errors import PddlegoError

if TYPE_CHECKING:
    from pddlego.api import training
    from pddlego.api.environment import Environment, StepResult
    from pddlego.api.results import Episode, Evaluation
    from pddlego.episode.trace import Step
    from pddlego.methods.builders.builder import Builder, Built
    from pddlego.methods.builders.python import build, builder
    from pddlego.models.base import Completion, Message, Model, Request
    from pddlego.pddl import Domain, PddlSyntaxError, Problem, parse_domain, parse_problem
    from pddlego.planning import Plan
    from pddlego.tools import Simulation, check, compare, repair, repair_files, simulate, solve, validate

_PLACES = {
    "pddlego.models.base": ("Completion", "Message", "Model", "Request"),
    "pddlego.pddl": ("Domain", "PddlSyntaxError", "Problem", "parse_domain", "parse_problem"),
    "pddlego.planning": ("Plan",),
    "pddlego.methods.builders.builder": ("Builder", "Built"),
    "pddlego.methods.builders.python": ("build", "builder"),
    "pddlego.api.environment": ("Environment", "StepResult"),
    "pddlego.api.results": ("Episode", "Evaluation"),
    "pddlego.episode.trace": ("Step",),
    "pddlego.tools": ("Simulation", "check", "compare", "repair", "repair_files", "simulate", "solve", "validate"),
}
"""Where names are loaded from when they are first used."""

__all__ = [
    "Builder",
    "Built",
    "Completion",
    "Domain",
    "Environment",
    "Episode",
    "Evaluation",
    "Message",
    "Model",
    "PddlSyntaxError",
    "PddlegoError",
    "Plan",
    "Problem",
    "Request",
    "Simulation",
    "Step",
    "StepResult",
    "Stream",
    "build",
    "builder",
    "check",
    "compare",
    "evaluate",
    "load",
    "parse_domain",
    "parse_problem",
    "play",
    "play_async",
    "repair",
    "repair_files",
    "simulate",
    "solve",
    "stream",
    "training",
    "validate",
]

__version__ = "0.1.0"


if not TYPE_CHECKING:  # a type checker would take any name for one of ours

    def __getattr__(name: str) -> Any:
        if name == "training":
            return import_module("pddlego.api.training")
        for module, names in _PLACES.items():
            if name in names:
                return getattr(import_module(module), name)
        raise AttributeError(f"module 'pddlego' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
