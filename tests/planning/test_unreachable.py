"""No goal of a random task with numbers or time that a valid plan reaches is called unreachable."""

from __future__ import annotations

import random
from decimal import Decimal
from itertools import product

import pytest

from pddlego import tools
from pddlego.pddl import Domain, Problem, parse_domain, parse_problem
from pddlego.pddl.check import check
from pddlego.pddl.conditions import TRUE, Formula, parse_condition
from pddlego.pddl.rules import Level
from pddlego.planning import Plan, PlanStep, validate
from pddlego.planning.result import TimedStep
from pddlego.planning.validation.fault import FaultKind
from pddlego.planning.why.relaxed import Relaxation
from pddlego.util.limits import Work
from tests.scale import scaled

OBJECTS = ("a", "b")
FACTS = (*(f"({name} {thing})" for name in "pqr" for thing in OBJECTS), "(s)")
FLUENTS = ("(m)", "(n a)", "(n b)")
MOST_STEPS = 5
TIMES = tuple(Decimal(number) / 4 for number in range(25))


class RandomTask:
    """The texts of a task with two durative actions and one or two others, some timed literals, and no goal."""

    def __init__(self, rng: random.Random, timed: bool) -> None:
        self.rng, self.timed = rng, timed
        actions = " ".join(self._action(number) for number in range(4))
        self.domain = f"""(define (domain d) (:requirements :adl :numeric-fluents :durative-actions
          :timed-initial-literals :duration-inequalities)
          (:predicates (p ?x) (q ?x) (r ?x) (s)) (:functions (m) (n ?x)) {actions})"""
        facts = rng.sample(FACTS, 3)
        values = [f"(= {fluent} {rng.randint(-1, 3)})" for fluent in FLUENTS if rng.random() < 0.8]
        later = [f"(at {rng.choice(TIMES[1:])} {self._literal('ab')})" for _ in range(rng.randint(0, 2)) if timed]
        later += [
            f"(at {rng.choice(TIMES[1:])} (= (m) {rng.randint(-2, 4)}))" for _ in range(timed) if rng.random() < 0.3
        ]
        init = " ".join([*facts, *values, *later])
        self.problem = f"(define (problem x) (:domain d) (:objects a b) (:init {init}) (:goal (s)))"

    def _atom(self, things: str | tuple[str, ...]) -> str:
        name = self.rng.choice("pqrs")
        return "(s)" if name == "s" else f"({name} {self.rng.choice(things)})"

    def _literal(self, things: str | tuple[str, ...]) -> str:
        atom = self._atom(things)
        return f"(not {atom})" if self.rng.random() < 0.35 else atom

    def _number(self, more: tuple[str, ...] = ()) -> str:
        one, other = (self.rng.choice(("(m)", "(n ?x)", "1", "2", "0.5", *more)) for _ in range(2))
        return self.rng.choice((one, f"({self.rng.choice('+-*/')} {one} {other})"))

    def _condition(self, more: tuple[str, ...] = ()) -> str:
        if self.rng.random() < 0.3:
            return f"({self.rng.choice(('>=', '<', '=', '>'))} {self._number(more)} {self.rng.randint(-1, 3)})"
        literal = self._literal(("?x",))
        kind = self.rng.random()
        if kind < 0.1:
            return f"(imply {self._atom(('?x',))} {literal})"
        return f"({self.rng.choice(('or', 'and'))} {literal} {self._literal(('?x', 'a'))})" if kind < 0.2 else literal

    def _effect(self, more: tuple[str, ...] = ()) -> str:
        kind = self.rng.random()
        if kind < 0.25:
            change = self.rng.choice(("increase", "decrease", "assign", "scale-up", "scale-down"))
            return f"({change} {self.rng.choice(('(m)', '(n ?x)'))} {self._number(more)})"
        return f"(when {self._condition()} {self._literal(('?x',))})" if kind < 0.35 else self._literal(("?x",))

    def _action(self, number: int) -> str:
        head = f"action a{number} :parameters (?x)"
        conditions, effects = range(self.rng.randint(0, 2)), range(self.rng.randint(1, 3))
        if not self.timed or number > 2:
            needs = " ".join(self._condition() for _ in conditions)
            makes = " ".join(self._effect() for _ in effects)
            return f"(:{head} :precondition (and {needs}) :effect (and {makes}))"
        more = ("?duration",)
        needs = " ".join(self._at(self._condition(more), "at start", "over all", "at end") for _ in conditions)
        makes = " ".join(self._at(self._effect(more), "at start", "at end") for _ in effects)
        duration = self.rng.choice(("(= ?duration 1)", "(<= ?duration 2)", "(and (>= ?duration 1) (<= ?duration 3))"))
        return f"(:durative-{head} :duration {duration} :condition (and {needs}) :effect (and {makes}))"

    def _at(self, part: str, *times: str) -> str:
        return f"({self.rng.choice(times)} {part})"


def random_plans(domain: Domain, problem: Problem, rng: random.Random, tries: int) -> list[Plan]:
    """Valid plans, each with a step more than the one before it. The goal of the problem is true."""
    names = [action.name for action in domain.schemas]
    durative = {action.name for action in domain.durative}
    steps: tuple[TimedStep, ...] = ()
    plans = [Plan.of(())]
    for _ in range(tries):
        if len(steps) == MOST_STEPS:
            break
        name = rng.choice(names)
        lasts = Decimal(rng.choice((1, 1, 2, 3))) if name in durative else None
        new = TimedStep(rng.choice(TIMES), PlanStep(name, (rng.choice(OBJECTS),)), lasts)
        plan = Plan.of((*steps, new))
        if not (durative or problem.later):
            plan = Plan(tuple(step.step for step in plan.timed))
        if validate(domain, problem, plan, Work(100_000)) is None:
            steps = (*steps, new)
            plans.append(plan)
    return plans


def possible_conditions(domain: Domain) -> list[Formula]:
    """Facts, their negations, and comparisons of numbers."""
    comparisons = [f"({sign} {one} {value})" for sign, one, value in product(("<", "=", ">"), FLUENTS, (-1, 0, 2))]
    comparisons += [f"(>= (* (m) (n a)) {value})" for value in (1, 4)]
    return [*map(parse_condition, (*FACTS, *(f"(not {fact})" for fact in FACTS), *comparisons))]


def test_no_goal_that_a_plan_reaches_is_called_unreachable() -> None:
    reached, refuted = 0, 0
    for seed in range(scaled(25, in_ci=400)):
        rng = random.Random(seed)
        task = RandomTask(rng, timed=seed % 3 > 0)
        domain, problem = parse_domain(task.domain), parse_problem(task.problem)
        if any(defect.blocking for defect in check(domain, problem, Level.TIME)):
            continue
        problem = problem.with_goal(TRUE)
        relaxed = Relaxation(domain, problem, Work())
        conditions = possible_conditions(domain)
        impossible = [condition for condition in conditions if not relaxed.may_hold(condition, {})]
        refuted += len(impossible)
        plans = random_plans(domain, problem, rng, 60)
        for plan in plans:
            for condition in impossible:
                fault = validate(domain, problem.with_goal(condition), plan)
                assert fault is not None and fault.kind is FaultKind.GOAL, (seed, str(condition), str(plan))
        assert {*plans[-1].steps} <= {*relaxed.steps}, (seed, str(plans[-1]))
        reached += len(plans[-1])
    assert reached > 100 and refuted > 100, (reached, refuted)


_DURATIVE = """(define (domain d) (:requirements :durative-actions :negative-preconditions) (:predicates (w) (p) (done))
  (:durative-action a :parameters () :duration (and (>= ?duration 1) (<= ?duration 5))
    :condition (and (at start (w)) {}) :effect (and (at start (not (w))) (at end (done))))
  (:durative-action b :parameters () :duration (= ?duration 1)
    :condition (at start (not (w))) :effect (at end (p))))"""


@pytest.mark.parametrize(
    "condition", ["(at end (p))", "(at start (>= ?duration 2))", "(over all (not (< ?duration 2)))"]
)
def test_later_conditions_and_durations_are_reachable(condition: str) -> None:
    """What an action deletes at its start may enable another one to make its later conditions true."""
    domain, problem = (
        parse_domain(_DURATIVE.format(condition)),
        "(define (problem x) (:domain d) (:init (w)) (:goal (done)))",
    )
    assert tools.validate(domain, problem, "0: (a) [5]\n1: (b) [1]").valid
    assert Relaxation(domain, parse_problem(problem), Work()).may_hold(parse_condition("(done)"), {})
    assert {finding.rule for finding in tools.check(domain, problem).findings} <= {"missing-requirement"}


@pytest.mark.kairos
@pytest.mark.parametrize("condition", ["(at start (>= ?duration 2))", "(at end (= ?duration 2.5))"])
def test_no_task_with_conditions_on_durations_is_called_unsolvable(condition: str) -> None:
    problem = "(define (problem x) (:domain d) (:init (w)) (:goal (done)))"
    assert tools.solve(_DURATIVE.format(condition), problem, seconds=60).status in ("bound", "solved")


_TANK = """(define (domain tank) (:requirements :numeric-fluents) (:predicates (far)) (:functions (fuel) (need))
  (:action go :parameters () :precondition (>= (fuel) (* (need) (need))) :effect (far))
  (:action fill :parameters () :precondition (< (fuel) 5) :effect (assign (fuel) 5.5)))"""


@pytest.mark.kairos
@pytest.mark.parametrize(("need", "status"), [(2, "solved"), (2.5, "unsolvable")])
def test_a_proof_by_the_search_for_reasons_makes_a_task_unsolvable(need: float, status: str) -> None:
    problem = f"(define (problem x) (:domain tank) (:init (= (fuel) 0.5) (= (need) {need})) (:goal (far)))"
    result = tools.solve(_TANK, problem, seconds=60, why_seconds=60)
    assert (result.status, result.engine) == (status, "kairos" if status == "solved" else tools.EXPLORATION)


def test_a_quantified_variable_gets_a_name_that_the_action_does_not_have() -> None:
    domain = """(define (domain d) (:requirements :adl) (:predicates (c ?x ?y) (p ?x ?y))
      (:action a :parameters (?x ?x-2) :precondition (and) :effect (forall (?x) (when (c ?x ?x-2) (p ?x ?x-2)))))"""
    problem = "(define (problem p) (:domain d) (:objects u v) (:init (c u v)) (:goal (p u v)))"
    assert "unreachable-goal" not in {finding.rule for finding in tools.check(domain, problem).findings}
