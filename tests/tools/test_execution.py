"""Plans are executed: states, numbers, faults."""

from __future__ import annotations

import pytest

import pddlego
from pddlego import tools
from tests.lamps import DOMAIN, PROBLEM
from tests.tools.walk import WALK, WALK_TASK


def test_each_state_of_a_plan_is_simulated() -> None:
    result = pddlego.simulate(DOMAIN, PROBLEM, "(switch-on hall)\n(switch-on kitchen)")
    assert [state.action for state in result.states] == ["", "(switch-on hall)"]
    assert result.states[-1].added == ("(lit hall)",)
    assert not result.states[-1].goal_reached
    assert result.applicable == ("(move hall kitchen)", "(switch-on hall)")
    assert result.fault == "step 2: (switch-on kitchen) has an unsatisfied precondition"
    assert result.advice == "Set (at kitchen) to true"


TANK = """(define (domain fuel) (:requirements :strips :numeric-fluents) (:predicates (at ?p) (road ?a ?b))
  (:functions (fuel) (length ?a ?b))
  (:action go :parameters (?a ?b) :precondition (and (at ?a) (road ?a ?b) (>= (fuel) (length ?a ?b)))
    :effect (and (not (at ?a)) (at ?b) (decrease (fuel) (length ?a ?b)))))"""

OUTING = """(define (problem trip) (:domain fuel) (:objects a b c)
  (:init (at a) (road a b) (road b c) (road b a) (= (fuel) 4) (= (length a b) 2.5) (= (length b c) 2)
    (= (length b a) 1))
  (:goal (at c)))"""


def test_numbers_are_among_the_facts_of_a_simulated_state() -> None:
    result = pddlego.simulate(TANK, OUTING, "(go a b)\n(go b c)")
    assert "(= (fuel) 4)" in result.states[0].facts
    assert "(= (length a b) 2.5)" in result.states[-1].facts
    assert result.states[1].added == ("(= (fuel) 1.5)", "(at b)")
    assert result.states[1].deleted == ("(= (fuel) 4)", "(at a)")
    assert result.advice == "Make (>= (fuel) (length b c)) true: (fuel) is 1.5, (length b c) is 2"
    assert result.applicable == ("(go b a)",)
    assert tools.applicable(TANK, OUTING, "(go a b)").actions == ("(go b a)",)


def test_costs_of_a_classical_task_are_not_among_the_facts() -> None:
    domain = TANK.replace("(fuel)", "(total-cost)").replace("(>= (total-cost) (length ?a ?b))", "")
    domain = domain.replace("decrease", "increase").replace(":numeric-fluents", ":action-costs")
    result = pddlego.simulate(domain, OUTING.replace("(= (fuel) 4)", ""), "(go a b)")
    assert result.states[1].facts == ("(at b)", "(road a b)", "(road b a)", "(road b c)")


def test_the_step_that_fails_is_counted_from_one_in_the_order_of_execution() -> None:
    result = pddlego.validate(WALK, WALK_TASK, "(go x y)\n(rest)\n(go x y)\n(go y z)")
    assert (result.valid, result.step, result.rule) == (False, 3, "unsatisfied-precondition")
    assert result.message == "step 3: (go x y) has an unsatisfied precondition"
    result = pddlego.validate(WALK, WALK_TASK, "2: (rest)\n1: (go x y)\n0: (go y z)")
    assert (result.step, result.message) == (1, "step 1: (go y z) has an unsatisfied precondition")
    result = pddlego.validate(WALK, WALK_TASK, "(go x y)\n(rest)")
    assert (result.step, result.rule, result.advice) == (None, "goal-not-reached", "Set (at z) to true")
    result = pddlego.validate(WALK, WALK_TASK, "0: (go x y)\n0: (rest)\n0: (rest)\n1: (go y z)")
    assert result == tools.ValidationResult(True, 4)


@pytest.mark.parametrize(
    "plan", ["I cannot do that", "None.", "N/A", "no", "(go x", "((", "go x y z (", "x" * 5000, "\n", ("(go x", "y")]
)
def test_validate_never_raises_for_an_unreadable_plan(plan: str | tuple[str, ...]) -> None:
    result = pddlego.validate(WALK, WALK_TASK, plan)
    assert not result.valid
    assert result.message
    assert not pddlego.check(WALK, WALK_TASK, plan).ok


def test_an_unreadable_plan_is_a_syntax_error() -> None:
    result = pddlego.validate(WALK, WALK_TASK, "(go x\n(go y\n(rest)")
    message = "the plan cannot be read: line 1, '(go x', is not an action (and 1 more)"
    assert (result.rule, result.step, result.message) == ("syntax", None, message)
    assert result.advice == "Write one action a line: (action object …)."
    findings = pddlego.check(WALK, WALK_TASK, "(go x\n(go y\n(rest)").findings
    assert [(finding.line, finding.rule, finding.severity) for finding in findings] == [
        (1, "syntax", "error"),
        (2, "syntax", "error"),
    ]
