from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import replace
from typing import Any, ClassVar

import pytest

from pddlego.errors import UsageError
from pddlego.pddl import Atom, Domain, Problem, TypedName, parse_condition, parse_domain
from pddlego.planning import PlanResult, PlanStatus, ProcessPlanner, Search
from pddlego.planning.engines import EngineTurn
from pddlego.planning.graphplan.values import AdviceQuestion, Graphplan, GraphSearch
from pddlego.planning.ground import Operator, ground
from pddlego.planning.process import PlannerPool
from pddlego.planning.search import IndexedTask, breadth_first
from pddlego.planning.worker import solve
from tests.children import started
from tests.clock import FakeClock, unhurried
from tests.methods.textgames.houses import COIN, explored
from tests.planning.hanoi import HANOI, hanoi
from tests.scale import PATIENCE

BLIND = Search.parse("astar(blind)")


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    if not os.path.exists("/proc/self"):  # noqa: PTH110
        return True
    with open(f"/proc/{pid}/stat") as file:  # noqa: PTH123
        return file.read().split()[2] != "Z"


def test_every_search_finds_a_plan(planner: ProcessPlanner) -> None:
    problem = explored(8, 5, seed=1)
    best = len(planner.solve(COIN, problem, Search()).plan or ())
    assert best > 0
    for name in ("bfs", "ids", "ehs", "gbf(hff)", "gbf(hadd)", "gbf(hsa)", "wastar(hmax)", "astar(landmark)"):
        result = planner.solve(COIN, problem, Search.parse(name))
        assert result.status is PlanStatus.SOLVED, name
        assert len(result.plan or ()) >= best
    for name in ("ids", "astar(blind)", "astar(hmax)", "astar(lmcut)"):
        assert len(planner.solve(COIN, problem, Search.parse(name)).plan or ()) == best, name


def test_a_far_goal_on_a_large_map_is_no_explosion(planner: ProcessPlanner) -> None:
    """Twenty steps away, past dozens of doors that may be opened: blind breadth-first search takes 20 s and 4 GB."""
    problem = explored(200, 198, seed=4)
    far = planner.solve(COIN, problem, Search())
    assert len(far.plan or ()) == len(planner.solve(COIN, problem, Search.parse("astar(hmax)")).plan or ()) == 20


def test_a_near_goal_among_many_switches_needs_no_other_search() -> None:
    """Two steps away, with 150 things that may be done in between: the goal is seen when its state is generated."""
    names = [f"s{number}" for number in range(150)]
    domain = parse_domain("""(define (domain switches) (:predicates (off ?x) (on ?x))
      (:action turn_on :parameters (?x) :precondition (off ?x) :effect (and (on ?x) (not (off ?x)))))""")
    facts = frozenset(Atom("off", (name,)) for name in names)
    goal = parse_condition("(and (on s70) (on s90))")
    task = ground(domain, Problem("p", "switches", frozenset(map(TypedName, names)), facts, goal))
    assert task is not None
    everything = replace(task, operators=tuple(_turned_on(name) for name in names))
    indexed = IndexedTask(everything)
    assert len(breadth_first(indexed) or ()) == 2
    assert indexed.work is not None, "no other search took over"


def _turned_on(name: str) -> Operator:
    return Operator(
        f"(turn_on {name})", frozenset({f"(off {name})"}), frozenset({f"(on {name})"}), frozenset({f"(off {name})"})
    )


@pytest.mark.parametrize("text", ["dfs", "bfs(hff)", "astar(h99)", "", "astar("])
def test_an_unknown_search_is_refused_with_a_list(text: str) -> None:
    with pytest.raises(ValueError, match=r"unknown|takes no heuristic"):
        Search.parse(text)


@pytest.mark.parametrize(
    ("text", "means"),
    [("bfs", "bfs"), (" ASTAR(lmcut) ", "astar(lmcut)"), ("astar", "astar(lmcut)"), ("gbf", "gbf(hff)")],
)
def test_searches_are_written_with_their_heuristic(text: str, means: str) -> None:
    assert str(Search.parse(text)) == means


def test_no_limit_of_time(planner: ProcessPlanner) -> None:
    with ProcessPlanner(timeout=0) as patient:
        assert patient.solve(COIN, explored(5, 2, seed=3), Search()).status is PlanStatus.SOLVED


def test_the_four_ways_of_having_no_plan(planner: ProcessPlanner) -> None:
    problem = explored(5, 2, seed=3)
    true = planner.solve(COIN, problem.with_goal(parse_condition("(visited room0)")), Search())
    assert true.status is PlanStatus.ALREADY_TRUE
    unreachable = planner.solve(COIN, problem.with_goal(parse_condition("(have coin)")), Search())
    assert unreachable.status is PlanStatus.UNSOLVABLE
    invalid = planner.solve(COIN, problem.with_goal(parse_condition("(have gold)")), Search())
    assert invalid.status is PlanStatus.INVALID
    assert "gold is not declared" in invalid.message
    with ProcessPlanner(timeout=0.5) as hasty:
        late = hasty.solve(HANOI, hanoi(16), BLIND)
        assert late.status is PlanStatus.TIMEOUT
        assert "0.5 s" in late.message


def test_the_same_planner_works_on_after_a_timeout() -> None:
    with ProcessPlanner(timeout=1.5) as planner:
        assert planner.solve(HANOI, hanoi(16), BLIND).status is PlanStatus.TIMEOUT
        planner.timeout = PATIENCE
        assert planner.solve(COIN, explored(5, 2, seed=3), Search()).status is PlanStatus.SOLVED


@pytest.mark.slow
def test_memory_is_bounded() -> None:
    with ProcessPlanner(memory=200, clock=unhurried) as planner:
        result = planner.solve(HANOI, hanoi(14), BLIND)
        assert result.status is PlanStatus.MEMORY
        assert "out of memory" in result.message
        assert planner.solve(COIN, explored(5, 2, seed=3), Search()).status is PlanStatus.SOLVED


@pytest.mark.parametrize("error", [MemoryError(), SystemError("error return without exception set")])
def test_python_without_memory_is_out_of_memory_however_it_says_so(error: BaseException) -> None:
    def solver(domain: object, problem: object, search: object, seconds: object) -> None:
        raise error

    tries = [EngineTurn("pyperplan", solver)]
    assert solve(COIN, explored(5, 2, seed=3), Search(), tries).status is PlanStatus.MEMORY


def asking(advise: Callable[[AdviceQuestion], Sequence[str]]) -> Graphplan:
    return Graphplan(graph=GraphSearch(prune=True), advise=advise)


def test_a_planner_that_waits_for_an_answer_can_be_closed() -> None:
    """The answer comes in another thread, and may never come."""
    asked, never = threading.Event(), threading.Event()

    def advise(question: AdviceQuestion) -> Sequence[str]:
        asked.set()
        never.wait(PATIENCE)
        return ()

    results: list[PlanResult] = []
    with ProcessPlanner(clock=unhurried) as planner:

        def solve() -> None:
            results.append(planner.solve(COIN, explored(5, 2, seed=3), asking(advise)))

        solving = threading.Thread(target=solve, daemon=True)
        solving.start()
        assert asked.wait(PATIENCE)
        pid = planner._process.pid
    assert not alive(pid)
    never.set()
    solving.join(PATIENCE)
    assert [result.message for result in results] == ["the planner is closed"]


def test_a_planner_that_is_killed_while_it_waits_is_an_answer() -> None:
    with ProcessPlanner(clock=unhurried) as planner:

        def advise(question: AdviceQuestion) -> Sequence[str]:
            planner._process.kill()
            planner._process.wait(PATIENCE)
            return ()

        assert planner.solve(COIN, explored(5, 2, seed=3), asking(advise)).status is PlanStatus.CRASHED
        assert planner.solve(COIN, explored(5, 2, seed=3), Search()).status is PlanStatus.SOLVED


def test_what_an_answer_raises_ends_the_planning_and_the_next_call_works() -> None:
    def advise(question: AdviceQuestion) -> Sequence[str]:
        raise LookupError("no answer")

    with ProcessPlanner(clock=unhurried) as planner:
        with pytest.raises(LookupError):
            planner.solve(COIN, explored(5, 2, seed=3), asking(advise))
        assert planner.solve(COIN, explored(5, 2, seed=3), Search()).status is PlanStatus.SOLVED


def test_time_that_is_waited_for_an_answer_counts_nowhere() -> None:
    clock = FakeClock()

    def advise(question: AdviceQuestion) -> Sequence[str]:
        clock.advance(1_000.0)
        return ()

    with ProcessPlanner(clock=clock) as planner:
        result = planner.solve(COIN, explored(5, 2, seed=3), asking(advise))
        assert (result.status, result.seconds) == (PlanStatus.SOLVED, 0.0)


def test_a_call_ends_when_the_time_of_its_clock_is_up() -> None:
    clock = FakeClock()
    with ProcessPlanner(timeout=600.0, clock=clock) as planner, ThreadPoolExecutor(1) as threads:
        call = threads.submit(planner.solve, HANOI, hanoi(16), BLIND)
        while not call.done():
            clock.advance(100.0)
            wait((call,), timeout=0.01)
        assert (call.result().status, call.result().message) == (PlanStatus.TIMEOUT, "no answer within 600 s")
        assert planner.solve(COIN, explored(5, 2, seed=3), Search()).status is PlanStatus.SOLVED


class SlowStarter(ProcessPlanner):
    """Its time limit passes while its process is started, after the first start."""

    def __init__(self, clock: FakeClock) -> None:
        self.slow, self._fake, self.signalled = False, clock, threading.Event()
        super().__init__(timeout=600.0, clock=clock)

    def _start(self) -> subprocess.Popen[bytes]:
        if self.slow:
            self.signalled.clear()
            self._fake.advance(1_000.0)
            self.signalled.wait(PATIENCE)
        self.slow = not self.slow
        return super()._start()

    def _signal(self) -> None:
        super()._signal()
        self.signalled.set()


def test_a_process_that_starts_after_the_time_limit_is_killed_too() -> None:
    with SlowStarter(FakeClock()) as planner, ThreadPoolExecutor(1) as threads:
        planner._process.kill()
        planner._process.wait(PATIENCE)
        call = threads.submit(planner.solve, HANOI, hanoi(16), BLIND)
        try:
            assert call.result(PATIENCE).status is PlanStatus.TIMEOUT
        finally:
            planner._signal()  # if the test fails, the call would never end


def test_a_killed_planner_is_an_answer_and_the_next_call_works() -> None:
    with ProcessPlanner(clock=unhurried) as planner:
        planner._process.kill()
        planner._process.wait(PATIENCE)
        assert planner.solve(COIN, explored(5, 2, seed=3), Search()).status is PlanStatus.SOLVED


def test_arguments_of_another_type_are_refused_by_name(planner: ProcessPlanner) -> None:
    problem: Any = explored(5, 2, seed=3)
    calls: dict[str, tuple[Any, Any, Any]] = {
        "search is not a Search": (COIN, problem, "gbf(hff)"),
        "domain is not a Domain": (COIN.text, problem, Search()),
        "problem is not a Problem": (COIN, str(problem), Search()),
    }
    for message, arguments in calls.items():
        with pytest.raises(UsageError, match=message):
            planner.solve(*arguments)
    assert planner.solve(COIN, problem, Search()).status is PlanStatus.SOLVED


def test_a_closed_planner_says_that_it_is_closed() -> None:
    planner = ProcessPlanner(clock=unhurried)
    planner.close()
    result = planner.solve(COIN, explored(5, 2, seed=3), Search())
    assert (result.status, result.message) == (PlanStatus.CRASHED, "the planner is closed")


def test_an_unknown_engine_is_refused() -> None:
    with pytest.raises(ValueError, match="pyperplan, fast-downward"):
        ProcessPlanner("magic")


def test_nothing_of_a_closed_planner_is_left() -> None:
    planner = ProcessPlanner(clock=unhurried)
    pid, folder = planner._process.pid, planner._folder
    planner.close()
    planner.close()
    assert not alive(pid)
    assert not os.path.exists(folder)  # noqa: PTH110


@pytest.mark.parametrize("ending", ["time.sleep(60)", "os._exit(0)"], ids=["killed", "gone before the planner looked"])
def test_the_planner_dies_with_its_parent(ending: str) -> None:
    script = (
        "import os, time; from pddlego.planning import ProcessPlanner\n"
        "from pddlego.planning.worker import send\n"
        "from tests.planning.hanoi import HANOI, hanoi\n"
        "from tests.planning.test_process import BLIND\n"
        "planner = ProcessPlanner(); print(planner._process.pid, flush=True)\n"
        f"send(planner._process.stdin, (HANOI.text, hanoi(16), BLIND)); {ending}"
    )
    with started([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        time.sleep(0.3)
        parent.kill()
    deadline = time.monotonic() + PATIENCE
    while alive(pid) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not alive(pid)


def test_the_plan_does_not_depend_on_the_hash_seed() -> None:
    script = (
        "from pddlego.planning import ProcessPlanner, Search\n"
        "from tests.methods.textgames.houses import COIN, explored\n"
        "planner = ProcessPlanner()\n"
        "for name in ('bfs', 'gbf(hff)', 'astar(lmcut)'):\n"
        "    for seed in range(4): print(planner.solve(COIN, explored(12, 6, seed), Search.parse(name)).plan)\n"
        "planner.close()"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, "PYTHONHASHSEED": seed},
            timeout=PATIENCE,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(outputs) == 1
    assert "(move" in outputs.pop()


def test_a_domain_that_was_made_in_code_is_planned_with() -> None:
    """It has no text of its own; its canonical one goes to the planner."""
    made = replace(HANOI, text="")
    with ProcessPlanner(timeout=PATIENCE) as planner:
        result = planner.solve(made, hanoi(2), BLIND)
    assert result.plan is not None and len(result.plan) == 3


class SlowPlanner:
    """A planner that takes its time, and says how much it was allowed."""

    description: ClassVar[dict[str, object]] = {}

    def __init__(self) -> None:
        self.allowed: list[float | None] = []

    def solve(self, domain: Domain, problem: Problem, search: Search, seconds: float | None = None) -> PlanResult:
        self.allowed.append(seconds)
        time.sleep(0.2)
        return PlanResult(PlanStatus.UNSOLVABLE, problem.goal)

    def close(self) -> None:
        pass


def test_waiting_for_an_idle_planner_takes_no_planning_time() -> None:
    """Otherwise what an episode achieves depends on the other workers."""
    slow = SlowPlanner()
    with PlannerPool([slow]) as pool, ThreadPoolExecutor(4) as threads:
        calls = [threads.submit(pool.solve, HANOI, hanoi(2), Search(), 0.1) for _ in range(4)]
        assert [call.result().status for call in calls] == [PlanStatus.UNSOLVABLE] * 4
    assert slow.allowed == [0.1] * 4
