"""Actions at the same time: a table, PDDL 2.1's definition with every quantifier written out, and both orders."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator

import pytest

from pddlego.pddl import Atom, parse_domain, parse_problem
from pddlego.pddl.conditions import Exists, Forall, Formula, When, parts_of
from pddlego.planning import PlanStep, validate
from pddlego.planning.plan_text import read_plan
from pddlego.planning.state import State
from pddlego.planning.validation.fault import FaultKind
from pddlego.planning.validation.interference import interference
from pddlego.planning.world import Simulator, World

DOMAIN = parse_domain("""(define (domain adl) (:requirements :adl :derived-predicates)
  (:types place thing - object lamp - thing)
  (:predicates (at ?p - place) (link ?a ?b - place) (in ?t - thing ?p - place) (held ?t - thing) (lit ?p - place)
    (same ?a ?b - thing) (dark) (bright))
  (:derived (bright) (exists (?p - place) (lit ?p)))
  (:action go :parameters (?a ?b - place) :precondition (and (at ?a) (link ?a ?b))
    :effect (and (at ?b) (not (at ?a)) (forall (?t - thing) (when (held ?t) (and (in ?t ?b) (not (in ?t ?a)))))))
  (:action take :parameters (?t - thing ?p - place) :precondition (and (in ?t ?p) (not (held ?t))) :effect (held ?t))
  (:action drop :parameters (?t - thing) :precondition (held ?t) :effect (not (held ?t)))
  (:action light :parameters (?p - place) :precondition () :effect (lit ?p))
  (:action quench :parameters (?p - place) :precondition () :effect (not (lit ?p)))
  (:action see :parameters () :precondition (bright) :effect (not (dark)))
  (:action lamps :parameters () :precondition (forall (?l - lamp) (not (held ?l))) :effect ())
  (:action twins :parameters () :precondition (not (exists (?t - thing) (same ?t ?t))) :effect ())
  (:action pair :parameters (?a ?b - thing) :precondition () :effect (same ?a ?b))
  (:action blow :parameters (?t - thing ?p - place) :precondition () :effect (when (held ?t) (dark)))
  (:action wait :parameters () :precondition () :effect (dark)))""")

PROBLEM = parse_problem("""(define (problem p) (:domain adl) (:objects p q - place t u - thing l - lamp)
  (:init (at p) (link p q) (link q p) (in t p) (in u p) (in l q) (held u) (lit q)) (:goal (at p)))""")


@pytest.mark.parametrize(
    ("one", "other", "atom"),
    [
        ("(go p q)", "(wait)", None),
        ("(light p)", "(light q)", None),
        ("(light p)", "(light p)", None),  # both add the same atom
        ("(quench q)", "(quench q)", None),  # both delete the same atom
        ("(light q)", "(quench q)", "(lit q)"),  # one adds what the other deletes
        ("(go p q)", "(go p q)", "(at p)"),  # deletes what the other needs
        ("(take t p)", "(take t p)", "(held t)"),  # adds what the other needs to be false
        ("(take t p)", "(take l q)", None),
        ("(take t p)", "(lamps)", None),  # the quantifier is about lamps
        ("(take l q)", "(lamps)", "(held l)"),
        ("(pair t u)", "(twins)", None),  # no pair of a thing and itself
        ("(pair t t)", "(twins)", "(same t t)"),
        ("(drop u)", "(go p q)", "(held u)"),  # in the condition of an effect
        ("(drop u)", "(blow t p)", None),
        ("(drop u)", "(blow u p)", "(held u)"),
        ("(light p)", "(see)", "(lit p)"),  # behind a derived predicate
        ("(take t p)", "(see)", None),
        ("(wait)", "(see)", "(dark)"),
    ],
)
def test_pairs(one: str, other: str, atom: str | None) -> None:
    world, state = World(DOMAIN, PROBLEM), State(PROBLEM.facts)
    for steps in ((one, other), (other, one), (one, "(light p)", other) if other != "(see)" else (other, one)):
        pair = interference(world, [PlanStep.read(step) for step in steps], state)
        assert (pair and str(pair[2])) == atom
        if pair is not None:
            assert {steps[pair[0]], steps[pair[1]]} == {one, other}
            assert pair[0] < pair[1]


def test_steps_at_the_same_time_are_all_executed_in_the_state_before() -> None:
    def fault(text: str) -> tuple[FaultKind, int | None, str] | None:
        found = validate(DOMAIN, PROBLEM, read_plan(text, DOMAIN, PROBLEM).plan)
        return None if found is None else (found.kind, found.time, str(found.step))

    assert fault("0: (light p)\n0: (wait)\n0: (take t p)") is None
    assert fault("0: (go p q)\n1: (go q p)") is None
    assert fault("1: (go q p)\n0: (go p q)") is None
    assert fault("0: (wait)\n1: (go p q)\n1: (go q p)") == (FaultKind.PRECONDITION, 2, "(go q p)")
    assert fault("0: (wait)\n1: (light q)\n1: (quench q)") == (FaultKind.INTERFERENCE, 2, "(quench q)")
    assert fault("0: (light q)\n0: (fly)") == (FaultKind.ACTION, 1, "(fly)")
    assert fault("0: (wait)\n0: (light p)\n1: (go p q)") == (FaultKind.GOAL, None, "None")


def test_the_message_names_both_steps() -> None:
    plan = read_plan("0: (light q)\n0: (quench q)", DOMAIN, PROBLEM).plan
    message = "(quench q) at time 1 interferes with (light q), which has the same time: both concern (lit q)"
    assert str(validate(DOMAIN, PROBLEM, plan)) == f"{message}\n(Give them different times)"


def _mentioned(world: World, formula: Formula, binding: dict[str, str], effect: bool = False) -> Iterator[Atom]:
    """Every ground atom in a condition, or in the conditions of an effect: derived predicates by their rules."""
    if isinstance(formula, Atom):
        if effect:
            return
        if formula.predicate in world.domain.rules:
            for rule in world.domain.rules[formula.predicate]:
                yield from _mentioned(world, rule.condition, {})
        else:
            yield Atom(formula.predicate, tuple(binding.get(arg, arg) for arg in formula.args))
    elif isinstance(formula, When):
        yield from _mentioned(world, formula.condition, binding)
        yield from _mentioned(world, formula.effect, binding, effect=True)
    else:
        variables = formula.variables if isinstance(formula, Exists | Forall) else ()
        cases = world.bindings(variables, binding)
        for case in cases:
            for part in parts_of(formula):
                yield from _mentioned(world, part, dict(case), effect)


def test_the_definition_and_both_orders() -> None:
    rng, world, counts = random.Random(0), World(DOMAIN, PROBLEM), [0, 0]
    simulator = Simulator(world, State(PROBLEM.facts))
    for _ in range(60):
        applicable = list(simulator.applicable())
        state = State(frozenset(simulator.state.facts))
        for one, other in rng.sample(list(itertools.product(applicable, repeat=2)), 25):
            needs, adds, deletes = [], [], []
            for step in (one, other):
                action, binding = DOMAIN.actions_by_name[step.action], world.binding(step)
                conditions = _mentioned(world, action.precondition, binding)
                needs.append({*conditions, *_mentioned(world, action.effect, binding, effect=True)})
                added, deleted = world.changes(step, state)
                adds.append(added)
                deletes.append(deleted - added)
            expected = any(needs[i] & (adds[j] | deletes[j]) or adds[i] & deletes[j] for i, j in ((0, 1), (1, 0)))
            assert (interference(world, (one, other), state) is not None) is expected, (one, other)
            counts[expected] += 1
            if not expected:
                assert world.holds(
                    DOMAIN.actions_by_name[one.action].precondition, world.after(other, state), world.binding(one)
                )
                assert world.after(one, world.after(other, state)) == world.after(other, world.after(one, state))
        simulator.do(rng.choice(applicable))
    assert min(counts) > 50
