"""The first part that differs from the gold files is named, and nothing where only names are spelt otherwise."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pddlego.methods.builders.building import Gold
from pddlego.methods.builders.play import first_differing_part
from pddlego.pddl import parse_domain, parse_problem

GOLD = """(define (domain lamp)
  (:requirements :strips :typing)
  (:types bulb)
  (:predicates (lit ?b - bulb) (whole-bulb ?b - bulb))
  (:action switch-on :parameters (?b - bulb) :precondition (and (whole-bulb ?b)) :effect (and (lit ?b)))
  (:action smash :parameters (?b - bulb) :precondition (and (whole-bulb ?b) (lit ?b)) :effect (not (whole-bulb ?b))))"""
PROBLEM = "(define (problem p) (:domain lamp) (:objects a b - bulb) (:init (whole-bulb a)) (:goal (lit a)))"


@pytest.mark.parametrize(
    ("old", "new", "difference"),
    [
        ("", "", ""),
        ("?b", "?x", ""),
        ("whole-bulb", "whole_bulb", ""),
        ("(and (lit ?b))", "(lit ?b)", ""),
        (" (lit ?b - bulb)", "", "predicate lit is missing"),
        ("(and (whole-bulb ?b) (lit ?b))", "(lit ?b)", "action smash: condition (whole-bulb ?b) is missing"),
        ("(and (lit ?b))", "(not (lit ?b))", "action switch-on: effect (lit ?b) is missing"),
        (":action smash", ":action break", "action smash is missing"),
    ],
)
def test_a_domain(old: str, new: str, difference: str) -> None:
    gold = parse_domain(GOLD)
    problem = parse_problem(PROBLEM)
    built = parse_domain(GOLD.replace(old, new) if old else GOLD)
    found = first_differing_part(built, problem, Gold(gold, problem))
    assert found.startswith(difference)
    assert bool(found) == bool(difference)


def test_a_problem_whatever_its_domain_is_called() -> None:
    gold, problem = parse_domain(GOLD), parse_problem(PROBLEM)
    assert first_differing_part(gold, replace(problem, domain="built"), Gold(gold, problem)) == ""
    wrong = parse_problem(PROBLEM.replace("(whole-bulb a)", "(whole-bulb a) (lit b)"))
    assert "(lit b)" in first_differing_part(gold, wrong, Gold(gold, problem))
    unknown = parse_problem(PROBLEM.replace("(whole-bulb a)", "(broken a)"))
    assert first_differing_part(gold, unknown, Gold(gold, problem)).startswith("problem: ")
