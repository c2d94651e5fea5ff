"""The picture of Thought of Search at several sizes, and what is said of its events."""

from __future__ import annotations

import re

import pytest

from pddlego.display.console import ASCII, UNICODE, Glyphs
from pddlego.display.description import describe
from pddlego.episode.events import Event
from pddlego.methods.thought_of_search.events import Attempted, SearchRunning
from tests.display.rendering import assert_fits, prefixes, screen_lines
from tests.methods.thought_of_search.playing import events_of, fenced, right, small
from tests.sandbox.ordinary import needs_locks

pytestmark = needs_locks

SUCC, GOAL = right("24game")
WRONG = fenced("def successors(state):\n    x = '\x1b[2J'\n    return []")


@pytest.fixture(scope="module")
def events() -> list[Event]:
    return events_of(small("24game"), (WRONG, GOAL, SUCC))


def test_every_moment_fits(events: list[Event]) -> None:
    assert_fits("thought_of_search", events)


def test_marks_turn_and_the_counterexample_stands_there(events: list[Event]) -> None:
    seen = ["\n".join(screen_lines("thought_of_search", trace, 120, 32)) for trace in prefixes(events)]
    assert any("goal         8/8    ✓✓✓✓✓✓✓✓" in text for text in seen)
    assert any("✗ successors missing" in text and "missing successors: [[" in text for text in seen)
    assert "instances    2/2" in seen[-1]
    assert "expansions/s" in seen[-1]


def test_a_search_that_goes_on_says_how_far_it_is_and_an_evaluation_when_it_ends(events: list[Event]) -> None:
    before = next(trace for trace in prefixes(events) if len(trace.all(Attempted)) == 1)
    lines = screen_lines("thought_of_search", before.with_events([SearchRunning("7", 12_345)]), 120, 32)
    assert any(re.search(r"\d+ s left, 7: 12,345 expanded", line) for line in lines)


@pytest.mark.parametrize("glyphs", [UNICODE, ASCII])
def test_every_event_is_described(events: list[Event], glyphs: Glyphs) -> None:
    for event in [*events, SearchRunning("7", 3)]:
        text = describe(event, glyphs)
        assert text.title.text or not text.brief
