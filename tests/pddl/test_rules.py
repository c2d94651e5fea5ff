"""Every rule finds what breaks it and nothing else; what is sound breaks none."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pddlego.pddl import Defect, DefectKind, check, parse_domain, parse_problem
from pddlego.pddl.check import check_domain
from pddlego.pddl.lint import problem_warnings
from pddlego.pddl.portable import checked_domain
from pddlego.pddl.rules import Level, Where
from pddlego.planning.checked import checked_problem
from tests.shared import COMPETITION, SMALL_SUITES

OURS = sorted((Path(__file__).parents[2] / "domains").glob("*.pddl"))

DOMAIN = """(define (domain depot)
  (:requirements :strips :typing :negative-preconditions :derived-predicates :existential-preconditions
    :action-costs)
  (:types place thing - object crate truck - thing)
  (:constants yard - place)
  (:predicates (at ?t - thing ?p - place) (in ?c - crate ?t - truck) (clear ?c - crate)
    (busy ?t - truck) (open ?p - place))
  (:functions (weight ?c - crate) (total-cost))
  (:derived (busy ?t - truck) (exists (?c - crate) (in ?c ?t)))
  (:action load
    :parameters (?c - crate ?t - truck ?p - place)
    :precondition (and (at ?c ?p) (at ?t ?p) (clear ?c) (not (busy ?t)))
    :effect (and (not (at ?c ?p)) (not (clear ?c)) (in ?c ?t) (increase (total-cost) (weight ?c))))
  (:action unload
    :parameters (?c - crate ?t - truck ?p - place)
    :precondition (and (in ?c ?t) (at ?t ?p))
    :effect (and (not (in ?c ?t)) (at ?c ?p) (clear ?c)))
  (:action drive
    :parameters (?t - truck ?from ?to - place)
    :precondition (and (at ?t ?from) (open ?to))
    :effect (and (not (at ?t ?from)) (at ?t ?to))))"""

PROBLEM = """(define (problem one) (:domain depot)
  (:objects c1 c2 - crate t1 - truck dock - place)
  (:init (clear c1) (at c1 dock) (at c2 yard) (clear c2) (at t1 yard) (open dock) (open yard)
    (= (weight c1) 5) (= (weight c2) 5))
  (:goal (and (at c1 yard) (at c2 dock))))"""

DOMAINS = {
    DefectKind.SYNTAX: ("(:action drive", "(:deed drive"),
    DefectKind.BAD_NAME: ("(:types place thing", "(:types 2nd place thing"),
    DefectKind.RESERVED_WORD: ("(:types place thing", "(:types either place thing"),
    DefectKind.UNDECLARED_TYPE: ("(busy ?t - truck) (open", "(busy ?t - lorry) (open"),
    DefectKind.TYPE_CYCLE: ("place thing - object", "place - object thing - crate"),
    DefectKind.TWO_TYPES: ("yard - place)", "yard - place yard - thing)"),
    DefectKind.DUPLICATE_ACTION: ("(:action unload", "(:action load"),
    DefectKind.DUPLICATE_PREDICATE: ("(open ?p - place)", "(open ?p ?q - place) (open ?p - place)"),
    DefectKind.DUPLICATE_PARAMETER: ("(?t - truck ?from ?to - place)", "(?t - truck ?from ?to ?to - place)"),
    DefectKind.PARAMETER_NAME: ("(open ?p - place)", "(open p - place)"),
    DefectKind.UNDECLARED_PREDICATE: ("(open ?to))", "(opened ?to))"),
    DefectKind.UNDECLARED_OBJECT: ("(open ?to))", "(open street))"),
    DefectKind.ARITY: ("(open ?to))", "(open ?from ?to))"),
    DefectKind.ARGUMENT_TYPE: ("(open ?to))", "(open ?t))"),
    DefectKind.VARIABLE: ("(open ?to))", "(open ?where))"),
    DefectKind.MISPLACED: ("(at ?c ?p) (clear ?c)))", "(or (at ?c ?p) (clear ?c))))"),
    DefectKind.DERIVED_EFFECT: ("(not (at ?t ?from)) (at ?t ?to)", "(not (at ?t ?from)) (at ?t ?to) (busy ?t)"),
    DefectKind.RECURSIVE: ("(exists (?c - crate) (in ?c ?t))", "(not (busy ?t))"),
    DefectKind.NOT_SUPPORTED: ("(:action drive", "(:process wait) (:action drive"),
    DefectKind.UNDECLARED_FUNCTION: ("(at ?t ?to))))", "(at ?t ?to) (increase (total-cost) (fuel)))))"),
    DefectKind.TWO_VALUES: ("(at ?t ?to))))", "(at ?t ?to) (increase (total-cost) 1) (increase (total-cost) 2))))"),
    DefectKind.DIVISION_BY_ZERO: (
        DOMAIN[DOMAIN.index(":action-costs)") :],
        DOMAIN[DOMAIN.index(":action-costs)") :]
        .replace(":action-costs", ":numeric-fluents")
        .replace("(open ?to))", "(open ?to) (> (/ (total-cost) 0) 1))"),
    ),
    DefectKind.TOO_LARGE: ("(:types place", f"(:types {' '.join(f't{number}' for number in range(1_001))} place"),
    DefectKind.IMPOSSIBLE_DURATION: (
        "(:action drive",
        "(:durative-action wait :parameters () :duration (= ?duration -1) :effect (at end (open yard))) (:action drive",
    ),
    DefectKind.DUPLICATE_TYPE: ("crate truck - thing", "crate truck crate - thing"),
    DefectKind.DUPLICATE_CONSTANT: ("yard - place)", "yard yard - place)"),
    DefectKind.UNDECLARED_SUPERTYPE: ("crate truck - thing", "crate truck - thing van - thingg"),
    DefectKind.WIDER_TYPE: (
        "(?c - crate ?t - truck ?p - place)\n    :precondition (and (in",
        "(?c - thing ?t - truck ?p - place)\n    :precondition (and (in",
    ),
    DefectKind.UNTYPED: ("(open ?p - place)", "(open ?p)"),
    DefectKind.SHADOWED_VARIABLE: ("(exists (?c - crate) (in ?c ?t))", "(exists (?t - truck ?c - crate) (in ?c ?t))"),
    DefectKind.EMPTY_EFFECT: (":effect (and (not (at ?t ?from)) (at ?t ?to))", ":effect (and)"),
    DefectKind.CONTRADICTING_CONDITION: ("(and (at ?t ?from) (open", "(and (at ?t ?from) (not (at ?t ?from)) (open"),
    DefectKind.CONTRADICTING_EFFECT: ("(at ?t ?to))))", "(at ?t ?to) (not (at ?t ?to)))))"),
    DefectKind.MISSING_REQUIREMENT: (" :negative-preconditions", ""),
    DefectKind.UNKNOWN_REQUIREMENT: (":strips", ":stripes"),
    DefectKind.UNUSED_REQUIREMENT: (":strips", ":strips :fluents"),
    DefectKind.GLUED_VARIABLE: ("(open ?to)", "(open?to)"),
    DefectKind.INVISIBLE: ("(define", "\ufeff(define"),
}
"""A domain that breaks each rule: what is replaced, and by what."""

PROBLEMS = {
    DefectKind.SYNTAX: ("(:goal (and (at c1 yard) (at c2 dock))))", "(:goal (at c1 yard) (at c2 dock)))"),
    DefectKind.MISSING_SECTION: ("(:goal (and (at c1 yard) (at c2 dock))))", ")"),
    DefectKind.BAD_NAME: ("dock - place)", "dock 3rd - place)"),
    DefectKind.UNDECLARED_TYPE: ("t1 - truck", "t1 - truck t2 - lorry"),
    DefectKind.TWO_TYPES: ("dock - place)", "dock - place dock - thing)"),
    DefectKind.UNDECLARED_PREDICATE: ("(open dock)", "(opened dock)"),
    DefectKind.UNDECLARED_OBJECT: ("(clear c2)", "(clear c3)"),
    DefectKind.ARITY: ("(open dock)", "(open dock yard)"),
    DefectKind.ARGUMENT_TYPE: ("(open dock)", "(open t1)"),
    DefectKind.VARIABLE: ("(at c2 dock)", "(at ?c dock)"),
    DefectKind.NEGATED_INIT: ("(open dock)", "(open dock) (not (clear c9))"),
    DefectKind.DERIVED_INIT: ("(open dock)", "(open dock) (busy t1)"),
    DefectKind.NOT_SUPPORTED: ("(at c2 dock)))", "(at c2 dock) (or (preference one (at c2 dock)))))"),
    DefectKind.UNDECLARED_PREFERENCE: ("(at c2 dock))))", "(at c2 dock))) (:metric minimize (is-violated p)))"),
    DefectKind.UNDECLARED_FUNCTION: ("(open dock)", "(open dock) (= (distance dock yard) 5)"),
    DefectKind.TWO_VALUES: ("(open dock)", "(open dock) (= (weight c1) 6)"),
    DefectKind.MISSING_NUMBER: (
        PROBLEM[PROBLEM.index("(= (weight c2) 5)") :],
        ") (:goal (and (at c1 yard) (at c2 dock))) (:metric minimize (+ (total-cost) 1)))",
    ),
    DefectKind.DIVISION_BY_ZERO: ("(at c2 dock))))", "(at c2 dock))) (:metric minimize (/ (total-cost) 0)))"),
    DefectKind.TOO_LARGE: (
        "dock - place)",
        f"dock - place {' '.join(f'o{number}' for number in range(10_000))} - crate)",
    ),
    DefectKind.DUPLICATE_OBJECT: ("c1 c2 - crate", "c1 c2 c1 - crate"),
    DefectKind.OBJECT_IS_CONSTANT: ("dock - place)", "dock yard - place)"),
    DefectKind.UNUSED_OBJECT: ("t1 - truck", "t1 - truck junk - object"),
    DefectKind.NEVER_TRUE: (
        PROBLEM[PROBLEM.index("(clear c1)") :],
        "(at c1 dock) (at c2 yard) (at t1 yard)) (:goal (in c1 t1)))",
    ),
    DefectKind.NEVER_APPLICABLE: (
        PROBLEM[PROBLEM.index("c1 c2 - crate") :],
        "t1 - truck dock - place) (:init (at t1 yard) (open dock)) (:goal (at t1 dock)))",
    ),
    DefectKind.UNREACHABLE_GOAL: ("(at c2 dock))", "(not (open dock)))"),
    DefectKind.CONTRADICTING_GOAL: ("(at c2 dock))", "(not (at c1 yard)))"),
    DefectKind.MISSING_COST: ("(= (weight c2) 5)", ""),
    DefectKind.EMPTY_GOAL: ("(and (at c1 yard) (at c2 dock))", "(and)"),
    DefectKind.GOAL_TRUE: ("(and (at c1 yard) (at c2 dock))", "(at c1 dock)"),
    DefectKind.BROKEN_INVARIANT: ("(at c2 yard)", "(at c2 yard) (in c2 t1)"),
    DefectKind.DOMAIN_NAME: ("(:domain depot)", "(:domain depots)"),
    DefectKind.UNTIMED_METRIC: ("(at c2 dock))))", "(at c2 dock))) (:metric minimize (total-time)))"),
    DefectKind.MISSING_REQUIREMENT: ("(at c2 dock))))", "(or (at c2 dock) (in c2 t1)))))"),
    DefectKind.INVISIBLE: ("(clear c2)", "(clear\xa0c2)"),
}
"""A problem that breaks each rule."""


def defects(domain: str, problem: str = "") -> list[Defect]:
    """Everything that is found, as `pddlego check` looks for it."""
    result = checked_domain(domain, level=Level.TIME)
    if result.domain is None or not problem:
        return list(result.defects)
    return [*result.defects, *checked_problem(result.domain, problem, level=Level.TIME).defects]


def mutated(text: str, old: str, new: str) -> str:
    assert text.count(old) >= 1, old
    return text.replace(old, new, 1)


PAGE = (Path(__file__).parents[2] / "docs" / "checking.md").read_text()
TABLES = {part.partition("\n")[0].lower(): part for part in PAGE.split("\n## ")[1:]}


def documented(section: str) -> list[DefectKind]:
    """The rules in a table of the documents, in its order."""
    ids = {kind.id: kind for kind in DefectKind}
    return [ids[name] for name in re.findall(r"^\| `(.+?)` \|", TABLES[section], re.MULTILINE)]


DOMAIN_RULES, PROBLEM_RULES = documented("domains"), documented("problems")


def test_there_are_at_least_as_many_rules_as_the_specification_lists() -> None:
    assert len(DOMAIN_RULES) >= 17
    assert len(PROBLEM_RULES) >= 8
    assert len({kind.id for kind in DefectKind}) == len(DefectKind)


def test_every_rule_stands_in_the_documents() -> None:
    assert sorted(DOMAIN_RULES) == sorted([*DOMAINS, DefectKind.NO_ACTIONS])
    assert sorted(PROBLEM_RULES) == sorted(PROBLEMS)
    of_games = {DefectKind.LOST_FACT, DefectKind.ONE_WAY, DefectKind.CONTRADICTION}
    of_readers = {DefectKind.ONLY_PLANNED, DefectKind.REPAIRED, DefectKind.IGNORED_KEY}
    of_readers_and_games = {DefectKind.IGNORED_METRIC, *of_readers, *of_games}
    assert set(DefectKind) - of_readers_and_games == {*DOMAIN_RULES, *PROBLEM_RULES}


def test_numbers_in_actions_are_not_syntax_errors() -> None:
    text = """(define (domain d) (:predicates (p) (q)) (:action a :parameters ()
      :precondition (and (p) (>= (total-cost) 1)) :effect (and (q) (increase (total-cost) 1))))"""
    result = check_domain(parse_domain(text))
    assert [defect.kind for defect in result] == [DefectKind.NOT_SUPPORTED, DefectKind.UNDECLARED_FUNCTION]


def is_error(kind: DefectKind, section: str) -> bool:
    """Whether the table in the documents calls a broken rule an error."""
    (cell,) = re.findall(rf"^\| `{kind.id}` \| .* \| (error|warning)(?:;.*)? \|$", TABLES[section], re.MULTILINE)
    return bool(cell == "error")


def test_a_fact_that_is_listed_and_negated_is_an_error() -> None:
    (result,) = defects(DOMAIN, mutated(PROBLEM, "(open dock)", "(open dock) (not (open dock))"))
    assert (result.kind, result.blocking) == (DefectKind.NEGATED_INIT, True)


def test_what_is_sound_breaks_no_rule() -> None:
    assert defects(DOMAIN, PROBLEM) == []


@pytest.mark.parametrize(
    "kind", [kind for kind in DOMAIN_RULES if kind is not DefectKind.NO_ACTIONS], ids=lambda kind: kind.id
)
def test_a_domain_that_breaks_a_rule_is_reported_with_that_rule(kind: DefectKind) -> None:
    result = defects(mutated(DOMAIN, *DOMAINS[kind]))
    assert {(item.kind, item.blocking) for item in result} == {(kind, is_error(kind, "domains"))}, result


def test_a_domain_without_actions_is_reported() -> None:
    result = defects("(define (domain d) (:predicates (p)))")
    assert [item.kind for item in result] == [DefectKind.NO_ACTIONS]


@pytest.mark.parametrize("kind", PROBLEM_RULES, ids=lambda kind: kind.id)
def test_a_problem_that_breaks_a_rule_is_reported_with_that_rule(kind: DefectKind) -> None:
    result = defects(DOMAIN, mutated(PROBLEM, *PROBLEMS[kind]))
    assert {(item.kind, item.blocking) for item in result} == {(kind, is_error(kind, "problems"))}, result


@pytest.mark.shared("competition")
@pytest.mark.parametrize("name", SMALL_SUITES)
def test_tasks_of_the_competitions_have_no_errors(name: str) -> None:
    """Warnings some of them do have, and rightly: about an action that can never be applied, or `(at?x)`."""
    texts = ((COMPETITION / name / f"{kind}.pddl").read_text(encoding="utf-8") for kind in ("domain", "problem"))
    assert not [item for item in defects(*texts) if item.blocking]


@pytest.mark.parametrize("file", OURS, ids=lambda file: file.stem)
def test_our_own_domains_break_no_rule(file: Path) -> None:
    text = file.read_text()
    if "(problem" not in text:
        assert defects(text) == []


@pytest.mark.parametrize(
    "domain",
    [
        "(define (domain d) (:types truck) (:predicates (truck ?t - truck))"
        "(:action a :parameters (?t - truck) :effect (truck ?t)))",
        mutated(DOMAIN, "(open ?to))", "(open yard))"),
    ],
)
def test_what_other_checkers_refuse_wrongly_is_legal(domain: str) -> None:
    """One name for a type and a predicate, constants in actions, derived predicates (defects 1 and 2 of l2p)."""
    assert not [defect for defect in defects(domain) if defect.blocking]


def test_the_false_fact_that_the_papers_review_missed_is_found() -> None:
    """L2P, figures 3, 7 and 8: `clear yellow` under the red block; the model's feedback objects to another fact."""
    domain = parse_domain((Path(__file__).parents[2] / "domains" / "blocks.pddl").read_text())
    predicates = {predicate.name: len(predicate.parameters) for predicate in domain.predicates}
    assert {"on": 2, "on-table": 1, "clear": 1}.items() <= predicates.items()
    problem = parse_problem("""(define (problem sample) (:domain blocks)
      (:objects blue_block red_block yellow_block green_block)
      (:init (on-table blue_block) (on-table yellow_block) (on-table green_block) (on red_block yellow_block)
        (clear blue_block) (clear red_block) (clear yellow_block) (clear green_block) (hand-empty))
      (:goal (on red_block green_block)))""")
    assert check(domain, problem) == ()
    (result,) = (
        warning for warning in problem_warnings(domain, problem) if warning.kind is DefectKind.BROKEN_INVARIANT
    )
    assert "(clear yellow_block) and (on red_block yellow_block)" in result.message


@pytest.mark.parametrize(
    ("advice", "where", "part", "message"),
    [
        ("", None, "", "p is wrong"),
        ("write q", None, "", "p is wrong; write q"),
        (
            "did you mean q?",
            Where("action", "go", "effect"),
            "(p)",
            "p is wrong; did you mean q? In action go, effect: (p)",
        ),
        ("", Where(":init"), "(p)", "p is wrong. In :init: (p)"),
        ("write q", Where("predicate", "at"), "", "p is wrong; write q. In predicate at"),
    ],
)
def test_a_message_begins_with_the_fault_and_ends_with_the_place(
    advice: str, where: Where | None, part: str, message: str
) -> None:
    assert Defect(DefectKind.SYNTAX, "p", "p is wrong", advice, None, where=where, part=part).message == message
