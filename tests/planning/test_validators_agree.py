"""Our validator against unified-planning's on many plans: valid, truncated, shifted, with one action exchanged."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest

from pddlego.methods.planning_settings import PlanningSetting, load_planning
from pddlego.pddl import Domain, Problem, parse_domain, parse_problem
from pddlego.planning import Plan, PlanStep, ProcessPlanner, Search, validate
from pddlego.planning.plan_text import plan_in, read_plan
from pddlego.planning.state import State
from pddlego.planning.world import Simulator, World

pytestmark = pytest.mark.slow

DOMAINS = ("delivery", "ferry", "forest", "gripper", "heavy", "miconic", "spanner")

ADL = """(define (domain adl) (:requirements :adl) (:types place thing)
  (:predicates (at ?p - place) (link ?a ?b - place) (in ?t - thing ?p - place) (held ?t - thing) (lit ?p - place))
  (:action go :parameters (?a ?b - place)
    :precondition (and (at ?a) (or (link ?a ?b) (link ?b ?a)) (imply (exists (?t - thing) (held ?t)) (lit ?a)))
    :effect (and (at ?b) (not (at ?a)) (forall (?t - thing) (when (held ?t) (and (in ?t ?b) (not (in ?t ?a)))))))
  (:action take :parameters (?t - thing ?p - place)
    :precondition (and (at ?p) (in ?t ?p) (forall (?o - thing) (not (held ?o)))) :effect (held ?t))
  (:action put :parameters (?t - thing ?p - place)
    :precondition (and (at ?p) (held ?t)) :effect (and (not (held ?t)) (in ?t ?p)))
  (:action light :parameters (?p - place) :precondition (and (at ?p) (not (lit ?p))) :effect (lit ?p)))"""

ADL_TASK = """(define (problem p) (:domain adl) (:objects p0 p1 p2 - place t0 t1 - thing)
  (:init (at p0) (link p0 p1) (link p1 p2) (in t0 p0) (in t1 p2))
  (:goal (and (in t0 p2) (in t1 p0) (not (held t0)) (exists (?p - place) (lit ?p)))))"""


def variants(plan: tuple[PlanStep, ...], domain: Domain, problem: Problem, rng: random.Random) -> Iterator[Plan]:
    """The plan, and what comes of it by one change."""
    yield Plan(plan)
    for length in rng.sample(range(len(plan)), min(4, len(plan))):
        yield Plan(plan[:length])
        yield Plan((*plan[length:], *plan[:length]))
    actions = [action for action in domain.actions if action.parameters]
    for _ in range(4):
        place, action = rng.randrange(len(plan)), rng.choice(actions)
        names = [
            rng.choice([obj.name for obj in sorted(problem.objects, key=str) if domain.is_a(obj.type, one.type)])
            for one in action.parameters
        ]
        yield Plan((*plan[:place], PlanStep(action.name, tuple(names)), *plan[place + 1 :]))


def tasks() -> Iterator[tuple[Domain, str, Problem]]:
    for name in DOMAINS:
        setting = PlanningSetting(**load_planning(name))
        for task in setting.tasks(7).training[:5]:
            yield setting.domain, setting.domain.text, task.problem
    yield parse_domain(ADL), ADL, parse_problem(ADL_TASK)


def walks(domain: Domain, problem: Problem, rng: random.Random) -> tuple[PlanStep, ...]:
    simulator, done = Simulator(World(domain, problem), State(problem.facts)), []
    for _ in range(12):
        done.append(rng.choice(list(simulator.applicable())))
        simulator.do(done[-1])
    return tuple(done)


def printed(plan: Plan, rng: random.Random) -> str:
    """The plan in one of the formats in which planners and models write plans. The order of time stamps is random."""
    form = rng.randrange(6)
    calls = [f"{step.action}({', '.join(step.args)})" for step in plan.steps]
    words = [" ".join((step.action, *step.args)) for step in plan.steps]
    timed = [f"{number}.000: {str(step).upper()} [1.000]" for number, step in enumerate(plan.steps)]
    if form == 0:
        return "\n".join(rng.sample(timed, len(timed)))
    if form == 1:
        return "\n".join(f"{number}. {call}" for number, call in enumerate(calls, start=1))
    if form == 2:
        return "".join(f"{word} (1)\n" for word in words) + "Plan length: 3 step(s)." * bool(words)
    if form == 3:
        return "\n".join(f"{'step' * (not number)} {number}: {word.upper()}" for number, word in enumerate(words))
    return " ".join(map(str, plan.steps)) if form == 4 else f"```\n{plan}\n```"


@pytest.mark.oracle
def test_both_say_the_same_of_every_plan(planner: ProcessPlanner) -> None:
    from unified_planning.io import PDDLReader
    from unified_planning.shortcuts import PlanValidator, get_environment

    get_environment().credits_stream = None
    rng, reader = random.Random(0), PDDLReader()
    compared: list[bool] = []
    for domain, text, problem in tasks():
        theirs = reader.parse_problem_string(text, str(problem))
        result = planner.solve(domain, problem, Search("gbf", "hff"))
        bases = [result.plan.steps] if result.plan else []
        if domain.name == "adl":
            bases += [walks(domain, problem, rng) for _ in range(8)]
        with PlanValidator(name="sequential_plan_validator") as validator:
            for plan in (variant for base in bases for variant in variants(base, domain, problem, rng)):
                text = printed(plan, rng)
                ours = validate(domain, problem, read_plan(text, domain, problem).plan) is None
                assert ours is (validate(domain, problem, plan_in(text, domain, problem).plan) is None), text
                assert ours is _valid(validator, theirs, plan), f"{domain.name}: {plan}"
                compared.append(ours)
    assert len(compared) >= 500
    assert 30 < sum(compared) < len(compared) - 100


def _valid(validator: Any, problem: Any, plan: Plan) -> bool:
    from unified_planning.plans import ActionInstance, SequentialPlan

    manager = problem.environment.expression_manager
    steps = []
    for step in plan.steps:
        arguments = tuple(manager.ObjectExp(problem.object(name)) for name in step.args)
        steps.append(ActionInstance(problem.action(step.action), arguments))
    return str(validator.validate(problem, SequentialPlan(steps)).status.name) == "VALID"
