"""The picture of Thought of Search at several sizes, and what is said of its events."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from pddlego.display.console import ASCII, UNICODE, Glyphs
from pddlego.display.description import Describer
from pddlego.episode.events import Event
from pddlego.methods.thought_of_search.events import DESCRIBED, SearchRunning
from pddlego.methods.thought_of_search.screen import SearchScreen, SearchView
from tests.methods.thought_of_search.playing import events_of, fenced, right, small
from tests.sandbox.ordinary import needs_locks

pytestmark = needs_locks

SCREEN = SearchScreen()
SUCC, GOAL = right("24game")
WRONG = fenced("def successors(state):\n    x = '\x1b[2J'\n    return []")


@pytest.fixture(scope="module")
def events() -> list[Event]:
    return events_of(small("24game"), (WRONG, GOAL, SUCC))


def drawn(view: SearchView, width: int, height: int) -> list[str]:
    console = Console(file=io.StringIO(), width=width, height=height, force_terminal=False)
    console.print(SCREEN.body(view, width, height, 0.0, UNICODE))
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue().splitlines()


def views(events: list[Event]) -> list[SearchView]:
    result = [SCREEN.start]
    for number, event in enumerate(events):
        result.append(SCREEN.fold(result[-1], event, number / 10))
    return result


@pytest.mark.parametrize(("width", "height"), [(72, 18), (80, 22), (109, 30), (110, 30), (200, 42)])
def test_every_moment_fits(events: list[Event], width: int, height: int) -> None:
    for view in views(events):
        lines = drawn(view, width, height)
        assert len(lines) <= height
        assert all(len(line) <= width for line in lines)
        assert "\x1b[2J" not in "".join(lines)


def test_marks_turn_and_the_counterexample_stands_there(events: list[Event]) -> None:
    seen = ["\n".join(drawn(view, 120, 32)) for view in views(events)]
    assert any("goal         8/8    ✓✓✓✓✓✓✓✓" in text for text in seen)
    assert any("✗ successors missing" in text and "missing successors: [[" in text for text in seen)
    assert "instances    2/2" in seen[-1]
    assert "expansions/s" in seen[-1]


def test_a_search_that_goes_on_says_how_far_it_is_and_an_evaluation_when_it_ends(events: list[Event]) -> None:
    before = next(view for view in views(events) if view.tried == 1)
    assert before.left is not None
    view = SCREEN.fold(before, SearchRunning("7", 12_345), 9.0)
    assert "7: 12,345 expanded" in "\n".join(drawn(view, 120, 32))


@pytest.mark.parametrize("glyphs", [UNICODE, ASCII])
def test_every_event_is_described(events: list[Event], glyphs: Glyphs) -> None:
    describe = Describer(DESCRIBED)
    for event in [*events, SearchRunning("7", 3)]:
        text = describe(event, glyphs)
        assert text.title.text or not text.brief
