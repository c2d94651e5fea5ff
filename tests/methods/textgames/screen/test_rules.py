"""The panel and the lines about reading rules that a model has written."""

from __future__ import annotations

import pytest

import pddlego
from pddlego.display.console import UNICODE
from pddlego.display.screens import Canvas, Pane
from pddlego.episode.trace import Trace
from pddlego.methods.textgames.screen import panes
from pddlego.methods.textgames.screen.rules import rules_pane
from tests.display.rendering import drawn
from tests.traces import trace_of


@pytest.fixture(scope="module")
def learned() -> Trace:
    return trace_of(list(pddlego.play("coin", mode="learn", seed=12).events))


def test_the_panel_numbers_the_rules_and_counts_their_uses(learned: Trace) -> None:
    pane = rules_pane(learned, UNICODE)
    text = drawn(pane.draw(100, 20), 100, 20)
    assert "rules · " in text
    lines = [line for line in text.split("\n") if "To the {d} you see the {room}." in line]
    assert len(lines) == 1
    assert lines[0].strip(" │").startswith("rule ")
    assert "used " in lines[0]


@pytest.mark.parametrize("width", [100, 130, 200])
def test_the_screen_has_the_panel_beside_the_map_if_there_is_room(learned: Trace, width: int) -> None:
    columns = panes(learned, Canvas(width, 40, 1.0, UNICODE))
    shown = [pane for column in columns for row in column.panes for pane in ([row] if isinstance(row, Pane) else row)]
    titles = [str(pane.title if isinstance(pane.title, str) else "") for pane in shown]
    assert any(title.startswith("rules") for title in titles) is (width > 100), titles
