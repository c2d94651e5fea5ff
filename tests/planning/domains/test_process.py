"""A comparison in a process of its own, under limits."""

from __future__ import annotations

from typing import cast

import pytest

from pddlego.pddl import Domain, parse_domain
from pddlego.planning.compare import ComparisonVerdict
from pddlego.planning.domains.process import compare_apart

pytest.importorskip("z3")

LAMP = """
(define (domain lamp) (:requirements :adl :numeric-fluents) (:types bulb) (:constants desk - bulb)
  (:predicates (lit ?b - bulb)) (:functions (power ?b - bulb))
  (:action press :parameters (?b - bulb) :precondition (not (lit ?b)) :effect (and (lit ?b) (increase (power ?b) 1))))
"""


def renamed(text: str) -> str:
    for old, new in (("bulb", "light"), ("lit", "on"), ("power", "heat"), ("press", "push"), ("desk", "shelf")):
        text = text.replace(old, new)
    return text


@pytest.mark.parametrize("old", ["", "(not (lit ?b))"])
def test_names_that_differ_are_said(old: str) -> None:
    answer = compare_apart(parse_domain(LAMP), parse_domain(renamed(LAMP.replace(old, "(and)" if old else ""))))
    assert answer.verdict is (ComparisonVerdict.DIFFERENT if old else ComparisonVerdict.SAME)
    assert set(answer.renamed) == {
        ("type", "bulb", "light"),
        ("constant", "desk", "shelf"),
        ("predicate", "lit", "on"),
        ("function", "power", "heat"),
        ("action", "press", "push"),
    }


def test_equal_names_are_not_said() -> None:
    assert compare_apart(parse_domain(LAMP), parse_domain(LAMP)).renamed == ()


def test_process_that_is_late_is_killed() -> None:
    answer = compare_apart(parse_domain(LAMP), parse_domain(renamed(LAMP)), seconds=0.0, ending=0.0)
    assert answer.verdict is ComparisonVerdict.UNDECIDED
    assert "time" in answer.reason


def test_another_error_of_the_process_is_raised() -> None:
    with pytest.raises(AttributeError):
        compare_apart(parse_domain(LAMP), cast(Domain, "no domain"))


def test_process_without_memory_is_reported() -> None:
    answer = compare_apart(parse_domain(LAMP), parse_domain(renamed(LAMP)), memory=16)
    assert answer.verdict is ComparisonVerdict.UNDECIDED
    assert "16 MiB" in answer.reason
