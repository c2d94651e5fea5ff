"""Levels and mutexes: the textbook's example, fact by fact and pair by pair."""

from __future__ import annotations

import random
from itertools import combinations

import pytest

from pddlego.pddl import parse_domain, parse_problem
from pddlego.planning.graphplan.graph import PlanningGraph
from pddlego.planning.graphplan.values import GraphTask, bits, compile_task
from pddlego.planning.ground import ground
from tests.planning.graphplan.planning import random_task

VACUUM = parse_domain("""(define (domain d) (:predicates (dirty) (toolroom) (clean) (bedroom))
  (:action vacuum :parameters () :precondition (and (dirty) (bedroom)) :effect (and (clean) (not (dirty))))
  (:action move2tr :parameters () :precondition (bedroom) :effect (and (toolroom) (not (bedroom))))
  (:action move2br :parameters () :precondition (toolroom) :effect (and (bedroom) (not (toolroom)))))""")
TASK = parse_problem("""(define (problem p) (:domain d) (:objects) (:init (dirty) (toolroom))
  (:goal (and (clean) (toolroom))))""")

Pairs = set[frozenset[str]]


def compiled() -> GraphTask:
    task = ground(VACUUM, TASK)
    assert task is not None
    return compile_task(task)


def pairs(*words: str) -> Pairs:
    return {frozenset(f"({name})" for name in pair.split(" + ")) for pair in words}


def exclusive_actions(graph: PlanningGraph, level: int) -> Pairs:
    present = list(bits(graph.actions[level]))
    name = graph.task.actions
    return {
        frozenset((name[one], name[two]))
        for one, two in combinations(present, 2)
        if graph.exclusive[level][one] >> two & 1
    }


def exclusive_facts(graph: PlanningGraph, level: int) -> Pairs:
    name = graph.task.facts
    result = enumerate(graph.excluded[level])
    return {frozenset((name[fact], name[other])) for fact, others in result for other in bits(others)}


def grown(levels: int) -> PlanningGraph:
    graph = PlanningGraph(compiled())
    for _ in range(levels):
        graph.expand(graph.candidates())
    return graph


def test_the_vacuum_of_the_papers_figure_5() -> None:
    graph = grown(3)
    assert [set(graph.task.named(facts)) for facts in graph.facts[:3]] == [
        {"(dirty)", "(toolroom)"},
        {"(dirty)", "(toolroom)", "(bedroom)"},
        {"(dirty)", "(toolroom)", "(bedroom)", "(clean)"},
    ]
    assert exclusive_actions(graph, 1) == pairs("move2br + noop toolroom")
    assert exclusive_facts(graph, 1) == pairs("bedroom + toolroom")
    assert exclusive_actions(graph, 2) == pairs(
        "vacuum + noop toolroom",  # the pair that the paper names: competing needs
        "vacuum + move2br",
        "vacuum + noop dirty",  # interference
        "vacuum + move2tr",
        "move2tr + noop bedroom",
        "move2tr + noop toolroom",
        "move2tr + move2br",
        "move2br + noop toolroom",
        "move2br + noop bedroom",
        "noop toolroom + noop bedroom",
    )
    assert exclusive_facts(graph, 2) == pairs("bedroom + toolroom", "clean + dirty", "clean + toolroom")
    assert exclusive_facts(graph, 3) == pairs("bedroom + toolroom", "clean + dirty")
    assert [graph.mutexes(level) for level in (1, 2)] == [1, 10]
    assert [graph.fact_mutexes(level) for level in (1, 2, 3)] == [1, 3, 2]
    assert graph.satisfied


def by_definition(graph: PlanningGraph, level: int) -> tuple[Pairs, Pairs]:
    """The mutexes of a level from those of the facts before it, word for word as the paper defines them."""
    task = graph.task
    before = exclusive_facts(graph, level - 1)
    present = list(bits(graph.actions[level]))

    def exclude(one: int, two: int) -> bool:
        effects = task.deletes[one] & task.adds[two] or task.deletes[two] & task.adds[one]
        interfere = task.deletes[one] & task.needs[two] or task.deletes[two] & task.needs[one]
        needs = ((task.facts[a], task.facts[b]) for a in bits(task.needs[one]) for b in bits(task.needs[two]))
        return bool(effects or interfere or any(frozenset(pair) in before for pair in needs))

    actions = {(one, two) for one, two in combinations(present, 2) if exclude(one, two)}
    facts = set()
    for one, two in combinations(bits(graph.facts[level]), 2):
        ways = [[action for action in present if task.adds[action] >> fact & 1] for fact in (one, two)]
        if all(a != b and (min(a, b), max(a, b)) in actions for a in ways[0] for b in ways[1]):
            facts.add(frozenset((task.facts[one], task.facts[two])))
    return {frozenset((task.actions[one], task.actions[two])) for one, two in actions}, facts


@pytest.mark.parametrize("share", [1.0, 0.5])
def test_every_mutex_is_that_of_the_definition_whether_levels_are_pruned_or_not(share: float) -> None:
    for seed in range(60):
        graph, rng = PlanningGraph(compile_task(random_task(seed))), random.Random(seed)
        for level in range(1, 5):
            graph.expand(sum(1 << action for action in bits(graph.candidates()) if rng.random() < share))
            assert (exclusive_actions(graph, level), exclusive_facts(graph, level)) == by_definition(graph, level)
