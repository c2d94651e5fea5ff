"""The task that engines read: its actions do the same as those of the task that it stands for, in every state."""

from __future__ import annotations

import random

import pytest

from pddlego.pddl import Atom, parse_domain, parse_problem
from pddlego.pddl.check import check_domain
from pddlego.pddl.plain import in_plain_pddl
from pddlego.planning.state import State
from pddlego.planning.world import Simulator, World

HARBOUR = """(define (domain harbour) (:requirements :adl :derived-predicates :action-costs)
  (:types crane truck plane ship - vehicle vehicle depot quay - place place)
  (:predicates (at ?v - (either truck plane crane) ?p - place) (busy ?x - (either vehicle place)) (open ?p - place)
    (free ?x - (either truck plane)) (is-truck-or-plane ?x))
  (:functions (total-cost) - number (price ?x - (either truck plane)) - number)
  (:derived (free ?x - (either plane truck)) (not (busy ?x)))
  (:derived (free ?x - truck) (exists (?p - (either depot quay)) (and (at ?x ?p) (open ?p))))
  (:action go :parameters (?v - (either truck plane) ?p - place)
    :precondition (and (free ?v) (forall (?o - (either truck crane)) (imply (busy ?o) (not (at ?o ?p)))))
    :effect (and (at ?v ?p) (increase (total-cost) (price ?v))
      (forall (?q - (either depot quay)) (when (at ?v ?q) (not (at ?v ?q))))))
  (:action close :parameters (?p - place) :precondition (open ?p)
    :effect (when (exists (?v - (either plane crane)) (at ?v ?p))
      (and (not (open ?p)) (busy ?p) (forall (?p - (either truck plane)) (busy ?p)))))
  (:action rest :parameters () :precondition (exists (?x - (either crane plane)) (busy ?x))
    :effect (forall (?x - (either crane plane)) (and (not (busy ?x)) (forall (?p - depot) (open ?p))))))"""

TASK = """(define (problem p) (:domain harbour)
  (:objects t1 t2 - truck a1 - plane c1 - crane s1 - ship d1 d2 - depot q1 - quay)
  (:init (at t1 d1) (at a1 q1) (at c1 d2) (open d1) (open d2) (busy t2) (busy s1)
    (= (price t1) 1) (= (price t2) 2) (= (price a1) 5))
  (:goal (and (exists (?x - (either truck plane)) (at ?x d2)) (forall (?x - (either crane plane)) (not (busy ?x))))))"""

NESTED = """(define (domain d) (:requirements :adl) (:types t)
  (:predicates (p ?x - t) (q ?x - t) (r ?x ?y - t) (s))
  (:action a :parameters (?x - t) :precondition (and)
    :effect (when (p ?x) (and (s) (forall (?y - t) (and (q ?y) (when (r ?x ?y) (not (r ?x ?y))))))))
  (:action b :parameters (?x - t) :precondition (and)
    :effect (forall (?y - t) (when (q ?y) (and (not (q ?y)) (forall (?y - t) (when (r ?x ?y) (r ?y ?x)))))))
  (:action c :parameters (?x - t) :precondition (s)
    :effect (and (not (s)) (forall (?x - t) (when (exists (?y - t) (r ?x ?y)) (p ?x)))
      (when (forall (?y - t) (q ?y)) (forall (?z - t) (when (exists (?x - t) (r ?z ?x)) (not (q ?z))))))))"""

NESTED_TASK = """(define (problem p) (:domain d) (:objects a b c - t)
  (:init (p a) (q b) (r a b) (r b c) (r c c)) (:goal (forall (?x - t) (p ?x))))"""


@pytest.mark.slow
@pytest.mark.parametrize(("domain_text", "problem_text"), [(HARBOUR, TASK), (NESTED, NESTED_TASK)])
def test_walks_of_a_task_and_of_its_plain_form_are_the_same(domain_text: str, problem_text: str) -> None:
    domain, problem = parse_domain(domain_text), parse_problem(problem_text)
    assert not check_domain(domain)
    simpler, stated = in_plain_pddl(domain, problem)
    assert not check_domain(simpler)
    assert parse_domain(simpler.text) == simpler
    assert "(either" not in f"{simpler} {stated}"
    added = stated.facts - problem.facts
    worlds = World(domain, problem), World(simpler, stated)
    rng, seen = random.Random(5), set()
    for _ in range(30):
        left, right = (
            Simulator(world, State(facts)) for world, facts in zip(worlds, (problem.facts, stated.facts), strict=True)
        )
        for _ in range(12):
            steps = list(left.applicable())
            assert steps == list(right.applicable())
            assert [worlds[0].cost(step) for step in steps] == [worlds[1].cost(step) for step in steps]
            step = rng.choice(steps)
            left.do(step)
            right.do(step)
            assert left.state.facts | added == right.state.facts
            goals = [
                world.holds(goal, state, {})
                for world, goal, state in ((worlds[0], problem.goal, left.state), (worlds[1], stated.goal, right.state))
            ]
            assert goals[0] == goals[1]
            seen.add(frozenset(left.state.facts))
    assert len(seen) > 20


def test_a_plain_task_stays_the_same_value() -> None:
    text = (
        HARBOUR[: HARBOUR.index("(:predicates")]
        + """(:predicates (at ?p - place) (busy ?x - vehicle))
      (:action go :parameters (?p - place) :precondition (forall (?v - vehicle) (not (busy ?v)))
        :effect (and (at ?p) (forall (?v - vehicle) (when (at ?p) (busy ?v))))))"""
    )
    domain = parse_domain(text)
    problem = parse_problem("(define (problem p) (:domain harbour) (:objects d - depot) (:init) (:goal (at d)))")
    simpler, stated = in_plain_pddl(domain, problem)
    assert simpler is domain
    assert stated is problem


def test_the_name_of_a_predicate_that_is_declared_is_not_used_again() -> None:
    simpler, stated = in_plain_pddl(parse_domain(HARBOUR), parse_problem(TASK))
    assert Atom("is-truck-or-plane_", ("t1",)) in stated.facts
    assert not any(fact.predicate == "is-truck-or-plane" for fact in stated.facts)
    assert len({predicate.name for predicate in simpler.predicates}) == len(simpler.predicates)
