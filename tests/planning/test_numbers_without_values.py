"""A comparison of a number without a value is neither true nor false: validation and Kairos agree on what follows."""

from __future__ import annotations

import random

import pytest

from pddlego import tools
from pddlego.pddl import Domain, Problem, check, parse_domain, parse_problem
from pddlego.pddl.rules import Level
from pddlego.planning import PlanStatus, ProcessPlanner, Search
from pddlego.planning.result import NO_VALID_PLAN, Plan, PlanStep
from pddlego.planning.validation import validate
from pddlego.planning.world import transitions
from pddlego.util.limits import Work
from tests.scale import scaled
from tests.shared import SHARED

HEAD = """(define (domain d) (:requirements :adl :numeric-fluents) (:types t) (:predicates (a) (b) (c))
 (:functions (x) (w ?o - t) (n)) (:action s :parameters () """
PLACES = {
    "precondition": HEAD + ":precondition {} :effect (and (c) (increase (n) 1))))",
    "when": HEAD + ":effect (and (when {} (c)) (increase (n) 1))))",
}
PROBLEM = """(define (problem p) (:domain d) (:objects q r - t) (:init (a) (= (n) 0) (= (w q) {})) (:goal (and (c))))"""
"""`(x)` and `(w r)` have no value."""

TRUE = {
    ("(or (a) (>= (x) 1))", 0),
    ("(imply (>= (x) 1) (a))", 0),
    ("(not (and (b) (>= (x) 1)))", 0),
    ("(exists (?o - t) (>= (w ?o) 1))", 2),
    ("(not (forall (?o - t) (>= (w ?o) 1)))", 0),
}
NOT_TRUE = {
    ("(>= (x) 1)", 0),
    ("(not (>= (x) 1))", 0),
    ("(not (= (x) 1))", 0),
    ("(or (b) (not (>= (x) 1)))", 0),
    ("(imply (a) (>= (x) 1))", 0),
    ("(not (and (a) (>= (x) 1)))", 0),
    ("(forall (?o - t) (>= (w ?o) 1))", 2),
    ("(not (exists (?o - t) (>= (w ?o) 1)))", 0),
    ("(forall (?o - t) (not (>= (w ?o) 1)))", 0),
    ("(and (a) (not (or (b) (< (x) 3))))", 0),
}


@pytest.mark.kairos
@pytest.mark.parametrize("place", sorted(PLACES))
@pytest.mark.parametrize(("condition", "value"), sorted(TRUE | NOT_TRUE))
def test_validation_and_an_engine_agree(planner: ProcessPlanner, place: str, condition: str, value: int) -> None:
    domain, problem = parse_domain(PLACES[place].format(condition)), parse_problem(PROBLEM.format(value))
    is_valid = validate(domain, problem, Plan((PlanStep("s"),)), Work()) is None
    assert is_valid is ((condition, value) in TRUE)
    result = planner.solve(domain, problem, Search.parse("gbf(hff)", "auto"))
    assert result.status is (PlanStatus.SOLVED if is_valid else PlanStatus.UNSOLVABLE)


@pytest.mark.kairos
@pytest.mark.parametrize(("condition", "value"), sorted(TRUE | NOT_TRUE))
def test_an_engine_agrees_on_durative_actions(planner: ProcessPlanner, condition: str, value: int) -> None:
    text = HEAD.replace(":action s", ":durative-action s").replace(":adl", ":adl :durative-actions")
    for time in ("at start", "over all", "at end"):
        rest = f":duration (= ?duration 2) :condition ({time} {condition}) :effect (at end (c))))"
        domain, problem = parse_domain(f"{text}{rest}"), parse_problem(PROBLEM.format(value))
        result = planner.solve(domain, problem, Search.parse("gbf(hff)", "auto"))
        assert (result.status is PlanStatus.SOLVED) is ((condition, value) in TRUE), (time, result)


@pytest.mark.kairos
def test_an_engine_plans_where_an_exploration_finds_a_plan(planner: ProcessPlanner) -> None:
    solved = 0
    for seed in range(scaled(60, 200)):
        domain, problem = task_with_gaps(seed)
        explored = transitions(domain, problem, most=300)
        if any(defect.blocking for defect in check(domain, problem, Level.NUMBERS)) or not explored.complete:
            continue
        result = planner.solve(domain, problem, Search.parse("gbf(hff)", "auto"), 5)
        assert "internal error" not in result.message
        if explored.goals:
            solved += result.status in (PlanStatus.SOLVED, PlanStatus.ALREADY_TRUE)
            honest = result.message.startswith(f"{NO_VALID_PLAN}; numbers without a value in :init: (")
            assert honest or result.status in (PlanStatus.SOLVED, PlanStatus.ALREADY_TRUE), (seed, result)
        else:
            assert result.status in (PlanStatus.UNSOLVABLE, PlanStatus.BOUND), (seed, result)
    assert solved > scaled(10, 35)


def task_with_gaps(seed: int) -> tuple[Domain, Problem]:
    """A task with numbers of which about half have a value, in conditions of every form."""
    rng = random.Random(seed)

    def number(args: tuple[str, ...]) -> str:
        return rng.choice(["(x)", "(y)", *(f"(w {arg})" for arg in args)])

    def condition(depth: int, args: tuple[str, ...] = ("q",)) -> str:
        form = rng.choice(["not", "imply", "or", "and", "forall", "exists"]) if depth else ""
        inner = ("?o",) if form in ("forall", "exists") else ()
        if depth == 0 or (inner and "?o" in args) or rng.random() < 0.35:
            other = rng.choice([number(args), "0", "1", "2", "(/ 4 (y))", "(- (x) 1)"])
            compared = f"({rng.choice(['>=', '<=', '=', '<', '>'])} {number(args)} {other})"
            return rng.choice(["(a)", "(b)", compared, compared, compared])
        if form == "not" or inner:
            return f"({form}{' (?o - t)' if inner else ''} {condition(depth - 1, args + inner)})"
        return f"({form} {condition(depth - 1, args)} {condition(depth - 1, args)})"

    def effect() -> str:
        value = rng.choice(["1", "2", "(x)", "(/ 2 (y))"])
        change = f"({rng.choice(['assign', 'increase', 'decrease'])} {number(('q',))} {value})"
        change = rng.choice(["(a)", "(b)", "(not (a))", change])
        return f"(when {condition(2)} {change})" if rng.random() < 0.5 else change

    actions = [f"{condition(3)} :effect (and {effect()} {effect()})" for _ in range(3)]
    actions.append(f"{condition(3)} :effect (d)")
    text = " ".join(f"(:action s{i} :parameters () :precondition {action})" for i, action in enumerate(actions))
    values = " ".join(
        f"(= {term} {rng.randint(0, 2)})" for term in ("(x)", "(y)", "(w q)", "(w s)") if rng.random() < 0.4
    )
    domain = f"""(define (domain gaps) (:requirements :adl :numeric-fluents) (:types t) (:constants q - t)
      (:predicates (a) (b) (d)) (:functions (x) (y) (w ?o - t)) {text})"""
    problem = f"(define (problem p) (:domain gaps) (:objects s - t) (:init (a) {values}) (:goal (d)))"
    return parse_domain(domain), parse_problem(problem)


@pytest.mark.kairos
def test_assign_gives_a_value() -> None:
    """A number that a step assigns counts from then on, also in derived predicates, timed literals and durations."""
    domain = """(define (domain wells) (:requirements :adl :numeric-fluents :derived-predicates) (:types well)
      (:predicates (deep ?w - well) (done)) (:functions (level ?w - well))
      (:derived (deep ?w - well) (or (> (level ?w) 3) (< (level ?w) -3)))
      (:action measure :parameters (?w - well) :effect (assign (level ?w) 4))
      (:action stop :parameters () :precondition (exists (?w - well) (deep ?w)) :effect (done)))"""
    problem = "(define (problem p) (:domain wells) (:objects a b - well) (:init) (:goal (done)))"
    result = tools.solve(domain, problem)
    assert (result.status, len(result.plan or ())) == ("solved", 2)
    timed = """(define (domain wait) (:requirements :adl :durative-actions :timed-initial-literals :numeric-fluents)
      (:predicates (done)) (:functions (level))
      (:durative-action stop :parameters () :duration (= ?duration 1)
        :condition (at start (not (or (<= (level) 3) (done)))) :effect (at end (done))))"""
    late = "(define (problem p) (:domain wait) (:init (at 5 (= (level) 4))) (:goal (done)))"
    result = tools.solve(timed, late)
    assert result.plan is not None
    assert float(result.plan[0].split(":")[0]) > 5


@pytest.mark.shared("cases/turn6/pddl/no-value")
@pytest.mark.kairos
@pytest.mark.parametrize("name", ["imply", "when"])
def test_the_cases(name: str) -> None:
    domain, problem, plan = (
        SHARED / "cases/turn6/pddl/no-value" / name / file for file in ("d.pddl", "p.pddl", "p.plan")
    )
    assert tools.validate(domain, problem, plan).valid
    assert tools.solve(domain, problem).status == "solved"


WHEN = """(define (domain d) (:requirements :adl :numeric-fluents) (:predicates (p) (g) (q)) (:functions (x) (y))
  (:action a :parameters () :precondition (p) :effect (and (g) (when {} (q)))))"""


def test_mimir_names_what_it_does_not_have() -> None:
    pytest.importorskip("pymimir")
    problem = "(define (problem p) (:domain d) (:init (p) (= (y) 1)) (:goal (g)))"
    result = tools.solve(WHEN.format("(>= (y) 1)"), problem, planner="mimir")
    message = "mimir has no numbers in the condition of a when, as in (>= (y) 1); use the planner auto or kairos"
    assert (result.status, result.message) == ("invalid", message)
    unset = WHEN.format("(q)").replace("precondition (p)", "precondition (or (p) (> (x) 1))")
    message = "mimir has no numbers without a value in :init, as in (x); use the planner auto or kairos"
    assert tools.solve(unset, problem, planner="mimir").message == message


FOUND_BY_EXPLORATION = {
    "a number without a value below a when": (
        "(:predicates (p) (q) (g)) (:functions (z) (n))",
        "(:action slow :precondition (q) :effect (and (g) (when (p) (increase (z) (n)))))"
        "(:action two :precondition (not (p)) :effect (g)) (:action off :precondition (q) :effect (not (p)))",
        "(g)",
    ),
    "effects that conflict conditionally": (
        "(:predicates (p) (q)) (:functions (z))",
        "(:action slow :precondition (q) :effect (decrease (z) 1))"
        "(:action both :precondition (q) :effect (and (assign (z) 1) (when (p) (decrease (z) 1))))",
        "(< (z) 1)",
    ),
}


@pytest.mark.kairos
@pytest.mark.parametrize("name", FOUND_BY_EXPLORATION)
def test_a_plan_that_only_the_exploration_finds_is_a_plan(name: str) -> None:
    heads, actions, goal = FOUND_BY_EXPLORATION[name]
    domain = f"(define (domain d) (:requirements :adl :fluents) {heads} {actions})"
    problem = f"(define (problem x) (:domain d) (:init (p) (q) (= (z) 3)) (:goal {goal}))"
    result = tools.solve(domain, problem)
    assert (result.status, result.engine, result.optimal, result.why) == ("solved", "exploration", False, None)
    assert result.plan and tools.validate(domain, problem, "\n".join(result.plan)).valid
