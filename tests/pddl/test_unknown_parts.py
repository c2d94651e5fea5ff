"""The repair of a right file with one unknown or misplaced section or field changes nothing outside of it."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from pddlego import tools
from tests import shared
from tests.pddl.mutants import mutants, outside, repaired

ROOT = Path(__file__).parents[2]
OURS = sorted(file for file in (ROOT / "domains").glob("*.pddl") if "(define (problem" not in file.read_text("utf-8"))

KETTLE = """(define (domain kettle)
  (:requirements :strips :typing)
  (:types pot - object tin - pot)
  (:predicates (cold ?p - pot) (hot ?p - pot) (open ?p - tin))
  (:action boil
    :parameters (?p - pot)
    :precondition (cold ?p)
    :effect (and (hot ?p) (not (cold ?p)))))"""
TRAM = """(define (domain tram)
  (:requirements :typing :durative-actions :numeric-fluents)
  (:types stop)
  (:predicates (at ?s - stop) (rail ?a ?b - stop))
  (:functions (charge) (length ?a ?b - stop))
  (:durative-action ride
    :parameters (?a ?b - stop)
    :duration (= ?duration (length ?a ?b))
    :condition (and (at start (at ?a)) (over all (rail ?a ?b)) (at start (>= (charge) 1)))
    :effect (and (at start (not (at ?a))) (at end (at ?b)) (at end (decrease (charge) 1)))))"""


def changes(text: str, count: int, seed: str) -> list[str]:
    """What the repair of mutants of a right file changes outside of the place; empty if nothing."""
    assert repaired(text) == text
    tried = mutants(text, count, random.Random(seed))
    return [
        f"{mutant.kind} {' '.join(mutant.part)}: {what}"
        for mutant in tried
        if (what := outside(mutant, repaired(mutant.text)))
    ]


@pytest.mark.parametrize("text", [KETTLE, TRAM], ids=["classical", "durative"])
def test_nothing_else_changes(text: str) -> None:
    assert changes(text, 150, "a") == []


@pytest.mark.slow
@pytest.mark.parametrize("file", OURS, ids=lambda file: file.stem)
def test_nothing_else_changes_in_our_domains(file: Path) -> None:
    assert changes(file.read_text(encoding="utf-8"), 20, file.stem) == []


@pytest.mark.slow
@pytest.mark.shared("competition")
@pytest.mark.parametrize("kind", ["domain", "problem"])
@pytest.mark.parametrize("name", shared.SUITES)
def test_nothing_else_changes_in_tasks_of_the_competitions(name: str, kind: str) -> None:
    text = (shared.COMPETITION / name / f"{kind}.pddl").read_text(encoding="utf-8")
    assert len(text) > 15_000 or changes(text, 3, name) == []


@pytest.mark.parametrize("part", [":cost 3", ":vars (?q - pot)", "(:cost 3)", ":parameters (?q - pot)", ":duration 3"])
@pytest.mark.parametrize("before", [":parameters", ":precondition", ":effect"])
def test_a_field_that_an_action_does_not_have_stays_and_is_reported(part: str, before: str) -> None:
    text = KETTLE.replace(before, f"{part} {before}")
    result = tools.repair(text)
    assert (result.text, result.ok) == (text, False)
    assert result.findings


def test_an_action_with_a_duration_and_a_condition_is_durative() -> None:
    result = tools.repair(TRAM.replace("(:durative-action", "(:action"))
    assert (result.ok, result.text) == (True, TRAM)
    condition = TRAM.replace("(:durative-action", "(:action").replace(":duration (= ?duration (length ?a ?b))", "")
    assert tools.repair(condition).text == condition


@pytest.mark.parametrize(
    "wrong",
    [
        (":parameters (?a ?b - stop)", ":parameters ?a ?b - stop"),
        (":effect", ":effects"),
        ("    :parameters (?a ?b - stop)\n", ""),
        (" (rail ?a ?b - stop)", " (rail ?a ?b)"),
        (":parameters (?a ?b - stop)", ":parameters ((?a - stop) (?b - stop))"),
        (":condition (and (at start (at ?a))", ":condition ((at start (at ?a))"),
    ],
    ids=["bare parameters", "misspelt", "no parameters", "no type", "groups", "no and"],
)
def test_a_durative_action_is_repaired_as_others_are(wrong: tuple[str, str]) -> None:
    assert wrong[0] in TRAM
    assert tools.repair(TRAM.replace(*wrong)).ok


def test_a_parameter_has_the_narrowest_type_of_all_its_uses() -> None:
    fill = "(:action fill :precondition (cold ?p) :effect (and (open ?p) (not (cold ?p)))))"
    result = tools.repair(f"{KETTLE[:-1]}\n  {fill}")
    assert result.ok and "(?p - tin)" in result.text
    assert not [finding for finding in result.findings if finding.rule == "wider-argument-type"]
    apart = tools.repair(f"{KETTLE[:-1]}\n  {fill}".replace("tin - pot", "tin - object"))
    assert not apart.ok and "(?p" not in apart.text.partition("(:action fill")[2].partition(":precondition")[0]


@pytest.mark.parametrize(
    ("declared", "used", "is_declared"),
    [
        ("d1", "d11", False),
        ("d11", "d1", False),
        ("d1", "d2", False),
        ("room-a", "room-b", False),
        ("kettle", "ketle", False),
        ("a", "b", True),
        ("d1", "mug", True),
        ("d1", "d234", True),
    ],
)
def test_an_object_one_edit_away_from_a_declared_one_is_not_declared(
    declared: str, used: str, is_declared: bool
) -> None:
    problem = f"""(define (problem p) (:domain kettle) (:objects {declared} - pot)
      (:init (cold {declared}) (cold {used})) (:goal (hot {declared})))"""
    result = tools.repair(problem, KETTLE)
    assert result.ok is is_declared
    assert (result.text != problem) is is_declared


@pytest.mark.parametrize("goal", ["(or (and) (p))", "(and (and) (or) (p))", "(imply (and) (or (p) (and)))", "(and)"])
@pytest.mark.parametrize("many", [1, 2, 3])
def test_parentheses_too_many_at_the_end_are_removed_there(goal: str, many: int) -> None:
    text = f"(define (problem x) (:domain d)\n  (:init (q))\n  (:goal {goal}))"
    assert tools.repair(text + ")" * many).text == text


@pytest.mark.parametrize(
    "section",
    [
        "(:action chill :parameters (?p - pot) :effect (cold ?p))",
        "(:predicates (foo ?x))",
        "(:types cup)",
        "(:functions (f))",
        "(:constants c - pot)",
    ],
)
def test_a_section_of_a_domain_stays_in_the_problem_of_a_domain_that_is_not_written(section: str) -> None:
    domain = """(define (domain kettle) (:requirements :strips :typing) (:types pot) (:predicates (cold ?p - pot))
      (:action boil :parameters (?p - pot) :precondition (cold ?p) :effect (not (cold ?p))))"""
    problem = f"(define (problem x) (:domain kettle) (:objects a - pot) {section} (:init) (:goal (cold a)))"
    result = tools.repair(problem, domain)
    assert result.text == problem and not result.ok


def test_a_list_between_sections_stays_where_it_is() -> None:
    text = """(define (domain kettle) (:requirements :strips :typing) (:types pot)
  (:predicates (cold ?p - pot) (hot ?p - pot) (ready))
  (:action boil :parameters (?p - pot)
    :precondition (cold ?p)
    :effect (and (hot ?p) (not (cold ?p))))
  (ready)
  (:action cool :parameters (?p - pot) :precondition (hot ?p)
    :effect (and (cold ?p) (not (hot ?p)))))
"""
    result = tools.repair(text)
    assert result.text == text and not result.ok
