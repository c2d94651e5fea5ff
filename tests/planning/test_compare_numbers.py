"""Numbers count when problems and domains are compared: fuel 8 and fuel 9 are different problems."""

from __future__ import annotations

import pytest

from pddlego import tools
from pddlego.planning.compare import Comparison, ComparisonVerdict

SAME, DIFFERENT, UNDECIDED = ComparisonVerdict.SAME, ComparisonVerdict.DIFFERENT, ComparisonVerdict.UNDECIDED

DOMAIN = """(define (domain fuel) (:requirements :strips :typing :numeric-fluents) (:types place truck)
  (:predicates (at ?t - truck ?p - place) (road ?a ?b - place))
  (:functions (fuel ?t - truck) (dist ?a ?b - place) (used))
  (:action drive :parameters (?t - truck ?a ?b - place)
    :precondition (and (at ?t ?a) (road ?a ?b) (>= (fuel ?t) (dist ?a ?b)))
    :effect (and (not (at ?t ?a)) (at ?t ?b) (decrease (fuel ?t) (dist ?a ?b))
      (increase (used) (* 2 (dist ?a ?b))))))"""

PROBLEM = """(define (problem one) (:domain fuel)
  (:objects t1 - truck a b c - place)
  (:init (at t1 a) (road a b) (road b c) (= (fuel t1) 8) (= (dist a b) 5) (= (dist b c) 2.5) (= (used) 0))
  (:goal (and (at t1 c) (>= (fuel t1) 0.5)))
  (:metric minimize (+ (used) (fuel t1))))"""


def compared(old: str, new: str) -> Comparison:
    assert old in PROBLEM
    return tools.compare(DOMAIN, PROBLEM, PROBLEM.replace(old, new))


def test_a_number_makes_another_problem() -> None:
    result = compared("(= (fuel t1) 8)", "(= (fuel t1) 9)")
    assert result.verdict is DIFFERENT
    assert (result.only_left, result.only_right) == (("(= (fuel t1) 8)",), ("(= (fuel t1) 9)",))
    assert compared("(= (dist b c) 2.5)", "(= (dist b c) 2.4)").verdict is DIFFERENT
    assert compared("(= (used) 0)", "").verdict is DIFFERENT


def test_a_number_that_nothing_uses_makes_another_problem() -> None:
    """Facts that nothing uses do, too. `(total-cost)` begins at 0 unless `:init` says otherwise."""
    domain = """(define (domain walk) (:requirements :action-costs) (:predicates (here) (there))
      (:functions (total-cost) (fuel) (toll ?x))
      (:action go :parameters () :precondition (here) :effect (and (there) (increase (total-cost) (fuel)))))"""
    problem = "(define (problem w) (:domain walk) (:objects a) (:init (here) {}) (:goal (there)))"
    spare = domain.replace("(increase (total-cost) (fuel))", "")
    for text in (domain, spare):
        for left, right in (("(= (fuel) 8)", "(= (fuel) 9)"), ("(= (toll a) 1)", ""), ("", "(= (total-cost) 2)")):
            result = tools.compare(text, problem.format(left), problem.format(right))
            assert (result.verdict, result.only_left) == (DIFFERENT, (left,) if left else ())
        for left, right in (("(= (fuel) 8)", "(= (fuel) 8.0)"), ("", "(= (total-cost) 0)")):
            assert tools.compare(text, problem.format(left), problem.format(right)).verdict is SAME


def test_names_and_spellings_of_numbers_do_not_count() -> None:
    renamed = PROBLEM.replace("t1", "lorry").replace("(at lorry a)", "(at lorry x)").replace(" a b c ", " x b c ")
    renamed = renamed.replace("(road a b)", "(road x b)").replace("(dist a b) 5", "(dist x b) 5.00")
    assert tools.compare(DOMAIN, PROBLEM, renamed).verdict is SAME
    swapped = PROBLEM.replace("(and (at t1 c) (>= (fuel t1) 0.5))", "(and (>= (fuel t1) 0.5) (at t1 c))")
    assert tools.compare(DOMAIN, PROBLEM, swapped).verdict is SAME


@pytest.mark.parametrize(
    ("goal", "verdict"),
    [
        ("(and (at t1 c) (>= (fuel t1) 0.5))", SAME),
        ("(and (at t1 c) (> (fuel t1) 0.4))", SAME),
        ("(and (at t1 c) (= (fuel t1) 0.5))", SAME),
        ("(at t1 c)", SAME),
        ("(and (at t1 c) (>= (fuel t1) 0.6))", DIFFERENT),
        ("(>= (fuel t1) 0.5)", DIFFERENT),
    ],
)
def test_goals_with_numbers_are_compared_in_the_reachable_states(goal: str, verdict: ComparisonVerdict) -> None:
    assert compared("(and (at t1 c) (>= (fuel t1) 0.5))", goal).verdict is verdict


@pytest.mark.parametrize("metric", ["", "(:metric maximize (+ (used) (fuel t1)))"])
def test_another_metric_makes_another_problem(metric: str) -> None:
    result = compared("(:metric minimize (+ (used) (fuel t1)))", metric)
    assert (result.verdict, result.reason) == (DIFFERENT, "the metrics differ")


@pytest.mark.parametrize("metric", ["(+ (fuel t2) (fuel t1))", "(- (fuel t1) (- (fuel t2)))"])
def test_metrics_that_are_not_written_alike_are_not_called_different(metric: str) -> None:
    two = PROBLEM.replace("t1 - truck", "t1 t2 - truck").replace("(= (used) 0)", "(= (used) 0) (= (fuel t2) 3)")
    first, second = (two.replace("(+ (used) (fuel t1))", term) for term in ("(+ (fuel t1) (fuel t2))", metric))
    assert tools.compare(DOMAIN, first, second).verdict is not DIFFERENT


@pytest.mark.parametrize(
    ("old", "new", "verdict"),
    [
        ("fuel", "energy", SAME),
        ("(* 2 (dist ?a ?b))", "(* (dist ?a ?b) 2.0)", SAME),
        ("(* 2 (dist ?a ?b))", "(* 3 (dist ?a ?b))", DIFFERENT),
        (">=", ">", DIFFERENT),
        ("(>= (fuel ?t) (dist ?a ?b))", "(<= (dist ?a ?b) (fuel ?t))", SAME),
        ("(>= (fuel ?t) (dist ?a ?b))", "(< (dist ?a ?b) (fuel ?t))", DIFFERENT),
        ("(>= (fuel ?t) (dist ?a ?b))", "(>= (dist ?a ?b) (fuel ?t))", DIFFERENT),
        ("(decrease (fuel ?t)", "(increase (fuel ?t)", DIFFERENT),
        ("(decrease (fuel ?t) (dist ?a ?b))", "(decrease (fuel ?t) (dist ?b ?a))", DIFFERENT),
        ("(increase (used)", "(increase (total-cost)", DIFFERENT),
    ],
)
def test_domains_are_compared_with_their_numbers(old: str, new: str, verdict: ComparisonVerdict) -> None:
    other = DOMAIN.replace(old, new)
    if "total-cost" in new:
        other = other.replace("(used)", "(total-cost)")
    assert tools.compare(DOMAIN, other).verdict is verdict


COUNTER = """(define (domain counter) (:requirements :typing :numeric-fluents) (:types c) (:predicates (done))
  (:functions (n ?c - c) (m ?c - c) (k))
  (:action count :parameters (?c - c) :precondition (= (k) (n ?c)) :effect (and (done) (increase (n ?c) 1))))"""


@pytest.mark.parametrize(
    ("goal", "other", "verdict"),
    [
        ("(>= (n a) 3)", "(<= 3.0 (n a))", SAME),
        ("(> (n a) (k))", "(< (k) (n a))", SAME),
        ("(= (n a) (m b))", "(= (m b) (n a))", SAME),
        ("(not (>= (+ (n a) (k)) 3))", "(not (<= 3 (+ (k) (n a))))", SAME),
        ("(or (= (k) 3) (= 4 (* 2 (n b))))", "(or (= 3 (k)) (= (* (n b) 2) 4))", SAME),
        ("(>= (n a) 3)", "(>= 3 (n a))", UNDECIDED),
        ("(>= (- (n a) (k)) 3)", "(>= (- (k) (n a)) 3)", UNDECIDED),
    ],
)
def test_mirrored_comparisons_are_equal(goal: str, other: str, verdict: ComparisonVerdict) -> None:
    """Numbers grow without bound, so that the reachable states do not decide."""
    objects = "(:objects a b - c) (:init (= (n a) 0) (= (n b) 1) (= (m b) 2) (= (k) 0))"
    domain = COUNTER.replace("(= (k) (n ?c))", "(<= (k) (n ?c))")
    texts = (f"(define (problem p) (:domain counter) {objects} (:goal (and (done) {part})))" for part in (goal, other))
    assert tools.compare(domain, *texts).verdict is verdict
    assert tools.compare(COUNTER, COUNTER.replace("(= (k) (n ?c))", "(= (n ?c) (k))")).verdict is SAME
