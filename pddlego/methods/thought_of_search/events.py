"""What happens in Thought of Search besides what happens everywhere: functions are written, tested, and used."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, Literal

from pddlego.display.console import Glyphs
from pddlego.display.description import Describe, Description, Line
from pddlego.episode.events import Event
from pddlego.methods.thought_of_search.space import Which
from pddlego.util.text import count

TestStage = Literal["goal", "soundness", "completeness"]

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

    __test__ = False  # it is not a class of tests, whatever its name says to test runners
    type = "tested"
    stage: TestStage
    number: int
    kind: str
    message: str = ""
    expansions: int = 0

    @property
    def passed(self) -> bool:
        return self.kind == PASSED


@dataclass(frozen=True)
class SearchRunning(SearchEvent):
    """A search is going on, and has expanded so many states."""

    type = "searching"
    passing = True
    instance: str
    expansions: int


@dataclass(frozen=True)
class Attempted(SearchEvent):
    """A search for an instance has ended: `kind` is `solved`, or why it is not a solution.

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


SHOWN = 2_000
"""Characters of a value that a prompt shows."""


class FunctionFault(str, Enum):
    """Why a function goes back to the model, in the order of the paper's list."""

    TRANSITION = "unsound transition"
    CHANGED = "input changed"
    MISSING = "successors missing"
    GOAL = "wrong goal test"
    SUCCESSOR_ERROR = "successor exception"
    GOAL_ERROR = "goal exception"
    SEARCH_TIME = "search timeout"
    SUCCESSOR_TIME = "successor timeout"
    GOAL_TIME = "goal timeout"
    UNREADABLE = "no function"


@dataclass(frozen=True)
class Fault:
    """What is wrong with one of the functions. `message` says it in a line; the rest is what a prompt shows.

    `shown` are values by their names: the state, a wrong successor, what the functions were given besides. Many fields
    may be empty: each kind has some. `limit` is the option whose limit was exceeded.
    """

    kind: FunctionFault
    which: Which
    message: str
    shown: tuple[tuple[str, Any], ...] = ()
    trace: str = ""
    reason: str = ""
    as_goal: bool = False
    limit: str = ""

    @property
    def lines(self) -> tuple[str, ...]:
        """What is shown, a line each."""
        return tuple(f"{name}: {brief(value)}" for name, value in self.shown)


def brief(value: Any) -> str:
    """A value as it is written in Python, cut where it is endless. A set is in the same order in every run."""
    shown = _written(value)
    return shown if len(shown) <= SHOWN else f"{shown[:SHOWN]} …"


def _written(value: Any) -> str:
    if isinstance(value, (set, frozenset)) and value:
        return f"{{{', '.join(sorted(map(_written, value)))}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(_written, value))}]"
    if isinstance(value, tuple):
        inside = ", ".join(map(_written, value))
        return f"({inside},)" if len(value) == 1 else f"({inside})"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{_written(name)}: {_written(part)}' for name, part in value.items())}}}"
    return repr(value)


def _prepared(event: Prepared, glyphs: Glyphs) -> Description:
    tests = (
        f"{count(event.goal, 'goal test')}, {count(event.soundness, 'search')}, {count(event.completeness, 'state')}"
    )
    return Description(
        "", Line(f"     tests: {tests} with known successors; {count(event.instances, 'instance')}", "dim")
    )


def _coded(event: Coded, glyphs: Glyphs) -> Description:
    lines = event.code.splitlines()
    title = Line(f"{event.step:>3}  {event.command}: {count(len(lines), 'line') if lines else 'no function'}", "bold")
    return Description("observed", title, (title,), tuple(Line(f"{glyphs.added} {line}", "green") for line in lines))


def _tested(event: Tested, glyphs: Glyphs) -> Description:
    mark, style = (glyphs.done, "green") if event.passed else (glyphs.failed, "red")
    expanded = f", {count(event.expansions, 'state')} expanded" if event.expansions else ""
    line = Line(f"     {mark} {event.stage} test {event.number + 1}: {event.kind}{expanded}", style)
    detail = (Line(f"       {event.message}", style),) if event.message else ()
    return Description("planned", line, () if event.passed else (line,), detail)


def _searching(event: SearchRunning, glyphs: Glyphs) -> Description:
    return Description("", Line(f"     {event.instance}: {count(event.expansions, 'state')} expanded", "dim"))


def _attempted(event: Attempted, glyphs: Glyphs) -> Description:
    mark, style = (glyphs.done, "green") if event.solved else (glyphs.failed, "red")
    took = f"{count(event.length, 'step')}, " if event.solved and event.length else ""
    text = f"{event.kind}, {took}{count(event.expansions, 'state')} expanded, {event.seconds:.2f} s"
    line = Line(f"     {mark} instance {event.instance}: {text}", style)
    detail = (Line(f"       {event.message}", style),) if event.message else ()
    return Description("planned", line, () if event.solved else (line,), detail)


def _finished(event: Finished, glyphs: Glyphs) -> Description:
    style = "bold green" if event.solved == event.total else "bold yellow" if event.solved else "bold red"
    rate = f", {event.expansions / event.seconds:,.0f} a second" if event.seconds > 0 else ""
    text = f"{event.command} instances solved, {count(event.expansions, 'state')} expanded{rate}"
    line = Line(f"{event.step:>3}  {text}", style)
    return Description("observed", line, (line,))


DESCRIBED: Mapping[type[Event], Describe] = {
    Prepared: _prepared,
    Coded: _coded,
    Tested: _tested,
    SearchRunning: _searching,
    Attempted: _attempted,
    Finished: _finished,
}
"""Every event of Thought of Search, with what is said of it."""
