"""Planning for constraints by a solver that knows none: constraints are added once a plan breaks them."""

from __future__ import annotations

import pytest

from pddlego.pddl import Domain, Problem, parse_domain, parse_problem
from pddlego.planning import world
from pddlego.planning.engines import EngineTurn
from pddlego.planning.result import Plan, PlanStatus, PlanStep, Search
from pddlego.planning.unconstrained import plan_keeping
from pddlego.planning.worker import _attempted
from pddlego.util.limits import Work

DOMAIN = parse_domain(
    "(define (domain lamp) (:predicates (on)) (:action press :effect (on)) (:action wait :effect (not (on))))"
)
TASK = parse_problem("(define (problem p) (:domain lamp) (:init) (:goal (on)) (:constraints (at-most-once (on))))")
PLAN = Plan((PlanStep("press", ()),))


def test_the_time_of_the_solver_does_not_count_for_the_check_of_its_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]

    def slow(domain: Domain, problem: Problem) -> Plan:
        now[0] += 2 * world.SECONDS
        return PLAN

    monkeypatch.setattr(world, "default_work", lambda: Work(1_000_000, world.SECONDS, lambda: now[0]))
    assert plan_keeping(DOMAIN, TASK, slow, at_once=False) == PLAN


def test_no_solver_is_called_after_the_time_of_its_turn() -> None:
    def solver(*arguments: object) -> Plan:
        raise AssertionError("called")

    assert _attempted(DOMAIN, TASK, Search("gbf", "hff"), EngineTurn("pyperplan", solver, 0)).status is (
        PlanStatus.TIMEOUT
    )
