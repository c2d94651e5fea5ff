"""What tests of Graphplan plan with: small random tasks, a driver, and another way to a shortest parallel plan."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from pddlego.planning.graphplan.search import plan_graph
from pddlego.planning.graphplan.values import AdviceQuestion, GraphSearch, GraphTask, PlannedLayers, SearchMoment
from pddlego.planning.ground import GroundTask, Operator

SIZES: dict[str, dict[str, tuple[int, int]]] = {
    "gripper": {"rooms": (2, 2), "balls": (1, 3)},
    "miconic": {"buildings": (1, 1), "floors": (2, 4), "passengers": (1, 2)},
    "logistics": {"cities": (1, 2), "places": (1, 2), "packages": (1, 2), "airplanes": (1, 1)},
    "movie": {"snacks": (1, 1)},
    "blocks": {"blocks": (2, 3)},
    "satellite": {
        "satellites": (1, 1),
        "instruments": (1, 2),
        "modes": (1, 2),
        "directions": (2, 3),
        "images": (1, 2),
    },
    "zenotravel": {"aircraft": (1, 1), "people": (1, 2), "cities": (2, 2)},
    "driverlog": {"junctions": (2, 3), "drivers": (1, 1), "trucks": (1, 1), "packages": (1, 2)},
    "woodworking": {"parts": (1, 1), "boards": (1, 1), "colours": (1, 1), "machines": (1, 1)},
    "openstacks": {"orders": (1, 3), "products": (1, 3), "spare": (0, 1)},
}
"""Tasks of the ten domains that are small enough to be looked through."""


def driven(
    task: GraphTask,
    search: GraphSearch,
    answer: Callable[[AdviceQuestion], Sequence[str]] = lambda question: (),
) -> tuple[PlannedLayers, list[SearchMoment]]:
    """How planning ends, and all that happens."""
    moments: list[SearchMoment] = []
    return plan_graph(task, search, answer, moments.append), moments


def exclude(one: Operator, other: Operator) -> bool:
    """Whether two actions may not be done at once: one deletes what the other needs or adds."""
    return bool(one.deletes & (other.preconditions | other.adds) or other.deletes & (one.preconditions | one.adds))


def least_levels(task: GroundTask) -> int | None:
    """How many parallel steps a plan needs, breadth-first over sets of actions; None where there is no plan.

    It knows nothing of planning graphs: a step is any set of applicable actions none of which excludes another.
    """
    layer, seen, levels = {task.initial}, {task.initial}, 0
    while layer:
        if any(task.goals <= state for state in layer):
            return levels
        following: set[frozenset[str]] = set()
        for state in layer:
            for successor in _steps(task, state):
                if successor not in seen:
                    seen.add(successor)
                    following.add(successor)
        layer, levels = following, levels + 1
    return None


def _steps(task: GroundTask, state: frozenset[str]) -> set[frozenset[str]]:
    able = [operator for operator in task.operators if operator.preconditions <= state]
    result: set[frozenset[str]] = set()

    def choose(place: int, chosen: tuple[Operator, ...], after: frozenset[str]) -> None:
        for number in range(place, len(able)):
            operator = able[number]
            if not any(exclude(operator, item) for item in chosen):
                reached = (after - operator.deletes) | operator.adds
                result.add(reached)
                choose(number + 1, (*chosen, operator), reached)

    choose(0, (), state)
    return result


def works(task: GroundTask, steps: Sequence[Sequence[str]]) -> bool:
    """Whether the actions, one after the other, reach the goal."""
    named = {operator.action: operator for operator in task.operators}
    state = task.initial
    for name in (name for level in steps for name in level):
        operator = named[name]
        if not operator.preconditions <= state:
            return False
        state = (state - operator.deletes) | operator.adds
    return task.goals <= state


def random_task(seed: int) -> GroundTask:
    """Some facts and actions without any sense; more than half of these tasks cannot be solved."""
    rng = random.Random(seed)
    facts = [f"(f{number})" for number in range(rng.randint(3, 8))]

    def some(least: int, most: int) -> frozenset[str]:
        return frozenset(rng.sample(facts, rng.randint(least, min(most, len(facts)))))

    operators = []
    for number in range(rng.randint(2, 9)):
        adds = some(1, 2)
        operators.append(Operator(f"(a{number})", some(0, 3), adds, some(0, 3) - adds))
    return GroundTask(frozenset(facts), some(0, 3), some(1, 4), tuple(operators))
