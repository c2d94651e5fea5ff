"""The modes and options of Graphplan."""

from __future__ import annotations

from typing import Literal

from pydantic import ConfigDict, Field

from pddlego.methods.base import Mode
from pddlego.methods.shared_options import PLANNING, PassOptions, TaskOptions


class GraphplanOptions(TaskOptions, PassOptions):
    """`task` is the number of the task of the seed.

    `corrupt` is the share of conditions that are removed from the domain; the default is that of the setting. `damage`
    takes this share of `each` precondition and effect, rounded down, or of all conditions `pooled`; with `numbers`,
    this share of the numeric conditions is wrong: removed, or with other changes or constants. A plan must be
    valid in the domain that `judge` names, and not longer than the `bound`: the fewest levels or actions of a plan in
    the intact domain. Whether levels are pruned is decided by a `coin` for each `level`, or once for a `pass`.
    Without `memo`, the pass without pruning keeps no no-goods. The backward search of the graph jumps back to a cause
    of a conflict; with the `extraction` `plain`, it backtracks chronologically, as that of Blum and Furst.
    """

    model_config = ConfigDict(title="Graphplan (mode graphplan)")

    task: int = Field(default=0, ge=0, le=10_000)
    corrupt: float | None = Field(default=None, ge=0, le=1)
    damage: Literal["each", "pooled", "numbers"] = "each"
    judge: Literal["damaged", "intact"] = "damaged"
    bound: Literal["levels", "actions", "none"] = "levels"
    coin: Literal["level", "pass"] = "level"
    memo: bool = True
    extraction: Literal["plain"] | None = None


NO_PRUNE, NO_SORT, NO_FEEDBACK = "prune", "sort", "feedback"

_PARTS = {
    NO_PRUNE: "every level keeps all of its actions: the paper's 'unpruned'",
    NO_SORT: "actions are tried in the order of the domain: the paper's 'unsorted'",
}

BY_MODEL, BY_MODEL_COT = "plan-by-model", "plan-by-model+cot"
PLANS_BY_MODEL = (BY_MODEL, BY_MODEL_COT)
"""Modes in which a model writes a plan."""

_WRITTEN = {NO_FEEDBACK: "the first plan is the last: nothing goes back to the model (LLM as planner)"}

READ_BY = dict.fromkeys(("coin", "kappa", "levels", "memo", "extraction"), ("graphplan",))
"""The modes that read an option (`Method.read_by`)."""

MODES = (
    Mode(
        "graphplan",
        "Graphplan asks the model which actions to keep, and which to try first",
        PLANNING,
        _PARTS,
        together=((NO_PRUNE, NO_SORT),),
        advises=True,
    ),
    Mode(BY_MODEL, "the model writes the plan, and corrects what the validator finds", PLANNING, _WRITTEN),
    Mode(BY_MODEL_COT, "with a chain of thought before each plan", PLANNING, _WRITTEN),
)
