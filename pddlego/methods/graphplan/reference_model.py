"""The built-in models: advisers (see `advisers`), and one that answers with the planner's plan."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pddlego.errors import UsageError
from pddlego.methods.base import BUILT_IN_MODEL, Setting, whole
from pddlego.methods.graphplan.advisers import make_adviser
from pddlego.methods.graphplan.options import BY_MODEL
from pddlego.methods.graphplan.play import PlanRequest
from pddlego.models.base import Completion, Model, Request
from pddlego.runs.cells import Cell


@dataclass
class PlannerModel:
    """Answers with the planner's plan, leaving each action out with the probability `noise`."""

    name: str
    noise: float
    rng: random.Random
    description: Mapping[str, Any] = field(default_factory=dict)

    def complete(self, request: Request) -> Completion:
        asked = request.context
        assert isinstance(asked, PlanRequest)
        plan = asked.solve()
        if plan is None:
            return Completion("The planner has no plan.")
        return Completion("\n".join(str(step) for step in plan.steps if self.rng.random() >= self.noise))


def builtin_model(name: str, cell: Cell, setting: Setting | None) -> Model | None:
    """The built-in model of that name; None for a language model's. Raises `UsageError` if it cannot play the cell."""
    adviser = make_adviser(name, f"{cell.setting}/{cell.model_seed}")
    if adviser is None or whole(cell.mode) != BY_MODEL:
        return adviser
    if name.partition("+")[0] != BUILT_IN_MODEL:
        own = f"{BUILT_IN_MODEL} and {BUILT_IN_MODEL}+noise:P"
        reason = f"It advises Graphplan. The built-in models that write plans are {own}."
        raise UsageError(f"{name} cannot play {cell.mode}", reason, "Choose one of them, or a language model.")
    return PlannerModel(name, adviser.description.get("noise", 0.0), adviser.rng, adviser.description)
