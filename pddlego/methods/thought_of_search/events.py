"""What happens in Thought of Search besides what happens everywhere: functions are written, tested, and used."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pddlego.events import Event
from pddlego.methods.thought_of_search.space import Which

Stage = Literal["goal", "soundness", "completeness"]

PASSED, SOLVED = "passed", "solved"


class SearchEvent(Event):
    """An event of Thought of Search."""

    method = "thought_of_search"


@dataclass(frozen=True)
class Prepared(SearchEvent):
    """How many tests of each stage there are, and instances to be solved."""

    type = "prepared"
    goal: int
    soundness: int
    completeness: int
    instances: int


@dataclass(frozen=True)
class Coded(SearchEvent):
    """The model wrote a function. `answer` counts its answers for this function from 1; empty `code`: it has none."""

    type = "coded"
    step: int
    command: str
    which: Which
    answer: int
    code: str
    name: str = ""


@dataclass(frozen=True)
class Tested(SearchEvent):
    """A test was made: `kind` is `passed`, or what is wrong. `number` counts the tests of a stage from 0."""

    __test__ = False  # it is no class of tests, whatever its name says to test runners
    type = "tested"
    stage: Stage
    number: int
    kind: str
    message: str = ""
    expansions: int = 0

    @property
    def passed(self) -> bool:
        return self.kind == PASSED


@dataclass(frozen=True)
class Searching(SearchEvent):
    """A search is going on, and has expanded so many states."""

    type = "searching"
    passing = True
    instance: str
    expansions: int


@dataclass(frozen=True)
class Attempted(SearchEvent):
    """A search for an instance has ended: `kind` is `solved`, or why that is no solution.

    `length` counts the steps of the path, `seconds` are of CPU time, of us and of the functions.
    """

    type = "attempted"
    times = ("seconds",)
    number: int
    instance: str
    kind: str
    message: str = ""
    length: int = 0
    expansions: int = 0
    generated: int = 0
    seconds: float = 0.0

    @property
    def solved(self) -> bool:
        return self.kind == SOLVED

    @property
    def may_be_cut_short(self) -> bool:
        return not self.solved


@dataclass(frozen=True)
class Finished(SearchEvent):
    """All instances were tried. `successors` and `goal` are the programs that were used."""

    type = "finished"
    times = ("seconds",)
    step: int
    command: str
    solved: int
    total: int
    expansions: int
    generated: int
    seconds: float
    successors: str
    goal: str
