"""The tab with the actions that play has taught."""

from __future__ import annotations

import pytest

import pddlego
from pddlego.display.console import UNICODE
from pddlego.episode.events import Accepted, Started
from pddlego.episode.trace import Step, Trace
from pddlego.methods.textgames.options import LEARN_ACTIONS, TRANSITIONS
from pddlego.methods.textgames.screen.actions import actions_lines, learns_actions
from tests.traces import trace_of


@pytest.fixture(scope="module")
def explored() -> Trace:
    return trace_of(list(pddlego.play("coin", mode=LEARN_ACTIONS, seed=12, max_steps=6).events))


def step_with(lesson: int, explored: Trace) -> Step:
    """A step that taught what this lesson of an episode did."""
    lessons = [event for event in explored.all(Accepted) if event.kind == TRANSITIONS.kind][: lesson + 1]
    before, after = (trace_of([explored.begun, *some]) for some in (lessons[:-1], lessons))
    return Step(1, (), before, after)


def shown(step: Step) -> list[tuple[str, bool]]:
    """The lines, and whether the step has taught them."""
    return [(line.plain, "green" in f"{line.style}") for line in actions_lines(step, UNICODE)]


def test_what_a_step_has_taught_is_marked(explored: Trace) -> None:
    first, second = (shown(step_with(lesson, explored)) for lesson in range(2))
    (move,) = (line for line in first if line[0].startswith("move (?from - location"))
    assert move[1]
    assert move[0].endswith("never succeeded, refused 1 time")
    (opened,) = (line for line in second if line[0].startswith("open_door ("))
    assert opened[0].endswith("succeeded 1 time")
    lines = second[second.index(opened) :]
    assert ("  may need", False) in lines
    assert ("  + (closed_door ?from ?to)", True) in lines
    assert ("  + (not (closed_door ?from ?to))", True) in lines[lines.index(("  makes", False)) :]
    third = shown(step_with(2, explored))
    assert ("    (closed_door ?from ?to)", False) in third, "the step before has taught it"


def test_a_setting_that_is_missing_is_said(explored: Trace) -> None:
    step = step_with(0, explored)
    elsewhere = {"setting": "no-such-game", "mode": LEARN_ACTIONS}
    events = [Started(**{**vars(explored.begun), **elsewhere}), *step.after.all(Accepted)]
    (line,) = actions_lines(Step(1, (), trace_of(events[:1]), trace_of(events)), UNICODE)
    assert "no-such-game" in line.plain


@pytest.mark.parametrize(("mode", "learns"), [(LEARN_ACTIONS, True), ("edit", False), ("act", False)])
def test_only_a_mode_that_learns_actions_has_the_tab(explored: Trace, mode: str, learns: bool) -> None:
    assert learns_actions(trace_of([Started(**{**vars(explored.begun), "mode": mode})])) is learns
