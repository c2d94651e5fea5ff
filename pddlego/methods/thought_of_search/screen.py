"""The live picture of Thought of Search: both functions, the tests as rows of marks, the search, what goes back."""

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
from pddlego.methods.thought_of_search.events import PASSED, Attempted, Stage, Tested
from pddlego.methods.thought_of_search.space import Which
from pddlego.methods.thought_of_search.view import STAGES, Function, SearchView, fold
from pddlego.util.text import clean, one_line

WIDE = 110

TITLES: dict[Which, str] = {"successors": "successor function", "goal": "goal test"}

LABEL = 20
"""Cells of the words before the marks."""

GOAL_LINES = 4
"""Least lines of the goal test's panel, with its border."""


class SearchScreen:
    """A `Screen`."""

    start = SearchView()

    @property
    def tabs(self) -> tuple[Tab, ...]:
        return (
            Tab("functions", "both functions: what this answer changed is green", _function_lines),
            Tab("tests", "tests and searches after this answer", _test_lines),
        )

    def fold(self, view: SearchView, event: Event, seconds: float) -> SearchView:
        return fold(view, event, seconds)

    def body(self, view: SearchView, width: int, height: int, now: float, glyphs: Glyphs) -> RenderableType:
        if width >= WIDE:
            left = width * 56 // 100
            tests = _tests_height(view, width - left)
            right = Group(
                tests_panel(view, width - left, tests, glyphs),
                talk_panel(view, width - left, height - tests, now, glyphs),
            )
            return beside(_functions(view, left, height, glyphs), right)
        tests, talk = _tests_height(view, width), max(4, height // 4)
        return Group(
            _functions(view, width, height - tests - talk, glyphs),
            tests_panel(view, width, tests, glyphs),
            talk_panel(view, width, talk, now, glyphs),
        )

    def latest(self, view: SearchView, width: int, height: int, now: float, glyphs: Glyphs) -> RenderableType:
        return talk_panel(view, width, height, now, glyphs)

    def small(self, view: SearchView, width: int, height: int, glyphs: Glyphs) -> Panel:
        return tests_panel(view, width, height, glyphs)

    def portrait(self, view: SearchView) -> str:
        """Both functions as they were in the end."""
        texts = [view.functions[which].text for which in TITLES if which in view.functions]
        return "\n\n\n".join(texts)


def _functions(view: SearchView, width: int, height: int, glyphs: Glyphs) -> RenderableType:
    """Both functions, one above the other; where there is no room for two, the one that was written last."""
    goal = len(view.functions.get("goal", Function()).text.splitlines()) + 2
    goal = min(max(GOAL_LINES, goal), height // 3)
    if goal < GOAL_LINES:
        return function_panel(view, view.turn, width, height, glyphs)
    return Group(
        function_panel(view, "successors", width, height - goal, glyphs),
        function_panel(view, "goal", width, goal, glyphs),
    )


def function_panel(view: SearchView, which: Which, width: int, height: int, glyphs: Glyphs) -> Panel:
    """A function from a little before what its last answer changed."""
    function = view.functions.get(which, Function())
    if not function.text:
        return panel([Text(f"no {TITLES[which]} yet", "dim")], TITLES[which], width, height)
    lines = code_lines(function.text, 0, frozenset(function.before.splitlines()), glyphs)
    first = next((number for number, line in enumerate(lines) if line.style == "green"), 0)
    title = f"{TITLES[which]}: answer {function.answers}, {len(lines)} lines"
    return text_panel([cut(line, width - 4) for line in lines], title, width, height, first - 1)


def _totals(view: SearchView) -> dict[Stage, int]:
    """How many tests there are of each stage."""
    prepared = view.prepared
    counts = (prepared.goal, prepared.soundness, prepared.completeness) if prepared is not None else (0, 0, 0)
    return dict(zip(STAGES, counts, strict=True))


def _tests_height(view: SearchView, width: int) -> int:
    room = max(1, width - 4 - LABEL)
    return 2 + sum(max(1, -(-total // room)) for total in _totals(view).values()) + 2


def tests_panel(view: SearchView, width: int, height: int, glyphs: Glyphs) -> Panel:
    """A mark for each test, how many instances are solved, and how fast the search is."""
    inside = width - 4
    lines = []
    for stage, total in _totals(view).items():
        lines += _marks(stage, view.marks.get(stage, ()), total, inside, glyphs)
    lines += [_instances(view, inside, glyphs), _speed(view, inside)]
    return panel(lines[: max(1, height - 2)], "tests", width, height)


def _marks(label: str, kinds: tuple[str, ...], total: int, width: int, glyphs: Glyphs) -> list[Text]:
    passed = [kind == PASSED for kind in kinds]
    told = f"{label:<13}{f'{sum(passed)}/{total}':<{LABEL - 13}}"
    return marks(told, passed, total, width, glyphs)


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


def talk_panel(view: SearchView, width: int, height: int, now: float, glyphs: Glyphs) -> Panel:
    """The last counterexample, the last instance that was not solved, or what the model is saying now."""
    lines: list[Text] = []
    title = "counterexample"
    if view.rejected is not None:
        feedback = view.rejected.feedback
        lines.append(Text(f"{glyphs.failed} {feedback.category}: {clean(feedback.message)}", "bold red"))
        lines += [Text(clean(line), "red") for line in feedback.evidence]
    elif view.last is not None:
        title, last = "last instance", view.last
        style, mark = ("green", glyphs.done) if last.solved else ("red", glyphs.failed)
        said = f"{mark} {last.instance}: {last.kind}, {last.length} steps, {last.expansions:,} states expanded"
        lines += [Text(clean(said), style), *([Text(clean(last.message), style)] if last.message else [])]
    elif view.marks:
        lines.append(Text("nothing is wrong so far", "dim"))
    asking = asking_lines(view, now)
    words = word_lines(view, width - 4, max(0, height - 3))
    room = max(1, height - 2)
    if words:
        return panel([*asking, *words][-room:], "answer", width, height)
    rows = wrapped(lines, width - 4)
    return panel([*rows[: max(0, room - len(asking))], *asking], title, width, height)


def _function_lines(frame: Frame, glyphs: Glyphs) -> list[Text]:
    found: list[Text] = []
    for which, title in TITLES.items():
        function = frame.after.functions.get(which)
        if function is not None:
            found.append(Text(f"{title}: answer {function.answers}", "bold"))
            found += code_lines(function.text, 0, frozenset(function.before.splitlines()), glyphs)
    return found or [Text("no function yet", "dim")]


def _test_lines(frame: Frame, glyphs: Glyphs) -> list[Text]:
    found = []
    for event in frame.events:
        if isinstance(event, Tested):
            mark, style = (glyphs.done, "green") if event.passed else (glyphs.failed, "red")
            said = f": {event.message}" if event.message else ""
            found.append(Text(clean(f"{mark} {event.stage:<13}{event.number + 1:>3} {event.kind}{said}"), style))
        elif isinstance(event, Attempted):
            mark, style = (glyphs.done, "green") if event.solved else (glyphs.failed, "red")
            said = f"{event.length} steps" if event.solved else f"{event.kind}: {event.message}"
            text = f"{mark} {event.instance}: {said}, {event.expansions:,} states expanded"
            found.append(Text(clean(text), style))
    return found or [Text("nothing was tested", "dim")]


SCREEN = SearchScreen
