"""The search that a heuristic guides: what it finds, and how the ways to fail are told apart."""

from __future__ import annotations

import itertools
import random
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from types import ModuleType
from typing import Any

import pytest
from pyperplan.heuristics.heuristic_base import Heuristic
from pyperplan.search import greedy_best_first_search

from pddlego.methods.programs import guide
from pddlego.methods.programs.guide import CLIMB, GREEDY, PROPERTY, Guide, WrongValueError
from pddlego.methods.programs.guided import GroundedTask, GuidedKind, guided
from pddlego.methods.programs.options import ProgramOptions
from pddlego.methods.programs.reference_model import reference
from pddlego.methods.programs.setting import load
from pddlego.pddl import parse_domain, parse_problem
from pddlego.planning import Planner, ProcessPlanner, validate
from pddlego.planning.ground import ground
from pddlego.planning.search import IndexedTask
from pddlego.sandbox import Sandbox, SandboxLimits
from pddlego.tasks import Task
from tests.methods.programs.guiding import DOMAINS, GOAL_COUNT, blocks, grounded, heuristic, improving, tried
from tests.sandbox.ordinary import needs_locks
from tests.scale import PATIENCE, PATIENT, scaled

pytestmark = needs_locks

UNHURRIED = SandboxLimits(patience=PATIENT)


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox() as made:
        yield made


@pytest.mark.slow
@pytest.mark.parametrize("domain", DOMAINS)
@pytest.mark.parametrize("algorithm", [GREEDY, CLIMB, PROPERTY])
def test_our_heuristics_are_direct(sandbox: Sandbox, planner: ProcessPlanner, domain: str, algorithm: str) -> None:
    setting = load(domain, ProgramOptions())
    tasks = setting.tasks(0)
    if algorithm == PROPERTY:  # small tasks: the number of states is exponential
        tasks = replace(tasks, training=tuple(setting.small_tasks(3, "test")), evaluation=())
    for task in (*tasks.training, *tasks.evaluation[: scaled(2, in_ci=5)]):
        trial = guided(
            sandbox,
            reference(domain, "heuristics") or "",
            grounded(planner, task, domain),
            UNHURRIED,
            (algorithm,),
        )
        assert trial.solved and trial.plan is not None, trial
        assert validate(setting.domain, task.problem, trial.plan) is None
        assert not trial.unfinished
        if algorithm != PROPERTY:
            assert trial.expanded == trial.length  # no detour: every expanded state is part of the plan


class _GoalCount(Heuristic):  # type: ignore[misc]
    """The same heuristic for pyperplan's own search."""

    def __init__(self, task: IndexedTask) -> None:
        self.goals = task.goals

    def __call__(self, node: Any) -> int:
        return len(self.goals - node.state)


@pytest.mark.parametrize("domain", ["blocks", "ferry", "gripper", "miconic", "spanner"])
def test_the_greedy_search_is_that_of_pyperplan(sandbox: Sandbox, planner: ProcessPlanner, domain: str) -> None:
    setting = load(domain, ProgramOptions())
    for task in setting.small_tasks(3, "test")[: scaled(3, in_ci=5)]:
        made = ground(setting.domain, task.problem)
        assert made is not None
        indexed = IndexedTask(made)
        expected = greedy_best_first_search(indexed, _GoalCount(indexed))
        trial = guided(sandbox, GOAL_COUNT, grounded(planner, task, domain), UNHURRIED)
        assert trial.plan is not None and expected is not None
        assert [str(step) for step in trial.plan.steps] == [operator.name.split("#")[0] for operator in expected]
        assert trial.expanded == indexed.expanded


FAILURES = (
    (GuidedKind.LOADING, "class Heuristic(", "was never closed"),
    (GuidedKind.LOADING, "import numbers_of_blocks", "numbers_of_blocks"),
    (GuidedKind.NO_CLASS, "def heuristic(node):\n    return 0", "no class with a method __call__"),
    (GuidedKind.NO_CLASS, "", "no class with a method __call__"),
    (GuidedKind.INIT, heuristic("return 0", init="self.x = task.goal_state"), "goal_state"),
    (GuidedKind.CALL, heuristic("return node.facts"), "facts"),
    (GuidedKind.CALL, heuristic("raise SystemExit(0)"), "SystemExit"),
    (GuidedKind.VALUE, heuristic("pass"), "returned None, which is not a number"),
    (GuidedKind.VALUE, heuristic("return float('nan')"), "returned nan"),
    (GuidedKind.EXHAUSTED, heuristic("return float('inf')"), "no state is left"),
    (GuidedKind.MEMORY, heuristic("return len(bytearray(1 << 40))"), "512 MiB"),
)


@pytest.mark.parametrize(("kind", "text", "reason"), FAILURES)
def test_each_way_to_fail_has_a_kind(
    sandbox: Sandbox, planner: ProcessPlanner, kind: GuidedKind, text: str, reason: str
) -> None:
    trial = tried(sandbox, planner, text)
    assert trial.kind is kind
    assert reason in trial.message
    assert "jail" not in trial.message + trial.traceback and "<driver>" not in trial.message + trial.traceback


def test_a_task_without_a_plan_is_not_a_fault_of_the_heuristic(sandbox: Sandbox, planner: ProcessPlanner) -> None:
    """All states are reached, and none is a goal."""
    domain = parse_domain(
        "(define (domain d) (:predicates (home) (away) (rich)) (:action run :parameters () :precondition (home)"
        " :effect (and (away) (not (home)))) (:action rob :parameters () :precondition (and (home) (away))"
        " :effect (rich)))"
    )
    problem = parse_problem("(define (problem p) (:domain d) (:init (home)) (:goal (rich)))")
    task = GroundedTask.of(planner, domain, Task("p", problem), 10)
    assert guided(sandbox, GOAL_COUNT, task, UNHURRIED).kind is GuidedKind.UNSOLVABLE
    pruning = heuristic("return float('inf') if '(away)' in node.state else 1")
    assert guided(sandbox, pruning, task, UNHURRIED).kind is GuidedKind.EXHAUSTED


@pytest.mark.parametrize("arguments", ["self", "self, one, other"])
def test_a_helper_class_is_not_the_heuristic(sandbox: Sandbox, planner: ProcessPlanner, arguments: str) -> None:
    helper = f"class Helper:\n    def __call__({arguments}):\n        return 1"
    assert tried(sandbox, planner, f"{GOAL_COUNT}\n\n{helper}").solved


@pytest.mark.parametrize(
    "value", ["3", "-2.5", "True", "10 ** 400", "Fraction(1, 3)", "float('-inf')", "Half(1)", "len(node.state)"]
)
def test_every_real_number_is_a_value(sandbox: Sandbox, planner: ProcessPlanner, value: str) -> None:
    module = "from fractions import Fraction\n\nclass Half(float):\n    def __lt__(self, other):\n        return 'yes'"
    assert tried(sandbox, planner, heuristic(f"return {value}", module=module), number=3).solved


def test_the_heuristic_of_an_exception_has_its_own_line(sandbox: Sandbox, planner: ProcessPlanner) -> None:
    trial = tried(sandbox, planner, heuristic("parts = []\nreturn parts[3]"))
    assert "line 10, in __call__" in trial.traceback
    assert "return parts[3]" in trial.traceback
    endless = tried(sandbox, planner, heuristic("while True:\n    pass"), seconds=0.5)
    assert endless.kind is GuidedKind.TIMEOUT
    assert endless.message == "it took longer than 0.5 seconds"
    assert "in __call__" in endless.traceback


@pytest.mark.slow
def test_a_search_that_ends_by_its_own_clock_has_counts(sandbox: Sandbox, planner: ProcessPlanner) -> None:
    trial = tried(sandbox, planner, GOAL_COUNT.replace("len(", "-len("), number=25, seconds=3.0, memory=4096)
    assert trial.kind is GuidedKind.TIMEOUT
    assert trial.expanded > 0
    assert trial.message == "no plan within 3 seconds"


def test_published_heuristics_run_as_they_are(sandbox: Sandbox, planner: ProcessPlanner) -> None:
    """They import the base class of their authors, and match facts with fnmatch."""
    text = (
        "from fnmatch import fnmatch\nfrom heuristics.heuristic_base import Heuristic\n\n"
        "def match(fact, *args):\n    parts = fact[1:-1].split()\n"
        "    return all(fnmatch(part, arg) for part, arg in zip(parts, args))\n\n"
        "class blocksHeuristic(Heuristic):\n    def __init__(self, task):\n        self.goals = task.goals\n"
        "        static_facts = task.static\n        self.names = [op.name for op in task.operators]\n\n"
        "    def __call__(self, node):\n        state = node.state\n"
        "        return sum(match(goal, 'on', '*', '*') for goal in self.goals if goal not in state)\n"
    )
    assert tried(sandbox, planner, text).solved
    assert tried(
        sandbox, planner, text.replace("heuristics.heuristic_base", "pyperplan.heuristics.heuristic_base")
    ).solved


def test_static_facts_and_operators_are_those_of_the_task(sandbox: Sandbox, planner: ProcessPlanner) -> None:
    setting = load("ferry", ProgramOptions())
    task = setting.tasks(0).training[0]
    checks = (
        "assert all(fact.startswith(('(car ', '(location ', '(not-eq ')) for fact in task.static), task.static\n"
        "assert task.goals <= task.facts and task.initial_state <= task.facts and not task.static & task.facts\n"
        "assert {op.name.split()[0] for op in task.operators} == {'(sail', '(board', '(debark'}\n"
        "assert all(op.preconditions | op.add_effects | op.del_effects <= task.facts for op in task.operators)"
    )
    trial = guided(
        sandbox,
        heuristic("return len(self.goals - node.state)", checks),
        grounded(planner, task, "ferry"),
        UNHURRIED,
    )
    assert trial.solved, trial


@pytest.mark.parametrize("value", ["10 ** 30", "float('inf')", "2.5"])
def test_every_value_is_one_of_a_counterexample(sandbox: Sandbox, planner: ProcessPlanner, value: str) -> None:
    trial = tried(sandbox, planner, heuristic(f"return {value}"), algorithms=(CLIMB,))
    assert trial.kind is GuidedKind.STALLED and trial.counterexample is not None
    assert trial.counterexample.value == float(eval(value))


def test_a_counterexample_has_the_negated_facts_of_the_state(sandbox: Sandbox, planner: ProcessPlanner) -> None:
    domain = parse_domain(NEGATIVE)
    goal = "(and (not (on a)) (on b))"
    problem = parse_problem(f"(define (problem p) (:domain lights) (:objects a b) (:init (on a)) (:goal {goal}))")
    task = GroundedTask.of(planner, domain, Task("p", problem), 30.0)
    trial = guided(sandbox, heuristic("return 0"), task, UNHURRIED, (CLIMB,))
    assert trial.counterexample is not None, trial
    assert trial.counterexample.facts == ("(not (on b))", "(on a)")


def test_a_counterexample_is_the_state_where_climbing_stops(sandbox: Sandbox, planner: ProcessPlanner) -> None:
    trial = tried(sandbox, planner, GOAL_COUNT, algorithms=(CLIMB,))
    example = trial.counterexample
    assert trial.kind is GuidedKind.STALLED and example is not None
    problem = blocks(5).problem
    assert example.steps == 0
    assert set(example.facts) == {str(fact) for fact in problem.facts}
    assert example.value == len(example.missing)
    assert all(value >= example.value for _, value, _, _ in example.successors)
    for action, _, adds, deletes in example.successors:
        assert re.fullmatch(r"\((pick-up|put-down|stack|unstack)( b\d+)+\)", action)
        assert set(deletes) <= set(example.facts) and not set(adds) & set(example.facts)


def test_the_greedy_search_follows_where_climbing_stops(sandbox: Sandbox, planner: ProcessPlanner) -> None:
    assert tried(sandbox, planner, GOAL_COUNT, algorithms=(CLIMB, GREEDY)).solved


NEGATIVE = """(define (domain lights) (:requirements :strips :negative-preconditions :disjunctive-preconditions)
  (:predicates (on ?x) (broken ?x) (done))
  (:action press :parameters (?x) :precondition (not (on ?x)) :effect (on ?x))
  (:action release :parameters (?x) :precondition (on ?x) :effect (not (on ?x))))"""


@pytest.mark.parametrize(
    ("goal", "solved"),
    [
        ("(and (on a) (not (on b)))", True),
        ("(or (on a) (on c))", True),
        ("(and (on b))", True),  # true already
        ("(and (broken a))", False),
    ],
)
def test_every_goal_of_the_planner_is_one_of_the_search(
    sandbox: Sandbox, planner: Planner, goal: str, solved: bool
) -> None:
    domain = parse_domain(NEGATIVE)
    problem = parse_problem(f"(define (problem p) (:domain lights) (:objects a b c) (:init (on b)) (:goal {goal}))")
    task = GroundedTask.of(planner, domain, Task("p", problem), 30.0)
    trial = guided(sandbox, GOAL_COUNT, task, UNHURRIED)
    assert trial.solved is solved, trial
    if not solved:
        assert trial.kind is GuidedKind.GROUNDING
        assert "no sequence of actions" in trial.message


def test_grounding_counts_and_ends_in_time(sandbox: Sandbox, planner: ProcessPlanner) -> None:
    task = grounded(planner, blocks(120), seconds=0.02)
    trial = guided(sandbox, GOAL_COUNT, task, UNHURRIED)
    assert trial.kind is GuidedKind.TIMEOUT
    assert trial.message.startswith("while grounding: no answer within 0.02 s")


@pytest.mark.slow
def test_a_large_task_is_sent_in_slices(sandbox: Sandbox, planner: ProcessPlanner) -> None:
    task = grounded(planner, blocks(105))
    assert len(task.result.slices) > 3
    text = reference("blocks", "heuristics") or ""
    trial = guided(sandbox, text, task, SandboxLimits(seconds=PATIENCE, memory=2048, patience=PATIENT))
    assert trial.solved and trial.expanded == trial.length


Roads = Mapping[str, str]
"""The places that roads lead to, by place: one letter each."""


@pytest.fixture
def program(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The module of a heuristic that runs in the process of the test."""
    monkeypatch.setattr(guide, "_BASES", ())
    module = ModuleType("program")
    monkeypatch.setitem(sys.modules, "program", module)
    return module


def guide_of(program: ModuleType, roads: Roads, values: Mapping[str, Any], clock: Any = lambda: 0.0) -> Guide:
    """A walk from the place `s` to the place `g`, and a heuristic that looks values up, or calls them."""
    made, places = Guide(clock), sorted({"s", "g", *roads, *"".join(roads.values())})
    steps = [(start, end) for start, ends in sorted(roads.items()) for end in ends]
    numbers = {place: number for number, place in enumerate(places)}
    made.begin("walk", "\n".join(f"(at {place})" for place in places), f"{numbers['s']}\n{numbers['g']}\n")
    lines = (f"(go {start} {end})\t{numbers[start]}\t{numbers[end]}\t{numbers[start]}" for start, end in steps)
    made.add("\n".join(lines))

    class Values:
        __module__ = "program"

        def __init__(self, task: Any) -> None:
            pass

        def __call__(self, node: Any) -> Any:
            value = values[next(iter(node.state))[4:-1]]
            return value() if callable(value) else value

    vars(program)["Values"] = Values
    made.make()
    return made


def refuted(roads: Roads, values: Mapping[str, float]) -> set[str]:
    """The places without a better one among those that strictly improving roads reach: by the definition."""
    reached, known = {"s"}, set[str]()
    while reached != known:
        known = set(reached)
        reached |= {
            end for start in known - {"g"} for end in roads.get(start, "") if end == "g" or values[end] < values[start]
        }
    better = {start: [e for e in roads.get(start, "") if e == "g" or values[e] < values[start]] for start in reached}
    return {start for start, ends in better.items() if not ends and start != "g"}


INF = float("inf")


@pytest.mark.parametrize(
    ("roads", "values", "stalled"),
    [
        ({"s": "ab", "a": "g", "b": "t"}, {"s": 4, "a": 1, "b": 3, "t": 2, "g": 0}, "t"),  # beside the best path
        ({"s": "ab", "a": "g", "b": "g"}, {"s": 4, "a": 1, "b": 3, "g": 0}, ""),
        ({"s": "ab", "a": "g", "b": "a"}, {"s": 4, "a": 1, "b": 5, "g": 0}, ""),  # b is not better
        ({"s": "a", "a": "g"}, {"s": 4, "a": 4, "g": 0}, "s"),  # equal is not better
        ({"s": "g"}, {"s": 0, "g": 7}, ""),  # a goal is better than any state
        ({"s": "ga", "a": ""}, {"s": 3, "a": 2, "g": 0}, "a"),  # a dead end beside the goal
        ({"s": "ga", "a": ""}, {"s": 3, "a": INF, "g": 0}, ""),
        ({"s": "a", "a": "g"}, {"s": INF, "a": 1, "g": 0}, ""),
        ({"s": "ab", "a": "c", "b": "c", "c": ""}, {"s": 9, "a": 5, "b": 4, "c": 1, "g": 0}, "c"),
        ({"s": "a", "a": "b", "b": "g"}, {"s": 2.5, "a": -1, "b": -INF, "g": 0}, ""),
    ],
)
def test_a_heuristic_is_direct_if_every_improving_path_goes_on(
    program: ModuleType, roads: Roads, values: Mapping[str, float], stalled: str
) -> None:
    result = guide_of(program, roads, values).search(PROPERTY, 30.0)
    assert result["ended"] == ("stalled" if stalled else "plan"), result
    assert refuted(roads, values) == set(stalled)
    if stalled:
        assert (["s", *(name[6] for name in result["plan"])])[-1] == stalled


def test_the_property_is_that_of_its_definition(program: ModuleType) -> None:
    """On random maps; where hill climbing stops, too, the state is the same."""
    dice, kinds = random.Random(3), set[tuple[str, str]]()
    for _ in range(400):
        roads = {place: "".join(end for end in "sabcdg" if end != place and dice.random() < 0.4) for place in "sabcd"}
        values = {place: dice.choice((0, 1, 2, 3, 4, 5, INF)) for place in "sabcdg"}
        whole = guide_of(program, roads, values).search(PROPERTY, 30.0)
        climbed = guide_of(program, roads, values).search(CLIMB, 30.0)
        kinds.add((whole["ended"], climbed["ended"]))
        wrong = refuted(roads, values)
        assert whole["ended"] == ("stalled" if wrong else "plan"), (roads, values)
        if wrong:
            assert (["s", *(name[6] for name in whole["plan"])])[-1] in wrong
        if climbed["ended"] == whole["ended"]:
            assert climbed["plan"] == whole["plan"]
    assert kinds == {("plan", "plan"), ("stalled", "stalled"), ("stalled", "plan")}


def test_the_search_for_a_violation_ends_by_its_clock(program: ModuleType) -> None:
    """Ten states long: with each of the ticks the search ends somewhere else."""
    names = "sabcdefhig"
    roads = dict(itertools.pairwise(names))
    values = {place: len(names) - number for number, place in enumerate(names)}
    ended = []
    for ticks in range(1, 12):
        result = guide_of(program, roads, values, itertools.count().__next__).search(PROPERTY, ticks)
        assert result["expanded"] == min(ticks + 1, 9)
        ended.append((result["ended"], result["plan"] is not None))
    assert ended == [("time", False)] * 8 + [("plan", True)] * 3
    beside = {**roads, "s": "aj", "j": ""}  # the goal is reached first, and j would be a violation
    late = guide_of(program, beside, {**values, "j": 9.5}, itertools.count().__next__).search(PROPERTY, 4)
    assert (late["ended"], late["plan"]) == ("time", None)


def test_two_values_for_a_state_are_a_fault(program: ModuleType) -> None:
    numbers = itertools.count(0, -1)
    made = guide_of(program, {"s": "a", "a": "s"}, {"s": numbers.__next__, "a": numbers.__next__, "g": 0})
    with pytest.raises(WrongValueError, match="two values for the same state"):
        made.search(PROPERTY, 30.0)


WALK = """(define (domain walk) (:predicates (at ?x) (road ?x ?y))
  (:action go :parameters (?x ?y) :precondition (and (at ?x) (road ?x ?y)) :effect (and (at ?y) (not (at ?x)))))"""


def walk(planner: Planner) -> GroundedTask:
    """From s to g through a; another way leads through b and t back to s."""
    roads = " ".join(f"(road {start} {end})" for start, end in ("sa", "sb", "bt", "ts", "ag"))
    problem = f"(define (problem p) (:domain walk) (:objects s a b t g) (:init (at s) {roads}) (:goal (at g)))"
    return GroundedTask.of(planner, parse_domain(WALK), Task("p", parse_problem(problem)), 30.0)


def looked_up(**values: int) -> str:
    return heuristic(f"return {values}[next(iter(node.state))[4:-1]]")


def test_a_violation_beside_the_best_path_is_a_counterexample(sandbox: Sandbox, planner: ProcessPlanner) -> None:
    text, task = looked_up(s=4, a=1, b=3, t=2, g=0), walk(planner)
    assert guided(sandbox, text, task, UNHURRIED, (CLIMB,)).solved
    trial = guided(sandbox, text, task, UNHURRIED, (PROPERTY,))
    assert trial.kind is GuidedKind.STALLED and trial.counterexample is not None
    example = trial.counterexample
    assert (example.steps, example.missing, example.value) == (2, ("(at g)",), 2.0)
    assert "(at t)" in example.facts
    assert example.successors == (("(go t s)", 4.0, ("(at s)",), ("(at t)",)),)
    assert trial.message == "the state after 2 steps has the value 2, and no better successor"
    assert guided(sandbox, looked_up(s=4, a=1, b=4, t=2, g=0), task, UNHURRIED, (PROPERTY,)).solved


def test_a_search_for_a_violation_that_is_not_finished_passes(sandbox: Sandbox, planner: ProcessPlanner) -> None:
    """It improves with each call, and a call takes half of the time."""
    limits = SandboxLimits(seconds=0.5, patience=PATIENT)
    slow = improving(seconds=0.3)
    trial = guided(sandbox, slow, walk(planner), limits, (PROPERTY,))
    assert (trial.kind, trial.unfinished) == (GuidedKind.TIMEOUT, True), trial
    never = guided(sandbox, heuristic("while True:\n    pass"), walk(planner), limits, (PROPERTY,))
    assert (never.kind, never.unfinished) == (GuidedKind.TIMEOUT, False)
