"""Our own programs in the part of the model: `reader`, and `reader+noise:P`, which errs on purpose."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any

from pddlego.errors import UsageError
from pddlego.methods.base import BUILT_IN_MODEL, BuiltIn, parse_variant
from pddlego.methods.planning_settings import PlanningSetting
from pddlego.methods.programs.options import MODES, NO_NAMES
from pddlego.models.base import Completion, Request
from pddlego.pddl.perturb import anonymous
from pddlego.runs.cells import Cell

_FAULTS: tuple[Callable[[str], str], ...] = (
    lambda code: re.sub(r'f"\((.*?)\)"', r'f"\1"', code),  # no parentheses
    lambda code: code.replace("init, goal):", "init, goal)", 1),  # no Python
    lambda code: code.replace("    plan = []", "    plan = [init[0]]", 1),  # an exception
    lambda code: re.sub(r"return plan\b", "return None", code),  # no list
    lambda code: re.sub(r"return plan\b", "return plan[:-1]", code),  # no plan
)
"""Ways in which the programs of language models go wrong, and how one of ours is made to."""

WORDS = {
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


@dataclass
class ProgramReference:
    """Answers with a program of ours; with the probability `noise` with one that is wrong in some way."""

    code: str
    name: str = BUILT_IN_MODEL
    noise: float = 0.0
    rng: random.Random = field(default_factory=lambda: random.Random(0))

    @property
    def description(self) -> Mapping[str, Any]:
        return {"noise": self.noise} if self.noise else {}

    def complete(self, request: Request) -> Completion:
        if request.purpose in WORDS:
            return Completion(WORDS[request.purpose])
        code = self.code
        if self.noise and self.rng.random() < self.noise:
            wrong = [made for fault in _FAULTS if (made := fault(code)) != code]
            code = self.rng.choice(wrong)
        return Completion(f"```python\n{code}```")


def builtin_model(name: str, cell: Cell, setting: PlanningSetting | None) -> ProgramReference | None:
    """The reader of that name; None for a language model's. Raises `UsageError` if it cannot play the cell."""
    built_in = BuiltIn.parse(name)
    if built_in is None:
        return None
    seed = cell.model_seed + 7_919 * built_in.seed
    code = "" if setting is None else _code(cell, setting)
    return ProgramReference(code, name, built_in.rate or 0.0, random.Random(f"{name}/{seed}/{cell.setting}"))


def reference(domain: str) -> str | None:
    """The text of our program for a domain of that name, if there is one."""
    module = domain.replace("-", "_")
    place = files("pddlego.methods.programs") / "reference" / f"{module}.py"
    return place.read_text(encoding="utf-8") if re.fullmatch(r"[a-z]+(-[a-z]+)*", domain) and place.is_file() else None


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
