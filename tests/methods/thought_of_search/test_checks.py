"""What the Python files of settings say is right, and what they say of values that are none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from pddlego.episode.events import Outcome
from pddlego.methods.thought_of_search.file_space import FileSpace
from pddlego.methods.thought_of_search.loading import load
from pddlego.methods.thought_of_search.options import SearchOptions
from pddlego.methods.thought_of_search.space import Instance, SearchTask
from pddlego.sandbox import Sandbox
from tests.methods.thought_of_search.playing import ending, events_of, fenced, kinds, right, small
from tests.sandbox.ordinary import needs_locks

pytestmark = needs_locks


@pytest.mark.parametrize(
    ("path", "right"),
    [
        ([[1, 1, 1, 1], [0.0009, 1, 1], [0.0009, 0.0000375], [24.0]], False),  # every step is within the tolerance
        ([[3, 3, 8, 8], [3, 8, 8 / 3], [8, 3 - 8 / 3], [8 / (3 - 8 / 3)]], True),
        ([[3, 3, 8, 8], [3, 8, 2.666667], [8, 0.333333], [24.000024]], True),  # rounded
        ([[1, 5, 5, 5], [5, 5, 0.2], [5, 4.8], [24.0]], True),
        ([[1, 2, 3, 4], [3, 3, 4], [3, 12], [36]], False),
        ([[1, 2, 3, 4], [2, 3, 4], [6, 4], [24]], True),
        ([[1, 2, 3, 4], [float("nan"), 2, 3], [float("inf"), 1], [24]], False),
    ],
)
def test_24_is_made_of_exact_numbers(path: Sequence[Any], right: bool) -> None:
    with Sandbox() as sandbox, load("24game", SearchOptions()).space.judge(sandbox, 0) as judge:
        instance = Instance("1", (SearchTask(path[0]),), {"state": path[0]})
        assert (judge.validate(instance, 0, path) == "") is right


SUCC, GOAL = right("24game")


@pytest.mark.parametrize(
    ("function", "line"),
    [
        ("def check(state, successor, item):", "if len(successor) == 2: return item['sucessors']"),
        ("def is_goal(state, item):", "if len(state) == 1: return item['goal']"),
        ("def validate(path, search, item):", "if path and len(path) == 4: return item['solved']"),
    ],
)
def test_an_exception_of_checks_ends_the_episode_as_the_fault_of_the_setting(function: str, line: str) -> None:
    setting = small("24game")
    assert isinstance(setting.space, FileSpace)
    few = {"goals": "", "non_goals": "[24, 1]\n", "successors": ""}  # what a search finds first is in no list
    texts = {**setting.space.texts, **few}
    texts["checks"] = texts["checks"].replace(function, f"{function}\n    {line}")
    events = events_of(replace(setting, space=replace(setting.space, texts=texts)), (SUCC, GOAL, SUCC, GOAL))
    assert kinds(events) == []
    assert ending(events).outcome is Outcome.CRASHED
    assert "24game/checks.py is wrong: KeyError" in ending(events).message
    assert f", in {function.split()[1].partition('(')[0]}" in ending(events).message


def test_an_exception_of_checks_on_what_is_no_state_is_the_fault_of_the_function() -> None:
    wrong = fenced("def successors(state):\n    return [5]")
    events = events_of(small("24game"), (wrong, GOAL, SUCC))
    assert kinds(events) == ["unsound transition"]
    assert ending(events).outcome is Outcome.WON
