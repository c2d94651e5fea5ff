"""What can be set of generalized planning, and the setting as it reads it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from pddlego.errors import UsageError
from pddlego.methods.base import WorstCase, parse_variant
from pddlego.methods.planning_settings import PlanningSetting, load_planning
from pddlego.methods.programs.modes import MODES, NO_COT, NO_DEBUG, NO_NAMES, PROGRAM
from pddlego.planning import Planner
from pddlego.sandbox import Isolation, Sandbox, SandboxLimits
from pddlego.util import resources

PROMPTS = ("tasks", "summarize", "strategy", "implement", "debug")

SHOWN = 2
"""Training tasks that a prompt shows."""


class ProgramOptions(BaseModel):
    """`tasks` is a folder, or a tar archive of one, that takes the place of the setting's own tasks; `tasks_no_names`
    is the same without names. Time-outs are seconds of CPU time for each task; where it is left out, `eval_timeout` is
    as `task_timeout`.

    `parity` does what the paper's code did where that is not what makes sense (docs/programs.md). With `curve` the
    program is evaluated after every answer, and not only in the end. With `hurry` a program that has only run out of
    time or memory gets a hundredth of the time for each further evaluation task. `horizon` is how many actions a random
    policy has.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    tasks: str | None = None
    tasks_no_names: str | None = None
    debug_rounds: int = Field(default=4, ge=0, le=100)
    task_timeout: float = Field(default=30.0, gt=0, le=86_400)
    eval_timeout: float | None = Field(default=None, gt=0, le=86_400)
    task_memory: int = Field(default=1024, ge=128, le=1_000_000)
    isolation: Isolation = "required"
    parity: Literal["off", "paper"] = "off"
    curve: bool = False
    hurry: bool = False
    horizon: int = Field(default=1000, ge=1, le=10_000_000)

    def limits(self, evaluating: bool) -> SandboxLimits:
        """What a program may use for one task."""
        seconds = self.eval_timeout if evaluating and self.eval_timeout is not None else self.task_timeout
        return SandboxLimits(seconds=seconds, memory=self.task_memory)


@dataclass(frozen=True)
class ProgramSetting(PlanningSetting):
    """A planning setting whose programs run under this `isolation`."""

    isolation: Isolation = "required"

    def check_parts(self, parts: Sequence[str]) -> None:
        """Raises `UsageError` if other tasks take the place of the setting's own, and their names are to be hidden."""
        if NO_NAMES not in parts or self.folder is None or self.nameless_folder is not None:
            return
        if self.folder.place != self.file.tasks:
            why = "Names that are made up here are others than those that a record was made with."
            advice = "Add --set tasks_no_names=FOLDER: the same tasks without names (docs/programs.md)."
            raise UsageError(f"-no-{NO_NAMES} needs the tasks {self.folder.place} without names", why, advice)

    def check(self, planner: Planner) -> None:
        """Raises `UsageError` where programs cannot be isolated as they must be."""
        with Sandbox(self.isolation) as sandbox:
            sandbox.layers()


def load(name: str, options: ProgramOptions) -> ProgramSetting:
    """The setting, with its prompts among its sources. Raises `UsageError` and `SettingError`."""
    fields = load_planning(name, options.tasks, options.tasks_no_names)
    prompts = {f"prompts/programs/{each}.j2": resources.read("prompts", f"programs/{each}.j2") for each in PROMPTS}
    return ProgramSetting(**{**fields, "sources": {**fields["sources"], **prompts}}, isolation=options.isolation)


def worst_case(setting: PlanningSetting, mode: str, options: ProgramOptions, retries: int) -> WorstCase:
    """The questions of a conversation that never succeeds. A later one holds all that were before it."""
    variant = parse_variant(mode, MODES)
    if variant.mode.name != PROGRAM:
        return WorstCase(0, 0)
    rounds = 0 if NO_DEBUG in variant.without else options.debug_rounds
    calls = (1 if NO_COT in variant.without else 3) + rounds
    return WorstCase(calls, len(setting.text) + 2_500 * (SHOWN + calls))


OPTIONS = ProgramOptions
