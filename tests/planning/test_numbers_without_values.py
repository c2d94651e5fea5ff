"""A comparison of a number without a value is neither true nor false: validation and Kairos agree on what follows."""

from __future__ import annotations

import pytest

from pddlego.pddl import parse_domain, parse_problem
from pddlego.planning import PlanStatus, ProcessPlanner, Search
from pddlego.planning.result import Plan, PlanStep
from pddlego.planning.validate import validate
from pddlego.util.limits import Work

HEAD = """(define (domain d) (:requirements :adl :numeric-fluents) (:types t) (:predicates (a) (b) (c))
 (:functions (x) (w ?o - t) (n)) (:action s :parameters () """
PLACES = {
    "precondition": HEAD + ":precondition {} :effect (and (c) (increase (n) 1))))",
    "when": HEAD + ":effect (and (when {} (c)) (increase (n) 1))))",
}
PROBLEM = """(define (problem p) (:domain d) (:objects q r - t) (:init (a) (= (n) 0) (= (w q) {})) (:goal (and (c))))"""
"""`(x)` and `(w r)` have no value."""

TRUE = {
    ("(or (a) (>= (x) 1))", 0),
    ("(imply (>= (x) 1) (a))", 0),
    ("(not (and (b) (>= (x) 1)))", 0),
    ("(exists (?o - t) (>= (w ?o) 1))", 2),
    ("(not (forall (?o - t) (>= (w ?o) 1)))", 0),
}
NOT_TRUE = {
    ("(>= (x) 1)", 0),
    ("(not (>= (x) 1))", 0),
    ("(not (= (x) 1))", 0),
    ("(or (b) (not (>= (x) 1)))", 0),
    ("(imply (a) (>= (x) 1))", 0),
    ("(not (and (a) (>= (x) 1)))", 0),
    ("(forall (?o - t) (>= (w ?o) 1))", 2),
    ("(not (exists (?o - t) (>= (w ?o) 1)))", 0),
    ("(forall (?o - t) (not (>= (w ?o) 1)))", 0),
    ("(and (a) (not (or (b) (< (x) 3))))", 0),
}


@pytest.mark.parametrize("place", sorted(PLACES))
@pytest.mark.parametrize(("condition", "value"), sorted(TRUE | NOT_TRUE))
def test_validation_and_an_engine_agree(planner: ProcessPlanner, place: str, condition: str, value: int) -> None:
    pytest.importorskip("kairos")
    domain, problem = parse_domain(PLACES[place].format(condition)), parse_problem(PROBLEM.format(value))
    is_valid = validate(domain, problem, Plan((PlanStep("s"),)), Work()) is None
    assert is_valid is ((condition, value) in TRUE)
    result = planner.solve(domain, problem, Search.parse("gbf(hff)", "auto"))
    wrong = PlanStatus.UNSOLVABLE if is_valid else PlanStatus.SOLVED
    assert result.status is not wrong
    assert is_valid or result.status is PlanStatus.UNSOLVABLE
