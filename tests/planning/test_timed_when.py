"""Conditional effects of durative actions: the form of the PDDL 2.1 grammar, and the form with one time outside."""

from __future__ import annotations

import random

import pytest

from pddlego import tools
from pddlego.pddl import parse_domain
from tests.levels.judges import CANNOT, VALID, judges

LAMPS = """(define (domain lamps)
  (:requirements :strips :typing :adl :numeric-fluents :durative-actions)
  (:types lamp) (:constants l1 l2 - lamp)
  (:predicates (ready) (warm) (lit ?l - lamp) (broken ?l - lamp)) (:functions (heat) (glow ?l - lamp))
  (:durative-action press :parameters () :duration (= ?duration 2) :condition (at start (ready)) :effect (and EFFECT))
  (:durative-action warm-up :parameters () :duration (= ?duration 3) :condition (over all (ready))
    :effect (and OTHER)))"""

ROOM = """(define (problem room) (:domain lamps)
  (:init (ready) INIT (= (heat) 2) (= (glow l1) 0) (= (glow l2) 1)) (:goal GOAL))"""

FORMS = {
    "(when (at end (warm)) (at end (lit l1)))": "(when (at end (warm)) (at end (lit l1)))",
    "(when (at start (warm)) (at start (not (lit l1))))": "(when (at start (warm)) (at start (not (lit l1))))",
    "(at end (when (warm) (lit l1)))": "(when (at end (warm)) (at end (lit l1)))",
    "(at end (and (lit l2) (when (warm) (lit l1))))": (
        "(and (at end (lit l2)) (when (at end (warm)) (at end (lit l1))))"
    ),
    "(when (at end (>= (heat) 2)) (at end (increase (heat) 1)))": (
        "(when (at end (>= (heat) 2)) (at end (increase (heat) 1)))"
    ),
    "(when (and (at end (warm)) (at end (ready))) (and (at end (lit l1)) (at end (lit l2))))": (
        "(when (and (at end (warm)) (at end (ready))) (and (at end (lit l1)) (at end (lit l2))))"
    ),
    "(forall (?l - lamp) (when (at end (lit ?l)) (at end (broken ?l))))": (
        "(forall (?l - lamp) (when (at end (lit ?l)) (at end (broken ?l))))"
    ),
    "(at end (forall (?l - lamp) (when (lit ?l) (assign (glow ?l) 5))))": (
        "(forall (?l - lamp) (when (at end (lit ?l)) (at end (assign (glow ?l) 5))))"
    ),
    "(at end (forall (?l - lamp) (lit ?l)))": "(at end (forall (?l - lamp) (lit ?l)))",
}


@pytest.mark.parametrize(("text", "printed"), FORMS.items(), ids=range(len(FORMS)))
def test_both_forms_are_read_and_the_one_of_the_grammar_is_printed(text: str, printed: str) -> None:
    domain = LAMPS.replace("EFFECT", text).replace("OTHER", "(at end (warm))")
    value = parse_domain(domain)
    assert f":effect (and {printed}))" in str(value)
    assert parse_domain(str(value)) == value
    assert not tools.check(domain).findings
    assert tools.repair(domain).text == domain


OTHER_TIME = "a condition at another time than its effect is not supported"
REFUSED = {
    "(when (at start (warm)) (at end (lit l1)))": ("not-supported", OTHER_TIME, "Write at end in both"),
    "(when (over all (warm)) (at start (lit l1)))": ("not-supported", OTHER_TIME, "Write at start in both"),
    "(when (and (at start (warm)) (at end (ready))) (at end (lit l1)))": ("not-supported", OTHER_TIME, "in both"),
    "(forall (?l - lamp) (when (at start (lit ?l)) (at end (broken ?l))))": ("not-supported", OTHER_TIME, "at end"),
    "(when (at end (warm)) (and (at start (lit l1)) (at end (lit l2))))": (
        *("not-supported", OTHER_TIME),
        "Write one (when …) for each time",
    ),
    "(when (warm) (at end (lit l1)))": ("misplaced-connective", "this has no time", "Write (at end (warm))"),
    "(when (at end (warm)) (lit l1))": ("misplaced-connective", "this has no time", "Write (at end (lit l1))"),
    "(when (not (at end (warm))) (at end (lit l1)))": (
        *("misplaced-connective", "a time is outside"),
        "Write (at end (not (warm)))",
    ),
    "(when (over all (warm)) (over all (lit l1)))": (
        *("misplaced-connective", "an effect is at the start or at the end"),
        "Write (at end (lit l1))",
    ),
    "(at start (at end (when (warm) (lit l1))))": (
        "misplaced-connective",
        "only the outer parts",
        "Write (when (warm)",
    ),
    "(at end (when (at end (warm)) (lit l1)))": ("misplaced-connective", "only the outer parts", "Write (warm)"),
}


@pytest.mark.parametrize(("text", "expected"), REFUSED.items(), ids=range(len(REFUSED)))
def test_other_times_are_explained(text: str, expected: tuple[str, str, str]) -> None:
    (finding,) = tools.check(LAMPS.replace("EFFECT", text).replace("OTHER", "(at end (warm))")).findings
    assert finding.rule == expected[0]
    assert expected[1] in finding.message
    assert expected[2] in finding.advice


def test_a_conditional_effect_without_times_needs_one_in_both_parts() -> None:
    findings = tools.check(
        LAMPS.replace("EFFECT", "(when (warm) (lit l1))").replace("OTHER", "(at end (warm))")
    ).findings
    assert [finding.rule for finding in findings] == ["misplaced-connective"] * 2
    assert [finding.message.partition(": ")[2] for finding in findings] == ["(warm)", "(lit l1)"]
    assert findings[0].advice == "Write (at start (warm)), or at end"


def random_effect(rng: random.Random) -> tuple[str, str]:
    """An effect at random times in the form with one time outside, and in the form of the grammar."""
    pairs = [_conditional(rng) for _ in range(rng.randint(1, 3))]
    return " ".join(outside for outside, _ in pairs), " ".join(inside for _, inside in pairs)


def _conditional(rng: random.Random) -> tuple[str, str]:
    time, below = rng.choice(("start", "end")), rng.random() < 0.4
    lamp = "?l" if below else rng.choice(("l1", "l2"))
    literals = ("(ready)", "(warm)", f"(lit {lamp})", f"(broken {lamp})")
    condition = rng.choice(
        (
            *literals,
            *(f"(not {literal})" for literal in literals),
            *("(and (warm) (ready))", f"(or (warm) (lit {lamp}))", "(exists (?m - lamp) (broken ?m))"),
            *("(>= (heat) 2)", f"(< (glow {lamp}) (heat))"),
        )
    )
    number = f"({rng.choice(('increase', 'decrease', 'assign'))} {rng.choice(('(heat)', f'(glow {lamp})'))} 1)"
    effect = rng.choice((*literals[1:], f"(not {literals[rng.randrange(1, 4)]})", number))
    outside, inside = f"(when {condition} {effect})", f"(when (at {time} {condition}) (at {time} {effect}))"
    if below:
        outside, inside = (f"(forall (?l - lamp) {text})" for text in (outside, inside))
    return f"(at {time} {outside})", inside


def random_task(seed: int) -> tuple[str, str, str, str]:
    """A domain in both forms, a problem, and a plan that starts both actions."""
    rng = random.Random(seed)
    effects, others = random_effect(rng), random_effect(rng)
    ours, standard = (
        LAMPS.replace("EFFECT", one).replace("OTHER", two) for one, two in zip(effects, others, strict=True)
    )
    facts = ("(warm)", "(lit l1)", "(lit l2)", "(broken l1)", "(broken l2)")
    goal = " ".join(rng.choice(("{}", "(not {})")).format(fact) for fact in rng.sample(facts, rng.randint(1, 2)))
    init = " ".join(rng.sample(facts, rng.randint(0, 3)))
    goal = f"(and {goal}{rng.choice(('', ' (>= (heat) 2)', ' (<= (glow l1) 1)'))})"
    plan = f"{rng.choice((0, 0.5))}: (press) [2]\n{rng.choice((0, 1, 2, 3))}: (warm-up) [3]"
    return ours, standard, ROOM.replace("INIT", init).replace("GOAL", goal), plan


def check_seed(seed: int) -> str:
    """The verdict about the plan of a seed, on which both forms, VAL and Kairos agree."""
    ours, standard, problem, plan = random_task(seed)
    own, other = tools.validate(ours, problem, plan), tools.validate(standard, problem, plan)
    assert (own.valid, own.rule) == (other.valid, other.rule), seed
    printed = str(parse_domain(ours))
    assert parse_domain(printed) == parse_domain(standard)
    for name, verdict in judges(printed, problem, plan, ("val", "kairos")).items():
        assert (verdict == VALID) is own.valid and not verdict.startswith(CANNOT), (seed, name, verdict, own)
    return "valid" if own.valid else own.rule


@pytest.mark.val
@pytest.mark.kairos
def test_both_forms_mean_the_same_and_other_validators_agree() -> None:
    verdicts = [check_seed(seed) for seed in range(60)]
    assert {"valid", "goal-not-reached"} <= {*verdicts}
