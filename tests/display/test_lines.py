from __future__ import annotations

import io
import re
import time
from collections.abc import Callable

import pytest
from rich.console import Console

from pddlego.display.lines import LineDisplay
from pddlego.episode.events import Event
from pddlego.methods.programs.events import SOLVED, Ran
from pddlego.methods.thought_of_search.events import SearchRunning
from pddlego.util.limits import SILENCE, SLICE
from tests.clock import FakeClock


def _ran(number: int) -> Event:
    return Ran("evaluation", number, f"hand{number}", 30, SOLVED, length=90, seconds=4.0)


def _searching(number: int) -> Event:
    return SearchRunning(f"hand{number}", 1000)


@pytest.mark.parametrize(("method", "event"), [("programs", _ran), ("thought_of_search", _searching)])
def test_what_takes_long_is_not_silent_on_a_pipe(method: str, event: Callable[[int], Event]) -> None:
    """The last event that has no line of its own is reported, as long as nothing else is printed."""
    stream, clock = io.StringIO(), FakeClock()
    with LineDisplay(Console(file=stream, width=100), clock) as display:
        display.show(event(4), 0.0)
        while stream.getvalue().count("\n") < 2:
            clock.advance(SILENCE)
            time.sleep(0.01)
    lines = stream.getvalue().splitlines()
    assert all(re.match(r"     … \d+ s, .*hand4", line) for line in lines)


def test_a_question_is_not_interrupted_by_progress() -> None:
    stream, clock = io.StringIO(), FakeClock()
    with LineDisplay(Console(file=stream, width=100), clock) as display:
        display.show_question("Accept?")
        clock.advance(SILENCE)
        time.sleep(2 * SLICE)  # a report takes so long at most
        assert stream.getvalue() == "Accept?\n"
