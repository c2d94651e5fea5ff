"""Several plans: each is valid, lacks an action of every plan before it, and none that is needed is missing."""

from __future__ import annotations

import itertools
from typing import ClassVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pddlego.pddl import Domain, Problem, parse_domain, parse_problem
from pddlego.planning import ProcessPlanner, Search
from pddlego.planning.alternatives import other_plans, without_actions
from pddlego.planning.result import Plan, PlanResult, PlanStatus, PlanStep
from pddlego.planning.validation import validate
from pddlego.util.limits import Work
from tests.shared import COMPETITION

SEARCH = Search.parse("gbf(hff)", "auto")

ROADS = """(define (domain forbidden-roads) (:requirements :strips) (:constants a d)
 (:predicates (at ?p) (road ?a ?b) (forbidden))
 (:action go :parameters (?a ?b) :precondition (and (at ?a) (road ?a ?b)) :effect (and (at ?b) (not (at ?a))))
 (:action jump :parameters () :precondition (at a) :effect (and (at d) (not (at a)))))"""
TIMED = """(define (domain ways) (:requirements :durative-actions :typing) (:types way) (:predicates (done))
 (:durative-action walk :parameters (?w - way) :duration (= ?duration 2) :condition ()
  :effect (at end (done))))"""


def roads(pairs: set[tuple[str, str]]) -> Problem:
    facts = " ".join(f"(road {one} {other})" for one, other in sorted(pairs))
    return parse_problem(
        f"(define (problem p) (:domain forbidden-roads) (:objects b c) (:init (at a) {facts}) (:goal (at d)))"
    )


def all_ways(pairs: set[tuple[str, str]]) -> set[frozenset[str]]:
    """The actions of each way from a to d that visits nothing twice, and of the jump."""
    ways = {frozenset({"(jump)"})}
    for size in range(3):
        for middle in itertools.permutations("bc", size):
            steps = list(itertools.pairwise(("a", *middle, "d")))
            if pairs.issuperset(steps):
                ways.add(frozenset(f"(go {one} {other})" for one, other in steps))
    return ways


def found(planner: ProcessPlanner, domain: Domain, problem: Problem, number: int) -> tuple[list[PlanResult], bool]:
    first = planner.solve(domain, problem, SEARCH)
    others, complete = other_plans(planner, domain, problem, SEARCH, first, number - 1, 60.0)
    return [first, *others], complete


@settings(max_examples=15)
@given(st.sets(st.sampled_from([(one, other) for one in "abcd" for other in "abcd" if one != other])))
def test_every_way_is_found(planner: ProcessPlanner, pairs: set[tuple[str, str]]) -> None:
    domain, problem = parse_domain(ROADS), roads(pairs)
    plans, complete = found(planner, domain, problem, 20)
    sets = [frozenset(map(str, result.plan.steps)) for result in plans if result.plan]
    assert complete
    assert all_ways(pairs) <= {*sets}
    assert not any(earlier <= later for earlier, later in itertools.combinations(sets, 2))
    assert all(result.plan and validate(domain, problem, result.plan, Work()) is None for result in plans)


def test_a_number_and_a_limit_of_time_end_it(planner: ProcessPlanner) -> None:
    domain, problem = parse_domain(ROADS), roads({("a", "b"), ("b", "d"), ("a", "c"), ("c", "d")})
    plans, complete = found(planner, domain, problem, 2)
    assert (len(plans), complete) == (2, False)
    first = planner.solve(domain, problem, SEARCH)
    assert other_plans(planner, domain, problem, SEARCH, first, 5, 0.0, clock=lambda: 0.0) == ((), False)


class Undecided:
    """Knows no plan without the jump, and cannot prove that there is none."""

    description: ClassVar[dict[str, str]] = {}

    def solve(self, domain: Domain, problem: Problem, search: Search, seconds: float | None = None) -> PlanResult:
        return PlanResult(PlanStatus.TIMEOUT, problem.goal)

    def close(self) -> None:
        pass


def test_a_planner_that_is_undecided_proves_nothing() -> None:
    problem = roads(set())
    first = PlanResult(PlanStatus.SOLVED, problem.goal, Plan((PlanStep("jump"),)))
    assert other_plans(Undecided(), parse_domain(ROADS), problem, SEARCH, first, 5, 9.0) == ((), False)


def test_durative_actions_have_alternatives(planner: ProcessPlanner) -> None:
    pytest.importorskip("kairos")
    domain = parse_domain(TIMED)
    problem = parse_problem("(define (problem p) (:domain ways) (:objects x y - way) (:init) (:goal (done)))")
    plans, _ = found(planner, domain, problem, 3)
    assert {str(step) for result in plans if result.plan for step in result.plan.steps} == {"(walk x)", "(walk y)"}


@pytest.mark.shared("competition/blocks")
def test_a_forbidden_action_is_never_used(planner: ProcessPlanner) -> None:
    folder = COMPETITION / "blocks"
    domain = parse_domain((folder / "domain.pddl").read_text(encoding="utf-8"))
    problem = parse_problem((folder / "problem.pddl").read_text(encoding="utf-8"))
    first = planner.solve(domain, problem, SEARCH).plan
    assert first is not None
    for step in first.steps[:3]:
        result = planner.solve(*without_actions(domain, problem, {step}), SEARCH)
        assert result.plan is None or step not in result.plan.steps
