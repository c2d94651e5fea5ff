"""Numeric semantics: exact arithmetic, changes at one moment, what a fault says, and the cost of a plan."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pddlego import tools
from pddlego.errors import PddlegoError
from pddlego.pddl import parse_condition, parse_domain, parse_problem
from pddlego.pddl.conditions import Compare, Term
from pddlego.planning.numbers import shown
from pddlego.planning.world import World, transitions
from pddlego.util.limits import Work

DOMAIN = """(define (domain d)
  (:requirements :adl :numeric-fluents)
  (:types place truck)
  (:predicates (at ?t - truck ?p - place) (free) (rich))
  (:functions (fuel ?t - truck) (dist ?a ?b - place) (x) (y) (z))
  (:derived (rich) (>= (x) 10))
  (:action drive :parameters (?t - truck ?a ?b - place)
    :precondition (and (at ?t ?a) (>= (fuel ?t) (dist ?a ?b)))
    :effect (and (not (at ?t ?a)) (at ?t ?b) (decrease (fuel ?t) (dist ?a ?b))))
  (:action add :parameters () :precondition (and) :effect (increase (x) (y)))
  (:action step :parameters () :precondition (and) :effect (increase (x) 1))
  (:action back :parameters () :precondition (and) :effect (decrease (x) 1))
  (:action set-x :parameters () :precondition (and) :effect (assign (x) 1))
  (:action set-y :parameters () :precondition (and) :effect (assign (y) 7))
  (:action set-z :parameters () :precondition (and) :effect (assign (z) (/ (x) (y))))
  (:action need-z :parameters () :precondition (>= (z) 1) :effect (free))
  (:action grow :parameters () :precondition (and) :effect (increase (z) 1))
  (:action halve :parameters () :precondition (and) :effect (scale-down (x) (y)))
  (:action square :parameters () :precondition (and) :effect (scale-up (x) (x)))
  (:action swap :parameters () :precondition (and) :effect (and (assign (x) (y)) (assign (y) (x))))
  (:action share :parameters (?t ?u - truck) :precondition (and)
    :effect (and (increase (fuel ?t) 1) (assign (fuel ?u) 5)))
  (:action buy :parameters () :precondition (rich) :effect (decrease (y) 1))
  (:action count :parameters () :precondition (forall (?t - truck) (>= (fuel ?t) 1)) :effect (free)))"""

PROBLEM = """(define (problem p) (:domain d)
  (:objects t1 t2 - truck p1 p2 p3 - place)
  (:init (at t1 p1) (= (fuel t1) 8) (= (fuel t2) 0.5) (= (dist p1 p2) 5) (= (dist p2 p3) 4) (= (x) 2) (= (y) 4))
  (:goal GOAL)METRIC)"""


def problem(goal: str = "(and)", metric: str = "") -> str:
    return PROBLEM.replace("GOAL", goal).replace("METRIC", metric)


def outcome(plan: str, goal: str = "(and)") -> str:
    """The fault of a plan, and its advice."""
    result = tools.validate(DOMAIN, problem(goal), plan)
    return f"{result.message} | {result.advice}" if not result.valid else "valid"


FAULTS = {
    "(drive t1 p1 p2) (drive t1 p2 p3)": "step 2: (drive t1 p2 p3) has an unsatisfied precondition | "
    "Make (>= (fuel t1) (dist p2 p3)) true: (fuel t1) is 3, (dist p2 p3) is 4",
    "(drive t1 p1 p3)": "step 1: (drive t1 p1 p3) has an unsatisfied precondition | "
    "Give (dist p1 p3) a value first, in :init or with assign",
    "(need-z)": "step 1: (need-z) has an unsatisfied precondition | Give (z) a value first, in :init or with assign",
    "(grow)": "step 1: (grow): (increase (z) 1): (z) has no value | Give (z) a value first, in :init or with assign",
    "(buy)": "step 1: (buy) has an unsatisfied precondition | Set (rich) to true",
    "(share t1 t1)": "step 1: (share t1 t1): (assign (fuel t1) 5): (increase (fuel t1) 1) changes (fuel t1) at the "
    "same time | Use other objects, or keep one of both effects",
    "(count)": "step 1: (count) has an unsatisfied precondition | Make (>= (fuel t2) 1) true: (fuel t2) is 0.5",
    "(swap) (swap) (swap) (need-z)": "step 4: (need-z) has an unsatisfied precondition | "
    "Give (z) a value first, in :init or with assign",
}


@pytest.mark.parametrize("plan", FAULTS)
def test_a_fault_has_the_values(plan: str) -> None:
    assert outcome(plan) == FAULTS[plan]


@pytest.mark.parametrize(
    ("plan", "goal"),
    [
        ("(swap)", "(and (= (x) 4) (= (y) 2))"),
        ("(halve)", "(= (x) 0.5)"),
        ("(set-z)", "(= (z) 0.5)"),
        ("(square) (square)", "(= (x) 16)"),
        ("(add) (add) (buy)", "(= (y) 3)"),
        ("(set-z) (grow) (need-z)", "(and (free) (< (z) 2))"),
        ("(share t1 t2)", "(and (= (fuel t1) 9) (= (fuel t2) 5))"),
        ("(back) (back) (back)", "(= (x) -1)"),
        ("(back) (back)", "(= (* (x) (- (y))) 0)"),
    ],
)
def test_effects_read_the_state_before(plan: str, goal: str) -> None:
    assert outcome(plan, goal) == "valid"
    assert outcome(plan, f"(not {goal})") != "valid"


def test_decimals_are_exact() -> None:
    domain = """(define (domain d) (:requirements :numeric-fluents) (:predicates (p)) (:functions (x))
      (:action a :parameters () :precondition (and) :effect (increase (x) 0.1)))"""
    text = "(define (problem p) (:domain d) (:init (= (x) 0)) (:goal (= (x) 0.3)))"
    assert tools.validate(domain, text, "(a)\n" * 3).valid
    assert not tools.validate(domain, text, "(a)\n" * 4).valid
    above = text.replace("(= (x) 0.3)", "(> (x) 0.3)")
    assert not tools.validate(domain, above, "(a)\n" * 3).valid


def test_numbers_that_grow_without_bound_are_a_fault() -> None:
    with pytest.raises(PddlegoError, match="more than 4,000 bits"):
        tools.validate(DOMAIN, problem(), "(square)\n" * 40)


PAIRS = {
    ("(step)", "(back)"): None,
    ("(step)", "(step)"): None,
    ("(step)", "(set-x)"): "(x)",
    ("(set-x)", "(set-x)"): "(x)",
    ("(add)", "(set-y)"): "(y)",
    ("(add)", "(step)"): None,
    ("(set-z)", "(step)"): "(x)",
    ("(step)", "(drive t1 p1 p2)"): None,
    ("(drive t1 p1 p2)", "(share t1 t2)"): "(fuel t1)",
    ("(drive t1 p1 p2)", "(count)"): "(fuel t1)",
    ("(step)", "(count)"): None,
}


@pytest.mark.parametrize("pair", PAIRS)
def test_steps_at_one_time_interfere_through_numbers(pair: tuple[str, str]) -> None:
    start = problem().replace("(= (fuel t2) 0.5)", "(= (fuel t2) 5)")
    for one, other in (pair, pair[::-1]):
        result = tools.validate(DOMAIN, start, f"0: {one}\n0: {other}")
        assert result.valid is (PAIRS[pair] is None)
        assert result.message.endswith(f"both concern {PAIRS[pair]}" if PAIRS[pair] else "")


def test_a_derived_predicate_that_reads_a_number_interferes() -> None:
    start = problem().replace("(= (x) 2)", "(= (x) 12)")
    assert "both concern (x)" in tools.validate(DOMAIN, start, "0: (buy)\n0: (step)").message
    assert tools.validate(DOMAIN, start, "0: (step)\n0: (step)\n1: (buy)").valid


@pytest.mark.parametrize(
    ("metric", "cost"),
    [
        ("", 3),
        ("(:metric minimize (x))", 3),
        ("(:metric maximize (+ (x) (* 0.5 (y))))", 5),
        ("(:metric minimize (/ (y) 3))", 4 / 3),
        ("(:metric minimize (total-time))", 3),
        ("(:metric minimize (z))", None),
        ("(:metric minimize 7)", 7),
    ],
)
def test_the_cost_is_the_metric_at_the_end(metric: str, cost: float | None) -> None:
    result = tools.validate(DOMAIN, problem(metric=metric), "(step) (step) (back)")
    assert (result.valid, result.cost) == (True, cost)


def test_costs_of_a_numeric_task_count_through_the_metric() -> None:
    domain = DOMAIN.replace("(x) (y) (z)", "(x) (y) (z) (total-cost)").replace(
        "(increase (x) 1)", "(and (increase (x) 1) (increase (total-cost) (* 2 (y))))"
    )
    text = problem(metric="(:metric minimize (total-cost))")
    assert tools.validate(domain, text, "(step) (step)").cost == 16
    assert tools.validate(domain, problem(), "(step) (step)").cost == 2


def test_states_with_other_numbers_are_explored_apart() -> None:
    domain, task = parse_domain(DOMAIN), parse_problem(problem("(free)"))
    system = transitions(domain, task, most=30)
    assert len({state.facts for state in system.states}) < len(system.states)
    assert not any(step.action in ("grow", "need-z") for number, step, _ in system.edges if number == 0)


def test_a_step_of_whose_numbers_one_is_missing_is_not_applicable() -> None:
    result = tools.check(DOMAIN, problem("(rich)"))
    assert result.ok
    missing = DOMAIN.replace("(assign (z) (/ (x) (y)))", "(free)")
    (warning,) = [item for item in tools.check(missing, problem("(rich)")).findings if item.rule == "missing-number"][
        :1
    ]
    assert "(z) has no number in :init, so (" in warning.message
    assert warning.advice == "Add (= (z) NUMBER) to :init"


def expressions() -> st.SearchStrategy[tuple[Term, Fraction | None]]:
    """Expressions with their values, calculated as they are made."""

    def joined(
        head: str, left: tuple[Term, Fraction | None], right: tuple[Term, Fraction | None]
    ) -> tuple[Term, Fraction | None]:
        term = Term(head, (left[0], right[0]))
        if left[1] is None or right[1] is None or (head == "/" and right[1] == 0):
            return term, None
        value = {"+": left[1] + right[1], "-": left[1] - right[1], "*": left[1] * right[1]}.get(head)
        return term, left[1] / right[1] if value is None else value

    constants = st.decimals(-9, 9, places=2).map(lambda value: (Term(f"{value:f}"), Fraction(value)))
    fluents = st.sampled_from([("x", Fraction(2)), ("y", Fraction(4)), ("z", None)])
    leaves = constants | fluents.map(lambda pair: (Term(pair[0], ()), pair[1]))
    return st.recursive(leaves, lambda inner: st.builds(joined, st.sampled_from("+-*/"), inner, inner), max_leaves=8)


@given(expressions(), expressions())
def test_expressions_have_their_exact_values(
    left: tuple[Term, Fraction | None], right: tuple[Term, Fraction | None]
) -> None:
    world = World(parse_domain(DOMAIN), parse_problem(problem("(free)")), Work())
    assert world.value(left[0], world.initial, {}) == left[1]
    known = left[1] is not None and right[1] is not None
    difference = left[1] - right[1] if left[1] is not None and right[1] is not None else Fraction(0)
    for operator, expected in (("<", known and difference < 0), (">=", known and difference >= 0)):
        condition = parse_condition(str(Compare(operator, left[0], right[0])))
        assert world.holds(condition, world.initial, {}) is expected


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Fraction(3), "3"),
        (Fraction(-5, 2), "-2.5"),
        (Fraction(1, 3), "1/3"),
        (Fraction(100), "100"),
        (Fraction("1000000.0001"), "1000000.0001"),
        (Fraction(1, 10**40), "about 1e-40"),
        (Fraction(10**40 + 1, 3), "about 3.33333e+39"),
    ],
)
def test_numbers_are_shown_exactly_or_as_about(value: Fraction, text: str) -> None:
    assert shown(value) == text
