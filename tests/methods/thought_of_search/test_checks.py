"""What the Python files of settings say is right, and what they say of values that are none."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Literal

import pytest

from pddlego.episode.events import Outcome
from pddlego.methods.thought_of_search.file_space import FileSpace
from pddlego.methods.thought_of_search.loading import load
from pddlego.methods.thought_of_search.options import SearchOptions
from pddlego.methods.thought_of_search.space import Instance, SearchTask, SpaceJudge
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


def test_parity_leaves_out_what_the_paper_does_not_have() -> None:
    """The 24 Game without our extra goal tests and the puzzles of the tests; BlocksWorld checks the arm in both."""
    sizes = {}
    both: tuple[Literal["off", "paper"], ...] = ("off", "paper")
    for parity in both:
        with judging("24game", parity) as judge:
            sizes[parity] = (len(judge.goal_tests), len(judge.instances))
    assert sizes == {"off": (8, 1362), "paper": (6, 1352)}
    state = {"clear": ["a"], "on-table": ["a"], "arm-empty": True, "holding": "b", "on": []}
    found = {}
    for parity in both:
        with judging("blocksworld", parity) as judge:
            found[parity] = judge.first_bad(judge.soundness[0], [(state, [state])]) is None
            assert judge.first_bad(judge.soundness[0], [(state, [{**state, "clear": []}])]) is not None
            assert len(judge.instances) == 500
    assert found == {"off": False, "paper": False}


@contextmanager
def judging(name: str, parity: Literal["off", "paper"]) -> Iterator[SpaceJudge]:
    setting = load(name, SearchOptions(parity=parity))
    with Sandbox() as sandbox, setting.space.judge(sandbox, 0) as judge:
        yield judge


def test_a_correct_program_passes_our_own_list_if_states_are_compared_as_texts() -> None:
    """`4 / 4` is `1.0` in a program, so the list says `1.0` there, too."""
    options = SearchOptions(instances=2, parity="paper")
    events = events_of(load("24game", options), right("24game"), options=options)
    assert ending(events).outcome is Outcome.WON
