"""Conditions with several disjunctions, rewritten: the same plans in each state."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import chain, combinations

import pytest

from pddlego.pddl import Atom, Problem, parse_domain
from pddlego.pddl.conditions import When, walk
from pddlego.pddl.problem import parse_problem
from pddlego.planning.disjunctions import disjunctions, with_single_disjunctions
from pddlego.planning.state import State
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
