from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pddlego.pddl import Atom, PddlSyntaxError, TypedName, parse_problem
from pddlego.pddl.problem import read_problem

TEXT = """(define (problem house)
  (:domain coin-collector)
  (:objects
    kitchen loc2 loc10 - location
  )
  (:init
    (at kitchen)
    (connected kitchen loc2 north)
    (connected kitchen loc10 south)
  )
  (:goal (have coin))
)"""


def test_the_canonical_text_groups_objects_and_sorts_numbers_as_numbers() -> None:
    shuffled = """; a comment
    (define (problem House) (:domain Coin-Collector) (:requirements :strips)
      (:objects loc10 - location loc2 kitchen - location)
      (:init (connected kitchen loc10 SOUTH) (at kitchen) (connected kitchen LOC2 north)) (:goal (have coin)))"""
    assert str(parse_problem(shuffled)) == TEXT


def test_untyped_objects_have_the_type_object() -> None:
    problem = parse_problem("(define (problem p) (:domain d) (:objects a b) (:init) (:goal (and)))")
    assert problem.objects == {TypedName("a", "object"), TypedName("b", "object")}


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "no (define"),
        ("(define (problem p) (:domain d) (:objects) (:goal (a)))", "section :init is missing"),
        ("(define (problem p) (:domain d) (:objects a -) (:init) (:goal (a)))", "the type is missing"),
        ("(define (problem p) (:domain d) (:objects (a)) (:init) (:goal (a)))", "without parentheses"),
        ("(define (problem p) (:domain d) (:objects) (:init (or (a) (b))) (:goal (a)))", "is not a fact"),
        ("(define (problem p) (:domain d) (:objects) (:init (not (a))) (:goal (a)))", "leave it out"),
        ("(define (problem p) (:domain d) (:objects a a) (:init) (:goal (a)))", "declared twice"),
        ("(define (problem p) (:domain d) (:objects) (:init) (:init) (:goal (a)))", "appears twice"),
        ("(define (problem p) (:domain d) (:objects) (:init) (:goal))", "exactly one condition"),
        ("Sure! (define (problem p) (:domain d) (:objects) (:init) (:goal (a)))", "outside the parentheses"),
        (
            "(define (problem p) (:domain d) (:objects) (:init) (:goal (a)) (:metric minimize))",
            "is not a metric; write",
        ),
        ("(define (problem p) (:domain d) (:init) (:goal (a)) (:constraints))", "the constraints must be one list"),
        ("(define (problem p) (:domain d) (:init (at 5 (and (a)))) (:goal (a)))", "not a timed literal"),
        ("(" * 5000, "nested more than"),
    ],
)
def test_the_strict_parser_names_every_fault(text: str, fault: str) -> None:
    with pytest.raises(PddlSyntaxError) as caught:
        parse_problem(text)
    assert fault in str(caught.value)


@given(st.text(alphabet='()abc:- ?;\n"é\x00', max_size=200))
def test_reading_is_total(text: str) -> None:
    read_problem(text)


def test_facts_are_a_set() -> None:
    text = "(define (problem p) (:domain d) (:objects) (:init (a) (A) ( a )) (:goal (a)))"
    assert parse_problem(text).facts == {Atom("a")}
