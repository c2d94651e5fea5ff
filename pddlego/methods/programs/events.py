"""What happens in generalized planning besides what happens everywhere: a program is written, tried, and judged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pddlego.display.console import Glyphs
from pddlego.display.description import Describe, Description, Line
from pddlego.episode.events import Event
from pddlego.tasks import Split
from pddlego.util.text import count


class ProgramEvent(Event):
    """An event of generalized planning."""

    method = "programs"


@dataclass(frozen=True)
class Began(ProgramEvent):
    """The tasks of the seed, by name; the first are those that a prompt shows.

    With `curve` the program is evaluated after every answer.
    """

    type = "began"
    domain: str
    training: tuple[str, ...]
    evaluation: tuple[str, ...]
    curve: bool = False


@dataclass(frozen=True)
class ProgramWritten(ProgramEvent):
    """The model wrote code. `answer` counts its programs from 1, `text` is the program with what came now: `code`."""

    type = "written"
    step: int
    command: str
    answer: int
    code: str
    text: str


@dataclass(frozen=True)
class Ran(ProgramEvent):
    """A task was tried: `kind` is `solved`, or how it went wrong.

    `length` is that of the plan, `size` the number of the task's objects, `seconds` the CPU time of a program, and the
    wall time of a planner. `answer` is the program's number, or 0 without a program.
    """

    type = "ran"
    times = ("seconds",)
    split: Split
    number: int
    task: str
    size: int
    kind: str
    length: int = 0
    seconds: float = 0.0
    message: str = ""
    answer: int = 0

    @property
    def solved(self) -> bool:
        return self.kind == SOLVED

    @property
    def may_be_cut_short(self) -> bool:
        return not self.solved


@dataclass(frozen=True)
class Evaluated(ProgramEvent):
    """All tasks of a split were tried. `final` says that it is the last word, and not a point of a curve.

    `program` is what was evaluated, which may be less than what was written: an answer that is not Python is not kept.
    """

    type = "evaluated"
    step: int
    command: str
    solved: int
    total: int
    answer: int = 0
    final: bool = True
    program: str = ""


SOLVED = "solved"


def _began(event: Began, glyphs: Glyphs) -> Description:
    sizes = f"{count(len(event.training), 'training task')}, {count(len(event.evaluation), 'evaluation task')}"
    return Description("", Line(f"     domain {event.domain}: {sizes}", "dim"))


def _written(event: ProgramWritten, glyphs: Glyphs) -> Description:
    lines = event.code.splitlines()
    title = Line(f"{event.step:>3}  {event.command}: {count(len(lines), 'line')}", "bold")
    return Description("observed", title, (title,), tuple(Line(f"{glyphs.added} {line}", "green") for line in lines))


def _ran(event: Ran, glyphs: Glyphs) -> Description:
    mark, style = (glyphs.done, "green") if event.solved else (glyphs.failed, "red")
    took = f"{count(event.length, 'step')}, " if event.solved else ""
    text = f"     {mark} {event.task} ({count(event.size, 'object')}): {event.kind}, {took}{event.seconds:.2f} s"
    line = Line(text, style)
    detail = (Line(f"       {event.message}", style),) if event.message else ()
    brief = () if event.solved or event.split == "evaluation" else (line,)
    return Description("planned", line, brief, detail)


def _evaluated(event: Evaluated, glyphs: Glyphs) -> Description:
    style = "bold green" if event.solved == event.total else "bold yellow" if event.solved else "bold red"
    line = Line(f"{event.step:>3}  {event.command} tasks solved", style)
    return Description("observed", line, (line,) if event.final else ())


DESCRIBED: Mapping[type[Event], Describe] = {Began: _began, ProgramWritten: _written, Ran: _ran, Evaluated: _evaluated}
"""Every event of generalized planning, with what is said of it."""
