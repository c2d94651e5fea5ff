from __future__ import annotations

import io
from collections.abc import Callable

import pytest
from rich.console import Console

from pddlego.display.lines import SILENCE, LineDisplay
from pddlego.episode.events import Event
from pddlego.methods.programs.events import SOLVED, Ran
from pddlego.methods.registry import renderer_of
from pddlego.methods.thought_of_search.events import SearchRunning


def _ran(number: int) -> Event:
    return Ran("evaluation", number, f"hand{number}", 30, SOLVED, length=90, seconds=4.0)


def _searching(number: int) -> Event:
    return SearchRunning(f"hand{number}", 1000)


@pytest.mark.parametrize(("method", "event"), [("programs", _ran), ("thought_of_search", _searching)])
def test_what_takes_long_is_not_silent_on_a_pipe(method: str, event: Callable[[int], Event]) -> None:
    stream = io.StringIO()
    display = LineDisplay(Console(file=stream, width=100), renderer_of(method).describe)
    for number in range(10):
        display.show(event(number), SILENCE * number / 4)
    lines = stream.getvalue().splitlines()
    assert len(lines) == 2
    assert "hand4" in lines[0]
    assert "hand8" in lines[1]
