from __future__ import annotations

import io
import re
import time
from collections.abc import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rich.console import Console

from pddlego.display.console import UNICODE
from pddlego.display.lines import LineDisplay, event_lines
from pddlego.episode.events import Accepted, Answered, Asked, Event
from pddlego.methods.programs.events import SOLVED, Ran
from pddlego.methods.textgames.events import Observed
from pddlego.methods.thought_of_search.events import SearchRunning
from pddlego.models import Completion
from pddlego.util.limits import SILENCE, SLICE
from pddlego.util.text import clean
from tests.clock import FakeClock
from tests.display.rendering import shown


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


SAID = st.text() | st.sampled_from(["I'd like to go north", "\x1b[31mgo\x07 north\u202e\n", "go " * 5000])


@given(SAID, st.sampled_from(["", "go up"]))
@example("I'd like to go north", "")
def test_an_empty_or_refused_command_shows_the_words_of_the_model(said: str, command: str) -> None:
    """On one line of bounded length, without control characters; words that are the command are not repeated."""
    refused = Observed(1, command, "Unknown action", "Unknown action", refused=True)
    trace = shown([Asked(1, "act", 0, (), 0), Answered(1, Completion(said)), refused])
    ((line, _),) = event_lines(refused, trace, UNICODE)
    words = " ".join(clean(said).split())
    assert line == clean(line)
    assert "\n" not in line
    assert len(line) < 160
    assert (words[:40] in line) or not words
    assert line.count("go up") <= 1 or words != command
    if not command:
        assert line.startswith('  1  (no command in: "' if words else "  1  (no command: the answer is empty)")


def test_only_the_answer_that_brought_a_command_is_shown_with_it() -> None:
    """The command of a plan, and one that the game took, stay as they are."""
    problem = Accepted("problem", "(define)")
    plan = [Asked(1, "edit", 0, (), 0), Answered(1, Completion("north is open")), problem]
    for before, refused in ((plan, True), (plan[:2], False)):
        event = Observed(1, "go up", "You are there.", "You are there.", refused=refused)
        assert next(event_lines(event, shown([*before, event]), UNICODE))[0].startswith("  1  go up → You")
