"""Searches with the heuristic of a program, in its process in the sandbox: the host must check the results.

The heuristic has the form of Corrêa, Pereira and Seipp (2025), which is that of pyperplan: a class with
`__init__(self, task)` and `__call__(self, node)`. The host sends the ground task as text, in slices.
"""

from __future__ import annotations

import heapq
import inspect
import itertools
import math
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from numbers import Real
from types import ModuleType
from typing import Any, NamedTuple

State = frozenset[str]

GREEDY, CLIMB, PROPERTY = "greedy", "climb", "property"
"""Greedy best-first search, which expands each state once; hill climbing; and the search for a state that shows that
the heuristic is not direct."""

_BASES = ("heuristics", "heuristics.heuristic_base", "pyperplan.heuristics", "pyperplan.heuristics.heuristic_base")
"""The modules from which published heuristics import their base class `Heuristic`."""

_SHOWN = 100
"""Maximum characters of a wrong value in a message."""


class NoHeuristicError(Exception):
    """The program defines no class with a method `__call__`."""


class WrongValueError(Exception):
    """The heuristic returned something that is not a number, or NaN, or two values for a state."""


class Heuristic:
    """The base class that published heuristics import."""


class Operator(NamedTuple):
    """A ground action as heuristics see it. `name` is `(action object …)`."""

    name: str
    preconditions: State
    add_effects: State
    del_effects: State


@dataclass(frozen=True)
class Node:
    """A node of the search as heuristics see it."""

    state: State


class Task:
    """The task as heuristics see it: facts are texts such as `(on a b)`. `static` are the facts that never change."""

    def __init__(self, name: str, facts: State, initial_state: State, goals: State, static: State) -> None:
        self.name, self.facts, self.static = name, facts, static
        self.initial_state, self.goals = initial_state, goals
        self.operators: list[Operator] = []


class Guide:
    """The driver: a task, the program's heuristic for it, and the searches. Call the public methods in their order."""

    def __init__(self, clock: Callable[[], float] = time.process_time) -> None:
        self._clock = clock
        self._operators: list[Operator] = []
        self._index: dict[str, list[tuple[int, Operator]]] = {}
        self._always: list[tuple[int, Operator]] = []
        self._heuristic: Callable[[Node], Any] = lambda node: 0
        self._expanded = 0

    def begin(self, name: str, facts: str, rest: str) -> None:
        """Receive a task without operators: its facts, one a line; then lines with the numbers of the initial facts,
        the numbers of the goals, and the static facts, separated by tabs."""
        for module in _BASES:
            sys.modules[module] = ModuleType(module)
            vars(sys.modules[module])["Heuristic"] = Heuristic
        self._facts = facts.split("\n")
        initial, goals, static = rest.split("\n")
        self._initial, self._goals = self._named(initial), self._named(goals)
        self._task = Task(
            name, frozenset(self._facts), self._initial, self._goals, frozenset(static.split("\t")) - {""}
        )

    def _named(self, numbers: str) -> State:
        return frozenset([self._facts[int(number)] for number in numbers.split()])

    def add(self, operators: str) -> None:
        """Receive a slice of the operators, one a line: the name, and the numbers of the preconditions, of the added
        facts, and of the deleted facts, separated by tabs."""
        for line in operators.split("\n"):
            name, *numbers = line.split("\t")
            self._operators.append(Operator(name, *map(self._named, numbers)))

    def make(self) -> None:
        """Index the operators, and make the program's heuristic: the last class that it defines with `__call__`."""
        uses = Counter(fact for operator in self._operators for fact in operator.preconditions)
        index: dict[str, list[tuple[int, Operator]]] = defaultdict(list)
        for number, operator in enumerate(self._operators):
            key = min(operator.preconditions, key=lambda fact: (fact in self._initial, uses[fact], fact), default=None)
            (self._always if key is None else index[key]).append((number, operator))
        self._index = dict(index)
        self._task.operators = self._operators[:]
        found = [value for value in vars(sys.modules["program"]).values() if _is_heuristic(value)]
        classes = [value for value in found if _takes_a_node(value)] or found
        if not classes:
            raise NoHeuristicError("it defines no class with a method __call__(self, node)")
        self._heuristic = classes[-1](self._task)

    def search(self, algorithm: str, seconds: float) -> dict[str, Any]:
        """Search for at most `seconds` of CPU time. `ended` is `plan`, `time`, `exhausted`, `unsolvable` or `stalled`.

        A search that `stalled` has the names of the actions to the state without a better successor, the state's
        value, and the names and values of all successors. `PROPERTY` whose `time` is up has the plan, if it found one.
        """
        end = self._clock() + seconds
        self._expanded = 0
        result = self._greedy(end) if algorithm == GREEDY else self._improve(end, algorithm == PROPERTY)
        return {**result, "expanded": self._expanded}

    def _successors(self, state: State) -> Iterator[tuple[str, State]]:
        """Applicable operators, in the order of the task, with the states that they lead to."""
        index, applicable = self._index, self._always[:]
        for fact in state:
            if fact in index:
                applicable += [entry for entry in index[fact] if entry[1].preconditions <= state]
        for _, operator in sorted(applicable):
            yield operator.name, (state - operator.del_effects) | operator.add_effects

    def _value(self, state: State) -> float:
        value: Any = self._heuristic(Node(state))
        if type(value) is not int and type(value) is not float:
            if not isinstance(value, Real):
                raise WrongValueError(f"__call__ returned {repr(value)[:_SHOWN]}, which is not a number")
            value = float(value)
        if value != value:
            raise WrongValueError("__call__ returned nan, which is not a number")
        number: float = value
        return number

    def _greedy(self, end: float) -> dict[str, Any]:
        """Greedy best-first search. States whose value is infinite are dead ends.

        Without such a state, an exhausted search proves that the task has no plan.
        """
        start = self._initial
        parents: dict[State, tuple[State, str]] = {start: (start, "")}
        numbers = itertools.count()
        queue = [(self._value(start), next(numbers), start)]
        is_pruned = queue[0][0] == math.inf
        if is_pruned:
            queue.clear()
        while queue:
            state = heapq.heappop(queue)[2]
            if self._goals <= state:
                return {"ended": "plan", "plan": list(_path(parents, start, state))[::-1]}
            if self._clock() > end:
                return {"ended": "time"}
            self._expanded += 1
            for name, successor in self._successors(state):
                if successor not in parents:
                    parents[successor] = (state, name)
                    value = self._value(successor)
                    if value < math.inf:
                        heapq.heappush(queue, (value, next(numbers), successor))
                    else:
                        is_pruned = True
        return {"ended": "exhausted" if is_pruned else "unsolvable"}

    def _improve(self, end: float, whole: bool) -> dict[str, Any]:
        """Go to better states, or to goals, until a state that is not a goal has no such successor.

        Depth first, and to the first of the best successors first: the first path is that of hill climbing, which ends
        at the first goal. If `whole`, all paths are searched. States are remembered as hashes, to save memory.
        """
        plan: list[str] | None = None
        path, seen = list[str](), set[int]()
        stack = [[(self._value(self._initial), "", self._initial)]]  # the unvisited successors of each state of a path
        while stack:
            if not stack[-1]:
                stack.pop()
                continue
            value, name, state = stack[-1].pop()
            if hash(state) in seen:
                continue
            seen.add(hash(state))
            path[len(stack) - 1 :] = [name]
            if self._goals <= state:
                plan = path[1:] if plan is None else plan
                if not whole:
                    break
                continue
            self._expanded += 1
            values = list[tuple[float, str, State]]()
            for name, successor in self._successors(state):
                if self._clock() > end:
                    return {"ended": "time", "plan": plan}
                values.append((-math.inf if self._goals <= successor else self._value(successor), name, successor))
            better = [entry for entry in values if entry[0] < value or self._goals <= entry[2]]
            if not better:
                named = [(name, str(number)) for number, name, _ in values]
                return {"ended": "stalled", "plan": path[1:], "value": str(value), "successors": named}
            better.sort(key=lambda entry: entry[0])
            stack.append(better[::-1] if whole else better[:1])
        if plan is None:  # the values would have led to a goal
            raise WrongValueError("__call__ returned two values for the same state")
        return {"ended": "plan", "plan": plan}


def _is_heuristic(value: object) -> bool:
    """Whether a value is a class of the program with a method `__call__`."""
    if not isinstance(value, type) or value.__module__ != "program":
        return False
    return any("__call__" in vars(base) for base in value.__mro__)


def _takes_a_node(heuristic: Any) -> bool:
    """Whether `__call__` can be called with a node only; helper classes often take other arguments."""
    try:
        inspect.signature(heuristic.__call__).bind(None, None)
    except (TypeError, ValueError):
        return False
    return True


def _path(parents: dict[State, tuple[State, str]], start: State, state: State) -> Iterator[str]:
    """The names of the operators from the last to the first."""
    while state != start:
        state, name = parents[state]
        yield name
