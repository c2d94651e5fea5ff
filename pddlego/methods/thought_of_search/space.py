"""What a search space is tested and judged by, whoever says it: a setting's files, or a planning domain."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from pddlego.sandbox import Sandbox

Order = Literal["breadth-first", "depth-first"]

Which = Literal["successors", "goal"]
"""One of the two functions."""

Key = Callable[[Any], Hashable]
"""What tells states apart: the same for two that are the same."""


@dataclass(frozen=True)
class Search:
    """One search: where it starts, and what both functions are given besides a state."""

    start: Any
    successor_arguments: tuple[Any, ...] = ()
    goal_arguments: tuple[Any, ...] = ()

    def arguments(self, which: Which) -> tuple[Any, ...]:
        return self.successor_arguments if which == "successors" else self.goal_arguments


@dataclass(frozen=True)
class Instance:
    """One problem: the first of its `searches` that finds a goal has solved it. `item` is what its file says."""

    name: str
    searches: tuple[Search, ...]
    item: Any = field(repr=False)


@dataclass(frozen=True)
class GoalTest:
    """A state that is a goal, or none."""

    search: Search
    is_goal: bool


@dataclass(frozen=True)
class SuccessorTest:
    """A state and successors of it, all or some."""

    search: Search
    known: tuple[Any, ...]


@dataclass(frozen=True)
class BadTransition:
    """A successor that is none: the place of its state among those that were looked at, its own place, and why."""

    state: int
    successor: int
    why: str


class Judge(Protocol):
    """What is known of the problems of an episode, and who says whether an answer is right."""

    goal_tests: Sequence[GoalTest]
    successor_tests: Sequence[SuccessorTest]
    soundness: Sequence[Instance]
    instances: Sequence[Instance]

    def first_bad(self, instance: Instance, transitions: Sequence[tuple[Any, Sequence[Any]]]) -> BadTransition | None:
        """The first successor that cannot be one, of states with all that was said to come after them."""

    def is_goal(self, instance: Instance, search: int, state: Any) -> bool:
        """Whether a state is a goal of one of the searches; True where that is not known."""

    def fault(self, instance: Instance, search: int, path: Sequence[Any] | None) -> str:
        """What is wrong with what was found, which may be nothing; empty if it is right.

        `path` leads to a goal of the search with that number, and is None where none of them found one.
        """


@dataclass(frozen=True, kw_only=True)
class Space(ABC):
    """A search problem, as a setting has it.

    `arguments` names what each function takes, the state first. `prompt` holds what the templates show of the domain,
    whose names begin with `templates`. `unordered` are the keys of a state under which the order of a list says nothing
    (see `states`). `verifies_goals` says whether the paper's code looks at the goals that a search finds.
    """

    arguments: Mapping[Which, tuple[str, ...]]
    order: Order = "breadth-first"
    templates: str = ""
    unordered: tuple[str, ...] = ()
    verifies_goals: bool = True

    @abstractmethod
    def prompt(self, judge: Judge) -> Mapping[str, Any]: ...

    @abstractmethod
    def judge(self, sandbox: Sandbox, seed: int) -> AbstractContextManager[Judge]:
        """Raises `SettingError` where a file is wrong."""
