"""Many states with one message: numbers, faults in the middle, changes of arguments, and forged reports."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pddlego.methods.thought_of_search.expander import Expander
from pddlego.methods.thought_of_search.functions import Changed, Expansion, read_expansion
from pddlego.sandbox import CallResult, Sandbox, SandboxLimits, SandboxSession, Status
from pddlego.sandbox.jail.values import tagged
from tests.sandbox.attacks import FORGE
from tests.sandbox.ordinary import needs_locks
from tests.scale import PATIENT

pytestmark = needs_locks

TREE = "def successors(n, most):\n    return [[n[0] * 2], [n[0] * 2 + 1]] if n[0] < most else []"
EVEN = "def is_goal(n, wanted):\n    return n[0] == wanted"


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox() as made:
        yield made


def session(sandbox: Sandbox, successors: str = TREE, goal: str = EVEN, seconds: float = 5.0) -> SandboxSession:
    result = sandbox.session(SandboxLimits(seconds=seconds, patience=PATIENT, grace=0.2), driver=Expander)
    assert result.load(successors, module="succ").returned
    assert result.load(goal, module="goal").returned
    return result


def post(
    program: SandboxSession, *states: Any, wanted: int = -1, watched: bool = False, fresh: int | None = None
) -> None:
    sent = [state if isinstance(state, int) else {"v": tagged(state, 1_000)} for state in states]
    goal, successors = ("goal", "is_goal"), ("succ", "successors")
    functions = {
        "goal": {"function": goal, "arguments": [wanted]},
        "successors": {"function": successors, "arguments": [8]},
    }
    check = partial(read_expansion, states=len(sent), arguments=2)
    program.post("expand", sent, functions, watched, fresh, check=check)


def asked(program: SandboxSession, *states: Any, **details: Any) -> CallResult:
    post(program, *states, **details)
    return program.collect()


def expanded(program: SandboxSession, *states: Any, **details: Any) -> Expansion:
    result: Expansion = asked(program, *states, **details).value
    return result


def test_states_are_numbered_as_they_come_up_and_sent_once(sandbox: Sandbox) -> None:
    with session(sandbox) as program:
        result = expanded(program, [1], [1], [2], fresh=0)
        assert result.done == ([0, 1], [0, 1], [2, 3])
        assert result.new == ([2], [3], [4], [5])
        result = expanded(program, 0, 1)  # [2] and [3], by their numbers
        assert result.done == ([2, 3], [4, 5])
        assert result.new == ([6], [7])
        result = expanded(program, [2], fresh=100)
        assert (result.done, result.new) == (([100, 101],), ([4], [5]))


def test_a_goal_is_the_end(sandbox: Sandbox) -> None:
    with session(sandbox) as program:
        result = asked(program, [1], [7], [2], wanted=7, fresh=0)
        assert result.value.done == ([0, 1], True)
        assert result.returned


def test_a_fault_leaves_what_was_done_before(sandbox: Sandbox) -> None:
    with session(sandbox, "def successors(n, most):\n    return [[1 / n[0]]]") as program:
        result = asked(program, [2], [0], [4], fresh=0)
        assert result.value.done == ([0],)
        assert (result.status, result.error, result.value.at) == (Status.RAISED, "ZeroDivisionError", "successors")
        assert expanded(program, [4]).done == ([1],)
    with session(sandbox, goal="def is_goal(n, wanted):\n    return n[1]") as program:
        assert expanded(program, [2], fresh=0).at == "goal"


def test_a_change_is_noticed_where_it_is_watched_and_spoils_nothing(sandbox: Sandbox) -> None:
    spoils = "def successors(n, most):\n    n.append(1)\n    return [n]"
    clears = "def is_goal(n, wanted):\n    n.clear()\n    return False"
    with session(sandbox, spoils, clears) as program:
        assert expanded(program, [5], watched=True, fresh=0).done == (Changed([5, 1]),)
        result = expanded(program, [5], [5], fresh=0)
        assert (result.done, result.new) == (([0], [0]), ([5, 1],))


def test_several_may_be_under_way_and_other_questions_come_after_them(sandbox: Sandbox) -> None:
    with session(sandbox) as program:
        post(program, [1], fresh=0)
        post(program, [2])
        assert program.collect().value.done == ([0, 1],)
        assert program.collect().value.done == ([2, 3],)
        assert program.call("successors", [3], 8, module="succ").value == [[6], [7]]


def test_a_batch_that_takes_too_long_says_so_and_ends_the_session(sandbox: Sandbox) -> None:
    stubborn = "        try:\n            while True:\n                pass\n        except:\n            pass"
    endless = f"def successors(n, most):\n    while True:\n{stubborn}"
    with session(sandbox, endless, seconds=0.2) as program:
        post(program, [1], fresh=0)
        post(program, [2])
        assert program.collect().status is Status.TIMEOUT
        assert program.collect().status is Status.DIED


@pytest.mark.parametrize(
    "states",
    [
        "[{1, 2}, frozenset({('a', 'b')}), (1, (2,)), {'a': None, 'b': [True]}]",
        "[{'k': [('a', 'b')], 'n': 1}, {'k': [], 'n': 2}]",
        "[[[1, 'a'], [None]], [[], []], {(1, 2): 3}]",
        "[[('ä', 'b')], [('c', 'd')], ['ö'], [], ()]",
        "[{'k': [(1, 2.5)]}, {'k': [(1, 2)]}, {'j': 1}]",
        "[{('a', 'b'), ('c',)}, set(), frozenset()]",
    ],
)
def test_states_of_every_form_arrive_as_they_are(sandbox: Sandbox, states: str) -> None:
    with session(
        sandbox, f"def successors(n, most):\n    return {states}", "def is_goal(n, wanted):\n    return False"
    ) as program:
        result = expanded(program, [1], fresh=0)
        expected = eval(states)
        assert list(result.new) == expected
        assert [type(item) for item in result.new] == [type(item) for item in expected]
        again = expanded(program, *range(len(expected)))
        assert again.done == (list(range(len(expected))),) * len(expected)


def test_states_of_a_class_of_ones_own_are_sent_each_time(sandbox: Sandbox) -> None:
    point = "from collections import namedtuple\nPoint = namedtuple('Point', 'x y')\n"
    named = f"{point}def successors(n, most):\n    return [Point(1, 2)]"
    with session(sandbox, named) as program:
        result = expanded(program, [1], [1], fresh=0)
        assert (result.done, result.new) == (([0], [1]), ((1, 2), (1, 2)))


def test_what_is_no_list_is_an_exception_and_an_iterator_is_none(sandbox: Sandbox) -> None:
    with session(sandbox, "def successors(n, most):\n    return None") as program:
        assert asked(program, [1], fresh=0).error == "TypeError"
    with session(sandbox, "def successors(n, most):\n    yield [1]\n    yield [2]") as program:
        assert expanded(program, [1], fresh=0).done == ([0, 1],)


FORGED: tuple[list[Any], ...] = (
    [],
    [[], []],
    ["no expansion"],
    [(5, [], "goal")],
    [([[]], 5, "goal")],
    [([[]], [], "luck")],
    [([[]], [], 5)],
    [([[]], [])],
    [([], [], "goal")],
    [([[], []], [], "goal")],
    [([[-1]], [], "goal")],
    [([[1e400]], [], "goal")],
    [([{"changed": 1, "place": 99}], [], "goal")],
    [([{"changed": 1, "place": float("inf")}], [], "goal")],
    [([{"place": 0}], [], "goal")],
    [([False], [], "goal")],
    [([None], [], "goal")],
)


@pytest.mark.parametrize("parts", FORGED, ids=str)
def test_a_forged_expansion_is_the_programs_loss(sandbox: Sandbox, parts: Any) -> None:
    forged = json.dumps({"status": "returned", "value": tagged(parts, 1_000)})
    forges = f"{FORGE}\ndef successors(n, most):\n    forge({forged!r})"
    with session(sandbox, forges) as program:
        result = asked(program, [1], fresh=0)
        assert (result.status, result.value) == (Status.DIED, None)
        assert "own pipe" in result.message


@pytest.mark.parametrize("done", [[], [[], []], [True, []]], ids=str)
def test_an_exception_after_another_number_of_states_is_forged(sandbox: Sandbox, done: Any) -> None:
    line = json.dumps({"status": "raised", "value": tagged([(done, [], "goal")], 1_000)})
    with session(sandbox, f"{FORGE}\ndef successors(n, most):\n    forge({line!r})") as program:
        assert asked(program, [1], fresh=0).status is (Status.DIED if done else Status.RAISED)


parts = st.lists(st.lists(st.integers() | st.text() | st.none(), max_size=2) | st.booleans() | st.sampled_from("ab"))


@given(st.lists(st.tuples(parts, parts, st.sampled_from(["goal", "successors", "luck"])), max_size=2), st.booleans())
def test_every_report_is_read_or_refused(reports: Any, returned: bool) -> None:
    result = CallResult(Status.RETURNED if returned else Status.RAISED, reports)
    with suppress(ValueError):
        expansion = read_expansion(result, states=2, arguments=2).value
        assert len(expansion.done) <= 2
