"""The picture of generalized planning at several sizes, and what is said of its events."""

from __future__ import annotations

import pytest

from pddlego.display.console import ASCII
from pddlego.display.description import describe
from pddlego.episode.events import Event
from pddlego.methods.programs.options import ProgramOptions
from pddlego.methods.programs.reference_model import reference
from pddlego.methods.programs.screen import SCREEN
from tests.display.rendering import assert_fits, prefixes, screen_lines
from tests.methods.programs.guiding import GOAL_COUNT, heuristic
from tests.methods.programs.playing import ending, events_of, small
from tests.sandbox.ordinary import needs_locks

pytestmark = needs_locks

WRONG = "```python\ndef get_plan(objects, init, goal):\n    return ['\x1b[2Jsail']\n```"


@pytest.fixture(scope="module")
def events() -> list[Event]:
    return events_of(small("ferry"), ("a", "b", WRONG, f"```python\n{reference('ferry')}```"))


@pytest.fixture(scope="module")
def heuristics() -> list[Event]:
    options = ProgramOptions(candidates=3)
    answers = ("no code", f"```python\n{GOAL_COUNT}```", f"```python\n{reference('spanner', 'heuristics')}```")
    return events_of(small("spanner", options), answers, "heuristic", options)


@pytest.mark.slow
def test_every_moment_fits(events: list[Event], heuristics: list[Event]) -> None:
    assert_fits("programs", events)
    assert_fits("programs", heuristics)


def test_what_came_last_is_marked_and_the_tasks_are_counted(events: list[Event]) -> None:
    text = "\n".join(screen_lines("programs", prefixes(events)[-1], 120, 40))
    assert "program 2:" in text
    assert "+     here = next(" in text
    assert "training   3/3" in text and "evaluation 4/4" in text
    assert "answer 1 of 2: 0 of 3 training tasks" in text
    shown = SCREEN.tabs[1].lines(prefixes(events)[-1].steps[-1], ASCII)
    assert len(shown) == 7, "also in the last step, which ran none"


def test_each_event_of_the_method_is_told_in_lines(events: list[Event]) -> None:
    text = [line.text for event in events for line in describe(event, ASCII).brief]
    assert any("x training-0 (" in line for line in text)
    assert text[-1].endswith("evaluation: 4 of 4 tasks solved")
    assert not any("cannot be described" in line for line in text)


def test_candidates_are_summarized_and_the_chosen_one_is_named(heuristics: list[Event]) -> None:
    text = "\n".join(screen_lines("programs", prefixes(heuristics)[-1], 120, 40))
    assert "heuristic 3:" in text and "answer 3 is chosen" in text
    lines = [line.text for event in heuristics for line in describe(event, ASCII).brief]
    assert not any("x training-" in line for line in lines)  # a line for each candidate, not for each task
    assert any("heuristic 1: 0 of 3 training tasks solved; exception in loading" in line for line in lines)
    assert "heuristic 3 is chosen: 3 of 3 training tasks solved, agile score 3.0, " in "\n".join(lines)


def on_large_tasks(fault: str) -> str:
    """A heuristic that counts goals, and fails on the tasks of the evaluation."""
    return heuristic(f"if len(self.goals) > 10:\n    {fault}\nreturn len(self.goals - node.state)")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mode", "code", "reason"),
    [
        ("heuristic", on_large_tasks("while True: pass"), "2 timeout"),
        ("heuristic", on_large_tasks("raise ValueError"), "2 exception in __call__"),
        ("heuristic", reference("blocks", "heuristics"), ""),
        ("program", "def get_plan(objects, init, goal):\n    return []", "2 plan semantics"),
        ("random", "", "2 horizon"),
    ],
)
def test_an_evaluation_says_why_tasks_were_not_solved(mode: str, code: str, reason: str) -> None:
    """In the message of the episode, in its lines and on the screen. That the time was up is a reason like others."""
    seconds = 1.0 if "timeout" in reason else 120.0
    options = ProgramOptions(candidates=1, debug_rounds=0, horizon=5, eval_timeout=seconds)
    events = events_of(small("blocks", options, 1, 2), (f"```python\n{code}\n```",), mode, options)
    solved, says = (0, f"; not solved: {reason}") if reason else (2, "")
    assert ending(events).message == f"{solved} of 2 evaluation tasks solved{says}"
    lines = [line.text for event in events for line in describe(event, ASCII).brief]
    assert any(line.endswith(f"evaluation: {solved} of 2 tasks solved{says}") for line in lines)
    assert f"score {solved / 2:.2f}{says}" in "\n".join(screen_lines("programs", prefixes(events)[-1], 120, 40))
