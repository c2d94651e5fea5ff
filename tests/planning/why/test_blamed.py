"""If constraints are the cause, it is said without which of them there is a plan."""

from __future__ import annotations

import pytest

from pddlego import tools
from pddlego.pddl import Domain, Problem, parse_domain, parse_problem
from pddlego.planning import ProcessPlanner
from pddlego.planning.result import EXPLAIN, PlanResult, PlanStatus, Search
from pddlego.planning.why import why_no_plan
from tests.scale import PATIENCE

DOMAIN = """(define (domain walk) (:requirements :typing :constraints) (:types loc)
  (:predicates (at ?l - loc) (road ?a ?b - loc))
  (:action mv :parameters (?a ?b - loc) :precondition (and (at ?a) (road ?a ?b))
    :effect (and (not (at ?a)) (at ?b))))"""


@pytest.mark.parametrize(
    ("roads", "constraints", "cures"),
    [
        ("(road a b) (road b d)", "(and (always (not (at b))) (sometime (at a)))", ("without (always (not (at b)))",)),
        (
            "(road a b) (road b d)",
            "(and (always (not (at b))) (sometime (at c)))",
            ("without (always (not (at b))) and (sometime (at c))",),
        ),
        ("(road a b)", "(always (not (at b)))", ()),
        ("(road a b) (road b a) (road a d)", "(at-most-once (at d))", None),
    ],
)
def test_the_constraints_without_which_there_is_a_plan_are_named(
    roads: str, constraints: str, cures: tuple[str, ...] | None
) -> None:
    problem = (
        f"(define (problem p) (:domain walk) (:objects a b c d - loc) (:init (at a) {roads}) (:goal (at d))"
        f" (:constraints {constraints}))"
    )
    result = tools.solve(DOMAIN, problem, seconds=PATIENCE)
    assert (result.status == "solved") is (cures is None)
    assert (result.why.cures if result.why else None) == cures


def test_a_constraint_of_the_domain_is_named_too() -> None:
    domain = f"{DOMAIN[:-1]} (:constraints (always (forall (?l - loc) (imply (at ?l) (road ?l ?l))))))"
    problem = (
        "(define (problem p) (:domain walk) (:objects a b d - loc) (:init (at a) (road a b) (road b d)) (:goal (at d)))"
    )
    result = tools.solve(domain, problem, seconds=PATIENCE)
    assert result.why is not None
    assert result.why.cures == ("without (always (forall (?l - loc) (imply (at ?l) (road ?l ?l))))",)


class Undecided(ProcessPlanner):
    """A planner that explains, and finds nothing else in time."""

    def solve(self, domain: Domain, problem: Problem, search: Search, seconds: float | None = None) -> PlanResult:
        if search == EXPLAIN:
            return super().solve(domain, problem, search, seconds)
        return PlanResult(PlanStatus.TIMEOUT, problem.goal)


def test_a_plan_that_breaks_constraints_is_no_answer() -> None:
    """Reasons are sought without the constraints where nothing shows that these are the cause."""
    problem = parse_problem(
        "(define (problem p) (:domain walk) (:objects a b d - loc) (:init (at a) (road a b) (road b d)) (:goal (at d))"
        " (:constraints (always (not (at b)))))"
    )
    result = PlanResult(PlanStatus.UNSOLVABLE, problem.goal)
    with Undecided() as planner:
        assert why_no_plan(planner, parse_domain(DOMAIN), problem, result, PATIENCE).plan is None
