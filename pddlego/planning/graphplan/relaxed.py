"""What the delete relaxation says about a task: which actions may help, and how near to the goal they are.

This is what a good heuristic can do without any model, and the bar that a model must beat.
"""

from __future__ import annotations

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
    cheapest actions that add it again are added, with what they need, until nothing is missing.
    """
    costs = _costs(task)
    adders: dict[int, list[int]] = {}
    for action in range(task.real):
        for fact in bits(task.adds[action]):
            adders.setdefault(fact, []).append(action)
    found: dict[int, int] = {}
    waiting = [(fact, 0, False) for fact in bits(task.goal)]
    asked: set[tuple[int, bool]] = set()
    needed: dict[int, int] = {}
    while waiting:
        fact, distance, again = waiting.pop(0)
        if (fact, again) in asked:
            continue
        asked.add((fact, again))
        needed.setdefault(fact, distance)
        if task.initial >> fact & 1 and not again:
            continue
        ways = [each for each in adders.get(fact, ()) if not (again and task.needs[each] >> fact & 1)]
        priced = [(_cost(task, each, costs), each) for each in ways]
        least = min((cost for cost, _ in priced), default=FAR)
        for cost, action in priced:
            if cost == least < FAR and action not in found:
                found[action] = distance
                waiting += [(need, distance + 1, False) for need in bits(task.needs[action])]
        if not waiting:
            deleted = 0
            for action in found:
                deleted |= task.deletes[action]
            lost = [need for need in needed if deleted >> need & 1 and (need, True) not in asked]
            waiting += [(need, needed[need], True) for need in lost]
    return Relevance(found)


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
