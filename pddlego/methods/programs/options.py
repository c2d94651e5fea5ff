"""The modes and options of generalized planning."""

from __future__ import annotations

from typing import Literal

from pydantic import ConfigDict, Field

from pddlego.methods.base import Mode
from pddlego.methods.shared_options import PLANNING, SandboxOptions, TaskOptions


class ProgramOptions(TaskOptions, SandboxOptions):
    """`tasks_no_names` are the `tasks` without names. Time-outs are seconds of CPU time for each task.

    With `curve`, the program is evaluated after every answer, and not only at the end. With `hurry`, a program that
    repeatedly ran out of time or memory gets a hundredth of the time for each further evaluation task. `horizon` is the
    most actions of the random policy.

    `candidates` is the number of heuristics that the model writes, and `training_timeout` the seconds for one of them
    on a training task; they default to 5 and 10, and with `parity = "paper"` to 25 and 300; for direct heuristics to 10
    and 30. `baseline` is the heuristic with which mode `plan` searches in Fast Downward, without anything else.

    With `strategy = "pseudocode"`, the strategy is pseudocode, which the model follows on small tasks and corrects at
    most `strategy_rounds` times (default: 5), and the number `programs` of first programs is 3, not 1, by default.
    """

    model_config = ConfigDict(title="Programs (modes program, heuristic, tos)")

    tasks_no_names: str | None = None
    debug_rounds: int = Field(default=4, ge=0, le=100)
    task_timeout: float = Field(default=30.0, gt=0, le=86_400)
    task_memory: int = Field(default=1024, ge=128, le=1_000_000)
    curve: bool = False
    hurry: bool = False
    horizon: int = Field(default=1000, ge=1, le=10_000_000)
    candidates: int | None = Field(default=None, ge=1, le=1_000)
    training_timeout: float | None = Field(default=None, gt=0, le=86_400)
    baseline: Literal["hff", "hadd", "hgc", "hlmc", "hcg", "hcea"] | None = None
    # None as defaults: runs that were begun before these options existed can be continued.
    strategy: Literal["pseudocode"] | None = None
    strategy_rounds: int | None = Field(default=None, ge=0, le=100)
    programs: int | None = Field(default=None, ge=1, le=100)


SHOWN = 2
"""The number of training tasks that a prompt shows."""


NO_COT, NO_DEBUG, NO_NAMES = "cot", "debug", "names"

NO_STRATEGY_DEBUG, NO_REFLECTION, NO_VARIANTS = "strategy-debug", "reflection", "variants"

PSEUDOCODE_PARTS = {
    NO_STRATEGY_DEBUG: "with strategy=pseudocode: the pseudocode is not followed on tasks and not corrected",
    NO_REFLECTION: "with strategy=pseudocode: no failure is explained before a correction",
    NO_VARIANTS: "with strategy=pseudocode: one first program, not several",
}

_PARTS = {
    NO_COT: "the model is asked for the program at once, without a summary and a strategy before",
    NO_DEBUG: "the first program is the last: nothing goes back to the model",
    NO_NAMES: "all names in domain and tasks say nothing: predicate0, operator1, object2",
}

NO_CHECKLIST, NO_EXAMPLES, NO_DOMAIN, NO_SEARCH, NO_HEURISTIC = "checklist", "examples", "domain", "search", "heuristic"

_HEURISTIC_PARTS = {
    NO_CHECKLIST: "the prompt has no checklist of what heuristics get wrong",
    NO_EXAMPLES: "the prompt shows no heuristics for other domains",
    NO_DOMAIN: "the prompt does not show the domain, only tasks",
    NO_NAMES: _PARTS[NO_NAMES],
}

PROGRAM, PLAN, HEURISTIC, DIRECT = "program", "plan", "heuristic", "heuristic-direct"

_HEURISTICS = (HEURISTIC, DIRECT)
_WRITING = (PROGRAM, *_HEURISTICS)

READ_BY = {
    "planner": (*_HEURISTICS, PLAN),
    **dict.fromkeys(("patience", "parity", "tasks_no_names", "task_memory"), _WRITING),
    **dict.fromkeys(("prompts", "debug_rounds", "curve", "hurry"), (PROGRAM,)),
    **dict.fromkeys(("strategy", "strategy_rounds", "programs"), (PROGRAM,)),
    **dict.fromkeys(("candidates", "training_timeout"), _HEURISTICS),
    "baseline": (PLAN,),
    "horizon": ("random",),
}
"""The modes that read an option (`Method.read_by`)."""

MODES = (
    Mode(PROGRAM, "the model writes a program that plans for every task", PLANNING, {**_PARTS, **PSEUDOCODE_PARTS}),
    Mode(HEURISTIC, "the model writes heuristics, and the best one guides the search", PLANNING, _HEURISTIC_PARTS),
    Mode(
        DIRECT,
        "the model corrects a heuristic until hill climbing needs no search",
        PLANNING,
        {**_HEURISTIC_PARTS, NO_SEARCH: "no greedy search where hill climbing stops"},
    ),
    Mode(
        PLAN,
        "a classical planner plans for each task",
        PLANNING,
        {NO_HEURISTIC: "blind search in place of greedy search with FF"},
        asks_model=False,
    ),
    Mode("random", "any applicable action", PLANNING, asks_model=False),
)
