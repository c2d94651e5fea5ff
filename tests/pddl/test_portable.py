"""What Fast Downward's translator refuses to read has errors, and messages say what to do, at the word in question."""

from __future__ import annotations

import pytest

from pddlego import tools
from pddlego.pddl import parse_domain, parse_problem
from pddlego.pddl.portable import checked_domain
from pddlego.planning.checked import checked_problem

DOMAIN = """(define (domain d)
  (:requirements :strips :typing)
  (:types room)
  (:predicates (at ?r - room) (door ?a ?b - room))
  (:action go :parameters (?a ?b - room)
    :precondition (and (at ?a) (door ?a ?b))
    :effect (and (at ?b) (not (at ?a)))))"""

PROBLEM = """(define (problem p)
  (:domain d)
  (:objects a b - room)
  (:init (at a) (door a b))
  (:goal (at b)))"""

IN_DOMAIN = {
    "requirements that planners refuse": (":strips :typing", ":strips :time :typing", "Remove it"),
    "requirements of PDDL 1": (":strips :typing", ":ucpop", "Remove it"),
    "requirements that do not exist": (":strips :typing", ":strips :type", "Remove it"),
    "requirements behind the name": ("(domain d)", "(domain d :requirements :strips)", "and (:requirements …) as"),
    "two names": ("(domain d)", "(domain d e)", "Write (domain NAME)"),
    "no name": ("(domain d)\n", "\n", "Write (define (domain NAME)"),
    "a section twice": ("(:types room)", "(:types room) (:types hall)", "Write it once"),
    "a section behind an action": ("(not (at ?a)))))", "(not (at ?a)))) (:constants c - room))", "Write it before"),
    "an empty condition": ("(and (at ?a)", "(and () (at ?a)", "Write nothing, or (and)"),
    "an empty effect below when": ("(not (at ?a))))", "(when (at ?a) ())))", "Write nothing, or (and)"),
    "a type called number": ("(:types room)", "(:types room number)", "Rename it"),
    "a predicate called increase": ("(door ?a ?b - room))", "(door ?a ?b - room) (increase ?r - room))", "Rename it"),
    "a type with two parents": (
        "(:types room)",
        "(:types hall - (either room house) room house)",
        "Give it one parent",
    ),
    "a constant of two types": (
        "(:types room)",
        "(:types room hall) (:constants c - (either room hall))",
        "Give it one",
    ),
    "a constant twice": ("(:types room)", "(:types room) (:constants c c - room)", "Once is enough"),
    "an effect without its field": ("\n    :effect (and (at ?b) (not (at ?a)))", "", "Write :effect"),
    "a field twice": (":effect", ":effect (at ?b) :effect", "Write it once"),
    "a field without a list": ("(not (at ?a)))))", "(not (at ?a))) :precondition))", "Write it once"),
    "fields in another order": (
        ":precondition (and (at ?a) (door ?a ?b))\n    :effect (and (at ?b) (not (at ?a)))",
        ":effect (and (at ?b) (not (at ?a)))\n    :precondition (and (at ?a) (door ?a ?b))",
        "Write :parameters, :precondition, :effect in this order",
    ),
    "observations": (":effect", ":observe (at ?b) :effect", "Write the action without it"),
    "variables of PDDL 1": (":effect", ":vars (?c - room) :effect", "Write the action without it"),
    "a sensing section": ("(:action go", "(:observe look) (:action go", "Write the file without it"),
    "a negated head": ("(:action go", "(:derived (not (at ?r - room)) (at ?r)) (:action go", "Write when it is true"),
    "a domain and a problem": ("(not (at ?a)))))", f"(not (at ?a))))) {PROBLEM}", "Write each into a file of its own"),
}

IN_PROBLEM = {
    "the goal before the facts": (
        "(:init (at a) (door a b))\n  (:goal (at b))",
        "(:goal (at b))\n  (:init (at a) (door a b))",
        "Write :domain, :requirements, :objects, :init, :goal, :constraints, :metric in this order",
    ),
    "the metric before the goal": ("(:goal", "(:metric minimize (total-cost)) (:goal", "Write :domain"),
    "the domain behind the objects": (
        "(:domain d)\n  (:objects a b - room)",
        "(:objects a b - room)\n  (:domain d)",
        "Write (define (problem NAME) (:domain NAME)",
    ),
    "no name": ("(problem p)\n", "\n", "Write (define (problem NAME)"),
    "two names": ("(problem p)", "(problem p q)", "Write (problem NAME)"),
    "requirements": ("(:objects", "(:requirements :time) (:objects", "Remove it"),
    "an object twice": ("a b - room", "a b a - room", "Remove one of the two"),
    "another domain": ("(:domain d)", "(:domain e)", "Write (:domain d)"),
    "an empty goal": ("(:goal (at b))", "(:goal ())", "Write nothing, or (and)"),
    "a domain and a problem": ("(define (problem", f"{DOMAIN} (define (problem", "Write each into a file of its own"),
}


def errors(domain: str, problem: str) -> list[tools.Finding]:
    return [finding for finding in tools.check(domain, problem).findings if finding.severity == "error"]


@pytest.mark.parametrize("kind", IN_DOMAIN)
def test_a_domain_that_planners_refuse_has_an_error_with_advice(kind: str) -> None:
    old, new, advice = IN_DOMAIN[kind]
    assert old in DOMAIN
    found = errors(DOMAIN.replace(old, new, 1), PROBLEM)
    assert any(advice in finding.advice for finding in found), found


@pytest.mark.parametrize("kind", IN_PROBLEM)
def test_a_problem_that_planners_refuse_has_an_error_with_advice(kind: str) -> None:
    old, new, advice = IN_PROBLEM[kind]
    assert old in PROBLEM
    found = errors(DOMAIN, PROBLEM.replace(old, new, 1))
    assert any(advice in finding.advice for finding in found), found
    assert not any("Fix it there" in finding.advice or "Fix the text" in finding.advice for finding in found)


@pytest.mark.parametrize("kind", ["requirements that planners refuse", "a section twice", "fields in another order"])
def test_what_is_clear_can_be_read_and_planned_with(kind: str) -> None:
    text = DOMAIN.replace(*IN_DOMAIN[kind][:2])
    assert checked_domain(text).domain is None
    assert len(parse_domain(text).actions) == 1
    assert tools.solve(text, PROBLEM, planner="pyperplan").plan == ("(go a b)",)


def test_a_goal_before_the_facts_can_be_read() -> None:
    text = PROBLEM.replace(*IN_PROBLEM["the goal before the facts"][:2])
    assert checked_problem(parse_domain(DOMAIN), text).problem is None
    assert parse_problem(text) == parse_problem(PROBLEM)


@pytest.mark.parametrize(
    ("old", "new", "word"),
    [
        ("(door ?a ?b))\n", "(dor ?a ?b))\n", "dor"),
        ("(door ?a ?b))\n", "(door ?a ?c))\n", "?c"),
        ("(door ?a ?b))\n", "(door ?a kitchen))\n", "kitchen"),
        ("(:types room)", "(:types room hall)\n  (:constants c - haus)", "haus"),
        ("?a ?b - room)\n", "?a ?b - haus)\n", "haus"),
        ("(:action go", "(:foo bar) (:action go", ":foo"),
        ("(:action go", "(:process p) (:action go", ":process"),
        (":effect (and", ":effekt (and", ":effekt"),
        ("(at a) (door a b)", "(at a) ; c here\n    (door a c)", "c"),
        ("(at a) (door a b)", "(at a) (dor a b)", "dor"),
        ("(:goal (at b)", "(:goal (at B2)", "b2"),
        ("a b - room", "a b - haus", "haus"),
        ("(:goal", "(:length (:serial 3)) (:goal", ":length"),
    ],
)
def test_an_error_is_at_its_word(old: str, new: str, word: str) -> None:
    texts = DOMAIN.replace(old, new, 1), PROBLEM.replace(old, new, 1)
    assert texts != (DOMAIN, PROBLEM)
    assert any(finding.source.lower()[finding.column - 1 :].startswith(word) for finding in errors(*texts))


def test_a_metric_without_its_function_is_shown_as_it_is_written() -> None:
    (finding,) = errors(DOMAIN, PROBLEM.replace("(at b)))", "(at b))\n  (:metric minimize (total-cost)))"))
    assert finding.message.startswith(
        "function total-cost is not declared. In :metric: (:metric minimize (total-cost))"
    )
    assert "(total-cost)" in finding.source
    assert finding.source[finding.column - 1 :].startswith("total-cost")
