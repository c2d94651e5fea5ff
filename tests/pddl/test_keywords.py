"""Misspelt keywords: repaired where the right one is missing, and nothing else is moved."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from pddlego import tools
from tests.growth import is_linear

KEYWORDS = (":requirements", ":types", ":predicates", ":action", ":parameters", ":precondition", ":effect")
KEYWORDS_OF_PROBLEMS = (":domain", ":objects", ":init", ":goal", ":metric")
SPELT_DOMAIN = """(define (domain garden)
  (:requirements :strips :typing)
  (:types bed)
  (:predicates (wet ?b - bed) (dug ?b - bed))
  (:action pour
    :parameters (?b - bed)
    :precondition (dug ?b)
    :effect (wet ?b)))"""
SPELT_PROBLEM = """(define (problem day)
  (:domain garden)
  (:objects roses - bed)
  (:init (dug roses))
  (:goal (wet roses)))"""
DURATIVE = """(define (domain garden)
  (:requirements :strips :durative-actions)
  (:predicates (wet) (dug))
  (:durative-action pour
    :parameters ()
    :duration (= ?duration 2)
    :condition (at start (dug))
    :effect (at end (wet))))"""


def misspelt(keyword: str) -> Iterator[str]:
    """The keyword without one of its letters, with one twice, and with two neighbours exchanged."""
    for place in range(1, len(keyword)):
        yield keyword[:place] + keyword[place + 1 :]
        yield keyword[:place] + keyword[place] + keyword[place:]
        yield keyword[:place] + keyword[place : place + 2][::-1] + keyword[place + 2 :]


def kinds(findings: tuple[tools.Finding, ...]) -> set[str]:
    return {finding.rule for finding in findings if finding.severity == "error"}


@pytest.mark.parametrize(
    ("text", "keyword"),
    [
        *((SPELT_DOMAIN, keyword) for keyword in KEYWORDS),
        *((SPELT_PROBLEM, keyword) for keyword in KEYWORDS_OF_PROBLEMS if keyword in SPELT_PROBLEM),
        *((DURATIVE, keyword) for keyword in (":durative-action", ":duration", ":condition", ":effect")),
    ],
)
def test_a_misspelt_keyword_is_repaired_where_the_right_one_is_missing_and_nothing_else_changes(
    text: str, keyword: str
) -> None:
    for word in set(misspelt(keyword)) - {keyword}:
        repaired = tools.repair(text.replace(f"{keyword} ", f"{word} "))
        assert (repaired.ok, repaired.text) == (True, text), word


@pytest.mark.parametrize("word", [":efect", ":efect (dug ?b) :effct", ":vars", ":condition", "effct", ":other", "and"])
def test_a_field_that_repairs_no_other_stays_in_its_place(word: str) -> None:
    text = SPELT_DOMAIN.replace(":effect (wet ?b)", f":effect (wet ?b) {word} (not (dug ?b))")
    repaired = tools.repair(text)
    assert repaired.text == text and not repaired.ok
    assert kinds(repaired.findings) <= kinds(tools.check(text).findings)


def test_many_unknown_keywords_are_read_in_linear_time() -> None:
    def text(size: int) -> str:
        fields = " ".join(f":efec{number} (wet ?b)" for number in range(size))
        return SPELT_DOMAIN.replace(":effect (wet ?b)", fields) + f"({' '.join(f'(:typs{n})' for n in range(size))})"

    assert is_linear(lambda: tools.repair(text(500)), lambda: tools.repair(text(8_000)), 16)
