"""Many states with one message: numbers, faults in the middle, and what a function may do to its argument."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from pddlego.sandbox import Call, Changed, Expansion, Sandbox, SandboxLimits, SandboxState, Session, Status
from tests.sandbox.ordinary import needs_locks

pytestmark = needs_locks

TREE = "def successors(n, most):\n    return [[n[0] * 2], [n[0] * 2 + 1]] if n[0] < most else []"
EVEN = "def is_goal(n, wanted):\n    return n[0] == wanted"


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox() as made:
        yield made


def session(sandbox: Sandbox, successors: str = TREE, goal: str = EVEN, seconds: float = 5.0) -> Session:
    result = sandbox.session(SandboxLimits(seconds=seconds))
    assert result.load(successors, module="succ").returned
    assert result.load(goal, module="goal").returned
    return result


def expansion(*states: Any, wanted: int = -1, watched: bool = False, fresh: int | None = None) -> Expansion:
    sent = [state if isinstance(state, int) else SandboxState(state) for state in states]
    return Expansion(sent, Call("goal", "is_goal", (wanted,)), Call("succ", "successors", (8,)), watched, fresh)


def asked(program: Session, wanted: Expansion) -> Any:
    program.post(wanted)
    return program.expanded()


def test_states_are_numbered_as_they_come_up_and_sent_once(sandbox: Sandbox) -> None:
    with session(sandbox) as program:
        result = asked(program, expansion([1], [1], [2], fresh=0))
        assert result.done == ([0, 1], [0, 1], [2, 3])
        assert result.new == ([2], [3], [4], [5])
        result = asked(program, expansion(0, 1))  # [2] and [3], by their numbers
        assert result.done == ([2, 3], [4, 5])
        assert result.new == ([6], [7])
        result = asked(program, expansion([2], fresh=100))
        assert (result.done, result.new) == (([100, 101],), ([4], [5]))


def test_a_goal_is_the_end(sandbox: Sandbox) -> None:
    with session(sandbox) as program:
        result = asked(program, expansion([1], [7], [2], wanted=7, fresh=0))
        assert result.done == ([0, 1], True)
        assert result.result.returned


def test_a_fault_leaves_what_was_done_before(sandbox: Sandbox) -> None:
    with session(sandbox, "def successors(n, most):\n    return [[1 / n[0]]]") as program:
        result = asked(program, expansion([2], [0], [4], fresh=0))
        assert result.done == ([0],)
        assert (result.result.status, result.result.error, result.at) == (
            Status.RAISED,
            "ZeroDivisionError",
            "successors",
        )
        assert asked(program, expansion([4])).done == ([1],)
    with session(sandbox, goal="def is_goal(n, wanted):\n    return n[1]") as program:
        assert asked(program, expansion([2], fresh=0)).at == "goal"


def test_a_change_is_noticed_where_it_is_watched_and_spoils_nothing(sandbox: Sandbox) -> None:
    spoils = "def successors(n, most):\n    n.append(1)\n    return [n]"
    clears = "def is_goal(n, wanted):\n    n.clear()\n    return False"
    with session(sandbox, spoils, clears) as program:
        assert asked(program, expansion([5], watched=True, fresh=0)).done == (Changed([5, 1]),)
        result = asked(program, expansion([5], [5], fresh=0))
        assert (result.done, result.new) == (([0], [0]), ([5, 1],))


def test_several_may_be_under_way_and_other_questions_come_after_them(sandbox: Sandbox) -> None:
    with session(sandbox) as program:
        program.post(expansion([1], fresh=0))
        program.post(expansion([2]))
        assert program.expanded().done == ([0, 1],)
        assert program.expanded().done == ([2, 3],)
        assert program.call("successors", [3], 8, module="succ").value == [[6], [7]]


def test_a_batch_that_takes_too_long_says_so_and_ends_the_session(sandbox: Sandbox) -> None:
    stubborn = "        try:\n            while True:\n                pass\n        except:\n            pass"
    endless = f"def successors(n, most):\n    while True:\n{stubborn}"
    with session(sandbox, endless, seconds=0.2) as program:
        program.post(expansion([1], fresh=0))
        program.post(expansion([2]))
        assert program.expanded().result.status is Status.TIMEOUT
        assert program.expanded().result.status is Status.DIED


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
        result = asked(program, expansion([1], fresh=0))
        expected = eval(states)
        assert list(result.new) == expected
        assert [type(item) for item in result.new] == [type(item) for item in expected]
        again = asked(program, expansion(*range(len(expected))))
        assert again.done == (list(range(len(expected))),) * len(expected)


def test_states_of_a_class_of_ones_own_are_sent_each_time(sandbox: Sandbox) -> None:
    point = "from collections import namedtuple\nPoint = namedtuple('Point', 'x y')\n"
    named = f"{point}def successors(n, most):\n    return [Point(1, 2)]"
    with session(sandbox, named) as program:
        result = asked(program, expansion([1], [1], fresh=0))
        assert (result.done, result.new) == (([0], [1]), ((1, 2), (1, 2)))


def test_what_is_no_list_is_an_exception_and_an_iterator_is_none(sandbox: Sandbox) -> None:
    with session(sandbox, "def successors(n, most):\n    return None") as program:
        assert asked(program, expansion([1], fresh=0)).result.error == "TypeError"
    with session(sandbox, "def successors(n, most):\n    yield [1]\n    yield [2]") as program:
        assert asked(program, expansion([1], fresh=0)).done == ([0, 1],)
