from __future__ import annotations

from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pddlego.pddl import PddlSyntaxError, TypedName, parse_domain
from pddlego.pddl.conditions import parse_condition
from pddlego.pddl.domain import circles_of

NODES = st.sampled_from("abcdef")

TEXT = """; a comment
(define (domain D)
  (:requirements :strips :typing)   ; another
  (:types room - place place vehicle - object)
  (:constants north - object)
  (:predicates (at ?r - place))
  (:action go :parameters (?r - room) :precondition (at ?r) :effect (not (at ?r))))"""


def test_what_a_domain_holds() -> None:
    domain = parse_domain(TEXT)
    assert domain.name == "d"
    assert domain.constants == (TypedName("north", "object"),)
    assert domain.types["room"] == {"room", "place", "object"}
    assert domain.is_a("room", "place")
    assert not domain.is_a("place", "room")
    assert domain.is_a("vehicle", "(either room vehicle)")
    assert domain.actions_by_name["go"].precondition == parse_condition("(at ?r)")
    assert ";" not in domain.text


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "was found"),
        ("(define (domain d)) x", "exactly one"),
        ("(define (domain d) (:functions cost))", "'cost' is not a function"),
        ("(define (domain d) (:durative-action a :duration (= ?duration 1)))", "there is no :effect; write"),
        ("(define (domain d) (:durative-action a :effect (b)))", "there is no :duration; write :duration (= ?duration"),
        ("(define (domain d) (:process a :effect (b)))", "processes (section"),
        ("(define (domain d) word)", "not a section"),
        ("(define (domain d) (:action a :effect))", "nothing follows :effect"),
        ("(define (domain d) (:action a :parameters () :precondition (b)))", "there is no :effect; write"),
        ("(define (domain d) (:action a :params () :effect (b)))", "':params' is not a field"),
        ("(define (domain d) (:predicates at))", "is not a predicate"),
        ("(define (domain d) (:predicates (at ?x - nix)))", "type nix is not declared. In predicate at"),
        ("(define (domain d) (:action a :parameters (?x - nix) :effect (b)))", "type nix is not declared. In action a"),
        ("(define (domain d) (:constants c - nix))", "type nix is not declared. In :constants"),
        ("(define (domain d)", "a parenthesis is missing here: line 1, after (domain d)"),
    ],
)
def test_faults_are_named(text: str, fault: str) -> None:
    with pytest.raises(PddlSyntaxError) as caught:
        parse_domain(text)
    assert fault in str(caught.value)


def test_a_circle_of_types_does_no_harm() -> None:
    domain = parse_domain("(define (domain d) (:types a - b b - a c - c))")
    assert domain.is_a("a", "b")
    assert domain.is_a("b", "a")


@given(st.dictionaries(NODES, st.sets(NODES)))
def test_circles_are_the_strongly_connected_components(edges: dict[str, set[str]]) -> None:
    from fast_downward.translate.sccs import get_sccs_adjacency_dict

    whole = {**{name: set[str]() for name in chain(*edges.values())}, **edges}
    components = [set(names) for names in get_sccs_adjacency_dict(whole)]
    circles = (names for names in components if len(names) > 1 or names & whole[min(names)])
    assert circles_of(edges) == {name: names for names in circles for name in names}
