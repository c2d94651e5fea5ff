"""The settings of generalized planning, and the built-in model, which answers with the programs of the package."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pddlego.errors import UsageError
from pddlego.methods.base import BuiltIn, UpperBound, parse_variant
from pddlego.methods.planning_settings import PlanningSetting, load_planning
from pddlego.methods.programs.options import MODES, NO_COT, NO_DEBUG, NO_NAMES, PROGRAM, SHOWN, ProgramOptions
from pddlego.methods.setting_files import prompt_texts
from pddlego.models.base import Model, Request, RuleModel
from pddlego.pddl.names import is_name
from pddlego.pddl.perturb import anonymous
from pddlego.planning import Planner
from pddlego.runs.cells import Cell
from pddlego.sandbox import Isolation, Sandbox, SandboxLimits
from pddlego.util import resources


@dataclass(frozen=True)
class ProgramSetting(PlanningSetting):
    """A planning setting whose programs run under this `isolation`."""

    isolation: Isolation = "required"

    def check_parts(self, parts: Sequence[str]) -> None:
        """Raises `UsageError` if names must be hidden and the user's own tasks have no version without names."""
        if NO_NAMES not in parts or self.folder is None or self.nameless_folder is not None:
            return
        if self.folder.place != self.file.tasks:
            reason = "Names that are made up here are others than those that a record was made with."
            advice = "Add --set tasks_no_names=FOLDER: the same tasks without names (docs/programs.md)."
            raise UsageError(f"-no-{NO_NAMES} needs the tasks {self.folder.place} without names", reason, advice)

    def check(self, planner: Planner) -> None:
        """Raises `UsageError` if this machine cannot isolate programs as required."""
        with Sandbox(self.isolation) as sandbox:
            sandbox.layers()


def task_limits(options: ProgramOptions, evaluating: bool) -> SandboxLimits:
    """The limits of a program for one task."""
    seconds = options.eval_timeout if evaluating and options.eval_timeout is not None else options.task_timeout
    return SandboxLimits(seconds=seconds, memory=options.task_memory)


def load(name: str, options: ProgramOptions) -> ProgramSetting:
    """The setting, with its prompts among its sources. Raises `UsageError` and `SettingError`."""
    fields = load_planning(name, options.tasks, options.tasks_no_names)
    fields["sources"] |= prompt_texts(
        f"programs/{prompt}" for prompt in ("tasks", "summarize", "strategy", "implement", "debug")
    )
    return ProgramSetting(**fields, isolation=options.isolation)


def upper_bound(setting: PlanningSetting, mode: str, options: ProgramOptions, retries: int) -> UpperBound:
    """The requests of a conversation that never succeeds; each holds the earlier ones."""
    variant = parse_variant(mode, MODES)
    if variant.mode.name != PROGRAM:
        return UpperBound(0, 0)
    rounds = 0 if NO_DEBUG in variant.without else options.debug_rounds
    calls = (1 if NO_COT in variant.without else 3) + rounds
    return UpperBound(calls, len(setting.domain.text) + 2_500 * (SHOWN + calls))


_FAULTS: tuple[Callable[[str], str], ...] = (
    lambda code: re.sub(r'f"\((.*?)\)"', r'f"\1"', code),  # no parentheses
    lambda code: code.replace("init, goal):", "init, goal)", 1),  # no Python
    lambda code: code.replace("    plan = []", "    plan = [init[0]]", 1),  # an exception
    lambda code: re.sub(r"return plan\b", "return None", code),  # no list
    lambda code: re.sub(r"return plan\b", "return plan[:-1]", code),  # no plan
)
"""Typical faults of generated programs. Each function puts one into a correct program."""

_WORDS = {
    "summarize": "The built-in reader has a program for this domain, and needs no summary.",
    "strategy": "It is the strategy of that program.",
}

_UNNAMED = """

NAMES = {names}
_named = get_plan


def get_plan(objects, init, goal):
    def old(atom):
        return (NAMES.get(atom[0], atom[0]), *atom[1:])

    new = {{value: key for key, value in NAMES.items() if key.startswith("operator")}}
    known = {{(item[0], NAMES.get(item[1], item[1])) if isinstance(item, tuple) else item for item in objects}}
    plan = _named(known, {{old(atom) for atom in init}}, {{old(atom) for atom in goal}})
    steps = [action.strip("()").split() for action in plan]
    return [f"({{' '.join([new[step[0]], *step[1:]])}})" for step in steps]
"""


def builtin_model(name: str, cell: Cell, setting: PlanningSetting | None) -> Model | None:
    """The built-in model of that name; None for a language model. Raises `UsageError` if it cannot play the cell.

    It answers with the package's program for the domain, with an added fault with the probability of the noise.
    """
    built_in = BuiltIn.parse(name)
    if built_in is None:
        return None
    code = "" if setting is None else _code(cell, setting)
    noise, seed = built_in.rate or 0.0, cell.model_seed + 7_919 * built_in.seed
    rng = random.Random(f"{name}/{seed}/{cell.setting}")

    def answer(request: Request) -> str:
        if request.purpose in _WORDS:
            return _WORDS[request.purpose]
        if not noise or rng.random() >= noise:
            return f"```python\n{code}```"
        wrong = [made for fault in _FAULTS if (made := fault(code)) != code]
        return f"```python\n{rng.choice(wrong)}```"

    return RuleModel(name, answer, {"noise": noise} if noise else {})


def reference(domain: str) -> str | None:
    """The text of `domains/programs/DOMAIN.py`, a program that is run in the sandbox; None without such a file."""
    place = f"programs/{domain}.py"
    return resources.read("domains", place) if is_name(domain) and resources.has("domains", place) else None


def _code(cell: Cell, setting: PlanningSetting) -> str:
    code = reference(setting.domain.name)
    if code is None:
        why = f"It has no program for the domain {setting.domain.name}."
        raise UsageError(f"The built-in reader cannot play {setting.name}", why, "Name a language model with --model.")
    if NO_NAMES not in parse_variant(cell.mode, MODES).without:
        return code
    if setting.nameless_folder is not None:
        why = "It does not know what the names of its nameless tasks were."
        raise UsageError(f"The built-in reader cannot play {setting.name}", why, "Name a language model with --model.")
    return code + _UNNAMED.format(names={new: old for old, new in anonymous(setting.domain).names.items()})
