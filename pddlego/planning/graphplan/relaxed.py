"""What the delete relaxation says about a task: which actions may help, and how near to the goal they are.

This is what a good heuristic can do without any model, and the bar that a model must beat.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from pddlego.planning.graphplan.task import GraphTask, bits

FAR = 1 << 30
"""The cost of what is out of reach."""


@dataclass(frozen=True)
class Relevance:
    """The real actions that may help, each with its distance: how many actions lie between it and the goal."""

    distances: dict[int, int]


def relevance(task: GraphTask) -> Relevance:
    """The actions of all cheapest relaxed plans, by additive costs, and of those that restore what these delete.

    A relaxed plan never needs a fact twice. So for every fact that is needed, and that an action found deletes, the
    cheapest actions that add it again are added, with what they need, until nothing is missing. In the end every action
    helps that adds a needed fact and needs none but needed or initial ones: often there is a shorter way.
    """
    costs = _costs(task)
    adders: dict[int, list[int]] = {}
    for action in range(task.real):
        for fact in bits(task.adds[action]):
            adders.setdefault(fact, []).append(action)
    found: dict[int, int] = {}
    needed = dict.fromkeys(bits(task.goal), 0)
    waiting = [fact for fact in needed if not task.initial >> fact & 1]
    restored: set[int] = set()
    while waiting:
        for fact in waiting:
            for action in _cheapest(task, adders.get(fact, ()), costs, fact if fact in restored else None):
                if action not in found:
                    found[action] = needed[fact]
                    for need in bits(task.needs[action]):
                        if need not in needed:
                            needed[need] = needed[fact] + 1
                            if not task.initial >> need & 1:
                                waiting.append(need)
        deleted = 0
        for action in found:
            deleted |= task.deletes[action]
        waiting = [fact for fact in needed if deleted >> fact & 1 and fact not in restored]
        restored.update(waiting)
    there = task.initial | sum(1 << fact for fact in needed)
    for action in range(task.real):
        helps = [needed[fact] for fact in bits(task.adds[action]) if fact in needed]
        if helps and action not in found and not task.needs[action] & ~there:
            found[action] = min(helps)
    return Relevance(found)


def _cheapest(task: GraphTask, ways: Iterable[int], costs: list[int], restored: int | None) -> list[int]:
    """The cheapest of some actions. What restores a fact does not need it."""
    priced = [
        (cost, action)
        for action in ways
        if (restored is None or not task.needs[action] >> restored & 1) and (cost := _cost(task, action, costs)) < FAR
    ]
    least = min((cost for cost, _ in priced), default=FAR)
    return [action for cost, action in priced if cost == least]


def _costs(task: GraphTask) -> list[int]:
    """Additive costs of all facts."""
    costs = [0 if task.initial >> fact & 1 else FAR for fact in range(len(task.facts))]
    changed = True
    while changed:
        changed = False
        for action in range(task.real):
            cost = _cost(task, action, costs) + 1
            if cost > FAR:
                continue
            for fact in bits(task.adds[action]):
                if cost < costs[fact]:
                    costs[fact] = cost
                    changed = True
    return costs


def _cost(task: GraphTask, action: int, costs: list[int]) -> int:
    return min(FAR, sum(costs[fact] for fact in bits(task.needs[action])))
