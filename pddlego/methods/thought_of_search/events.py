"""The events of Thought of Search: the model's functions, their tests, and the searches for solutions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pddlego.display.console import Glyphs
from pddlego.display.description import Description, Line, MethodEvent, in_one_line
from pddlego.methods.thought_of_search.space import Which
from pddlego.util.text import count

TestStage = Literal["goal", "soundness", "completeness"]

Point = Literal["first", "sound", "complete", "unfinished"]
"""The point of a dialogue at which functions are evaluated: the first answers, after the soundness tests, at the end
with all tests passed, or at the end of an unfinished dialogue."""

PASSED, SOLVED = "passed", "solved"


class SearchEvent(MethodEvent):
    """An event of Thought of Search."""

    method = "thought_of_search"


@dataclass(frozen=True)
class Prepared(SearchEvent):
    """The number of tests of each stage, and the number of instances to be solved."""

    type = "prepared"
    goal: int
    soundness: int
    completeness: int
    instances: int

    def describe(self, glyphs: Glyphs) -> Description:
        tests = (
            f"{count(self.goal, 'goal test')}, {count(self.soundness, 'search')}, {count(self.completeness, 'state')}"
        )
        text = f"     tests: {tests} with known successors; {count(self.instances, 'instance')}"
        return Description(Line(text, "dim"))


@dataclass(frozen=True)
class Coded(SearchEvent):
    """The model wrote a function. `answer` counts its answers for this function from 1. `code` may be empty."""

    type = "coded"
    step: int
    command: str
    which: Which
    answer: int
    code: str
    name: str = ""

    def describe(self, glyphs: Glyphs) -> Description:
        lines = self.code.splitlines()
        title = Line(f"{self.step:>3}  {self.command}: {count(len(lines), 'line') if lines else 'no function'}", "bold")
        return Description(title, (title,), tuple(Line(f"{glyphs.added} {line}", "green") for line in lines))


@dataclass(frozen=True)
class Tested(SearchEvent):
    """The result of a test: `kind` is `passed` or the kind of fault. `number` counts the tests of a stage from 0."""

    __test__ = False  # not a class of tests, although its name begins like one
    type = "tested"
    stage: TestStage
    number: int
    kind: str
    message: str = ""
    expansions: int = 0

    @property
    def passed(self) -> bool:
        return self.kind == PASSED

    def describe(self, glyphs: Glyphs) -> Description:
        expanded = f", {count(self.expansions, 'state')} expanded" if self.expansions else ""
        return _result(self.passed, f"{self.stage} test {self.number + 1}: {self.kind}{expanded}", self.message, glyphs)


@dataclass(frozen=True)
class SearchRunning(SearchEvent):
    """The number of states that a running search has expanded."""

    type = "searching"
    passing = True
    instance: str
    expansions: int

    def describe(self, glyphs: Glyphs) -> Description:
        return Description(Line(f"     {self.instance}: {count(self.expansions, 'state')} expanded", "dim"))


@dataclass(frozen=True)
class Attempted(SearchEvent):
    """The result of searching for a solution of an instance: `kind` is `solved`, or the reason why it is not solved.

    `length` is the number of steps of the solution. `seconds` are CPU time of the search and the functions together.
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

    def describe(self, glyphs: Glyphs) -> Description:
        steps = f"{count(self.length, 'step')}, " if self.solved and self.length else ""
        text = f"{self.kind}, {steps}{count(self.expansions, 'state')} expanded, {self.seconds:.2f} s"
        return _result(self.solved, f"instance {self.instance}: {text}", self.message, glyphs)


@dataclass(frozen=True)
class Finished(SearchEvent):
    """A search was run for every instance. `successors` and `goal` are the texts of the functions.

    `point` is the point of the dialogue.
    """

    type = "finished"
    times = ("seconds",)
    step: int
    command: str
    solved: int
    total: int
    expansions: int = 0
    generated: int = 0
    seconds: float = 0.0
    successors: str = ""
    goal: str = ""
    point: Point = "complete"

    def describe(self, glyphs: Glyphs) -> Description:
        style = "bold green" if self.solved == self.total else "bold yellow" if self.solved else "bold red"
        rate = f", {self.expansions / self.seconds:,.0f} a second" if self.seconds > 0 else ""
        text = f"{self.command} instances solved, {count(self.expansions, 'state')} expanded{rate}"
        return in_one_line(f"{self.step:>3}  {text}", style)


def _result(good: bool, text: str, message: str, glyphs: Glyphs) -> Description:
    """The result of a test or of a search; on a pipe only if it failed."""
    mark, style = (glyphs.done, "green") if good else (glyphs.failed, "red")
    line = Line(f"     {mark} {text}", style)
    body = (Line(f"       {message}", style),) if message else ()
    return Description(line, () if good else (line,), body)


EVENTS = tuple(SearchEvent.__subclasses__())
