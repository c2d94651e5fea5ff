"""The live picture of Thought of Search: both functions, the tests as rows of marks, the search, what goes back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.text import Text

from pddlego.display.code import CodeScreen, code_lines, code_panel, marked
from pddlego.display.console import Glyphs
from pddlego.display.frames import Frame
from pddlego.display.screens import Tab, marks, panel
from pddlego.display.view import View, cleaned, fold_common
from pddlego.episode.events import Event
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
from pddlego.methods.thought_of_search.space import Which
from pddlego.util.text import clean, count, one_line

_STAGES: tuple[TestStage, ...] = ("goal", "soundness", "completeness")

_TESTED_BY: Mapping[Which, tuple[TestStage, ...]] = {
    "goal": ("goal", "soundness", "completeness"),
    "successors": ("soundness", "completeness"),
}
"""The tests that are made again after a new answer for a function."""


@dataclass(frozen=True)
class FunctionView:
    """A function as it is, and as it was before the last answer."""

    text: str = ""
    before: str = ""
    answers: int = 0


@dataclass(frozen=True)
class SearchView(View):
    """The state of one episode as far as it is shown.

    `functions` are both; `turn` is the one that was written last. `marks` are the kinds of the tests of each stage that
    were made since. `evaluated_at` is when the first instance was tried.
    """

    prepared: Prepared | None = None
    functions: Mapping[Which, FunctionView] = field(default_factory=dict)
    turn: Which = "successors"
    marks: Mapping[TestStage, tuple[str, ...]] = field(default_factory=dict)
    searching: SearchRunning | None = None
    tried: int = 0
    solved: int = 0
    expansions: int = 0
    search_seconds: float = 0.0
    last: Attempted | None = None
    evaluated_at: float = 0.0
    finished: Finished | None = None

    @property
    def left(self) -> float | None:
        """An estimate of the seconds until all instances are tried; None where nothing can be said."""
        if self.prepared is None or not self.tried or self.finished is not None:
            return None
        return (self.seconds - self.evaluated_at) / self.tried * (self.prepared.instances - self.tried)


def fold(view: SearchView, event: Event, seconds: float) -> SearchView:
    """The view after `event`, which happened `seconds` after the start."""
    event = cleaned(event)
    view = fold_common(view, event, seconds)
    if isinstance(event, Prepared):
        return replace(view, prepared=event, evaluated_at=seconds)
    if isinstance(event, Coded):
        old = view.functions.get(event.which, FunctionView())
        function = FunctionView(event.code or old.text, old.text, event.answer)
        marks = {stage: kinds for stage, kinds in view.marks.items() if stage not in _TESTED_BY[event.which]}
        functions = {**view.functions, event.which: function}
        return replace(view, functions=functions, turn=event.which, marks=marks, searching=None)
    if isinstance(event, Tested):
        kinds = (*view.marks.get(event.stage, ())[: event.number], event.kind)
        return replace(view, marks={**view.marks, event.stage: kinds}, searching=None, evaluated_at=seconds)
    if isinstance(event, SearchRunning):
        return replace(view, searching=event)
    if isinstance(event, Attempted):
        return replace(
            view,
            tried=view.tried + 1,
            solved=view.solved + event.solved,
            expansions=view.expansions + event.expansions,
            search_seconds=view.search_seconds + event.seconds,
            last=event,
            searching=None,
            rejected=None,
        )
    if isinstance(event, Finished):
        return replace(view, finished=event)
    return view


_TITLES: dict[Which, str] = {"successors": "successor function", "goal": "goal test"}

_GOAL_LINES = 4
"""Least lines of the goal test's panel, with its border."""


def _function_panel(view: SearchView, which: Which, width: int, height: int, glyphs: Glyphs) -> Panel:
    """A function from a little before what its last answer changed."""
    function = view.functions.get(which, FunctionView())
    if not function.text:
        return panel([Text(f"no {_TITLES[which]} yet", "dim")], _TITLES[which], width, height)
    lines = code_lines(function.text, 0, frozenset(function.before.splitlines()), glyphs)
    first = next((number for number, line in enumerate(lines) if line.style == "green"), 0)
    title = f"{_TITLES[which]}: answer {function.answers}, {count(len(lines), 'line')}"
    return code_panel(lines, first, title, width, height)


def _marks(label: str, kinds: tuple[str, ...], total: int, width: int, glyphs: Glyphs) -> list[Text]:
    passed = [kind == PASSED for kind in kinds]
    return marks(f"{label:<13}{f'{sum(passed)}/{total}':<7}", passed, total, width, glyphs)


def _instances(view: SearchView, width: int, glyphs: Glyphs) -> Text:
    """Instances that are solved, as a bar: green for those, red for those that are not."""
    total = view.prepared.instances if view.prepared is not None else 0
    line = Text(f"{'instances':<13}", "bold", no_wrap=True)
    line.append(f"{view.solved}/{total} ")
    room = max(0, min(60, width - line.cell_len))
    solved = room * view.solved // total if total else 0
    failed = room * view.tried // total - solved if total else 0
    line.append(glyphs.across * solved, "bold green")
    line.append(glyphs.across * failed, "bold red")
    line.append(glyphs.dot * (room - solved - failed), "dim")
    return line


def _speed(view: SearchView, width: int) -> Text:
    parts = []
    if view.search_seconds > 0:
        parts.append(f"{view.expansions / view.search_seconds:,.0f} expansions/s")
    if view.left is not None:
        parts.append(f"{_time(view.left)} left")
    if view.searching is not None:
        parts.append(f"{view.searching.instance}: {view.searching.expansions:,} expanded")
    return Text(one_line(", ".join(parts), width), "dim", no_wrap=True)


def _time(seconds: float) -> str:
    minutes = round(seconds) // 60
    return f"{minutes} min {round(seconds) % 60} s" if minutes else f"{round(seconds)} s"


def _function_lines(frame: Frame, glyphs: Glyphs) -> list[Text]:
    lines: list[Text] = []
    for which, title in _TITLES.items():
        function = frame.after.functions.get(which)
        if function is not None:
            lines.append(Text(f"{title}: answer {function.answers}", "bold"))
            lines += code_lines(function.text, 0, frozenset(function.before.splitlines()), glyphs)
    return lines or [Text("no function yet", "dim")]


def _test_lines(frame: Frame, glyphs: Glyphs) -> list[Text]:
    lines = []
    for event in frame.events:
        if isinstance(event, Tested):
            message = f": {event.message}" if event.message else ""
            lines.append(marked(event.passed, f"{event.stage:<13}{event.number + 1:>3} {event.kind}{message}", glyphs))
        elif isinstance(event, Attempted):
            message = count(event.length, "step") if event.solved else f"{event.kind}: {event.message}"
            text = f"{event.instance}: {message}, {event.expansions:,} states expanded"
            lines.append(marked(event.solved, text, glyphs))
    return lines or [Text("nothing was tested", "dim")]


class SearchScreen(CodeScreen[SearchView]):
    """A `Screen`."""

    start = SearchView()
    fold = staticmethod(fold)
    tabs = (
        Tab("functions", _function_lines),
        Tab("tests", _test_lines),
    )
    code_share, talk_share, keeps_end = 56, (4, 4), False

    def code(self, view: SearchView, width: int, height: int, glyphs: Glyphs) -> RenderableType:
        """Both functions, one above the other; on a small screen only the newer one."""
        goal = len(view.functions.get("goal", FunctionView()).text.splitlines()) + 2
        goal = min(max(_GOAL_LINES, goal), height // 3)
        if goal < _GOAL_LINES:
            return _function_panel(view, view.turn, width, height, glyphs)
        return Group(
            _function_panel(view, "successors", width, height - goal, glyphs),
            _function_panel(view, "goal", width, goal, glyphs),
        )

    def tests(self, view: SearchView, width: int, glyphs: Glyphs) -> tuple[str, list[Text]]:
        """A mark for each test, how many instances are solved, and how fast the search is."""
        prepared, rows = view.prepared, []
        for stage in _STAGES:
            total = getattr(prepared, stage) if prepared is not None else 0
            rows += _marks(stage, view.marks.get(stage, ()), total, width, glyphs)
        return "tests", [*rows, _instances(view, width, glyphs), _speed(view, width)]

    def feedback(self, view: SearchView, glyphs: Glyphs) -> tuple[str, list[Text]]:
        """The last counterexample, or the last instance that was tried."""
        if view.rejected is not None:
            feedback = view.rejected.feedback
            title = Text(f"{glyphs.failed} {feedback.category}: {clean(feedback.message)}", "bold red")
            return "counterexample", [title, *(Text(clean(line), "red") for line in feedback.evidence)]
        if view.last is not None:
            last = view.last
            text = f"{last.instance}: {last.kind}, {last.length} steps, {last.expansions:,} states expanded"
            line = marked(last.solved, text, glyphs)
            return "last instance", [line, *([Text(clean(last.message), line.style)] if last.message else [])]
        return "counterexample", [Text("nothing is wrong so far", "dim")] if view.marks else []


SCREEN = SearchScreen
