"""The states of a small task and what leads from one to another: what a domain and a problem mean."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass

from pddlego.pddl import Domain, Problem
from pddlego.pddl.conditions import required_atoms
from pddlego.planning.applicable import Simulator
from pddlego.planning.result import PlanStep
from pddlego.planning.world import State, World

MOST_STATES = 2_000
"""States that are looked at unless more are asked for."""


MOST_WORK = 200_000
"""Ways to bind the parameters and variables of the actions of a task of which any state is looked at."""


@dataclass(frozen=True)
class Transitions:
    """The states that can be reached from the first one, breadth-first, numbered from 0.

    `edges` are (from, step, to), also of steps that change nothing; `goals` the numbers of states in which the goal is
    true. Where it is not `whole` there are more states than were looked at, and the last ones have no edges.
    """

    states: tuple[State, ...]
    edges: tuple[tuple[int, PlanStep, int], ...]
    goals: frozenset[int]
    whole: bool


def transitions(domain: Domain, problem: Problem, most: int = MOST_STATES) -> Transitions:
    """Look at up to `most` states of a sound domain and problem."""
    world = World(domain, problem)
    if _work(world, problem) > MOST_WORK:
        return Transitions((frozenset(problem.facts),), (), frozenset(), whole=False)
    start = frozenset(problem.facts)
    numbers, waiting = {start: 0}, deque([start])
    edges: list[tuple[int, PlanStep, int]] = []
    while waiting and len(numbers) <= most:
        state = waiting.popleft()
        for step in Simulator(world, state).applicable():
            after = world.after(step, state)
            if after not in numbers:
                numbers[after] = len(numbers)
                waiting.append(after)
            edges.append((numbers[state], step, numbers[after]))
    goals = frozenset(number for state, number in numbers.items() if world.holds(problem.goal, state, {}))
    return Transitions(tuple(numbers), tuple(edges), goals, not waiting)


def _work(world: World, problem: Problem) -> int:
    """An upper bound of the ways to bind what stands in no atom of a precondition, over all actions."""
    found = world.cases(problem.goal)
    for action in world.domain.actions:
        named = {arg for atom in required_atoms(action.precondition) for arg in atom.args}
        free = (len(world.of_type(each.type)) for each in action.parameters if each.name not in named)
        found += math.prod(free) * (world.cases(action.precondition) + world.cases(action.effect))
    return found
