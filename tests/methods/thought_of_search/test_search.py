"""Search in batches is the search that textbooks have, whatever happens on the way."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pddlego.methods.thought_of_search import functions as functions_module
from pddlego.methods.thought_of_search import search as search_module
from pddlego.methods.thought_of_search.expander import as_the_paper, canonical
from pddlego.methods.thought_of_search.functions import Code, FunctionFault, ModelFunctions, SearchPart
from pddlego.methods.thought_of_search.search import Check, SearchLimits, SearchResult, StateSearch
from pddlego.methods.thought_of_search.space import SearchOrder, SearchTask
from pddlego.sandbox import Sandbox, SandboxLimits, SandboxSession
from tests.clock import FakeClock
from tests.methods.thought_of_search.playing import result_of
from tests.sandbox.ordinary import needs_locks
from tests.scale import PATIENT

pytestmark = needs_locks

KEY = canonical(())
LIMITS = SearchLimits(seconds=60.0, states=100_000, patience=PATIENT)

# A graph with many ways to each state: numbers below `most`, each leads to three others.
GRAPH = """
def successors(state, most):
    n = state[0]
    found = [[(n * 3 + 1) % most], [(n * 7 + 5) % most], [(n + 11) % most]]
    return found + [[float(found[0][0])]]
"""
GOAL = "def is_goal(state, most):\n    return state[0] == most - 1"


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox() as made:
        yield made


def made(sandbox: Sandbox, successors: str = GRAPH, goal: str = GOAL, seconds: float = 5.0) -> ModelFunctions:
    result = ModelFunctions(sandbox, SandboxLimits(seconds=seconds, patience=PATIENT))
    assert result.put("successors", Code(successors, "successors")) is None
    assert result.put("goal", Code(goal, "is_goal")) is None
    return result


def searched(
    functions: ModelFunctions,
    most: int,
    order: SearchOrder = "breadth-first",
    check: Check | None = None,
    limits: SearchLimits = LIMITS,
) -> SearchResult:
    """Search from here. Without a check, the search beside the functions must have the same result."""
    task = SearchTask([0], (most,), (most,))
    result = result_of(StateSearch(functions, order, KEY, limits, check).run(task))
    if check is None:
        beside = result_of(StateSearch(functions, order, KEY, limits, key_form=("canonical", ())).run(task))
        assert beside.path == result.path
        assert (beside.expansions, beside.generated) == (result.expansions, result.generated) or result.fault
        assert (beside.fault and beside.fault.message) == (result.fault and result.fault.message)
    return result


def textbook(successors: str, most: int, order: SearchOrder) -> tuple[int, int]:
    """Length of the path, and states that were expanded."""
    names: dict[str, Any] = {}
    exec(successors, names)
    waiting: deque[tuple[list[Any], int]] = deque([([0], 0)])
    take: Callable[[], tuple[list[Any], int]] = waiting.popleft if order == "breadth-first" else waiting.pop
    closed: set[Any] = set()
    expanded = 0
    while waiting:
        state, depth = take()
        if KEY(state) in closed:
            continue
        closed.add(KEY(state))
        if state[0] == most - 1:
            return depth, expanded
        expanded += 1
        waiting.extend((after, depth + 1) for after in names["successors"](state, most))
    return -1, expanded


@pytest.mark.parametrize("order", ["breadth-first", "depth-first"])
@pytest.mark.parametrize("most", [2, 50, 333, 1_000])
def test_it_finds_what_a_textbook_finds(sandbox: Sandbox, order: SearchOrder, most: int) -> None:
    functions = made(sandbox)
    result = searched(functions, most, order)
    length, expanded = textbook(GRAPH, most, order)
    assert result.path is not None
    assert (len(result.path) - 1, result.expansions) == (length, expanded)
    names: dict[str, Any] = {}
    exec(GRAPH, names)
    for before, after in zip(result.path, result.path[1:], strict=False):
        assert after in names["successors"](before, most)
    functions.close()


def beside(
    functions: ModelFunctions, most: int, order: SearchOrder = "breadth-first", seconds: float = 60.0
) -> SearchResult:
    limits = SearchLimits(seconds=seconds, patience=PATIENT)
    search = StateSearch(functions, order, KEY, limits, key_form=("canonical", ()))
    return result_of(search.run(SearchTask([0], (most,), (most,))))


@pytest.mark.parametrize(("order", "most"), [("breadth-first", 333), ("depth-first", 50)])
def test_a_search_without_a_fault_stays_in_the_sandbox(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch, order: SearchOrder, most: int
) -> None:
    monkeypatch.setattr(ModelFunctions, "post", None)
    result = beside(made(sandbox), most, order)
    assert (len(result.path or ()) - 1, result.expansions) == textbook(GRAPH, most, order)


FORGE = """
import sys
frame = sys._getframe()
while frame:
    driver = getattr(frame.f_locals.get("self"), "_driver", None)
    if driver is not None:
        type(driver).search = lambda self, *arguments: {}
    frame = frame.f_back
"""
"""A program that replaces the search of the driver, which is in its process."""


@pytest.mark.parametrize(
    "report",
    [
        [1, 2, True, None, 5],
        [-1, 2, True, None],
        [1, 2, 1, None],
        [1, 2, False, [[0]]],
        [1, 2, True, "path"],
        "report",
    ],
)
def test_a_search_after_a_forged_report_is_done_from_here(sandbox: Sandbox, report: object) -> None:
    assert beside(made(sandbox, FORGE.format("[0, 0, True, None]") + GRAPH), 333).expansions == 0
    result = beside(made(sandbox, FORGE.format(repr(report)) + GRAPH), 333)
    assert result.fault is None
    assert (len(result.path or ()) - 1, result.expansions) == textbook(GRAPH, 333, "breadth-first")


def test_a_forged_search_that_never_ends_meets_its_limit(sandbox: Sandbox) -> None:
    fault = beside(made(sandbox, FORGE.format("[1, 2, False, None]") + GRAPH), 333, seconds=0.2).fault
    assert fault is not None
    assert fault.kind is FunctionFault.SEARCH_TIME


def test_numbers_begin_anew_and_the_search_is_the_same(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = searched(made(sandbox), 1_000)
    monkeypatch.setattr(functions_module, "KNOWN", 20)
    sent: list[int | None] = []
    original = SandboxSession.post

    def post(session: SandboxSession, *arguments: Any, **details: Any) -> None:
        if arguments[0] == "expand":
            sent.append(arguments[4])
        original(session, *arguments, **details)

    monkeypatch.setattr(SandboxSession, "post", post)
    again = searched(made(sandbox), 1_000)
    assert sum(fresh is not None for fresh in sent) > 3
    assert (again.path, again.expansions, again.generated) == (whole.path, whole.expansions, whole.generated)


SEEN = """
seen, steps = set(), 0
def successors(state, most):
    global steps
    steps += 1
    {act}
    new = [[n] for n in (2 * state[0] + 1, 2 * state[0] + 2) if n < most and n not in seen]
    seen.update(n for [n] in new)
    return new
"""
"""A program that returns each state once: another search of the same process reaches none of them."""

WITH_STATE = {
    "seen": SEEN.format(act=""),
    "state and error": SEEN.format(act="if steps == 50: raise ValueError(steps)"),
    "state and exit": SEEN.format(act="if steps == 50: raise SystemExit"),
    "classes": "import collections\nClass = collections.namedtuple('Class', 'n')"
    + SEEN.format(act="state = [state[0]]").replace("    return new", "    return [Class(n) for [n] in new]"),
    "counter": "n = 0\ndef successors(state, most):\n    global n\n    n += 1\n    return [[n % most], [n % 7]]",
    "random": "import random\ndef successors(state, most):\n    return [[random.randrange(most)] for _ in range(2)]",
}
"""Programs whose results depend on the calls before."""


@pytest.mark.parametrize("program", WITH_STATE)
@settings(max_examples=8)
@given(
    known=st.integers(1, 150),
    order=st.sampled_from(["breadth-first", "depth-first"]),
    goals=st.tuples(st.sampled_from([-1, 1_000]), st.integers(-1, 200)),
    small=st.booleans(),
)
def test_both_searches_call_the_functions_equally_often(
    sandbox: Sandbox, program: str, known: int, order: SearchOrder, goals: Sequence[int], small: bool
) -> None:
    """Two searches, of which the first finds no goal: the program remembers it."""
    goal = "def is_goal(state, wanted):\n    return state[0] == wanted"
    limits = SearchLimits(seconds=60.0, states=known if small else None, patience=PATIENT)
    results: list[list[Any]] = []
    for form in (None, ("canonical", ())):
        functions = made(sandbox, WITH_STATE[program], goal)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(search_module, "KNOWN", known)
            patch.setattr(functions_module, "KNOWN", known)
            clock = FakeClock()  # how many calls are made ahead depends on the time of those before
            search = StateSearch(functions, order, KEY, limits, clock=clock, key_form=form)
            ended = [result_of(search.run(SearchTask([0], (200,), (wanted,)))) for wanted in goals]
        functions.close()
        results.append([replace(result, seconds=0.0) for result in ended])
    assert results[0] == results[1]


def test_a_search_that_is_left_is_not_repeated_by_the_next(sandbox: Sandbox) -> None:
    functions = made(sandbox)
    task = SearchTask([0], (333,), (333,))
    functions.begin(task, memory=100)
    assert functions.search(("canonical", ()), False, True, most=20) is None
    other = result_of(StateSearch(functions, "breadth-first", KEY, LIMITS).run(SearchTask([0], (50,), (50,))))
    assert (len(other.path or ()) - 1, other.expansions) == textbook(GRAPH, 50, "breadth-first")
    functions.close()


class LongSearch(ModelFunctions):
    """A search in the sandbox takes 50 seconds of both clocks and fails."""

    def __init__(self, sandbox: Sandbox, clock: FakeClock) -> None:
        super().__init__(sandbox, SandboxLimits(seconds=5.0, patience=PATIENT))
        self._clock = clock

    def search(self, key: tuple[str, Sequence[str]], depth_first: bool, begins: bool, most: int) -> SearchPart | None:
        self._clock.advance(50.0)
        self.seconds += 50.0
        return None


@pytest.mark.parametrize(
    ("seconds", "patience", "is_late"), [(49.0, 100.0, True), (100.0, 0.49, True), (100.0, 100.0, False)]
)
def test_a_search_in_the_sandbox_that_fails_takes_time(
    sandbox: Sandbox, seconds: float, patience: float, is_late: bool
) -> None:
    clock = FakeClock()
    functions = LongSearch(sandbox, clock)
    functions.put("successors", Code(GRAPH, "successors"))
    functions.put("goal", Code(GOAL, "is_goal"))
    limits = SearchLimits(seconds=seconds, patience=patience)
    search = StateSearch(functions, "breadth-first", KEY, limits, clock=clock, key_form=("canonical", ()))
    result = result_of(search.run(SearchTask([0], (50,), (50,))))
    functions.close()
    assert (result.fault is not None and result.fault.kind is FunctionFault.SEARCH_TIME) is is_late
    assert 50.0 < result.seconds < 100.0


def test_batches_that_take_too_long_together_are_done_one_by_one(sandbox: Sandbox) -> None:
    """Each state takes less than a call may, and a batch of them more: twice, with another batch under way."""
    busy = "x = sum(range(2_000_000))"
    slow = GRAPH.replace("    n = state[0]", f"    n = state[0]\n    if n % 7 == 3 and n > 20:\n        {busy}")
    with sandbox.open(f"def f():\n    {busy}", SandboxLimits(patience=PATIENT)) as program:
        once = max(program.call("f").seconds for _ in range(3))
    result = searched(made(sandbox, slow, seconds=8 * once), 333)
    length, expanded = textbook(GRAPH, 333, "breadth-first")
    assert result.fault is None
    assert result.path is not None
    assert (len(result.path) - 1, result.expansions) == (length, expanded)


def test_a_session_that_is_lost_on_the_way_takes_no_answer_along(sandbox: Sandbox) -> None:
    names: dict[str, Any] = {}
    exec(GRAPH, names)
    functions = made(sandbox)
    functions.begin(SearchTask([0], (333,), (333,)), memory=100)
    functions.post([0], False)
    functions.expanded()
    functions.post([1], False)
    functions.post([2], False)
    functions.close()
    for number in (1, 2, 3, 4, 5):
        (successors,), fault = functions.expanded()
        assert fault is None
        assert successors is not True
        result = [functions.states[successor] for successor in successors]
        assert result == names["successors"](functions.states[number], 333)
        if number < 4:
            functions.post([number + 2], False)


def test_a_fault_comes_in_the_order_of_the_search(sandbox: Sandbox) -> None:
    raises = GRAPH.replace("    n = state[0]", "    n = state[0]\n    if n == 71:\n        raise ValueError(n)")
    result = searched(made(sandbox, raises), 333)
    assert result.fault is not None
    assert (result.fault.kind, result.fault.shown) == (FunctionFault.SUCCESSOR_ERROR, (("state", [71]),))


def test_the_same_state_in_other_words_is_met_once(sandbox: Sandbox) -> None:
    words = "def successors(state, most):\n    return [[0.0], (0,), [0], [float('nan')], [1]]"
    result = searched(made(sandbox, words, "def is_goal(state, most):\n    return False"), 5)
    assert result.path is None
    assert result.expansions == 3


def test_what_is_no_number_is_no_change(sandbox: Sandbox) -> None:
    functions = made(
        sandbox, "def successors(state, most):\n    return [[float('nan')]]", "def is_goal(state, most):\n    return 0"
    )
    result = searched(functions, 5, check=lambda transitions: None)
    assert result.fault is None


@pytest.mark.parametrize(("patience", "is_late"), [(4.0, True), (1e6, False)])
def test_a_search_ends_when_its_patience_ends(sandbox: Sandbox, patience: float, is_late: bool) -> None:
    """A minute passes whenever the clock is read."""
    limits = SearchLimits(seconds=60.0, patience=patience)
    search = StateSearch(made(sandbox), "breadth-first", KEY, limits, clock=FakeClock(step=60.0))
    fault = result_of(search.run(SearchTask([0], (333,), (333,)))).fault
    assert (fault is not None and fault.kind is FunctionFault.SEARCH_TIME) is is_late


@pytest.mark.parametrize(
    ("limits", "says"),
    [
        (SearchLimits(seconds=60.0, states=50), "met more than 50 states"),
        (SearchLimits(seconds=0.0, states=1_000), "took longer than 0 seconds"),
    ],
)
def test_a_search_has_limits(sandbox: Sandbox, limits: SearchLimits, says: str) -> None:
    result = searched(made(sandbox, goal="def is_goal(state, most):\n    return False"), 1_000, limits=limits)
    assert result.fault is not None
    assert result.fault.kind is FunctionFault.SEARCH_TIME
    assert says in result.fault.message


def test_many_successors_are_too_many(sandbox: Sandbox) -> None:
    functions = ModelFunctions(sandbox, SandboxLimits(seconds=20.0, most=100_000))
    functions.put(
        "successors", Code("def successors(state, most):\n    return [[n] for n in range(50_000)]", "successors")
    )
    functions.put("goal", Code(GOAL, "is_goal"))
    result = searched(functions, 1_000_000)
    assert result.fault is not None
    assert result.fault.kind is FunctionFault.SUCCESSOR_ERROR
    assert "too large" in result.fault.message


def test_functions_do_not_see_each_others_names(sandbox: Sandbox) -> None:
    functions = made(sandbox, "helper = 1\n" + GRAPH, "def is_goal(state, most):\n    return helper")
    result = searched(functions, 50)
    assert result.fault is not None
    assert result.fault.kind is FunctionFault.GOAL_ERROR


@pytest.mark.parametrize("limits", [SandboxLimits(seconds=20.0), SandboxLimits(seconds=20.0, most=2_500_000)])
def test_states_that_take_too_much_memory_end_the_search(sandbox: Sandbox, limits: SandboxLimits) -> None:
    """In batches, and one by one where a batch is too large to be sent."""
    functions = ModelFunctions(sandbox, limits)
    source = "def successors(state, most):\n    return [[state[0] * 2 + n, 'x' * 900_000] for n in (1, 2)]"
    assert functions.put("successors", Code(source, "successors")) is None
    assert functions.put("goal", Code("def is_goal(state, most):\n    return False", "is_goal")) is None
    try:
        result = searched(functions, 10, limits=SearchLimits(seconds=600.0, states=100_000, memory=20))
    finally:
        functions.close()
    assert result.fault is not None
    assert (result.fault.kind, result.fault.message) == (
        FunctionFault.SEARCH_TIME,
        "the states of the search need more than 20 MiB of memory",
    )
    assert result.generated < 200


@pytest.mark.parametrize("value", ["float('nan')", "float('inf')", "-1e308", "2**62", "None", "'x'", "[]", "{'a': 1}"])
@pytest.mark.parametrize("place", [0, 1])
def test_any_value_may_be_in_a_state(sandbox: Sandbox, value: str, place: int) -> None:
    functions = ModelFunctions(sandbox, SandboxLimits(seconds=20.0))
    state = f"[{value}, 1]" if place == 0 else f"[1, {value}]"
    source = f"def successors(state, most):\n    return [{state}, {state}]"
    assert functions.put("successors", Code(source, "successors")) is None
    assert functions.put("goal", Code("def is_goal(state, most):\n    return False", "is_goal")) is None
    for key in (canonical(()), canonical(["."]), as_the_paper(()), as_the_paper(["."])):
        result = result_of(StateSearch(functions, "breadth-first", key, LIMITS).run(SearchTask([0], (1,), (1,))))
        assert result.fault is None
        assert result.expansions <= 3
    functions.close()
