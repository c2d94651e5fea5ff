"""What can be set of generalized planning."""

from __future__ import annotations

from pydantic import ConfigDict, Field

from pddlego.methods.shared_options import SandboxOptions, TaskOptions


class ProgramOptions(TaskOptions, SandboxOptions):
    """`tasks_no_names` are the `tasks` without names. Time-outs are seconds of CPU time for each task.

    With `curve` the program is evaluated after every answer, and not only in the end. With `hurry` a program that has
    only run out of time or memory gets a hundredth of the time for each further evaluation task. `horizon` is how many
    actions a random policy has.
    """

    model_config = ConfigDict(title="Programs that a model writes")

    tasks_no_names: str | None = None
    debug_rounds: int = Field(default=4, ge=0, le=100)
    task_timeout: float = Field(default=30.0, gt=0, le=86_400)
    task_memory: int = Field(default=1024, ge=128, le=1_000_000)
    curve: bool = False
    hurry: bool = False
    horizon: int = Field(default=1000, ge=1, le=10_000_000)


OPTIONS = ProgramOptions
