"""The built-in models: `reader` answers with correct functions, and `reader+noise:P` with wrong ones on purpose."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pddlego.errors import SettingError, UsageError
from pddlego.methods.base import BuiltIn
from pddlego.methods.thought_of_search.file_space import FileSpace
from pddlego.methods.thought_of_search.loading import SearchSetting
from pddlego.methods.thought_of_search.model_tests import TESTS, reference_tests
from pddlego.methods.thought_of_search.planning_space import PlanningSpace
from pddlego.methods.thought_of_search.space import Which
from pddlego.models.base import Completion, Request
from pddlego.pddl import Domain
from pddlego.pddl.conditions import Atom, Equal, Exists, Forall, Formula, parts_of, word_of
from pddlego.runs.cells import Cell
from pddlego.util import resources


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
    """Answers with correct functions, whatever the feedback is; with the probability `noise`, with a wrong function."""

    name: str
    texts: Mapping[Which, str]
    noise: float = 0.0
    rng: random.Random = field(default_factory=lambda: random.Random(0))

    @property
    def description(self) -> Mapping[str, Any]:
        return {"noise": self.noise} if self.noise else {}

    def complete(self, request: Request) -> Completion:
        if request.purpose == TESTS:
            return Completion(reference_tests(request.context))
        which: Which = "goal" if request.purpose.startswith("goal") else "successors"
        code = self.texts[which]
        if self.noise and self.rng.random() < self.noise:
            code = self.rng.choice(_FAULTS[which])(code)
        return Completion(f"```python\n{code}\n```")


def builtin_model(name: str, cell: Cell, setting: SearchSetting | None) -> SearchReference | None:
    """The built-in model of that name; None for a language model. Raises `UsageError` if it has no functions."""
    built_in = BuiltIn.parse(name)
    if built_in is None:
        return None
    rng = random.Random(f"{name}/{cell.model_seed + 7_919 * built_in.seed}/{cell.setting}")
    texts: Mapping[Which, str] = {}
    if setting is not None and isinstance(setting.space, PlanningSpace):
        texts = planning_functions(setting.space.setting.domain)
    elif setting is not None and isinstance(setting.space, FileSpace):
        texts = reference_functions(setting.space.name)
    return SearchReference(name, texts, built_in.rate or 0.0, rng)


def reference_functions(space: str) -> dict[Which, str]:
    """Read both functions from `reference.py` of a search problem, by its folder in `domains/`.

    Raises `UsageError` if there is no such file, and `SettingError` if the file is wrong.
    """
    name = f"{space}/reference.py"
    if not resources.has("domains", name):
        reason = f"There is no domains/{name} with both functions."
        raise UsageError(f"The reader cannot play {space}", reason, "Name a language model with --model.")
    match = re.search(
        r"^(def successors\(.*)^(def is_goal\(.*)", resources.read("domains", name), re.DOTALL | re.MULTILINE
    )
    if match is None:
        reason = "It must define successors, and after it is_goal."
        raise SettingError(f"domains/{name} is wrong", reason, "Example: domains/24game/reference.py.")
    return {"successors": match[1].strip(), "goal": match[2].strip()}


_GOAL = """def is_goal(state, goal):
    return all(fact in state for fact in goal)"""

_SUCCESSORS = """def successors(state, objects):
    from itertools import product

    parents = {parents}
    actions = {actions}

    def is_a(kind, wanted):
        return wanted in (kind, "object") or wanted in parents.get(kind, ())

    def holds(condition, binding):
        head, parts = condition[0], condition[1:]
        if head == "and":
            return all(holds(part, binding) for part in parts)
        if head == "or":
            return any(holds(part, binding) for part in parts)
        if head == "not":
            return not holds(parts[0], binding)
        if head == "imply":
            return not holds(parts[0], binding) or holds(parts[1], binding)
        if head in ("exists", "forall"):
            truths = [holds(parts[1], extended) for extended in bindings(parts[0], binding)]
            return any(truths) if head == "exists" else all(truths)
        names = tuple(binding.get(part, part) for part in parts)
        return names[0] == names[1] if head == "=" else (head, *names) in state

    def bindings(parameters, binding):
        choices = [[name for name, kind in objects.items() if is_a(kind, wanted)] for _, wanted in parameters]
        for chosen in product(*choices):
            yield {{**binding, **{{name: value for (name, _), value in zip(parameters, chosen)}}}}

    def apply(effect, binding, adds, deletes):
        head, parts = effect[0], effect[1:]
        if head == "and":
            for part in parts:
                apply(part, binding, adds, deletes)
        elif head == "when":
            if holds(parts[0], binding):
                apply(parts[1], binding, adds, deletes)
        elif head == "forall":
            for extended in bindings(parts[0], binding):
                apply(parts[1], extended, adds, deletes)
        elif head == "not":
            deletes.add((parts[0][0], *(binding.get(part, part) for part in parts[0][1:])))
        else:
            adds.add((head, *(binding.get(part, part) for part in parts)))

    results = []
    for parameters, precondition, effect in actions:
        for binding in bindings(parameters, {{}}):
            if holds(precondition, binding):
                adds, deletes = set(), set()
                apply(effect, binding, adds, deletes)
                results.append((state - deletes) | adds)
    return results"""


def planning_functions(domain: Domain) -> dict[Which, str]:
    """Write both functions for the actions of a domain. Raises `UsageError` for derived predicates."""
    if domain.derived:
        why = "It has derived predicates."
        raise UsageError(f"The reader cannot play {domain.name}", why, "Name a language model with --model.")
    actions = [
        (
            tuple((parameter.name, parameter.type) for parameter in action.parameters),
            _plain(action.precondition),
            _plain(action.effect),
        )
        for action in domain.actions
    ]
    parents = {kind: tuple(sorted(above)) for kind, above in sorted(domain.types.items())}
    return {"successors": _SUCCESSORS.format(parents=repr(parents), actions=repr(actions)), "goal": _GOAL}


def _plain(formula: Formula) -> object:
    """A condition or effect as nested tuples, with the variables of quantifiers as pairs of a name and a type."""
    match formula:
        case Atom():
            return (formula.predicate, *formula.args)
        case Equal():
            return ("=", formula.left, formula.right)
        case Exists() | Forall():
            variables = tuple((variable.name, variable.type) for variable in formula.variables)
            return (word_of(formula), variables, _plain(formula.part))
    return (word_of(formula), *map(_plain, parts_of(formula)))
