"""The screen of generalized planning: the program, the tasks as rows of marks, and the conversation."""

from __future__ import annotations

from rich.text import Text

from pddlego.display.console import Glyphs
from pddlego.display.rows import code_lines, outcome_line, outcome_marks
from pddlego.display.screens import Canvas, Pane, PaneColumn, Screen, Tab, conversation
from pddlego.episode.events import Rejected
from pddlego.episode.trace import Step, Trace
from pddlego.methods.programs.events import SOLVED, Began, Chosen, Evaluated, ProgramWritten, Ran, reasons
from pddlego.util.text import clean, count, one_line


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


def _task_rows(trace: Trace, width: int, glyphs: Glyphs) -> list[Text]:
    """A mark for each task: solved by the last program, failed, or not tried yet; then the last task or the score."""
    began, rows = trace.last(Began), list[Text]()
    for split in ("training", "evaluation"):
        names = getattr(began, split) if began is not None else ()
        kinds: list[str] = []
        for event in trace.since(trace.place(ProgramWritten)):
            if isinstance(event, Ran) and event.split == split:
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
    text = one_line(f"score {solved / total:.2f}{reasons(judged[-1].failed)}", width)
    return Text(text, "bold green" if solved == total else "bold yellow")


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
    """The tasks that the newest program was run on."""
    lines = []
    for event in step.after.since(step.after.place(ProgramWritten)):
        if isinstance(event, Ran):
            how = f"plan of {event.length}" if event.solved else f"{event.kind}: {event.message}"
            text = f"{event.split:<10} {event.task} ({count(event.size, 'object')}) {event.seconds:.2f} s: {how}"
            lines.append(outcome_line(event.solved, text, glyphs))
    return lines or [Text("no task was tried", "dim")]


SCREEN = Screen(panes, (Tab("program", _program_lines), Tab("tasks", _task_lines)))
