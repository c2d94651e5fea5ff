"""The screen of Thought of Search: both functions, the tests as rows of marks, the search, and the feedback."""

from __future__ import annotations

from typing import get_args

from rich.text import Text

from pddlego.display.console import Glyphs
from pddlego.display.rows import code_lines, outcome_line, outcome_marks
from pddlego.display.screens import Canvas, Pane, PaneColumn, Screen, Tab, conversation
from pddlego.episode.events import Rejected
from pddlego.episode.trace import Step, Trace
from pddlego.methods.thought_of_search.events import (
    PASSED,
    Attempted,
    Coded,
    Finished,
    Prepared,
    SearchRunning,
    Tested,
    TestStage,
)
from pddlego.methods.thought_of_search.space import TITLES, Which
from pddlego.util.text import clean, count, one_line

_GOAL_LINES = 4
"""The minimum height of the goal test's pane, with its border."""


def panes(trace: Trace, canvas: Canvas) -> list[PaneColumn]:
    """Both functions, the tests, and the conversation."""
    left = canvas.share(56) if canvas.is_wide else canvas.width
    width = (canvas.width - left if canvas.is_wide else canvas.width) - 4
    rows = _test_rows(trace, width, canvas.glyphs)
    tests = Pane("tests", lambda width, height: rows, len(rows) + 2)
    title, lines = _feedback(trace, canvas.glyphs)
    talk_rows = None if canvas.is_wide else max(4, canvas.height // 4)
    talk = conversation(trace, canvas.now, title, lines, talk_rows)
    functions = _function_panes(
        trace, canvas.height - (0 if talk_rows is None else talk_rows + len(rows) + 2), canvas.glyphs
    )
    return (
        [PaneColumn(functions, left), PaneColumn([tests, talk])]
        if canvas.is_wide
        else [PaneColumn([*functions, tests, talk])]
    )


def _function(trace: Trace, which: Which, glyphs: Glyphs) -> tuple[list[Text], int]:
    """The lines of a function, green if the last answer changed them, and the number of that answer."""
    coded = [event for event in trace.all(Coded) if event.which == which]
    texts = ["", ""]
    for event in coded:
        texts.append(event.code or texts[-1])
    lines = code_lines(texts[-1], 0, frozenset(texts[-2].splitlines()), glyphs)
    return lines, coded[-1].answer if coded else 0


def _function_panes(trace: Trace, height: int, glyphs: Glyphs) -> list[Pane]:
    """Both functions, one above the other; on a small screen only the newer one."""
    goal = min(max(_GOAL_LINES, len(_function(trace, "goal", glyphs)[0]) + 2), height // 3)
    if goal < _GOAL_LINES:
        coded = trace.last(Coded)
        return [_function_pane(trace, coded.which if coded is not None else "successors", None, glyphs)]
    return [_function_pane(trace, "successors", None, glyphs), _function_pane(trace, "goal", goal, glyphs)]


def _function_pane(trace: Trace, which: Which, rows: int | None, glyphs: Glyphs) -> Pane:
    """A function, from just before the first line that its last answer changed."""
    lines, answer = _function(trace, which, glyphs)
    if not lines:
        return Pane(TITLES[which], lambda width, height: [Text(f"no {TITLES[which]} yet", "dim")], rows)
    first = next((number for number, line in enumerate(lines) if line.style == "green"), 0)
    title = f"{TITLES[which]}: answer {answer}, {count(len(lines), 'line')}"
    return Pane(title, lambda width, height: lines, rows, first)


def _test_rows(trace: Trace, width: int, glyphs: Glyphs) -> list[Text]:
    """A mark for each test, a bar of the solved instances, and the speed of the search."""
    prepared, rows = trace.last(Prepared), list[Text]()
    for stage in get_args(TestStage):
        # Goal tests begin again after a new goal test, the other stages after any new function.
        goal = trace.place(Coded, where=lambda event: event.which == "goal")
        coded = goal if stage == "goal" else trace.place(Coded)
        kinds: list[str] = []
        for event in trace.since(coded):
            if isinstance(event, Tested) and event.stage == stage:
                kinds[event.number :] = [event.kind]
        total = getattr(prepared, stage) if prepared is not None else 0
        passed = [kind == PASSED for kind in kinds]
        rows += outcome_marks(f"{stage:<13}{f'{sum(passed)}/{total}':<7}", passed, total, width, glyphs)
    return [*rows, _instances(trace, width, glyphs), _speed(trace, width)]


def _instances(trace: Trace, width: int, glyphs: Glyphs) -> Text:
    """A bar of the instances: green for solved ones, red for the others that were searched."""
    prepared, tried = trace.last(Prepared), trace.all(Attempted)
    total, good = prepared.instances if prepared is not None else 0, sum(event.solved for event in tried)
    line = Text(f"{'instances':<13}", "bold")
    line.append(f"{good}/{total} ")
    room = max(0, min(60, width - line.cell_len))
    solved = room * good // total if total else 0
    failed = room * len(tried) // total - solved if total else 0
    line.append(glyphs.across * solved, "bold green")
    line.append(glyphs.across * failed, "bold red")
    line.append(glyphs.dot * (room - solved - failed), "dim")
    return line


def _speed(trace: Trace, width: int) -> Text:
    """Expansions per second, an estimate of the remaining time, and the progress of the running search."""
    tried, parts = trace.all(Attempted), list[str]()
    seconds = sum(event.seconds for event in tried)
    if seconds > 0:
        parts.append(f"{sum(event.expansions for event in tried) / seconds:,.0f} expansions/s")
    prepared = trace.last(Prepared)
    if prepared is not None and tried and trace.place(Finished) < trace.place(Attempted):
        begun = trace.seconds_at(trace.place(Prepared, Tested))
        parts.append(f"{_time((trace.seconds - begun) / len(tried) * (prepared.instances - len(tried)))} left")
    running = trace.last(SearchRunning)
    if running is not None and trace.place(SearchRunning) > trace.place(Coded, Tested, Attempted):
        parts.append(f"{running.instance}: {running.expansions:,} expanded")
    return Text(one_line(", ".join(parts), width), "dim")


def _time(seconds: float) -> str:
    minutes = round(seconds) // 60
    return f"{minutes} min {round(seconds) % 60} s" if minutes else f"{round(seconds)} s"


def _feedback(trace: Trace, glyphs: Glyphs) -> tuple[str, list[Text]]:
    """The last feedback to the model, or the last instance that was searched."""
    rejected, last = trace.last(Rejected), trace.last(Attempted)
    if rejected is not None and trace.place(Rejected) > trace.place(Attempted):
        feedback = rejected.feedback
        title = Text(f"{glyphs.failed} {feedback.category}: {clean(feedback.message)}", "bold red")
        return "counterexample", [title, *(Text(clean(line), "red") for line in feedback.evidence)]
    if last is not None:
        text = f"{last.instance}: {last.kind}, {count(last.length, 'step')}, {count(last.expansions, 'state')} expanded"
        line = outcome_line(last.solved, text, glyphs)
        return "last instance", [line, *([Text(clean(last.message), line.style)] if last.message else [])]
    tested = trace.place(Tested) > trace.place(Coded)
    return "counterexample", [Text("nothing is wrong so far", "dim")] if tested else []


def _functions_tab(step: Step, glyphs: Glyphs) -> list[Text]:
    lines: list[Text] = []
    for which, title in TITLES.items():
        code, answer = _function(step.after, which, glyphs)
        if answer:
            lines += [Text(f"{title}: answer {answer}", "bold"), *code]
    return lines or [Text("no function yet", "dim")]


def _tests_tab(step: Step, glyphs: Glyphs) -> list[Text]:
    lines = []
    for event in step.events:
        if isinstance(event, Tested):
            message = f": {event.message}" if event.message else ""
            lines.append(
                outcome_line(event.passed, f"{event.stage:<13}{event.number + 1:>3} {event.kind}{message}", glyphs)
            )
        elif isinstance(event, Attempted):
            message = count(event.length, "step") if event.solved else f"{event.kind}: {event.message}"
            text = f"{event.instance}: {message}, {count(event.expansions, 'state')} expanded"
            lines.append(outcome_line(event.solved, text, glyphs))
    return lines or [Text("nothing was tested", "dim")]


SCREEN = Screen(panes, (Tab("functions", _functions_tab), Tab("tests", _tests_tab)))
