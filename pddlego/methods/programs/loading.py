"""Loads the setting that programs are written for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pddlego.errors import UsageError
from pddlego.methods.base import UpperBound, parse_variant
from pddlego.methods.planning_settings import PlanningSetting, load_planning
from pddlego.methods.programs.options import MODES, NO_COT, NO_DEBUG, NO_NAMES, PROGRAM, ProgramOptions
from pddlego.planning import Planner
from pddlego.sandbox import Isolation, Sandbox, SandboxLimits
from pddlego.util import resources

PROMPTS = ("tasks", "summarize", "strategy", "implement", "debug")

SHOWN = 2
"""Training tasks that a prompt shows."""


@dataclass(frozen=True)
class ProgramSetting(PlanningSetting):
    """A planning setting whose programs run under this `isolation`."""

    isolation: Isolation = "required"

    def check_parts(self, parts: Sequence[str]) -> None:
        """Raises `UsageError` if other tasks take the place of the setting's own, and their names are to be hidden."""
        if NO_NAMES not in parts or self.folder is None or self.nameless_folder is not None:
            return
        if self.folder.place != self.file.tasks:
            reason = "Names that are made up here are others than those that a record was made with."
            advice = "Add --set tasks_no_names=FOLDER: the same tasks without names (docs/programs.md)."
            raise UsageError(f"-no-{NO_NAMES} needs the tasks {self.folder.place} without names", reason, advice)

    def check(self, planner: Planner) -> None:
        """Raises `UsageError` where programs cannot be isolated as they must be."""
        with Sandbox(self.isolation) as sandbox:
            sandbox.layers()


def task_limits(options: ProgramOptions, evaluating: bool) -> SandboxLimits:
    """What a program may use for one task."""
    seconds = options.eval_timeout if evaluating and options.eval_timeout is not None else options.task_timeout
    return SandboxLimits(seconds=seconds, memory=options.task_memory)


def load(name: str, options: ProgramOptions) -> ProgramSetting:
    """The setting, with its prompts among its sources. Raises `UsageError` and `SettingError`."""
    fields = load_planning(name, options.tasks, options.tasks_no_names)
    prompts = {f"prompts/programs/{name}.j2": resources.read("prompts", f"programs/{name}.j2") for name in PROMPTS}
    return ProgramSetting(**{**fields, "sources": {**fields["sources"], **prompts}}, isolation=options.isolation)


def upper_bound(setting: PlanningSetting, mode: str, options: ProgramOptions, retries: int) -> UpperBound:
    """The questions of a conversation that never succeeds. A later one holds all that were before it."""
    variant = parse_variant(mode, MODES)
    if variant.mode.name != PROGRAM:
        return UpperBound(0, 0)
    rounds = 0 if NO_DEBUG in variant.without else options.debug_rounds
    calls = (1 if NO_COT in variant.without else 3) + rounds
    return UpperBound(calls, len(setting.text) + 2_500 * (SHOWN + calls))
