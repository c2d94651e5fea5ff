"""Quantifiers over types without objects, also with constants below them, which Fast Downward's translator misreads."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pddlego.pddl import parse_domain, parse_problem
from pddlego.planning.ground import ground
from pddlego.planning.validation import goal_holds
from pddlego.tools import solve, validate

DOMAIN = """(define (domain d) (:requirements :adl :typing :derived-predicates) (:types a e - object)
  (:predicates (p) (q) (s) (u) (d))
  (:derived (d) CONDITION)
  (:action by-precondition :parameters () :precondition CONDITION :effect (p))
  (:action by-effect :parameters () :precondition (s) :effect (and (q) (when CONDITION (p))))
  (:action by-rule :parameters () :precondition (d) :effect (p)))"""
PROBLEM = "(define (problem x) (:domain d) (:objects o - a) (:init (s)) (:goal GOAL))"


def _parts(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    lists = st.tuples(st.sampled_from(["and", "or"]), st.lists(inner, max_size=2)).map(
        lambda item: f"({' '.join((item[0], *item[1]))})"
    )
    quantified = st.tuples(st.sampled_from(["exists", "forall"]), st.sampled_from(["a", "e", "object"]), inner)
    return st.one_of(
        lists,
        inner.map(lambda part: f"(not {part})"),
        st.tuples(inner, inner).map(lambda pair: f"(imply {pair[0]} {pair[1]})"),
        quantified.map(lambda item: f"({item[0]} (?x{len(item[2])} - {item[1]}) {item[2]})"),
    )


CONDITIONS = st.recursive(st.sampled_from(["(s)", "(u)", "(and)", "(or)"]), _parts, max_leaves=6)


@given(condition=CONDITIONS)
@settings(deadline=None)
def test_grounding_and_validation_agree(condition: str) -> None:
    domain = parse_domain(DOMAIN.replace("CONDITION", condition))
    problem = parse_problem(PROBLEM.replace("GOAL", condition))
    holds = goal_holds(domain, problem)
    for action in domain.actions:
        alone = replace(domain, actions=(action,))
        alone = replace(alone, text=str(alone))
        task = ground(alone, parse_problem(PROBLEM.replace("GOAL", "(p)")))
        able = task and any("(p)" in one.adds and one.preconditions <= task.initial for one in task.operators)
        assert bool(able) is holds, action.name


@pytest.mark.slow
@pytest.mark.parametrize("planner", ["auto", "pyperplan", "fast-downward", "graphplan", "mimir"])
@pytest.mark.parametrize(
    ("condition", "holds"),
    [("(forall (?x - e) (or))", True), ("(exists (?x - e) (and))", False), ("(not (exists (?x - e) (and)))", True)],
)
def test_planners_and_validation_agree(planner: str, condition: str, holds: bool) -> None:
    domain = "(define (domain d) (:requirements :adl :typing) (:types a e - object) (:predicates (p) (s))"
    domain += "(:action go :parameters () :precondition (s) :effect (p)))"
    problem = PROBLEM.replace("GOAL", f"(and (p) {condition})")
    assert validate(domain, problem, "(go)").valid is holds
    assert solve(domain, problem, planner=planner, why_seconds=0).status == ("solved" if holds else "unsolvable")
