"""The events of generalized planning, with their sentences, and the columns, figures, panes and tabs made of them."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich.text import Text

from pddlego.display.console import Glyphs
from pddlego.display.description import Description, Line, MethodEvent
from pddlego.display.rows import code_lines, outcome_line, outcome_marks
from pddlego.display.screens import Canvas, Pane, PaneColumn, Screen, Tab, conversation
from pddlego.episode.events import Outcome, Rejected
from pddlego.episode.trace import Step, Trace
from pddlego.methods.base import Column, CountTable, Figure, Measuring, Published, PublishedShares
from pddlego.methods.programs.options import HEURISTIC, PLAN, PROGRAM, SHOWN
from pddlego.methods.setting_files import published
from pddlego.runs.summary import LastingError, Measures
from pddlego.tasks import Split
from pddlego.util.text import clean, count, one_line

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
    """The heuristic of this answer is evaluated: the best on the training tasks, with this agile `score` on them."""

    type = "chosen"
    times = ("score",)
    answer: int
    solved: int
    total: int
    score: float = 0.0

    def describe(self, glyphs: Glyphs) -> Description:
        solved = f"{self.solved} of {count(self.total, 'training task')} solved"
        line = Line(f"     heuristic {self.answer} is chosen: {solved}, agile score {self.score:.1f}", "bold")
        return Description(line, (line,))


@dataclass(frozen=True)
class Evaluated(ProgramEvent):
    """All tasks of a split were tried: with the last program if `final`, else for a point of the curve.

    `program` is the evaluated program. It lacks the last answer if that answer is not Python.
    """

    type = "evaluated"
    step: int
    command: str
    solved: int
    total: int
    answer: int = 0
    final: bool = True
    program: str = ""

    def describe(self, glyphs: Glyphs) -> Description:
        style = "bold green" if self.solved == self.total else "bold yellow" if self.solved else "bold red"
        line = Line(f"{self.step:>3}  {self.command} tasks solved", style)
        return Description(line, (line,) if self.final else ())


EVENTS = tuple(ProgramEvent.__subclasses__())

_RUN_TIME, _CURVE = "run time", "debug rounds"
_COVERAGE, _CACTUS, _EXPANDED = "coverage", "cactus", "expansions"

_SYNTAX = frozenset({"operator syntax", "output not a plan"})
"""The kinds of failure that the paper counts together, as plan syntax."""

DOMAINS = ("delivery", "ferry", "forest", "gripper", "heavy", "miconic", "spanner")
"""The settings of the paper's domains."""

_MOST_ROUNDS = 4
"""Debug rounds of the paper's figure 3."""


def measure(trace: Trace) -> Measures:
    """The number of answers, whether the training tasks were solved, errors by kind, and run time by size.

    `used_tasks` counts the training tasks that the model saw: two in the prompt, and those that a program failed.
    """
    ran, written, began = trace.all(Ran), trace.all(ProgramWritten), trace.last(Began)
    final = trace.last(Evaluated, where=lambda event: event.final)
    judged = final.answer if final is not None else len(written)
    evaluated = [event for event in ran if event.split == "evaluation" and event.answer == judged]
    trained = [event for event in ran if event.split == "training"]
    solved_last = {event.number: event.solved for event in trained if event.answer == judged}
    is_trained = began is not None and 0 < len(solved_last) == len(began.training) and all(solved_last.values())
    numbers: dict[str, int | float] = {
        "answers": len(written),
        "trained": int(is_trained),
        "evaluated": len(evaluated),
        "timeouts": sum(event.kind == "timeout" for event in evaluated),
    }
    if written and began is not None and trace.last(Chosen) is None:
        shown = range(min(SHOWN, len(began.training)))
        numbers["used_tasks"] = len({*shown, *(event.number for event in trained if not event.solved)})
    solved = [event for event in evaluated if event.solved]
    if solved:
        numbers["task_seconds"] = statistics.median(event.seconds for event in solved)
        numbers["plan_length"] = statistics.mean(event.length for event in solved)
        if any(event.expanded for event in solved):
            numbers["expanded"] = statistics.median(event.expanded for event in solved)
    won = trace.ended is not None and trace.ended.outcome is Outcome.WON
    categories = [event.feedback.category for event in trace.all(Rejected)]
    errors = Counter("plan syntax" if category in _SYNTAX else category for category in categories)
    return Measures(
        numbers,
        {
            "errors": errors,
            "errors solved" if won else "errors unsolved": errors,
            "lost": Counter(event.kind for event in evaluated if not event.solved),
            "candidates": Counter(event.failure for event in trace.all(Sampled) if not event.solved),
            "used": Counter([count(int(numbers["used_tasks"]), "task")] if won and "used_tasks" in numbers else []),
            "generalized": Counter([_generalized(is_trained, len(solved), len(evaluated))] if evaluated else []),
        },
        {
            _RUN_TIME: tuple((float(event.size), event.seconds) for event in solved),
            _EXPANDED: tuple((float(event.size), float(event.expanded)) for event in solved if event.expanded),
            _COVERAGE: tuple((_bin(event.size), float(event.solved)) for event in evaluated),
            _CACTUS: tuple(
                (float(number), seconds)
                for number, seconds in enumerate(sorted(event.seconds for event in solved), start=1)
            ),
            _CURVE: _curve(trace),
        },
        () if won else tuple(_first_error(ran, judged)),
    )


def _bin(size: int) -> float:
    """The beginning of the bin of a size: 1, 2, 5, 10, 20, 50, …"""
    unit = 10.0 ** math.floor(math.log10(max(1, size)))
    return max(factor * unit for factor in (1, 2, 5) if factor * unit <= max(1, size))


def _generalized(trained: bool, solved: int, evaluated: int) -> str:
    """Whether a program solves the training tasks, and how many of the evaluation tasks (all or nothing?)."""
    share = "all" if solved == evaluated else "some" if solved else "no"
    return f"training tasks {'solved' if trained else 'not solved'}, {share} evaluation tasks"


def _first_error(ran: Sequence[Ran], answer: int) -> Iterator[LastingError]:
    """The first task that the last program fails, and why; training tasks come before evaluation tasks."""
    failed = [event for event in ran if event.answer == answer and not event.solved]
    for first in sorted(failed, key=lambda event: (event.split == "evaluation", event.number))[:1]:
        where = f"{first.split} task {first.number + 1} ({first.task})"
        text = f"{where}: {first.kind}: {first.message or 'no reason given'}"
        yield LastingError(f"{first.kind} in {first.split}", text)


def _curve(trace: Trace) -> tuple[tuple[float, float], ...]:
    """The share of tasks solved by number of debug rounds; empty unless the program was evaluated after each."""
    began = trace.last(Began)
    if began is None or not began.curve:
        return ()
    shares = {event.answer - 1: event.solved / event.total for event in trace.all(Evaluated) if event.answer}
    if not shares:
        return ()
    last = max(shares)
    points = {**shares, **dict.fromkeys(range(last, _MOST_ROUNDS + 1), shares[last])}
    return tuple((float(rounds), share) for rounds, share in sorted(points.items()))


def _shares(exception: float, semantics: float, syntax: float, timeout: float) -> PublishedShares:
    """A column of the paper's table 2, in per cent. It counts a time-out twice: as one, and as an exception."""
    shares = {
        "python exception": exception,
        "plan semantics": semantics,
        "plan syntax": syntax,
        "timeout": timeout,
    }
    return PublishedShares("gpt-4", PROGRAM, DOMAINS, shares)


def _published(name: str, options: Mapping[str, Any]) -> Published:
    """The figures of the papers. Those of heuristics are about tasks that a user provides, under the paper's limits."""
    figures = published(name, options)
    if options.get("tasks") and options.get("parity") == "paper":
        return figures
    return {
        model: {mode: value for mode, value in modes.items() if mode not in (HEURISTIC, PLAN)}
        for model, modes in figures.items()
    }


MEASURING = Measuring(
    of=measure,
    columns=(
        Column("answers", blank_zero=True),
        Column("trained"),
        Column("timeouts", blank_zero=True),
        Column("task_seconds", over="all", digits=3, listed=False),
        Column("plan_length", over="all", digits=1, shown=False),
        Column("expanded", over="all", digits=0, shown=False),
        Column("used_tasks", shown=False),
        Column("evaluated", shown=False),
    ),
    counts=(
        CountTable("errors", "Errors in training", "error", _shares(40.0, 34.0, 13.0, 13.0)),
        CountTable(
            "errors solved",
            "Errors in training, where all evaluation tasks were solved",
            "error",
            _shares(28.9, 44.7, 18.4, 8.0),
        ),
        CountTable(
            "errors unsolved",
            "Errors in training, where not all were solved",
            "error",
            _shares(42.5, 31.4, 11.7, 14.4),
        ),
        CountTable("lost", "Why evaluation tasks were not solved", "error"),
        CountTable("candidates", "Heuristics that solve no training task", "error"),
        CountTable("used", "Training tasks used in episodes that solved everything", "used"),
        CountTable("generalized", "Whether programs generalize", "result"),
    ),
    figures=(
        Figure(_RUN_TIME, "Run time against size", "objects", "seconds", combined="median", logarithmic=True),
        Figure(_EXPANDED, "Expanded states against size", "objects", "states", combined="median", logarithmic=True),
        Figure(_COVERAGE, "Share solved against size", "objects (from 1, 2, 5, 10, 20, 50, …)", "share solved"),
        Figure(_CACTUS, "Time for each number of solved tasks", "solved tasks", "seconds", logarithmic=True),
        Figure(_CURVE, "Share solved against debug rounds", "debug rounds allowed", "share solved"),
    ),
    published=_published,
    restarts=True,
)


def panes(trace: Trace, canvas: Canvas) -> list[PaneColumn]:
    """The program, the tasks, and the conversation."""
    left = canvas.share(58) if canvas.is_wide else canvas.width
    width = (canvas.width - left if canvas.is_wide else canvas.width) - 4
    tasks = _task_rows(trace, width, canvas.glyphs)
    began = trace.last(Began)
    title = f"tasks of {began.domain}" if began is not None else "tasks"
    tested = Pane(title, lambda width, height: tasks, len(tasks) + 2)
    rows = None if canvas.is_wide else max(5, canvas.height // 3)
    lines = _feedback(trace, canvas.glyphs)
    talk = conversation(trace, canvas.now, "feedback", lines, rows, keep_end=True)
    program = _program_pane(trace, canvas.glyphs)
    if canvas.is_wide:
        return [PaneColumn([program], left), PaneColumn([tested, talk])]
    return [PaneColumn([program, tested, talk])]


def _program(trace: Trace, glyphs: Glyphs) -> list[Text]:
    """The program with line numbers: lines of earlier answers are dim, new ones green."""
    written = trace.all(ProgramWritten)
    if not written:
        return []
    before = written[-2].text if len(written) > 1 else ""
    text, code = written[-1].text, written[-1].code
    return code_lines(text, len(text.splitlines()) - len(code.splitlines()), frozenset(before.splitlines()), glyphs)


def _program_pane(trace: Trace, glyphs: Glyphs) -> Pane:
    """The program from a little before the last answer; of a long answer its beginning."""
    lines, started = _program(trace, glyphs), trace.started
    if not lines:
        never = started is not None and started.mode in ("plan", "random")
        return Pane("program", lambda width, height: [Text("no program" if never else "no program yet", "dim")])
    first = next((number for number, line in enumerate(lines) if line.style != "dim"), 0)
    title = f"{trace.all(ProgramWritten)[-1].command}: {count(len(lines), 'line')}"
    return Pane(title, lambda width, height: lines, first_row=first)


def _ran(trace: Trace) -> list[Ran]:
    """The tries of tasks since the last program."""
    return [event for event in trace.since(trace.place(ProgramWritten)) if isinstance(event, Ran)]


def _task_rows(trace: Trace, width: int, glyphs: Glyphs) -> list[Text]:
    """A mark for each task: solved, failed, or not yet tried. Then the last task, and in the end the score."""
    began, rows = trace.last(Began), list[Text]()
    for split in ("training", "evaluation"):
        names = getattr(began, split) if began is not None else ()
        kinds: list[str] = []
        for event in _ran(trace):
            if event.split == split:
                kinds[event.number :] = [event.kind]
        solved = [kind == SOLVED for kind in kinds]
        label = f"{split:<11}{f'{sum(solved)}/{len(names)}':<6}"
        rows += outcome_marks(label, solved, len(names), width, glyphs)
    return [*rows, _last_row(trace, width)]


def _last_row(trace: Trace, width: int) -> Text:
    ran, judged = trace.last(Ran), [event for event in trace.all(Evaluated) if event.final]
    if ran is not None and trace.ended is None:
        how = f"plan of {ran.length}, {ran.seconds:.2f} s" if ran.solved else ran.kind
        text = one_line(f"{ran.task} ({count(ran.size, 'object')}): {how}", width)
        return Text(text, "green" if ran.solved else "red")
    if not judged:
        return Text()
    solved, total = judged[-1].solved, judged[-1].total
    return Text(f"score {solved / total:.2f}", "bold green" if solved == total else "bold yellow")


def _feedback(trace: Trace, glyphs: Glyphs) -> list[Text]:
    """The training tasks that each program solved, and the fault of the last one."""
    began, written = trace.last(Began), trace.all(ProgramWritten)
    tasks, lines, solved = len(began.training) if began is not None else 0, list[Text](), 0
    for program in written:
        ran = [event for event in trace.all(Ran) if event.answer == program.answer and event.split == "training"]
        solved = sum(event.solved for event in ran)
        text = f"answer {program.answer} of {len(written)}: {solved} of {tasks} training tasks"
        lines.append(Text(text, "green" if solved == tasks else "dim"))
    chosen, rejected = trace.last(Chosen), trace.last(Rejected)
    if chosen is not None:
        return [*lines, Text(f"answer {chosen.answer} is chosen", "bold green")]
    if rejected is not None and not (solved == tasks and trace.place(Ran) > trace.place(Rejected)):
        feedback = rejected.feedback
        lines.append(Text(f"{glyphs.failed} {feedback.category}", "bold red"))
        text = "\n".join((feedback.message, *feedback.evidence))
        lines += [Text(clean(line), "red") for line in text.splitlines()]
    return lines


def _program_lines(step: Step, glyphs: Glyphs) -> list[Text]:
    return _program(step.after, glyphs) or [Text("no program yet", "dim")]


def _task_lines(step: Step, glyphs: Glyphs) -> list[Text]:
    lines = []
    for event in step.events:
        if isinstance(event, Ran):
            how = f"plan of {event.length}" if event.solved else f"{event.kind}: {event.message}"
            text = f"{event.split:<10} {event.task} ({count(event.size, 'object')}) {event.seconds:.2f} s: {how}"
            lines.append(outcome_line(event.solved, text, glyphs))
    return lines or [Text("no task was tried", "dim")]


SCREEN = Screen(panes, (Tab("program", _program_lines), Tab("tasks", _task_lines)))
