"""The states that a search of pyperplan generates, kept while it searches, with the values of its heuristic."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from pddlego.planning.result import SearchedState, SearchTree

_MOST_KEPT, _MOST_COUNTED = 2_000, 200_000
"""The maximum numbers of states that a tree has, and of those that are counted by their depth."""

State = frozenset[str]


def action_of(operator: Any) -> str:
    """The ground action of an operator of pyperplan; several operators may have the same one."""
    return str(operator.name).split("#")[0]


@dataclass
class _KeptState:
    """A state while it is searched: its index, and what `SearchedState` has."""

    index: int
    before: int | None
    depth: int
    action: str = ""
    value: float | None = None
    expanded: int | None = None


class KeptStates:
    """The states of a search, beginning with the initial one."""

    def __init__(self, initial: State) -> None:
        self._states = {initial: _KeptState(0, None, 0)}
        self._expanded = itertools.count(1)

    def expand(self, state: State, successors: Iterable[tuple[Any, State]]) -> None:
        """Note that a state was expanded, and the new ones among its successors, each after an operator."""
        known = self._states.get(state)
        if known is None or known.expanded is not None:
            return
        known.expanded = next(self._expanded)
        for operator, after in successors:
            if after not in self._states and len(self._states) < _MOST_COUNTED:
                self._states[after] = _KeptState(len(self._states), known.index, known.depth + 1, action_of(operator))

    def evaluate(self, state: State, value: float) -> None:
        """Note the value of the heuristic for a state."""
        if known := self._states.get(state):
            known.value = value

    def tree(self, plan: Iterable[Any]) -> SearchTree:
        """The tree of the search that found a plan.

        A state of the plan is below the one before it, also if it was generated from another one first.
        """
        passed = [next(iter(self._states))]
        for operator in plan:
            before, state = self._states.get(passed[-1]), operator.apply(passed[-1])
            if before is not None and (known := self._states.get(state)) is not None:
                known.before, known.action = before.index, action_of(operator)
            passed.append(state)
        states = tuple(
            SearchedState(one.before, one.action, one.value, one.expanded, state in passed)
            for state, one in itertools.islice(self._states.items(), _MOST_KEPT)
        )
        generated = Counter(one.depth for one in self._states.values())
        expanded = Counter(one.depth for one in self._states.values() if one.expanded is not None)
        return SearchTree(states, tuple((generated[depth], expanded[depth]) for depth in range(max(generated) + 1)))


class KeptValues:
    """A heuristic of pyperplan that notes its values."""

    def __init__(self, heuristic: Any, kept: KeptStates) -> None:
        self._heuristic, self._kept = heuristic, kept

    def __call__(self, node: Any) -> Any:
        value = self._heuristic(node)
        self._kept.evaluate(node.state, float(value))
        return value
