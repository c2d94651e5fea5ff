"""Conditions with several disjunctions, rewritten: they hold in the same states, and mimir reads them."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import chain, combinations

import pytest

from pddlego.pddl import Atom, Problem, parse_domain
from pddlego.pddl.conditions import When, walk
from pddlego.pddl.problem import parse_problem
from pddlego.planning.abilities import turns_for
from pddlego.planning.disjunctions import disjunctions, with_single_disjunctions
from pddlego.planning.engines import missing
from pddlego.planning.result import PlanStatus, Search
from pddlego.planning.state import State
from pddlego.planning.worker import solve
from pddlego.planning.world import World

FACTS = [*(Atom(name, (obj,)) for name in "pq" for obj in "ab"), Atom("r", ("a", "b"))]
DOMAIN = """(define (domain d) (:requirements :adl :derived-predicates) (:types t) (:constants a b - t)
  (:predicates (p ?x - t) (q ?x - t) (r ?x - t ?y - t) (done) (due ?x - t))
  (:derived (due ?x - t) {rule})
  (:action act :parameters (?x - t ?y - t) :precondition {condition}
    :effect (and (done) (forall (?z - t) (when {when} (p ?z))))))"""


def condition_of(rng: random.Random, variables: tuple[str, ...], depth: int) -> str:
    """A random condition of these variables, with connectives inside each other."""
    kind = rng.choice(["and", "or", "imply", "not", "forall", "exists"] if depth else ["p", "q", "r", "="])
    some = [rng.choice((*variables, "a", "b")) for _ in range(2)]
    if kind in ("p", "q"):
        return f"({kind} {some[0]})"
    if kind in ("r", "="):
        return f"({kind} {some[0]} {some[1]})"
    if kind in ("forall", "exists"):
        name = f"?v{depth}"
        return f"({kind} ({name} - t) {condition_of(rng, (*variables, name), depth - 1)})"
    number = {"not": 1, "imply": 2}.get(kind, 3)
    return f"({kind} {' '.join(condition_of(rng, variables, depth - 1) for _ in range(number))})"


def worlds(seed: int) -> Iterator[World]:
    """A random domain as it is, and rewritten."""
    rng = random.Random(seed)
    text = DOMAIN.format(
        rule=condition_of(rng, ("?x",), 2),
        condition=f"(and (due ?x) {condition_of(rng, ('?x', '?y'), 3)})",
        when=condition_of(rng, ("?x", "?z"), 3),
    )
    domain = parse_domain(text)
    problem: Problem = parse_problem("(define (problem e) (:domain d) (:init (p a)) (:goal (done)))")
    rewritten = with_single_disjunctions(domain)
    conditions = [action.precondition for action in rewritten.actions] + [rule.condition for rule in rewritten.derived]
    conditions += (part.condition for part, _ in walk(rewritten.actions[0].effect) if isinstance(part, When))
    assert all(disjunctions(one) <= 1 for one in conditions)
    yield World(domain, problem)
    yield World(parse_domain(str(rewritten)), problem)


@pytest.mark.parametrize("seed", range(40))
def test_conditions_hold_in_the_same_states(seed: int) -> None:
    own, rewritten = worlds(seed)
    for true in chain.from_iterable(combinations(FACTS, number) for number in range(len(FACTS) + 1)):
        state = State(frozenset(true))
        for x, y in ("aa", "ab", "ba", "bb"):
            holds = []
            for world in (own, rewritten):
                action = world.domain.actions[0]
                parts = [action.precondition]
                parts += (part.condition for part, _ in walk(action.effect) if isinstance(part, When))
                holds.append([world.holds(part, state, {"?x": x, "?y": y, "?z": y}) for part in parts])
            assert holds[0] == holds[1], true


LEVELS = """(define (domain d) (:requirements :adl {more}) (:types t)
  (:predicates (at ?x - t) (n ?x - t ?y - t) (e) (u) (v))
  {functions} (:action rest :parameters () :precondition (and) :effect (u))
  (:action go :parameters (?x - t ?y - t ?z - t ?w - t)
    :precondition (and (at ?x) (n ?x ?y) (n ?y ?z) (n ?z ?w) {before})
    :effect (and (not (at ?x)) {after})))"""
DISJUNCTIONS = "(or (e) (n ?x ?z) (u)) (or (v) (n ?w ?x) (u))"
NESTED = f"(when (at ?x) (when (and {DISJUNCTIONS}) (at ?w)))"


def outcome(planner: str, size: int, before: str, after: str, numbers: bool = False) -> tuple[PlanStatus, str]:
    """How a planner ends on a chain of this many places."""
    functions, more = ("(:functions (f))", ":numeric-fluents") if numbers else ("", "")
    domain = parse_domain(LEVELS.format(before=before, after=after, functions=functions, more=more))
    chain_text = " ".join(f"(n p{number} p{number + 1})" for number in range(size - 1))
    names, goal = " ".join(f"p{number}" for number in range(size)), f"(at p{size - 1})"
    numeric = ("(= (f) 1)", f"(and {goal} (>= (f) 1))") if numbers else ("", goal)
    problem = parse_problem(
        f"(define (problem e) (:domain d) (:objects {names} - t) (:init (at p0) {chain_text} {numeric[0]})"
        f" (:goal {numeric[1]}))"
    )
    search = Search("gbf", "hff", planner)
    result = solve(domain, problem, search, turns_for(domain, problem, search, 60))
    return result.status, result.message


@pytest.mark.skipif(missing("mimir") is not None, reason="mimir is not installed")
@pytest.mark.parametrize(("before", "after"), [(DISJUNCTIONS, "(at ?w)"), ("", NESTED)])
def test_mimir_plans_with_the_variables_of_disjunctions(before: str, after: str) -> None:
    assert outcome("mimir", 31, before, after)[0] is PlanStatus.SOLVED
    assert outcome("mimir", 7, before.replace("(u)", "(v)"), after.replace("(u)", "(v)"))[0] is PlanStatus.UNSOLVABLE


@pytest.mark.skipif(missing("mimir") is not None, reason="mimir is not installed")
@pytest.mark.parametrize(("before", "after"), [(DISJUNCTIONS, "(at ?w)"), ("", NESTED)])
def test_several_disjunctions_beside_numbers_are_refused(before: str, after: str) -> None:
    status, message = outcome("mimir", 4, before, after, numbers=True)
    assert status is not PlanStatus.SOLVED and "several disjunctions" in message
