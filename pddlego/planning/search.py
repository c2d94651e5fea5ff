"""pyperplan's searches over a ground task, made independent of hash order and quick to find applicable operators."""

from __future__ import annotations

import heapq
import itertools
import math
from collections import Counter, defaultdict, deque
from typing import Any

from pyperplan.heuristics.blind import BlindHeuristic
from pyperplan.heuristics.landmarks import LandmarkHeuristic
from pyperplan.heuristics.lm_cut import LmCutHeuristic
from pyperplan.heuristics.relaxation import hAddHeuristic, hFFHeuristic, hMaxHeuristic, hSAHeuristic
from pyperplan.search import (
    astar_search,
    enforced_hillclimbing_search,
    greedy_best_first_search,
    iterative_deepening_search,
    weighted_astar_search,
)
from pyperplan.search.searchspace import SearchNode, make_root_node
from pyperplan.task import Operator as StripsOperator
from pyperplan.task import Task

from pddlego.planning.ground import GOAL_STEP, GroundTask
from pddlego.planning.kept_states import KeptStates, KeptValues, action_of
from pddlego.planning.result import Plan, PlanStep, Search

_BREADTH_FIRST_WORK = 400_000
"""The maximum number of facts in states that breadth-first search expands: about 0.1 s and 0.1 GB."""


class _WorkSpentError(Exception):
    """The search has expanded the maximum number of facts."""


class IndexedTask(Task):  # type: ignore[misc]
    """A STRIPS task that looks up applicable operators by their rarest precondition instead of trying each one.

    `work` bounds how many facts all expanded states together may have; None: no bound. `expanded` counts these states.
    `kept` are the states of the search if they are wanted.
    """

    def __init__(self, task: GroundTask, is_kept: bool = False) -> None:
        self.work: int | None = None
        self.expanded = 0
        self.kept = KeptStates(task.initial) if is_kept else None
        operators = []
        seen: Counter[str] = Counter()
        for ground in task.operators:
            seen[ground.action] += 1
            name = ground.action if seen[ground.action] == 1 else f"{ground.action}#{seen[ground.action]}"
            operators.append(StripsOperator(name, ground.preconditions, ground.adds, ground.deletes))
        super().__init__("problem", task.facts, task.initial, task.goals, operators)
        self.costs = {operator.name: ground.cost for operator, ground in zip(operators, task.operators, strict=True)}
        uses = Counter(fact for operator in operators for fact in operator.preconditions)
        self._always: list[tuple[int, Any]] = []
        index: dict[str, list[tuple[int, Any]]] = defaultdict(list)
        for number, operator in enumerate(operators):
            rarest = min(
                operator.preconditions, key=lambda fact: (fact in task.initial, uses[fact], fact), default=None
            )
            (self._always if rarest is None else index[rarest]).append((number, operator))
        self._index = dict(index)

    def get_successor_states(self, state: frozenset[str]) -> list[tuple[Any, frozenset[str]]]:
        """Applicable operators with the states they lead to, in the order of the task's operators."""
        self.expanded += 1
        if self.work is not None:
            self.work -= len(state)
            if self.work < 0:
                raise _WorkSpentError
        operators = list(self._always)
        for fact in state & self._index.keys():
            operators += [entry for entry in self._index[fact] if entry[1].preconditions <= state]
        operators.sort(key=lambda entry: entry[0])
        successors = [(operator, operator.apply(state)) for _, operator in operators]
        if self.kept is not None:
            self.kept.expand(state, successors)
        return successors

    def valued(self, heuristic: Any) -> Any:
        """A heuristic whose values are kept with the states, if these are."""
        return heuristic if self.kept is None else KeptValues(heuristic, self.kept)


class _OrderedLmCut(LmCutHeuristic):  # type: ignore[misc]
    """LM-cut whose cuts come in the order of names: pyperplan's sets of operators are in the order of addresses."""

    def find_cut(self, state: Any) -> list[Any]:
        return sorted(super().find_cut(state), key=lambda operator: str(operator.name))


_HEURISTICS = {
    "blind": BlindHeuristic,
    "hadd": hAddHeuristic,
    "hff": hFFHeuristic,
    "hmax": hMaxHeuristic,
    "hsa": hSAHeuristic,
    "landmark": LandmarkHeuristic,
    "lmcut": _OrderedLmCut,
}

_SEARCHES = {
    "astar": astar_search,
    "wastar": weighted_astar_search,
    "gbf": greedy_best_first_search,
    "ehs": enforced_hillclimbing_search,
}


def find_plan(task: GroundTask, search: Search) -> Plan | None:
    """The plan that `search` finds, or None if no plan exists. The artificial goal step is left out."""
    indexed = IndexedTask(task, search.is_kept)
    unit_costs = all(operator.cost == 1 or operator.action == GOAL_STEP for operator in task.operators)
    operators = cheapest(indexed) if search.is_optimal and not unit_costs else _run(indexed, search)
    if operators is None:
        return None
    steps = tuple(PlanStep.read(name) for name in map(action_of, operators) if name != GOAL_STEP)
    tree = indexed.kept.tree(operators) if indexed.kept is not None else None
    return Plan(steps, expanded=indexed.expanded, tree=tree)


def _run(task: IndexedTask, search: Search) -> Any:
    if search.algorithm == "bfs":
        return breadth_first(task)
    if search.algorithm == "ids":
        return iterative_deepening_search(task)
    heuristic = _HEURISTICS[search.heuristic or "blind"]
    path = _SEARCHES[search.algorithm](task, task.valued(heuristic(task)))
    if path is None and search.algorithm == "ehs":
        # Hill-climbing gives up in dead ends, which proves nothing: FF goes on with best-first there, and so do we.
        path = greedy_best_first_search(task, task.valued(heuristic(task)))
    return path


def cheapest(task: IndexedTask) -> list[Any] | None:
    """A plan of least cost, by A* with hmax over the costs; None if no plan exists.

    pyperplan's own searches count actions.
    """
    costly = hMaxHeuristic(task)
    for relaxed in costly.operators:
        relaxed.cost = task.costs[relaxed.name]
    heuristic = task.valued(costly)
    root = make_root_node(task.initial_state)
    open_nodes = [(heuristic(root), 0, root)]
    least = {task.initial_state: 0}
    numbers = itertools.count(1)
    while open_nodes:
        _, _, node = heapq.heappop(open_nodes)
        if node.g > least[node.state]:
            continue
        if task.goal_reached(node.state):
            return list(node.extract_solution())
        for operator, state in task.get_successor_states(node.state):
            cost = node.g + task.costs[operator.name]
            if cost < least.get(state, math.inf):
                least[state] = cost
                child = SearchNode(state, node, operator, cost)
                estimate = heuristic(child)
                if estimate < math.inf:
                    heapq.heappush(open_nodes, (cost + estimate, next(numbers), child))
    return None


def breadth_first(task: IndexedTask) -> list[Any] | None:
    """A shortest plan, breadth-first; if the goal is far, by A* with hmax, whose plans are as short.

    Each door that may or may not be open doubles the states of a level, so that a blind search cannot reach a goal a
    dozen steps away on a large map. A* expands few of these states, but is slower where the goal is near.
    """
    try:
        task.work = _BREADTH_FIRST_WORK
        path = _first_reached(task)
    except _WorkSpentError:
        task.work = None
        path = astar_search(task, task.valued(hMaxHeuristic(task)))
    return path


def _first_reached(task: IndexedTask) -> list[Any] | None:
    """Breadth-first search that tests for the goal when a state is generated (Russell and Norvig, figure 3.9).

    pyperplan's search tests a state when it is expanded: by then one more level has been generated, which is most of
    the work on problems with many applicable operators. The plan is the same, because states are generated in the order
    of their expansion.
    """
    start = task.initial_state
    if task.goal_reached(start):
        return []
    origins: dict[frozenset[str], tuple[frozenset[str], Any]] = {}
    waiting = deque([start])
    while waiting:
        state = waiting.popleft()
        for operator, successor in task.get_successor_states(state):
            if successor == start or successor in origins:
                continue
            origins[successor] = (state, operator)
            if task.goal_reached(successor):
                path, state = [], successor
                while state != start:
                    state, operator = origins[state]
                    path.append(operator)
                return path[::-1]
            waiting.append(successor)
    return None
