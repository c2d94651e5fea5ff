"""The picture of Graphplan at several sizes, and what is said of its events."""

from __future__ import annotations

import re

import pytest

from pddlego.display.console import ASCII, UNICODE, Glyphs
from pddlego.display.description import describe
from pddlego.display.screens import Canvas
from pddlego.episode.events import Event
from pddlego.methods.graphplan.events import SCREEN, Looking
from pddlego.planning.graphplan.values import SearchProgress
from tests.display.rendering import assert_fits, drawn, prefixes, screen_lines
from tests.methods.graphplan.playing import played


@pytest.fixture(scope="module")
def events() -> list[Event]:
    result = played("logistics", "adversarial", seed=3)
    return [*result[:-2], Looking(SearchProgress(2, 9, 3, 12_345, 600, 70)), *result[-2:]]


def test_every_moment_fits(events: list[Event]) -> None:
    assert_fits("graphplan", events)


def test_levels_searches_and_the_plan_stand_there(events: list[Event]) -> None:
    seen = ["\n".join(screen_lines("graphplan", trace, 130, 40)) for trace in prefixes(events)]
    assert any("planning graph: 18 objects" in text for text in seen)
    assert any("no plan without what was pruned" in text for text in seen)
    assert any("pass 2" in text for text in seen)
    assert any("now at 3: 12,345 nodes, 70 no-goods" in text for text in seen)
    assert "solved, 9 levels are enough" in seen[-1]
    assert any("asking adversarial (prune)" in text for text in seen)


def test_a_plan_with_more_lines_than_rows_says_how_many_more(events: list[Event]) -> None:
    ended = prefixes(events)[-1]
    *lines, result = screen_lines("graphplan", ended, 80, 22)
    assert result.startswith("won")
    start = next(number for number, line in enumerate(lines) if "─ plan ─" in line)
    assert "solved, 9 levels are enough" in lines[start + 1]
    hidden = re.search(r"(\d+) more", lines[-2])
    assert hidden is not None
    shown = len(lines[start + 1 : -2])
    (column,) = SCREEN.panes(ended, Canvas(80, 200, 1.0, UNICODE))
    rows = drawn(column.draw(80, 200), 80, 200).splitlines()
    whole = rows[next(number for number, line in enumerate(rows) if "─ plan ─" in line) + 1 : -1]
    assert shown + int(hidden.group(1)) == len([line for line in whole if line.strip("│ ")])


@pytest.mark.parametrize("glyphs", [UNICODE, ASCII])
def test_every_event_is_described(events: list[Event], glyphs: Glyphs) -> None:
    texts = [describe(event, glyphs).title.text for event in events]
    assert any("9 levels" in text for text in texts)
    assert any("searching from level 9, at 3" in text for text in texts)
