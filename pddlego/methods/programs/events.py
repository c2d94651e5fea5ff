"""The events of generalized planning: the model's programs and heuristics, and the tasks that they were tried on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pddlego.display.console import Glyphs
from pddlego.display.description import Description, Line, MethodEvent
from pddlego.tasks import Split
from pddlego.util.text import count

SOLVED = "solved"


class ProgramEvent(MethodEvent):
    """An event of generalized planning."""

    method = "programs"


@dataclass(frozen=True)
class Began(ProgramEvent):
    """The names of the tasks of the seed; prompts show the first of the training tasks.

    With `curve`, the program is evaluated after every answer.
    """

    type = "began"
    domain: str
    training: tuple[str, ...]
    evaluation: tuple[str, ...]
    curve: bool = False

    def describe(self, glyphs: Glyphs) -> Description:
        sizes = f"{count(len(self.training), 'training task')}, {count(len(self.evaluation), 'evaluation task')}"
        return Description(Line(f"     domain {self.domain}: {sizes}", "dim"))


@dataclass(frozen=True)
class Followed(ProgramEvent):
    """The model followed a `version` of its strategy, from 0, on a training task; the fields are as those of `Ran`."""

    type = "followed"
    version: int
    number: int
    task: str
    size: int
    kind: str
    length: int = 0
    message: str = ""

    def describe(self, glyphs: Glyphs) -> Description:
        solved = self.kind == SOLVED
        mark, style = (glyphs.done, "green") if solved else (glyphs.failed, "red")
        result = count(self.length, "step") if solved else self.message
        text = f"     {mark} strategy {self.version + 1}, {self.task} ({count(self.size, 'object')}): {self.kind}"
        line = Line(f"{text}, {result}", style)
        return Description(line, (line,))


@dataclass(frozen=True)
class StrategyChosen(ProgramEvent):
    """This `version` of the strategy, with the pseudocode `text`, is implemented: it solved most small tasks."""

    type = "strategy"
    version: int
    solved: int
    total: int
    text: str

    def describe(self, glyphs: Glyphs) -> Description:
        line = Line(f"     strategy {self.version + 1} is implemented: {self.solved} of {self.total} solved", "bold")
        return Description(line, (line,), tuple(Line(f"     {line}") for line in self.text.splitlines()))


@dataclass(frozen=True)
class ProgramWritten(ProgramEvent):
    """The model wrote `code`, and the program is now `text`. `answer` counts the answers with a program from 1."""

    type = "written"
    step: int
    command: str
    answer: int
    code: str
    text: str

    def describe(self, glyphs: Glyphs) -> Description:
        lines = self.code.splitlines()
        title = Line(f"{self.step:>3}  {self.command}: {count(len(lines), 'line')}", "bold")
        return Description(title, (title,), tuple(Line(f"{glyphs.added} {line}", "green") for line in lines))


@dataclass(frozen=True)
class Ran(ProgramEvent):
    """A task was tried: `kind` is `solved`, or the kind of failure.

    `length` is the number of steps of the plan, and `size` the number of objects of the task. `seconds` are CPU time of
    a program, or wall time of a planner. `answer` is the number of the program, or 0 without a program. `expanded` is
    the number of states that a search expanded, if it counts them; a search in the sandbox reports it itself. Results
    of a `candidate` are summarized by `Sampled`.
    """

    type = "ran"
    times = ("seconds", "expanded")
    split: Split
    number: int
    task: str
    size: int
    kind: str
    length: int = 0
    seconds: float = 0.0
    message: str = ""
    answer: int = 0
    expanded: int = 0
    candidate: bool = False

    @property
    def solved(self) -> bool:
        return self.kind == SOLVED

    @property
    def may_be_cut_short(self) -> bool:
        return not self.solved

    def describe(self, glyphs: Glyphs) -> Description:
        mark, style = (glyphs.done, "green") if self.solved else (glyphs.failed, "red")
        took = f"{count(self.length, 'step')}, " if self.solved else ""
        text = f"     {mark} {self.task} ({count(self.size, 'object')}): {self.kind}, {took}{self.seconds:.2f} s"
        line = Line(text, style)
        detail = (Line(f"       {self.message}", style),) if self.message else ()
        brief = () if self.solved or self.candidate or self.split == "evaluation" else (line,)
        return Description(line, brief, detail)


@dataclass(frozen=True)
class Sampled(ProgramEvent):
    """A heuristic was tried on the training tasks: `failure` is the kind of its most frequent failure, if any."""

    type = "sampled"
    times = ("score",)
    answer: int
    solved: int
    total: int
    score: float = 0.0
    failure: str = ""
    message: str = ""

    def describe(self, glyphs: Glyphs) -> Description:
        text = f"     heuristic {self.answer}: {self.solved} of {self.total} training tasks solved"
        failure = f"; {self.failure}: {self.message}" if self.failure else ""
        style = "green" if self.solved == self.total else "yellow" if self.solved else "red"
        line = Line(text + failure, style)
        return Description(line, (line,))


@dataclass(frozen=True)
class Chosen(ProgramEvent):
    """The heuristic of this answer is evaluated: the best on the training tasks, with this agile `score` on them, and
    with these `expanded` states.
    """

    type = "chosen"
    times = ("score", "expanded")
    answer: int
    solved: int
    total: int
    score: float = 0.0
    expanded: int = 0

    def describe(self, glyphs: Glyphs) -> Description:
        solved = f"{self.solved} of {count(self.total, 'training task')} solved"
        best = f"{solved}, agile score {self.score:.1f}, {count(self.expanded, 'expanded state')}"
        line = Line(f"     heuristic {self.answer} is chosen: {best}", "bold")
        return Description(line, (line,))


@dataclass(frozen=True)
class Evaluated(ProgramEvent):
    """All tasks of a split were tried: with the last program if `final`, else for a point of the curve.

    `program` is the evaluated program. It lacks the last answer if that answer is not Python. `failed` are the kinds of
    failures with their numbers, such as `5 timeout`.
    """

    type = "evaluated"
    step: int
    command: str
    solved: int
    total: int
    answer: int = 0
    final: bool = True
    program: str = ""
    failed: tuple[str, ...] = ()

    def describe(self, glyphs: Glyphs) -> Description:
        style = "bold green" if self.solved == self.total else "bold yellow" if self.solved else "bold red"
        line = Line(f"{self.step:>3}  {self.command} tasks solved{reasons(self.failed)}", style)
        return Description(line, (line,) if self.final else ())


EVENTS = tuple(ProgramEvent.__subclasses__())


def failure_counts(kinds: Iterable[str]) -> tuple[str, ...]:
    """The kinds of failures among the results of tasks with their numbers, the most frequent first."""
    counted = Counter(kind for kind in kinds if kind != SOLVED)
    return tuple(f"{number} {kind}" for kind, number in counted.most_common())


def reasons(failed: Sequence[str]) -> str:
    """The failures of an evaluation, to be appended to its result."""
    return f"; not solved: {', '.join(failed)}" if failed else ""
