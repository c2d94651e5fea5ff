"""Breadth-first and depth-first search with a model's functions.

Breadth-first search expands states in batches: whatever their successors are, the first states of the queue come next.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Generator, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

from pddlego.episode.events import Event
from pddlego.methods.thought_of_search.events import SearchRunning
from pddlego.methods.thought_of_search.functions import Expanded, Fault, FunctionFault, ModelFunctions
from pddlego.methods.thought_of_search.space import SearchOrder, SearchTask, StateKey
from pddlego.sandbox.result import PATIENCE
from pddlego.util.limits import Clock

_FIRST, _LARGEST = 32, 256
"""States of the first batch, and of the largest."""

_PENDING, _FEW = 2, 16
"""Batches that are sent at the same time: one is expanded while the results of another are read. A few states are not
divided among batches."""

_SHORT, _LONG = 0.01, 0.04
"""Seconds that a batch should take. The next batch is larger after a shorter time, and smaller after a longer time."""

Check = Callable[[Sequence[tuple[Any, Sequence[Any]]]], "Fault | None"]
"""Returns the first fault of states with their successors."""


@dataclass(frozen=True)
class SearchLimits:
    """The limits of a search. `seconds` are CPU time of the search and the functions together.

    `states` is the maximum number of generated states, and `memory` is what they may take in this process, in MiB.
    Wall time is limited to `patience` times `seconds`.
    """

    seconds: float
    states: int | None = None
    memory: int = 1024
    patience: float = PATIENCE


@dataclass(frozen=True)
class SearchResult:
    """The result of a search: a `path` of states from the start to a goal, no path, or the `fault` that ended it."""

    path: tuple[Any, ...] | None
    expansions: int
    generated: int
    seconds: float
    fault: Fault | None = None


@dataclass
class StateSearch:
    """Searches with two functions. States with the same `key` are equal. `check`, if given, sees all transitions.

    `parents` maps the key of each visited state to the number of the state from which it was first reached.
    """

    functions: ModelFunctions
    order: SearchOrder
    key: StateKey
    limits: SearchLimits
    check: Check | None = None
    clock: Clock = time.monotonic

    def run(self, search: SearchTask, instance: str = "") -> Generator[Event, None, SearchResult]:
        """Search, with an event about the progress for an instance once a second."""
        functions = self.functions
        self.parents: dict[Hashable, int | None] = {}
        self.keys = [self.key(search.start)]
        self.queued: set[int] = set()
        self.expansions = self.generated = 0
        functions.begin(search, self.limits.memory)
        used, own, began = functions.seconds, time.thread_time(), self.clock()
        self.waiting: deque[tuple[int, int | None]] = deque([(0, None)])
        size, last_report = (_FIRST if self.order == "breadth-first" else 1), began

        def spent() -> float:
            return functions.seconds - used + time.thread_time() - own

        def ended(path: tuple[Any, ...] | None = None, fault: Fault | None = None) -> SearchResult:
            return SearchResult(path, self.expansions, self.generated, spent(), fault)

        pending: deque[list[int]] = deque()
        while True:
            while self.waiting and len(pending) < (_PENDING if self.order == "breadth-first" else 1):
                share = max(1, min(size, len(self.waiting) // _PENDING)) if len(self.waiting) > _FEW else size
                batch = self._next(share)
                if batch:
                    functions.post(batch, self.check is not None)
                    pending.append(batch)
            if not pending:
                break
            now = self.clock()
            fault = self._exceeded(spent(), now - began)
            if fault is not None:
                return ended(fault=fault)
            if now - last_report > 1.0:
                last_report = now
                yield SearchRunning(instance, self.expansions)
            batch = pending.popleft()
            done, fault = functions.expanded()
            self.keys.extend(map(self.key, functions.states[len(self.keys) :]))
            goal = self._take(batch, done)
            if (bad := self._bad(batch, done)) is not None:
                return ended(fault=bad)
            if goal is not None or fault is not None:
                return ended(None if goal is None else self._path(goal), fault)
            took = self.clock() - now
            if self.order == "breadth-first":
                size = min(_LARGEST, size * 2) if took < _SHORT else max(1, size // 4) if took > _LONG else size
        return ended()

    def _exceeded(self, seconds: float, wall: float) -> Fault | None:
        limits = self.limits
        if seconds > limits.seconds or wall > limits.seconds * limits.patience:
            reason = f"the search took longer than {limits.seconds:g} seconds"
            return Fault(FunctionFault.SEARCH_TIME, "successors", reason, limit="search_timeout")
        if limits.states is not None and len(self.keys) > limits.states:
            reason = f"the search met more than {limits.states:,} states"
            return Fault(FunctionFault.SEARCH_TIME, "successors", reason, limit="states")
        return None

    def _next(self, size: int) -> list[int]:
        """Take the next states that are not visited yet, and mark them as visited."""
        batch: list[int] = []
        take = self.waiting.popleft if self.order == "breadth-first" else self.waiting.pop
        while self.waiting and len(batch) < size:
            number, parent = take()
            key = self.keys[number]
            if key not in self.parents:
                self.parents[key] = parent
                batch.append(number)
        return batch

    def _bad(self, batch: Sequence[int], done: Sequence[Expanded]) -> Fault | None:
        if self.check is None:
            return None
        states = self.functions.states
        return self.check(
            [
                (states[number], [states[successor] for successor in dict.fromkeys(successors)])
                for number, successors in zip(batch, done, strict=False)
                if successors is not True
            ]
        )

    def _take(self, batch: Sequence[int], done: Sequence[Expanded]) -> int | None:
        """Add the successors of a batch to the queue. Returns the goal, if the batch has one."""
        for number, successors in zip(batch, done, strict=False):
            if successors is True:
                return number
            self.expansions += 1
            self.generated += len(successors)
            if self.order == "depth-first":
                self.waiting.extend((successor, number) for successor in successors)
                continue
            for successor in successors:
                if successor not in self.queued:  # an earlier state may have the same successor
                    self.queued.add(successor)
                    self.waiting.append((successor, number))
        return None

    def _path(self, goal: int) -> tuple[Any, ...]:
        path = []
        number: int | None = goal
        while number is not None:
            path.append(self.functions.states[number])
            number = self.parents[self.keys[number]]
        return tuple(reversed(path))
