"""The live picture of generalized planning: the program as it grows, the tasks, and what goes back to the model."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.text import Text

from pddlego.display.code import code_lines, cut
from pddlego.display.frames import Frame
from pddlego.display.glyphs import Glyphs
from pddlego.display.rows import beside, marks, panel, text_panel, wrapped
from pddlego.display.screens import Tab, asking_lines, word_lines
from pddlego.events import Event
from pddlego.methods.programs.events import SOLVED, Ran, Written
from pddlego.methods.programs.view import ProgramView, fold
from pddlego.util.text import clean, one_line

WIDE = 110
BETWEEN = 1
"""Lines of the program before those that came last, which are shown where there is room."""


class ProgramScreen:
    """A `Screen`."""

    start = ProgramView()

    @property
    def tabs(self) -> tuple[Tab, ...]:
        return (
            Tab("program", "program: what this answer added is green", _program_lines),
            Tab("tasks", "tasks tried with this answer", _task_lines),
        )

    def fold(self, view: ProgramView, event: Event, seconds: float) -> ProgramView:
        return fold(view, event, seconds)

    def body(self, view: ProgramView, width: int, height: int, now: float, glyphs: Glyphs) -> RenderableType:
        if width >= WIDE:
            left = width * 58 // 100
            tasks = _tasks_height(view, width - left)
            right = Group(
                tasks_panel(view, width - left, tasks, glyphs),
                talk_panel(view, width - left, height - tasks, now, glyphs),
            )
            return beside(program_panel(view, left, height, glyphs), right)
        tasks, talk = _tasks_height(view, width), max(5, height // 3)
        return Group(
            program_panel(view, width, height - tasks - talk, glyphs),
            tasks_panel(view, width, tasks, glyphs),
            talk_panel(view, width, talk, now, glyphs),
        )

    def latest(self, view: ProgramView, width: int, height: int, now: float, glyphs: Glyphs) -> RenderableType:
        return talk_panel(view, width, height, now, glyphs)

    def small(self, view: ProgramView, width: int, height: int, glyphs: Glyphs) -> Panel:
        return tasks_panel(view, width, height, glyphs)

    def portrait(self, view: ProgramView) -> str:
        """The last program."""
        return view.judged.program if view.judged is not None and view.judged.program else view.text


def program_panel(view: ProgramView, width: int, height: int, glyphs: Glyphs) -> Panel:
    """The program from a little before what came last; of a long answer its beginning."""
    if not view.text:
        waiting = (
            "no program" if (view.training and not view.model) or view.mode in ("plan", "random") else "no program yet"
        )
        return panel([Text(waiting, "dim")], "program", width, height)
    lines = _lines(view.before, view.code, view.text, glyphs)
    first = next((number for number, line in enumerate(lines) if line.style != "dim"), 0)
    title = f"program {view.answer}: {len(lines)} lines"
    return text_panel([cut(line, width - 4) for line in lines], title, width, height, first - BETWEEN)


def _lines(before: str, code: str, text: str, glyphs: Glyphs) -> list[Text]:
    """The lines of a program with their numbers: those of earlier answers dim, those that are new green."""
    kept = len(text.splitlines()) - len(code.splitlines())
    return code_lines(text, kept, frozenset(before.splitlines()), glyphs)


def _tasks_height(view: ProgramView, width: int) -> int:
    room = max(1, width - 4 - LABEL)
    return 2 + sum(max(1, -(-len(names) // room)) for names in (view.training, view.evaluation)) + 1


LABEL = 17
"""Cells of the words before the marks."""


def tasks_panel(view: ProgramView, width: int, height: int, glyphs: Glyphs) -> Panel:
    """A mark for each task: solved, failed, being tried, not yet tried."""
    lines = _marks("training", view.training, view.trained, width - 4, glyphs)
    lines += _marks("evaluation", view.evaluation, view.tested, width - 4, glyphs)
    if view.last is not None and view.ended is None:
        lines.append(_last(view.last, width - 4))
    elif view.judged is not None:
        judged = view.judged
        style = "bold green" if judged.solved == judged.total else "bold yellow"
        lines.append(Text(f"score {judged.solved / judged.total:.2f}", style))
    return panel(lines[: max(1, height - 2)], f"tasks of {view.domain}" if view.domain else "tasks", width, height)


def _marks(label: str, names: tuple[str, ...], kinds: tuple[str, ...], width: int, glyphs: Glyphs) -> list[Text]:
    solved = [kind == SOLVED for kind in kinds]
    told = f"{label:<11}{f'{sum(solved)}/{len(names)}':<{LABEL - 11}}"
    return marks(told, solved, len(names), width, glyphs)


def _last(ran: Ran, width: int) -> Text:
    how = f"plan of {ran.length}, {ran.seconds:.2f} s" if ran.solved else ran.kind
    return Text(one_line(f"{ran.task} ({ran.size} objects): {how}", width), "green" if ran.solved else "red")


def talk_panel(view: ProgramView, width: int, height: int, now: float, glyphs: Glyphs) -> Panel:
    """What was wrong with the last program, or what the model is saying now."""
    lines: list[Text] = []
    rounds = len(view.history)
    for number, solved in enumerate(view.history, start=1):
        style = "green" if solved == len(view.training) else ""
        lines.append(
            Text(f"answer {number} of {rounds}: {solved} of {len(view.training)} training tasks", style or "dim")
        )
    if view.rejected is not None:
        feedback = view.rejected.feedback
        lines.append(Text(f"{glyphs.failed} {feedback.category}", "bold red"))
        said = "\n".join((feedback.message, *feedback.evidence))
        lines += [Text(clean(line), "red") for line in said.splitlines()]
    asking = asking_lines(view, now)
    words = word_lines(view, width - 4, max(0, height - 3))
    if words:
        return panel([*asking, *words][-max(1, height - 2) :], "answer", width, height)
    rows = wrapped(lines, width - 4)
    room = max(1, height - 2 - len(asking))
    return panel([*rows[-room:], *asking], "feedback", width, height)


def _program_lines(frame: Frame, glyphs: Glyphs) -> list[Text]:
    written = next((event for event in frame.events if isinstance(event, Written)), None)
    before = frame.before.before if written else frame.after.before
    code, text = (written.code, written.text) if written else (frame.after.code, frame.after.text)
    return _lines(before, code, text, glyphs) or [Text("no program yet", "dim")]


def _task_lines(frame: Frame, glyphs: Glyphs) -> list[Text]:
    found = []
    for event in frame.events:
        if isinstance(event, Ran):
            mark = glyphs.done if event.solved else glyphs.failed
            how = f"plan of {event.length}" if event.solved else f"{event.kind}: {event.message}"
            text = f"{mark} {event.split:<10} {event.task} ({event.size} objects) {event.seconds:.2f} s: {how}"
            found.append(Text(clean(text), "green" if event.solved else "red"))
    return found or [Text("no task was tried", "dim")]


SCREEN = ProgramScreen
