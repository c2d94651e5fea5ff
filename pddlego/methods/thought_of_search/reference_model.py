"""The built-in model: it answers with bundled functions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from pddlego.errors import UsageError
from pddlego.methods.base import BUILT_IN_MODEL
from pddlego.methods.thought_of_search.file_space import FileSpace
from pddlego.methods.thought_of_search.loading import SearchSetting
from pddlego.methods.thought_of_search.planning_space import PlanningSpace
from pddlego.methods.thought_of_search.reference.planning import functions_for
from pddlego.methods.thought_of_search.space import Which
from pddlego.models.base import Completion, Request
from pddlego.runs.cells import Cell


@dataclass
class SearchReference:
    """Answers with functions of ours, the same whatever is said of them."""

    name: str
    texts: Mapping[Which, str]
    source: str

    @property
    def description(self) -> Mapping[str, Any]:
        return {"source": self.source}

    def complete(self, request: Request) -> Completion:
        which: Which = "goal" if request.purpose.startswith("goal") else "successors"
        return Completion(f"```python\n{self.texts[which]}\n```")


def builtin_model(name: str, cell: Cell, setting: SearchSetting | None) -> SearchReference | None:
    """The model of that name. Raises `UsageError` for a setting that has no functions of ours."""
    if name != BUILT_IN_MODEL:
        return None
    if setting is None:
        return SearchReference(name, {}, "")
    if isinstance(setting.space, PlanningSpace):
        texts = functions_for(setting.space.setting.domain)
        return SearchReference(name, texts, "made from the domain")
    if not isinstance(setting.space, FileSpace):
        return None
    return SearchReference(name, reference(setting.space.name), f"reference/{setting.space.name}.py")


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
