"""Reading is total: whatever an answer says, it names candidates in its order, or none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pddlego.methods.graphplan.advisers import named_actions, paper_form
from pddlego.pddl import parse_domain

DOMAIN = parse_domain("""(define (domain d) (:predicates (at ?x))
  (:action move :parameters (?from ?to) :precondition (at ?from) :effect (at ?to))
  (:action reset :parameters () :precondition (and) :effect (at a)))""")
CANDIDATES = ("(move a b)", "(move b a)", "(move room-1 b)", "(reset)")


@pytest.mark.parametrize(
    "line",
    [
        "(move a b)",
        "move '?from': 'a', '?to': 'b'",
        "1. MOVE '?from': 'a', '?to': 'b'",
        "- move {'?from': 'a', '?to': 'b'} {('at', 'b')}",
        "move(a, b)",
        "Move a b",
        "2) move a, b",
    ],
)
def test_an_action_may_be_written_in_many_ways(line: str) -> None:
    assert named_actions(line, CANDIDATES, DOMAIN) == ("(move a b)",)


def test_it_is_read_as_it_is_written_for_prompts() -> None:
    for name in CANDIDATES:
        assert named_actions(paper_form(name, DOMAIN), CANDIDATES, DOMAIN) == (name,)
    assert paper_form("(move a b)", DOMAIN) == "move '?from': 'a', '?to': 'b'"
    assert paper_form("(reset)", DOMAIN) == "reset"


def test_what_is_no_candidate_is_ignored_and_what_stands_twice_counts_once() -> None:
    text = "I think:\n(move b a) (fly a b)\nreset\nmove b a\nmove c d\n(move a)"
    assert named_actions(text, CANDIDATES, DOMAIN) == ("(move b a)", "(reset)")


def test_an_order_may_name_no_ops() -> None:
    text = "noop at a\n(noop at zz)\nmove a b"
    assert named_actions(text, CANDIDATES, DOMAIN, ("(at a)",)) == ("(noop at a)", "(move a b)")
    assert named_actions(text, CANDIDATES, DOMAIN) == ("(move a b)",)


@given(st.text(max_size=400))
def test_no_text_breaks_it(text: str) -> None:
    result = named_actions(text, CANDIDATES, DOMAIN, ("(at a)",))
    assert set(result) <= {*CANDIDATES, "(noop at a)"}
    assert len(set(result)) == len(result)
