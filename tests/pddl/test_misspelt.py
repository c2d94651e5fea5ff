"""Misspelt words of PDDL: the finding of each carries its replacement, which makes the file right."""

from __future__ import annotations

import re

import pytest

from pddlego import tools

DOMAIN = """(define (domain trains)
  (:requirements :typing :negative-preconditions :disjunctive-preconditions :existential-preconditions :equality
    :universal-preconditions :conditional-effects :derived-predicates :durative-actions :numeric-fluents)
  (:types station train - object)
  (:constants depot - station)
  (:predicates (at-station ?t - train ?s - station) (track ?a ?b - station) (clean ?t - train) (busy ?s - station)
    (ready ?t - train))
  (:functions (fuel ?t - train) (total-cost))
  (:derived (ready ?t - train) (and (clean ?t) (at-station ?t depot)))
  (:action move
    :parameters (?t - train ?a ?b - station)
    :precondition (and (at-station ?t ?a) (or (track ?a ?b) (track ?b ?a)) (not (busy ?b))
      (imply (clean ?t) (ready ?t)) (exists (?s - station) (busy ?s)) (forall (?s - station) (track ?s ?b)))
    :effect (and (not (at-station ?t ?a)) (at-station ?t ?b) (when (busy ?a) (clean ?t)) (decrease (fuel ?t) 1)
      (increase (total-cost) 2)))
  (:action fill
    :parameters (?t - train)
    :precondition (at-station ?t depot)
    :effect (and (assign (fuel ?t) 9) (increase (total-cost) 1)))
  (:durative-action wash
    :parameters (?t - train)
    :duration (= ?duration 5)
    :condition (and (at start (at-station ?t depot)) (over all (at-station ?t depot)))
    :effect (and (at start (not (clean ?t))) (at end (clean ?t)) (at end (scale-up (fuel ?t) 2)))))
"""
PROBLEM = """(define (problem morning)
  (:domain trains)
  (:objects t - train a b - station)
  (:init (at-station t a) (track a b) (track b a) (busy a) (= (fuel t) 3) (= (total-cost) 0))
  (:goal (and (at-station t b) (not (busy b))))
  (:metric minimize (total-cost)))
"""
IN_DOMAIN = (
    *("domain", ":requirements", ":types", ":constants", ":predicates", ":functions", ":derived", ":action"),
    *(":durative-action", ":parameters", ":precondition", ":effect", ":duration", ":condition"),
    *("exists", "forall", "imply", "when", "and", "not", "at start", "at end", "over all"),
    *("increase", "decrease", "assign", "scale-up", ":typing", ":conditional-effects", "?duration", "define"),
)
IN_PROBLEM = ("problem", ":domain", ":objects", ":init", ":goal", ":metric", "minimize", "define", "and", "not")


def misspellings(word: str) -> tuple[str, ...]:
    """Six misspellings: a letter is missing, doubled, swapped, wrong, added in front or at the end."""
    first = next(number for number, letter in enumerate(word) if letter.isalpha())
    at = first + 1
    return (
        word[:at] + word[at + 1 :],
        word[:at] + word[at] + word[at:],
        word[:first] + word[at] + word[first] + word[at + 1 :],
        word[:at] + ("x" if word[at] != "x" else "y") + word[at + 1 :],
        word[:first] + word[first] + word[first:],
        word + "s",
    )


def test_the_files_are_right() -> None:
    assert tools.check(DOMAIN, PROBLEM).ok


def fixed(text: str, finding: tools.Finding) -> str:
    lines = text.split("\n")
    line = lines[finding.line - 1]
    lines[finding.line - 1] = line[: finding.column - 1] + finding.meant + line[finding.end_column - 1 :]
    return "\n".join(lines)


def cases(words: tuple[str, ...]) -> list[tuple[str, str]]:
    return [(word, wrong) for word in words for wrong in dict.fromkeys(misspellings(word)) if wrong != word]


JOINED = {
    "domain": (
        *("domain trains", ":requirements :typing", ":typing :negative", ":equality\n    :universal", ":types station"),
        *(":constants depot", ":action move", ":action fill", ":durative-action wash", "?duration 5"),
    ),
    "problem": ("problem morning", ":domain trains", ":objects t1", ":metric minimize"),
}
"""Words of PDDL with the next word."""


@pytest.mark.parametrize(("part", "words"), [(part, words) for part, rows in JOINED.items() for words in rows])
def test_a_word_that_is_joined_to_the_next_one_has_a_fix_that_makes_the_file_right(part: str, words: str) -> None:
    texts = {"domain": DOMAIN, "problem": PROBLEM.replace(":objects t ", ":objects t1 t ")}
    right = texts[part]
    texts[part] = right.replace(words, "".join(words.split()), 1)
    (finding, *_) = [finding for finding in tools.check(**texts).findings if finding.meant]
    texts[part] = fixed(texts[part], finding)
    assert texts[part].split() == right.split()


@pytest.mark.parametrize(
    ("part", "word", "wrong"),
    [
        *(("domain", *case) for case in cases(IN_DOMAIN)),
        *(("problem", *case) for case in cases(IN_PROBLEM)),
    ],
)
def test_a_misspelt_word_of_pddl_has_a_fix_that_makes_the_file_right(part: str, word: str, wrong: str) -> None:
    texts = {"domain": DOMAIN, "problem": PROBLEM}
    before, after = re.split(rf"(?<=[( ]){re.escape(word)}(?![\w-])", texts[part], maxsplit=1)
    texts[part] = before + wrong + after
    (finding, *_) = [finding for finding in tools.check(**texts).findings if finding.meant]
    assert finding.file == part
    texts[part] = fixed(texts[part], finding)
    assert texts[part] == before + word + after
