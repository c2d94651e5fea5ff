"""pyperplan's searches over a ground task, made independent of hash order and quick to find applicable operators."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

from pyperplan.heuristics.blind import BlindHeuristic
from pyperplan.heuristics.landmarks import LandmarkHeuristic
from pyperplan.heuristics.lm_cut import LmCutHeuristic
from pyperplan.heuristics.relaxation import hAddHeuristic, hFFHeuristic, hMaxHeuristic, hSAHeuristic
from pyperplan.search import (
    astar_search,
    breadth_first_search,
    enforced_hillclimbing_search,
    greedy_best_first_search,
    iterative_deepening_search,
    weighted_astar_search,
)
from pyperplan.task import Operator as StripsOperator
from pyperplan.task import Task

from pddlego.planning.ground import GOAL_STEP, GroundTask
from pddlego.planning.result import Plan, PlanStep, Search

BREADTH_FIRST_WORK = 400_000
"""Facts of expanded states after which breadth-first search gives way: some 0.1 s, and 0.1 GB of states."""


class _WorkSpentError(Exception):
    """The search has expanded as many facts as it may."""


class IndexedTask(Task):  # type: ignore[misc]
    """A STRIPS task that looks up applicable operators by their rarest precondition instead of trying each one.

    `work` bounds how many facts all expanded states together may have; None: no bound.
    """

    def __init__(self, task: GroundTask) -> None:
        self.work: int | None = None
        operators = []
        seen: Counter[str] = Counter()
        for each in task.operators:
            seen[each.action] += 1
            name = each.action if seen[each.action] == 1 else f"{each.action}#{seen[each.action]}"
            operators.append(StripsOperator(name, each.preconditions, each.adds, each.deletes))
        super().__init__("problem", task.facts, task.initial, task.goals, operators)
        uses = Counter(fact for each in operators for fact in each.preconditions)
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
        if self.work is not None:
            self.work -= len(state)
            if self.work < 0:
                raise _WorkSpentError
        found = list(self._always)
        for fact in state & self._index.keys():
            found += [entry for entry in self._index[fact] if entry[1].preconditions <= state]
        found.sort(key=lambda entry: entry[0])
        return [(operator, operator.apply(state)) for _, operator in found]


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


def find_plan(task: GroundTask, search: Search) -> Plan | None:
    """The plan that `search` finds, or None if there is none. The artificial goal step is left out."""
    indexed = IndexedTask(task)
    operators = _run(indexed, search)
    if operators is None:
        return None
    names = [str(operator.name).split("#")[0] for operator in operators]
    return Plan(tuple(_step(name) for name in names if name != GOAL_STEP))


def _run(task: IndexedTask, search: Search) -> list[Any] | None:
    def heuristic() -> Any:
        return _HEURISTICS[search.heuristic or "blind"](task)

    found: list[Any] | None
    if search.algorithm == "bfs":
        found = _breadth_first(task)
    elif search.algorithm == "ids":
        found = iterative_deepening_search(task)
    elif search.algorithm == "astar":
        found = astar_search(task, heuristic())
    elif search.algorithm == "wastar":
        found = weighted_astar_search(task, heuristic())
    elif search.algorithm == "gbf":
        found = greedy_best_first_search(task, heuristic())
    else:
        # Hill-climbing gives up in dead ends, which proves nothing: FF goes on with best-first there, and so do we.
        found = enforced_hillclimbing_search(task, heuristic())
        if found is None:
            found = greedy_best_first_search(task, heuristic())
    return found


def _breadth_first(task: IndexedTask) -> list[Any] | None:
    """A shortest plan, breadth-first; if the goal is far, by A* with hmax, whose plans are as short.

    Every door that may or may not be open doubles the states of a level, so that a goal a dozen steps away on a large
    map is out of reach for a blind search. A* looks at few of these states, but is slower where the goal is near.
    """
    try:
        task.work = BREADTH_FIRST_WORK
        found: list[Any] | None = breadth_first_search(task)
    except _WorkSpentError:
        task.work = None
        found = astar_search(task, hMaxHeuristic(task))
    return found


def _step(name: str) -> PlanStep:
    action, *args = name.strip("()").split()
    return PlanStep(action, tuple(args))
