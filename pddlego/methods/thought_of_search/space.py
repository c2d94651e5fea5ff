"""Search problems: their tests and instances, what judges a model's functions, and when two states are equal."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Literal, Protocol

from pddlego.sandbox import Sandbox

SearchOrder = Literal["breadth-first", "depth-first"]

Which = Literal["successors", "goal"]
"""One of the two functions."""

TITLES: Mapping[Which, str] = {"successors": "successor function", "goal": "goal test"}

StateKey = Callable[[Any], Hashable]
"""Maps a state to its key. Equal states have equal keys."""


@dataclass(frozen=True)
class SearchTask:
    """One search: its first state, and the arguments of both functions after the state."""

    start: Any
    successor_arguments: tuple[Any, ...] = ()
    goal_arguments: tuple[Any, ...] = ()

    def arguments(self, which: Which) -> tuple[Any, ...]:
        return self.successor_arguments if which == "successors" else self.goal_arguments


@dataclass(frozen=True)
class Instance:
    """One problem, solved by the first of its `searches` that finds a goal. `item` is its list item or its task."""

    name: str
    searches: tuple[SearchTask, ...]
    item: Any = field(repr=False)


@dataclass(frozen=True)
class GoalTest:
    """A state, and whether it is a goal."""

    search: SearchTask
    is_goal: bool


@dataclass(frozen=True)
class SuccessorTest:
    """A state, and some or all of its successors."""

    search: SearchTask
    known: tuple[Any, ...]


@dataclass(frozen=True)
class BadTransition:
    """A state, a wrong successor of it, and the reason why it is wrong."""

    state: Any
    successor: Any
    reason: str


class SpaceJudge(Protocol):
    """The tests and instances of an episode, and functions that say whether states and solutions are right."""

    goal_tests: Sequence[GoalTest]
    successor_tests: Sequence[SuccessorTest]
    soundness: Sequence[Instance]
    instances: Sequence[Instance]

    def first_bad(self, instance: Instance, transitions: Sequence[tuple[Any, Sequence[Any]]]) -> BadTransition | None:
        """The first wrong successor among states with their successors, in an instance."""

    def is_goal(self, instance: Instance, state: Any) -> bool:
        """Whether a state is a goal; True if that is not known."""

    def validate(self, instance: Instance, search: int, path: Sequence[Any] | None) -> str:
        """Why the result of a search is wrong; empty if it is right. `path` is None if no search found a goal."""


@dataclass(frozen=True, kw_only=True)
class Space(ABC):
    """The search problem of a setting.

    `arguments` names the arguments of each function, the state first. `templates` is the beginning of the names of its
    prompts. `unordered` are the keys of a state whose lists have no order; `.` is the state itself. `verifies_goals`
    says whether the paper's code checks the goals that a search finds.
    """

    arguments: Mapping[Which, tuple[str, ...]]
    order: SearchOrder = "breadth-first"
    templates: str = ""
    unordered: tuple[str, ...] = ()
    verifies_goals: bool = True

    @abstractmethod
    def prompt(self, judge: SpaceJudge) -> Mapping[str, Any]:
        """The variables of its prompts."""

    @abstractmethod
    def judge(self, sandbox: Sandbox, seed: int) -> AbstractContextManager[SpaceJudge]:
        """The judge of an episode. Raises `SettingError` if a file is wrong."""


def first_bad_loop(check: str, on_error: str = "''") -> str:
    """A Python function `_first_bad(transitions, item)`, which runs beside a check: one call for many transitions.

    `check` is a call of the check, and `on_error` an expression for the reason if the check raises `error`.
    """
    return f"""

def _first_bad(transitions, item):
    for place, (state, successors) in enumerate(transitions):
        for number, successor in enumerate(successors):
            try:
                reason = str({check} or "")
            except Exception as error:
                reason = {on_error}
            if reason:
                return [place, number, reason]
    return None
"""


def have_form(values: Iterable[Any], known: Iterable[Any]) -> bool:
    """Whether values have the form of `known` states: the same types, and the length or keys that all of them share.

    The parts of lists, sets and dictionaries are compared too. An integer has the form of a float.
    """
    forms = _by_kind(known)
    if float in forms:
        forms.setdefault(int, [])
    return all(kind in forms and _alike(kind, part, forms[kind]) for kind, part in _by_kind(values).items())


def _alike(kind: type, values: Sequence[Any], known: Sequence[Any]) -> bool:
    """Whether values of a kind have the form of the known values of this kind."""
    if kind not in (dict, list, set):
        return True
    size: Callable[[Any], Hashable] = frozenset if kind is dict else len
    sizes = set(map(size, known))
    if len(sizes) == 1 and not set(map(size, values)) <= sizes:
        return False
    if kind is dict and len(sizes) == 1:
        return all(have_form([state[name] for state in values], [state[name] for state in known]) for name in known[0])
    parts: Callable[[Any], Iterable[Any]] = dict.items if kind is dict else iter
    return have_form(chain.from_iterable(map(parts, values)), chain.from_iterable(map(parts, known)))


def _by_kind(values: Iterable[Any]) -> dict[type, list[Any]]:
    by_kind: dict[type, list[Any]] = {}
    for value in values:
        by_kind.setdefault(_kind(value), []).append(value)
    return by_kind


def _kind(value: Any) -> type:
    """The type of a value. Integers and truth values are one kind, lists and tuples are, and both types of sets are."""
    alike = {bool: int, tuple: list, frozenset: set}
    return alike.get(type(value), type(value))


_MOST_SHOWN = 2_000
"""Characters of a value that a prompt shows."""


def brief(value: Any) -> str:
    """Write a value in Python, cut if it is long. The order of a set is the same in every run."""
    text = _python(value)
    return text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]} …"


def _python(value: Any) -> str:
    if isinstance(value, (set, frozenset)) and value:
        return f"{{{', '.join(sorted(map(_python, value)))}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(_python, value))}]"
    if isinstance(value, tuple):
        inside = ", ".join(map(_python, value))
        return f"({inside},)" if len(value) == 1 else f"({inside})"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{_python(name)}: {_python(part)}' for name, part in value.items())}}}"
    return repr(value)
