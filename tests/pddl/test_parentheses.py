"""Missing and surplus parentheses: one finding, at the line of the mistake."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from pddlego.pddl.domain import read_domain
from pddlego.pddl.parentheses import balancing, edited
from pddlego.pddl.problem import read_problem
from pddlego.pddl.rules import Defect
from pddlego.pddl.sexpr import TOKEN, Source, read_sexprs
from tests.growth import is_linear

FILES = sorted((Path(__file__).parents[2] / "domains").glob("*.pddl"))

DOMAIN = """(define (domain greenhouse)
  (:types plant lamp)
  (:predicates (dark ?p - plant)
    (lights ?l - lamp ?p - plant))
  (:action switch :parameters (?l - lamp ?p - plant)
    :precondition (and (lights ?l ?p) (dark ?p))
    :effect (not (dark ?p)))
  (:action unplug :parameters (?l - lamp)
    :effect (forall (?p - plant) (not (lights ?l ?p)))))"""

PROBLEM = """(define (problem evening) (:domain greenhouse)
  (:objects fern moss - plant spot - lamp)
  (:init (dark fern) (lights spot fern)
    (lights spot moss) (dark moss))
  (:goal (and (not (dark fern)) (not (dark moss)))))"""


def errors(text: str) -> list[Defect]:
    reading = read_problem(text) if "(problem" in text else read_domain(text)
    defects = [*reading.defects, *(reading.missing_sections() if hasattr(reading, "missing_sections") else ())]
    return [defect for defect in defects if defect.blocking]


@pytest.mark.parametrize(
    ("text", "old", "new", "line", "says"),
    [
        (DOMAIN, "plant))\n  (:action sw", "plant)\n  (:action sw", 4, "missing here: line 4, after (lights ?l - lamp"),
        (DOMAIN, "(dark ?p - plant)", "(dark ?p - plant", 3, "is missing here: line 3, after plant"),
        (DOMAIN, "(lights ?l ?p) (", "(lights ?l ?p (", 6, "is missing here: line 6, after ?p"),
        (DOMAIN, "(dark ?p))\n", "(dark ?p)\n", 6, "is missing here: line 6, after (dark ?p)"),
        (DOMAIN, "(dark ?p))\n", "(dark ?p)))\n", 6, "is surplus here: line 6, after (dark ?p)"),
        (DOMAIN, "lamp ?p - plant)\n    :pre", "lamp ?p - plant\n    :pre", 5, "is missing here: line 5"),
        (DOMAIN, "(forall (?p - plant)", "(forall (?p - plant", 9, "is missing here: line 9, after plant"),
        (DOMAIN, "and (lights", "and lights", 6, "is missing here: line 6, before lights"),
        (DOMAIN, "(not (dark ?p))", "((not (dark ?p))", 7, "is surplus here: line 7"),
        (DOMAIN, "(:types plant lamp)", "(:types plant) lamp)", 2, "is surplus here: line 2, after plant"),
        (PROBLEM, "- lamp)", "- lamp", 2, "is missing here: line 2, after lamp"),
        (PROBLEM, "(lights spot moss)", "(lights spot moss", 4, "is missing here: line 4, after moss"),
        (PROBLEM, "spot fern)", "spot fern))", 3, "is surplus here: line 3, after (lights spot fern)"),
        (PROBLEM, "(:domain greenhouse)", "(:domain greenhouse", 1, "is missing here: line 1, after greenhouse"),
        (PROBLEM, "(dark moss)))))", "(dark moss))))", 5, "is missing here: line 5, after (dark moss)"),
    ],
)
def test_one_finding_names_the_place(text: str, old: str, new: str, line: int, says: str) -> None:
    assert old in text
    (error,) = errors(text.replace(old, new))
    assert error.place is not None
    assert error.place[0] == line
    assert says in error.message


def test_a_missing_and_a_surplus_one_are_two_findings() -> None:
    text = PROBLEM.replace("- lamp)", "- lamp") + ")"
    assert [error.place[0] for error in errors(text) if error.place] == [2, 5]


def _mistakes(text: str, random: random.Random) -> Iterator[tuple[str, int]]:
    """Texts with one parenthesis too few or too many, and the line of the mistake."""
    tokens = [match for match in TOKEN.finditer(text) if match[0][0] != ";"]
    source = Source(text)
    for match in random.sample([token for token in tokens[1:] if token[0] in "()"], 4):
        yield f"{text[: match.start()]} {text[match.end() :]}", source.position(match.start())[0]
    for match in random.sample(tokens, 4):
        yield f"{text[: match.end()]}){text[match.end() :]}", source.position(match.end())[0]
    for match in random.sample(tokens[1:], 4):
        yield f"{text[: match.start()]}({text[match.start() :]}", source.position(match.start())[0]


def test_one_mistake_is_one_finding_nearly_always_at_its_line() -> None:
    choice = random.Random(58)
    right = total = 0
    for file in FILES:
        for text, line in _mistakes(file.read_text(), choice):
            found = errors(text)
            assert len(found) == 1, (file.name, line, found)
            total += 1
            right += found[0].place is not None and found[0].place[0] == line
            fixed = read_sexprs(edited(text, balancing(text)))
            assert not fixed.unclosed and not fixed.extra
    assert right / total >= 0.97


def test_balancing_takes_linear_time() -> None:
    def read(times: int) -> None:
        balancing("(define (problem p) (:init " + "(not (and (a b (c)\n" * 20 + "(d e) (f\n" * times)

    assert is_linear(lambda: read(500), lambda: read(8000), 16)


NUMERIC = """(define (domain shuttle) ; (a comment
  (:requirements :typing :durative-actions :numeric-fluents)
  (:types stop - object)
  (:predicates (at ?s - stop))
  (:functions (far ?a ?b - (either stop object)) (used) - number)
  (:durative-action go :parameters (?a ?b - stop)
    :duration (= ?duration (* 2 (far ?a ?b)))
    :condition (and (at start (at ?a)) (over all (imply (at ?b) (> (used) (- 5 1)))))
    :effect (and (at start (not (at ?a))) (at end (at ?b)) (at end (increase (used) 1)))))"""


@pytest.mark.parametrize("text", [DOMAIN, PROBLEM, NUMERIC, *(file.read_text() for file in FILES[::4])])
def test_a_file_that_is_still_being_written_has_no_surplus_parentheses(text: str) -> None:
    step = 1 if len(text) < 1_000 else 1 + len(text) // 100
    read = read_problem if "(problem" in text else read_domain
    lists = {match.start() for match in list(re.finditer(r"\(", text))[:: 1 + step // 4]}
    for start in lists.union(range(0, len(text), step)):
        messages = [defect.message for defect in read(text[: start + 1]).defects]
        assert not any("surplus" in message or "too many" in message for message in messages), text[:start]


def test_a_list_that_begins_at_the_end_of_the_text_counts_among_the_missing_parentheses() -> None:
    (defect,) = errors("(define (domain q) (:predicates (a))\n  (:action x :parameters () :precondition (a) :effect (")
    assert defect.message.startswith("3 parentheses are missing here: line 2")
