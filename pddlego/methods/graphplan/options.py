"""The modes and options of Graphplan."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import ConfigDict, Field, field_validator

from pddlego.methods.base import Mode
from pddlego.methods.shared_options import PLANNING, TaskOptions
from pddlego.util.options import Options, option


class PassOptions(Options):
    """Options of the planner Graphplan. `kappa` are the probabilities that a level is pruned, one for each pass (the
    paper's kappa_i); a pass without pruning follows. `levels` bounds the action levels of a graph."""

    kappa: tuple[Annotated[float, Field(ge=0, le=1)], ...] = option(
        (1.0,),
        "Probability that a level is pruned, one per pass: 0.8,0.64.",
        min_length=1,
        max_length=100,
    )
    levels: int | None = option(None, "Maximum levels of the planning graph.", ge=1, le=100_000)

    @field_validator("kappa", mode="before")
    @classmethod
    def _numbers(cls, value: object) -> object:
        if isinstance(value, str):
            return tuple(part.strip() for part in value.split(","))
        return tuple(value) if isinstance(value, list) else (value,) if isinstance(value, (int, float)) else value


class GraphplanOptions(TaskOptions, PassOptions):
    """`task` is the number of the task of the seed.

    `corrupt` is the share of conditions that are removed from the domain; the default is that of the setting. `damage`
    takes this share of `each` precondition and effect, rounded down, or of all conditions `pooled`. A plan must be
    valid in the domain that `judge` names, and not longer than the `bound`: the fewest levels or actions of a plan in
    the intact domain. Whether levels are pruned is decided by a `coin` for each `level`, or once for a `pass`.
    Without `memo`, no no-goods are kept.
    """

    model_config = ConfigDict(title="Graphplan (mode graphplan)")

    task: int = Field(default=0, ge=0, le=10_000)
    corrupt: float | None = Field(default=None, ge=0, le=1)
    damage: Literal["each", "pooled"] = "each"
    judge: Literal["damaged", "intact"] = "damaged"
    bound: Literal["levels", "actions", "none"] = "levels"
    coin: Literal["level", "pass"] = "level"
    memo: bool = True


OPTIONS = GraphplanOptions


NO_PRUNE, NO_SORT, NO_FEEDBACK = "prune", "sort", "feedback"

_PARTS = {
    NO_PRUNE: "every level keeps all of its actions: the paper's 'unpruned'",
    NO_SORT: "actions are tried in the order of the domain: the paper's 'unsorted'",
}

BY_MODEL, BY_MODEL_COT = "plan-by-model", "plan-by-model-cot"
PLANS_BY_MODEL = (BY_MODEL, BY_MODEL_COT)
"""Modes in which a model writes a plan."""

_WRITTEN = {NO_FEEDBACK: "the first plan is the last: nothing goes back to the model (LLM as planner)"}

MODES = (
    Mode(
        "graphplan",
        "Graphplan asks the model which actions to keep, and which to try first",
        PLANNING,
        _PARTS,
        advises=True,
    ),
    Mode(BY_MODEL, "the model writes the plan, and corrects what the validator finds", PLANNING, _WRITTEN),
    Mode(BY_MODEL_COT, "as plan-by-model, with a chain of thought before each plan", PLANNING, _WRITTEN),
)
