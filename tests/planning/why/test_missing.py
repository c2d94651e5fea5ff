"""What was removed from a problem is proposed among the first changes, and named if there is a plan with it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pddlego import tools
from pddlego.pddl import Domain, Problem
from pddlego.pddl.rules import Level
from pddlego.planning import ProcessPlanner
from pddlego.planning.result import EXPLAIN, GoalPart, PlanResult, PlanStatus, Search, WhyNoPlan
from pddlego.planning.why import why_no_plan
from pddlego.planning.why.missing import changed_problems
from tests.growth import is_linear
from tests.scale import PATIENCE

WAREHOUSE = """(define (domain warehouse) (:requirements :typing :numeric-fluents) (:types robot box place level)
  (:predicates (at ?r - robot ?p - place) (in ?b - box ?p - place) (holds ?r - robot ?b - box) (free ?r - robot)
    (path ?a ?b - place) (charger ?p - place) (next ?lower ?higher - level) (on ?r - robot ?l - level))
  (:functions (battery ?r - robot) (way ?a ?b - place))
  (:action drive :parameters (?r - robot ?a ?b - place)
    :precondition (and (at ?r ?a) (path ?a ?b) (>= (battery ?r) (way ?a ?b)))
    :effect (and (at ?r ?b) (not (at ?r ?a)) (decrease (battery ?r) (way ?a ?b))))
  (:action lift :parameters (?r - robot ?lower ?higher - level) :precondition (and (on ?r ?lower) (next ?lower ?higher))
    :effect (and (on ?r ?higher) (not (on ?r ?lower))))
  (:action pick :parameters (?r - robot ?b - box ?p - place) :precondition (and (at ?r ?p) (in ?b ?p) (free ?r))
    :effect (and (holds ?r ?b) (not (free ?r)) (not (in ?b ?p))))
  (:action drop :parameters (?r - robot ?b - box ?p - place) :precondition (and (at ?r ?p) (holds ?r ?b))
    :effect (and (in ?b ?p) (free ?r) (not (holds ?r ?b)))))"""
PROBLEM = """(define (problem p) (:domain warehouse)
  (:objects r1 r2 - robot b1 b2 - box s1 s2 s3 s4 - place l0 l1 l2 l3 - level)
  (:init (at r1 s1) (at r2 s4) (on r1 l0) (on r2 l0) (free r1) (free r2) (in b1 s2) (in b2 s3)
    (path s1 s2) (path s2 s1) (path s2 s3) (path s3 s2) (path s3 s4) (path s4 s3)
    (next l0 l1) (next l1 l2) (next l2 l3) (= (battery r1) 12) (= (battery r2) 1)
    (= (way s1 s2) 2) (= (way s2 s1) 2) (= (way s2 s3) 2) (= (way s3 s2) 2) (= (way s3 s4) 1) (= (way s4 s3) 1))
  (:goal (and (in b1 s4) (in b2 s1) (on r1 l3))))"""


def pair(domain: str, problem: str) -> tuple[Domain, Problem]:
    value = tools.read_domain_file(domain, Level.TIME)
    return value, tools.read_problem_file(value, problem, Level.TIME)


def proposed(problem: str) -> list[str]:
    return [change.words for change in changed_problems(*pair(WAREHOUSE, problem), 200)]


@pytest.mark.parametrize(
    ("fact", "before"),
    [
        *((f"(path {way})", 1) for way in ("s1 s2", "s2 s1", "s2 s3", "s3 s2", "s3 s4", "s4 s3")),
        *((f"(next {levels})", 3) for levels in ("l0 l1", "l1 l2", "l2 l3")),
        ("(free r1)", 3),
        ("(on r1 l0)", 9),
        ("(at r1 s1)", 9),
        ("(in b1 s2)", 9),
    ],
)
def test_a_removed_fact_is_among_the_first_proposals(fact: str, before: int) -> None:
    assert f"with {fact} in :init" not in proposed(PROBLEM)
    assert f"with {fact} in :init" in proposed(PROBLEM.replace(fact, ""))[:before]


@pytest.mark.parametrize(
    ("removed", "domain", "first"),
    [
        (("(free r1)", "(free r2)"), WAREHOUSE, {"(free r1)", "(free r2)"}),
        (
            ("(at r1 s1)", "(at r2 s4)"),
            WAREHOUSE,
            {f"(at r{robot} s{place})" for robot in (1, 2) for place in range(1, 5)},
        ),
        (
            ("(free r1)", "(free r2)"),
            WAREHOUSE.replace("(free ?r - robot)", "(free)").replace("(free ?r)", "(free)"),
            {"(free)"},
        ),
    ],
)
def test_a_predicate_of_which_no_fact_can_become_true_is_proposed(
    removed: tuple[str, str], domain: str, first: set[str]
) -> None:
    """Also where actions add it that need it, in a circle, and where it has no parameters."""
    text = PROBLEM.replace(removed[0], "").replace(removed[1], "")
    changes = [change.words for change in changed_problems(*pair(domain, text), 200) if not change.head]
    assert set(changes[: len(first)]) >= {f"with {fact} in :init" for fact in first}
    # What a possible action adds is not proposed: robots that hold nothing are no fault.
    assert not any("(holds" in words for words in proposed(PROBLEM))


def test_neither_goals_nor_second_places_nor_circles_are_proposed() -> None:
    words = "\n".join(proposed(PROBLEM.replace("(in b1 s2)", "")))
    assert "with (in b1 s1)" in words
    assert not any(f"with {fact}" in words for fact in ("(in b1 s4)", "(in b2", "(at r1", "(next l3 l0)"))


def test_many_objects_take_linear_time_and_the_number_is_limited() -> None:
    """Counted in proposals, of which each is a problem of its own."""
    names = " ".join(f"x{number}" for number in range(3_000))
    domain = "(define (domain d) (:predicates (p ?a ?b ?c ?d) (q ?a)) (:action a :parameters (?a) :effect (q ?a)))"
    problem = (
        f"(define (problem p) (:domain d) (:objects {names}) (:init (p x0 x0 x0 x0) (p x0 x1 x0 x0)) (:goal (q x1)))"
    )
    assert len(list(changed_problems(*pair(domain, problem), 50))) == 50


UNSOLVABLE = PlanResult(PlanStatus.UNSOLVABLE, pair(WAREHOUSE, PROBLEM)[1].goal)
TIMED_OUT = PlanResult(PlanStatus.TIMEOUT, UNSOLVABLE.goal)


@pytest.mark.parametrize(
    ("old", "new", "cure"),
    [
        ("(path s3 s4)", "", "with (path s3 s4) in :init"),
        ("(free r1) (free r2)", "", "with (free r1) in :init"),
        ("(= (battery r1) 12)", "(= (battery r1) 3)", "with (= (battery r1) 40) in :init"),
        ("(= (way s2 s3) 2)", "(= (way s2 s3) 9)", "with (= (way s2 s3) 4) in :init"),
        ("(= (way s2 s3) 2)", "(= (way s2 s3) 90.5)", "with (= (way s2 s3) 0) in :init"),
    ],
)
def test_what_makes_a_plan_possible_is_named(planner: ProcessPlanner, old: str, new: str, cure: str) -> None:
    why = why_no_plan(planner, *pair(WAREHOUSE, PROBLEM.replace(old, new)), UNSOLVABLE, PATIENCE)
    assert cure in why.cures
    assert len({words.rpartition(" (")[2].split()[0] for words in why.cures}) == len(why.cures) <= 3


def test_an_object_with_a_wider_type_than_needed_is_proposed_first() -> None:
    domain = WAREHOUSE.replace("box place level)", "box level - object lift - place place)")
    domain = domain.replace("lift :parameters (?r - robot", "lift :parameters (?r - robot ?p - lift")
    changes = list(changed_problems(*pair(domain, PROBLEM), 200))
    assert [change.words for change in changes[:4]] == [f"with s{number} - lift in :objects" for number in range(1, 5)]
    assert not any("box" in str(change.words) or "lift" in change.words for change in changes[4:])
    assert [obj.type for obj in changes[0].problem.sorted_objects()].count("lift") == 1


class TryingPlanner:
    """Plans for some problems with changed numbers, and has one time-out. Each search takes a second."""

    def __init__(self, works: Callable[[Problem], bool], late: int = 0) -> None:
        self.description, self.now, self._works, self._late = dict[str, object](), 0, works, late

    def solve(self, domain: Domain, problem: Problem, search: Search, seconds: float | None = None) -> PlanResult:
        self.now += 1
        status = PlanStatus.SOLVED if self._works(problem) else PlanStatus.UNSOLVABLE
        status = PlanStatus.TIMEOUT if self.now == self._late else status
        why = WhyNoPlan((GoalPart(str(problem.goal), True),) * 3, chain=("a reason",))
        return PlanResult(status, problem.goal, why=why if search == EXPLAIN else None)

    def close(self) -> None:
        pass


@pytest.mark.parametrize(("late", "seconds", "complete"), [(0, 900, True), (7, 900, False), (0, 9, False)])
def test_the_end_of_the_time_is_reported(late: int, seconds: int, complete: bool) -> None:
    planner = TryingPlanner(lambda problem: False, late)
    why = why_no_plan(planner, *pair(WAREHOUSE, PROBLEM), TIMED_OUT, seconds, clock=lambda: planner.now)
    assert (why.cures, why.complete) == ((), complete)


@pytest.mark.parametrize(("with_fact", "cure"), [(True, "(at r1 s2)"), (False, "(= (battery r1) 26)")])
def test_numbers_are_tried_only_if_no_fact_is_enough(with_fact: bool, cure: str) -> None:
    value = pair(WAREHOUSE, PROBLEM.replace("(at r1 s1)", ""))
    numbers = value[1].values

    def works(problem: Problem) -> bool:
        return problem.values != numbers or (with_fact and "(at r1 s2)" in map(str, problem.facts))

    planner = TryingPlanner(works)
    why = why_no_plan(planner, *value, TIMED_OUT, 900, clock=lambda: planner.now)
    assert why.cures[0] == f"with {cure} in :init"
    assert any("(= (" in words for words in why.cures) is not with_fact


class LatePlanner:
    """Finds no plan, and takes a second for each search."""

    def __init__(self) -> None:
        self.description, self.asked = dict[str, object](), 0

    def solve(self, *arguments: object) -> PlanResult:
        self.asked += 1
        return PlanResult(PlanStatus.TIMEOUT, UNSOLVABLE.goal)

    def close(self) -> None:
        pass


def test_no_change_is_tried_after_the_time_limit() -> None:
    planner = LatePlanner()
    why = why_no_plan(planner, *pair(WAREHOUSE, PROBLEM), UNSOLVABLE, 6.0, clock=lambda: planner.asked)
    assert (why.cures, why.complete) == ((), False)
    assert planner.asked == 6


def test_a_long_chain_of_actions_is_searched_in_linear_time() -> None:
    def chain(length: int) -> tuple[Domain, Problem]:
        predicates = " ".join(f"(p{number})" for number in range(length + 2))
        actions = "".join(
            f"(:action a{number} :parameters () :precondition (p{number}) :effect (p{number + 1}))"
            for number in reversed(range(length))
        )
        goal = f"(define (problem x) (:domain d) (:init (p0)) (:goal (p{length + 1})))"
        return pair(f"(define (domain d) (:predicates {predicates}) {actions})", goal)

    small, large = chain(400), chain(4_000)
    assert is_linear(lambda: list(changed_problems(*small, 1)), lambda: list(changed_problems(*large, 1)), 10)
