"""What a writer of problems is shown of a domain."""

from __future__ import annotations

from pddlego.pddl import parse_domain
from pddlego.pddl.domain import outline

DOMAIN = parse_domain(
    """; A domain.
(define (domain d)
  (:requirements :adl :derived-predicates)
  (:types room box - place thing)
  (:constants hall - room)
  (:predicates
    (at ?r - room) ; where we are
    (way ?a ?b - room ?t - thing)
    (full ?b - box);;  nothing fits in
    (opened ?b - box) ; only in plans
    (never)
    (far ?r - room)) ; derived
  (:derived (far ?r - room) (not (at ?r))) ; (at ?r) ; not a meaning
  (:action open :parameters (?b - box) :precondition (and) :effect (opened ?b)))"""
)


def test_types_constants_and_predicates_with_their_meaning() -> None:
    assert outline(DOMAIN, ("opened",)).splitlines() == [
        "Domain: d",
        "Types: room box - place; thing",
        "Constants: hall - room",
        "Predicates:",
        "(at ?r - room) where we are",
        "(way ?a ?b - room ?t - thing)",
        "(full ?b - box) nothing fits in",
        "(never)",
    ]


def test_a_meaning_is_no_part_of_what_a_domain_is() -> None:
    bare = parse_domain(DOMAIN.text)
    assert bare == DOMAIN
    assert "where we are" not in outline(bare)


def test_only_a_comment_on_the_line_of_a_predicate_is_its_meaning() -> None:
    domain = parse_domain(
        """(define (domain d) (:requirements :typing) (:types room)
        (:predicates (at ?r - room) ; where we are
          (seen ?r - room)
          ; --- doors ---
          (shut ?r - room)) ; it is shut
        (:action go :parameters (?r - room) :precondition (and
            (at ?r) ; you must stand here first
            (seen ?r)) ; and have seen it
          :effect (shut ?r)))"""
    )
    assert {predicate.name: predicate.meaning for predicate in domain.predicates} == {
        "at": "where we are",
        "seen": "",
        "shut": "it is shut",
    }
