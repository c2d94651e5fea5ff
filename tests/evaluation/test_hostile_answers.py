"""Episodes in which a model writes PDDL that cannot be evaluated: they end within their time, with an outcome."""

from __future__ import annotations

import json

import pytest

import pddlego
from pddlego.episode.events import Outcome
from pddlego.util import resources

VARIABLES = "?a ?b ?c ?d ?e ?f"
RULE = f"(:derived (r) (exists ({VARIABLES}) (and (p ?a ?b) (p ?b ?c) (p ?c ?d) (p ?d ?e) (p ?e ?f))))"


class Writes:
    """A model that gives the same answers in turn, and then the last one again."""

    def __init__(self, *answers: str) -> None:
        self._answers = list(answers)

    def __call__(self, messages: object) -> str:
        return self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]


@pytest.mark.method("builders")
@pytest.mark.slow
def test_a_build_ends_within_its_time() -> None:
    domain = f"""(define (domain d) (:requirements :adl :derived-predicates) (:predicates (p ?x ?y) (w) (r)) {RULE}
      (:action x :parameters (?u) :precondition (p ?u ?u) :effect (w)))"""
    names = " ".join(f"o{number}" for number in range(40))
    problem = f"(define (problem q) (:domain d) (:objects {names}) (:init (p o1 o2) (p o1 o1)) (:goal (and (r) (w))))"
    model = Writes(json.dumps({"domain": domain}), json.dumps({"problem": problem}))
    episode = pddlego.play("text-blocks", mode="build+whole", model=model, max_seconds=3)
    assert episode.outcome is Outcome.BUDGET


@pytest.mark.slow
def test_a_game_whose_domain_is_hostile_ends_within_its_time() -> None:
    domain = resources.read("domains", "coin.pddl").rstrip()[:-1]
    domain = domain.replace("(:predicates", "(:predicates (r) (p ?x ?y - object)") + f"{RULE})"
    names = " ".join(f"o{number}" for number in range(40))
    problem = f"""(define (problem q) (:domain coin-collector) (:objects {names} - location) (:init (at o1))
      (:goal (and (r) (visited o2))))"""
    answer = f"<domain>\n{domain}\n</domain>\n<problem>\n{problem}\n</problem>"
    episode = pddlego.play("coin", mode="full", model=Writes(answer), max_seconds=3)
    assert episode.outcome is Outcome.BUDGET
