"""The modes and options of generalized planning."""

from __future__ import annotations

from pydantic import ConfigDict, Field

from pddlego.methods.base import Mode
from pddlego.methods.shared_options import PLANNING, SandboxOptions, TaskOptions


class ProgramOptions(TaskOptions, SandboxOptions):
    """`tasks_no_names` are the `tasks` without names. Time-outs are seconds of CPU time for each task.

    With `curve`, the program is evaluated after every answer, and not only at the end. With `hurry`, a program that
    repeatedly ran out of time or memory gets a hundredth of the time for each further evaluation task. `horizon` is the
    most actions of the random policy.
    """

    model_config = ConfigDict(title="Programs (modes program, tos)")

    tasks_no_names: str | None = None
    debug_rounds: int = Field(default=4, ge=0, le=100)
    task_timeout: float = Field(default=30.0, gt=0, le=86_400)
    task_memory: int = Field(default=1024, ge=128, le=1_000_000)
    curve: bool = False
    hurry: bool = False
    horizon: int = Field(default=1000, ge=1, le=10_000_000)


OPTIONS = ProgramOptions

SHOWN = 2
"""The number of training tasks that a prompt shows."""


NO_COT, NO_DEBUG, NO_NAMES = "cot", "debug", "names"

_PARTS = {
    NO_COT: "the model is asked for the program at once, without a summary and a strategy before",
    NO_DEBUG: "the first program is the last: nothing goes back to the model",
    NO_NAMES: "all names in domain and tasks say nothing: predicate0, operator1, object2",
}

PROGRAM, PLAN = "program", "plan"

MODES = (
    Mode(PROGRAM, "the model writes a program that plans for every task", PLANNING, _PARTS),
    Mode(PLAN, "a classical planner plans for each task", PLANNING, asks_model=False),
    Mode("random", "any applicable action", PLANNING, asks_model=False),
)
