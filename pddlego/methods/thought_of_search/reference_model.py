"""The built-in models: `reader` answers with bundled functions, and `reader+noise:P` with wrong ones on purpose."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any

from pddlego.errors import UsageError
from pddlego.methods.base import BuiltIn
from pddlego.methods.thought_of_search.file_space import FileSpace
from pddlego.methods.thought_of_search.loading import SearchSetting
from pddlego.methods.thought_of_search.planning_space import PlanningSpace
from pddlego.methods.thought_of_search.reference.planning import functions_for
from pddlego.methods.thought_of_search.space import Which
from pddlego.models.base import Completion, Request
from pddlego.runs.cells import Cell


def _returning(change: str) -> Callable[[str], str]:
    """A fault in what a function returns in its last line."""

    def made(code: str) -> str:
        before, word, value = code.rpartition("    return ")
        return f"{before}{word}{change.format(value)}"

    return made


_COMMON: tuple[Callable[[str], str], ...] = (
    lambda code: code.replace("):", ")", 1),  # no Python
    lambda code: code.replace("):\n", "):\n    state.missing\n", 1),  # an exception
    _returning("None"),
)
_FAULTS: Mapping[Which, tuple[Callable[[str], str], ...]] = {
    "successors": (*_COMMON, _returning("({})[:-1]"), _returning("[*({}), state]")),
    "goal": (*_COMMON, _returning("not ({})"), _returning("True")),
}
"""Typical faults of generated functions: invalid Python, no value, too few states, wrong states."""


@dataclass
class SearchReference:
    """Answers with bundled functions whatever feedback says; with the probability `noise` with a wrong one."""

    name: str
    texts: Mapping[Which, str]
    source: str
    noise: float = 0.0
    rng: random.Random = field(default_factory=lambda: random.Random(0))

    @property
    def description(self) -> Mapping[str, Any]:
        return {"source": self.source, **({"noise": self.noise} if self.noise else {})}

    def complete(self, request: Request) -> Completion:
        which: Which = "goal" if request.purpose.startswith("goal") else "successors"
        code = self.texts[which]
        if self.noise and self.rng.random() < self.noise:
            code = self.rng.choice(_FAULTS[which])(code)
        return Completion(f"```python\n{code}\n```")


def builtin_model(name: str, cell: Cell, setting: SearchSetting | None) -> SearchReference | None:
    """The model of that name; None for a language model's. Raises `UsageError` for a setting without functions."""
    built_in = BuiltIn.parse(name)
    if built_in is None:
        return None
    rng = random.Random(f"{name}/{cell.model_seed + 7_919 * built_in.seed}/{cell.setting}")
    noise = built_in.rate or 0.0
    if setting is None:
        return SearchReference(name, {}, "", noise, rng)
    if isinstance(setting.space, PlanningSpace):
        texts = functions_for(setting.space.setting.domain)
        return SearchReference(name, texts, "made from the domain", noise, rng)
    if not isinstance(setting.space, FileSpace):
        return None
    return SearchReference(name, reference(setting.space.name), f"reference/{setting.space.name}.py", noise, rng)


def reference(space: str) -> dict[Which, str]:
    """Our functions for a search problem, by its folder in `domains/`. Raises `UsageError` if they do not exist."""
    name = {"24game": "game24"}.get(space, space)  # the name of a module begins with no digit
    place = files("pddlego") / "methods" / "thought_of_search" / "reference" / f"{name}.py"
    if not place.is_file():
        reason = "The built-in reader covers only the bundled problems."
        raise UsageError(f"The reader cannot play {space}", reason, "Name a language model with --model.")
    _, both = place.read_text(encoding="utf-8").split("\n\n\n", 1)  # after what it is called
    successors, goal = both.split("\n\n\n", 1)
    return {"successors": successors.strip(), "goal": goal.strip()}
