"""The live picture of generalized planning: the program as it grows, the tasks, and what goes back to the model."""

from __future__ import annotations

from dataclasses import dataclass, replace

from rich.panel import Panel
from rich.text import Text

from pddlego.display.code import CodeScreen, code_lines, code_panel, marked
from pddlego.display.console import Glyphs
from pddlego.display.frames import Frame
from pddlego.display.screens import Tab, marks, panel
from pddlego.display.view import View, cleaned, fold_common
from pddlego.episode.events import Event
from pddlego.methods.programs.events import SOLVED, Began, Evaluated, ProgramWritten, Ran
from pddlego.util.text import clean, count, one_line


@dataclass(frozen=True)
class ProgramView(View):
    """The state of one episode as far as it is shown. `before` is the program as it was, `code` what came last.

    `trained` and `tested` hold how each task went, in their order; the next one is being tried. `history` holds the
    number of training tasks that each answer solved.
    """

    domain: str = ""
    training: tuple[str, ...] = ()
    evaluation: tuple[str, ...] = ()
    answer: int = 0
    before: str = ""
    code: str = ""
    text: str = ""
    trained: tuple[str, ...] = ()
    tested: tuple[str, ...] = ()
    last: Ran | None = None
    history: tuple[int, ...] = ()
    judged: Evaluated | None = None


def fold(view: ProgramView, event: Event, seconds: float) -> ProgramView:
    """The view after `event`, which happened `seconds` after the start."""
    event = cleaned(event)
    view = fold_common(view, event, seconds)
    if isinstance(event, Began):
        return replace(view, domain=event.domain, training=event.training, evaluation=event.evaluation)
    if isinstance(event, ProgramWritten):
        return replace(
            view,
            answer=event.answer,
            before=view.text,
            code=event.code,
            text=event.text,
            trained=(),
            tested=(),
            history=(*view.history, 0),
        )
    if isinstance(event, Ran):
        view = replace(view, last=event)
        if event.split == "evaluation":
            if view.trained.count(SOLVED) == len(view.training):  # the last answer was good
                view = replace(view, rejected=None)
            return replace(view, tested=(*view.tested[: event.number], event.kind))
        history = (*view.history[:-1], view.history[-1] + event.solved) if view.history else ()
        return replace(view, trained=(*view.trained[: event.number], event.kind), history=history)
    if isinstance(event, Evaluated) and event.final:
        return replace(view, judged=event)
    return view


def _lines(before: str, code: str, text: str, glyphs: Glyphs) -> list[Text]:
    """The lines of a program with their numbers: those of earlier answers dim, those that are new green."""
    kept = len(text.splitlines()) - len(code.splitlines())
    return code_lines(text, kept, frozenset(before.splitlines()), glyphs)


def _marks(label: str, names: tuple[str, ...], kinds: tuple[str, ...], width: int, glyphs: Glyphs) -> list[Text]:
    solved = [kind == SOLVED for kind in kinds]
    return marks(f"{label:<11}{f'{sum(solved)}/{len(names)}':<6}", solved, len(names), width, glyphs)


def _last(view: ProgramView, width: int) -> Text:
    """The task that was tried last, and in the end the score."""
    ran, judged = view.last, view.judged
    if ran is not None and view.ended is None:
        how = f"plan of {ran.length}, {ran.seconds:.2f} s" if ran.solved else ran.kind
        text = one_line(f"{ran.task} ({count(ran.size, 'object')}): {how}", width)
        return Text(text, "green" if ran.solved else "red")
    if judged is None:
        return Text()
    return Text(
        f"score {judged.solved / judged.total:.2f}", "bold green" if judged.solved == judged.total else "bold yellow"
    )


def _program_lines(frame: Frame, glyphs: Glyphs) -> list[Text]:
    written = next((event for event in frame.events if isinstance(event, ProgramWritten)), None)
    before = frame.before.before if written else frame.after.before
    code, text = (written.code, written.text) if written else (frame.after.code, frame.after.text)
    return _lines(before, code, text, glyphs) or [Text("no program yet", "dim")]


def _task_lines(frame: Frame, glyphs: Glyphs) -> list[Text]:
    lines = []
    for event in frame.events:
        if isinstance(event, Ran):
            how = f"plan of {event.length}" if event.solved else f"{event.kind}: {event.message}"
            text = f"{event.split:<10} {event.task} ({count(event.size, 'object')}) {event.seconds:.2f} s: {how}"
            lines.append(marked(event.solved, text, glyphs))
    return lines or [Text("no task was tried", "dim")]


class ProgramScreen(CodeScreen[ProgramView]):
    """A `Screen`."""

    start = ProgramView()
    fold = staticmethod(fold)
    tabs = (
        Tab("program", _program_lines),
        Tab("tasks", _task_lines),
    )
    code_share, talk_share, keeps_end = 58, (3, 5), True

    def code(self, view: ProgramView, width: int, height: int, glyphs: Glyphs) -> Panel:
        """The program from a little before what came last; of a long answer its beginning."""
        if not view.text:
            never = (view.training and not view.model) or view.mode in ("plan", "random")
            return panel([Text("no program" if never else "no program yet", "dim")], "program", width, height)
        lines = _lines(view.before, view.code, view.text, glyphs)
        first = next((number for number, line in enumerate(lines) if line.style != "dim"), 0)
        return code_panel(lines, first, f"program {view.answer}: {count(len(lines), 'line')}", width, height)

    def tests(self, view: ProgramView, width: int, glyphs: Glyphs) -> tuple[str, list[Text]]:
        """A mark for each task: solved, failed, being tried, not yet tried."""
        training = _marks("training", view.training, view.trained, width, glyphs)
        evaluation = _marks("evaluation", view.evaluation, view.tested, width, glyphs)
        return f"tasks of {view.domain}" if view.domain else "tasks", [*training, *evaluation, _last(view, width)]

    def feedback(self, view: ProgramView, glyphs: Glyphs) -> tuple[str, list[Text]]:
        """What was wrong with the last program."""
        rounds, tasks = len(view.history), len(view.training)
        lines = [
            Text(
                f"answer {number} of {rounds}: {solved} of {tasks} training tasks",
                "green" if solved == tasks else "dim",
            )
            for number, solved in enumerate(view.history, start=1)
        ]
        if view.rejected is not None:
            feedback = view.rejected.feedback
            lines.append(Text(f"{glyphs.failed} {feedback.category}", "bold red"))
            text = "\n".join((feedback.message, *feedback.evidence))
            lines += [Text(clean(line), "red") for line in text.splitlines()]
        return "feedback", lines


SCREEN = ProgramScreen
