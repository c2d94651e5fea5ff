"""Repairs of numeric files: what is sound stays, requirements are kept, functions are declared by their use."""

from __future__ import annotations

import pytest

from pddlego import tools

DOMAIN = """(define (domain robots) (:requirements :strips :typing :numeric-fluents) (:types robot place)
  (:predicates (at ?r - robot ?p - place))
  (:functions (battery ?r - robot) (price ?p - place))
  (:action move :parameters (?r - robot ?a ?b - place)
    :precondition (and (at ?r ?a) (>= (battery ?r) (price ?b)))
    :effect (and (not (at ?r ?a)) (at ?r ?b) (decrease (battery ?r) (price ?b)))))"""

PROBLEM = """(define (problem one) (:domain robots) (:objects r1 - robot a b - place)
  (:init (at r1 a) (= (battery r1) 5) (= (price a) 1) (= (price b) 2.5))
  (:goal (and (at r1 b) (>= (battery r1) 1)))
  (:metric maximize (battery r1)))"""


def test_sound_files_stay_as_they_are() -> None:
    assert tools.repair(DOMAIN) == tools.RepairResult(True, DOMAIN, (), ())
    assert tools.repair(PROBLEM, DOMAIN) == tools.RepairResult(True, PROBLEM, (), ())
    assert tools.repair(PROBLEM).text == PROBLEM
    assert [result.repairs for result in tools.repair_files(DOMAIN, PROBLEM)] == [(), ()]


@pytest.mark.parametrize("requirement", [":numeric-fluents", ":fluents"])
def test_requirements_of_numbers_are_kept_where_numbers_are(requirement: str) -> None:
    broken = DOMAIN.replace(":numeric-fluents", f"{requirement} :time")[:-1]
    result = tools.repair(broken)
    assert result.ok, result.findings
    assert requirement in result.text
    assert "declared by use: requirements :time are of no use here" in result.repairs
    classical = DOMAIN.replace("(>= (battery ?r) (price ?b))", "").replace("(decrease (battery ?r) (price ?b))", "")
    assert requirement not in tools.repair(classical.replace(":numeric-fluents", requirement)).text


@pytest.mark.parametrize(
    "functions", ["", "(:functions (battery ?r - robot))", "(:functions (price ?p - place) - number)"]
)
def test_functions_are_declared_by_their_use(functions: str) -> None:
    broken = DOMAIN.replace("(:functions (battery ?r - robot) (price ?p - place))", functions)
    domain, problem = tools.repair_files(broken, PROBLEM)
    assert (domain.ok, problem.ok, problem.text) == (True, True, PROBLEM), domain.findings
    new = {"battery", "price"} - {name for name in ("battery", "price") if name in functions}
    assert domain.repairs == tuple(f"declared by use: {name} is a function" for name in sorted(new))
    assert not tools.check(domain.text, problem.text).findings


def test_a_function_that_nothing_gives_a_value_may_be_misspelt_and_stays_for_the_check() -> None:
    broken = DOMAIN.replace("(>= (battery ?r) (price ?b))", "(>= (battry ?r) (height ?b))")
    result = tools.repair_files(broken, PROBLEM)[0]
    assert not result.ok
    assert {finding.rule for finding in result.findings} == {"undeclared-function"}


TIMED = """(define (domain kiln) (:requirements :strips :durative-actions :timed-initial-literals)
  (:predicates (hot) (done) (open))
  (:durative-action bake :parameters () :duration (= ?duration 5)
    :condition (and (at start (open)) (over all (hot))) :effect (at end (done))))"""
LATER = "(define (problem p) (:domain kiln) (:init (hot) (at 5 (open))) (:goal (done)))"


def test_requirements_of_time_stay_where_they_are_used() -> None:
    assert tools.repair(TIMED).text == TIMED
    broken = tools.repair(TIMED[:-1])
    assert broken.ok and ":durative-actions" in broken.text
    assert broken.repairs == ("lexical: closing parentheses were missing at the end",)
    classical = TIMED.partition("(:durative-action ")[0] + ")"
    assert ":durative-actions" not in tools.repair(classical).text
    pair = tools.repair_files(classical, LATER)
    assert pair[1].ok and pair[1].text == LATER


@pytest.mark.parametrize("form", ["(battery ?r >= (price ?b))", "(ge (battery ?r) (price ?b))", "((battery ?r) >= 2)"])
def test_a_missing_parenthesis_elsewhere_does_not_change_the_repair_of_a_form(form: str) -> None:
    other = "(decrease (battery ?r) (price ?b))"
    right = DOMAIN.replace("(>= (battery ?r) (price ?b))", form).replace(other, "(set (battery ?r) (price ?b))")
    wrong = right.replace("(at ?r - robot ?p - place))", "(at ?r - robot ?p - place)")
    assert wrong != right
    assert len(tools.check(wrong).findings) == 1
    repaired = tools.repair(wrong)
    assert repaired.ok and repaired.text.split() == tools.repair(right).text.split()
