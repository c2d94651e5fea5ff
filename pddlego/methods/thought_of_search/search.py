"""Breadth-first and depth-first search over a model's functions: the search is ours, the functions are not.

States are expanded in batches where the order allows it: the first states of a queue are expanded whatever
their successors are.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from pddlego.methods.thought_of_search.functions import Fault, FunctionFault, ModelFunctions, Visited
from pddlego.methods.thought_of_search.space import SearchOrder, SearchTask, StateKey

FIRST, LARGEST = 32, 256
"""States of a batch, at first and at most."""

_UNDER_WAY, FEW = 2, 16
"""Batches under way: while one is expanded, we look at what came of the one before. Few states stay together."""

SHORT, LONG = 0.01, 0.04
"""Seconds that a batch should take: a shorter one is followed by a larger, a longer one by a smaller."""

Check = Callable[[Sequence[tuple[Any, Sequence[Any]]]], "Fault | None"]
"""Looks at states with their successors: the first thing that is wrong."""


@dataclass(frozen=True)
class SearchLimits:
    """`seconds` of CPU time, of us and the functions together; `patience` is how many times as long by the clock.

    `memory` is what the states that are met may take here, in MiB, and `states` how many they may be, if that is
    limited. Whatever is reached first ends the search.
    """

    seconds: float
    states: int | None = None
    memory: int = 1024
    patience: float = 4.0


@dataclass(frozen=True)
class SearchResult:
    """What a search found: the states from its start to a goal; nothing, where there is no `path`; or a `fault`."""

    path: tuple[Any, ...] | None
    expansions: int
    generated: int
    seconds: float
    fault: Fault | None = None


class StateSearch:
    """Searches with two functions. `key` identifies states; `check`, if given, sees every expansion.

    `parents` hold whence each state that was met was first reached, by its key.
    """

    def __init__(
        self,
        functions: ModelFunctions,
        order: SearchOrder,
        key: StateKey,
        limits: SearchLimits,
        check: Check | None = None,
    ) -> None:
        self.functions, self.order, self.key, self.limits, self.check = functions, order, key, limits, check

    def run(self, search: SearchTask) -> Iterator[int | SearchResult]:
        """Search: numbers of expansions from time to time, and `SearchResult` in the end."""
        functions = self.functions
        self.parents: dict[Hashable, int | None] = {}
        self.keys = [self.key(search.start)]
        self.queued: set[int] = set()
        self.expansions = self.generated = 0
        functions.begin(search, self.limits.memory)
        used, clock, began = functions.seconds, time.thread_time(), time.monotonic()
        self.waiting: deque[tuple[int, int | None]] = deque([(0, None)])
        size, last_report = (FIRST if self.order == "breadth-first" else 1), began

        def spent() -> float:
            return functions.seconds - used + time.thread_time() - clock

        def ended(path: tuple[Any, ...] | None = None, fault: Fault | None = None) -> SearchResult:
            return SearchResult(path, self.expansions, self.generated, spent(), fault)

        flying: deque[list[int]] = deque()
        while True:
            while self.waiting and len(flying) < (_UNDER_WAY if self.order == "breadth-first" else 1):
                share = max(1, min(size, len(self.waiting) // _UNDER_WAY)) if len(self.waiting) > FEW else size
                batch = self._next(share)
                if batch:
                    functions.post(batch, self.check is not None)
                    flying.append(batch)
            if not flying:
                break
            now = time.monotonic()
            fault = self._why_over(spent(), now - began)
            if fault is not None:
                yield ended(fault=fault)
                return
            if now - last_report > 1.0:
                last_report = now
                yield self.expansions
            batch = flying.popleft()
            done, fault = functions.expanded()
            self.keys.extend(map(self.key, functions.states[len(self.keys) :]))
            goal = self._take(batch, done)
            if (bad := self._bad(batch, done)) is not None:
                yield ended(fault=bad)
                return
            if goal is not None or fault is not None:
                yield ended(None if goal is None else self._path(goal), fault)
                return
            took = time.monotonic() - now
            if self.order == "breadth-first":
                size = min(LARGEST, size * 2) if took < SHORT else max(1, size // 4) if took > LONG else size
        yield ended()

    def _why_over(self, seconds: float, wall: float) -> Fault | None:
        limits = self.limits
        if seconds > limits.seconds or wall > limits.seconds * limits.patience:
            reason = f"the search took longer than {limits.seconds:g} seconds"
            return Fault(FunctionFault.SEARCH_TIME, "successors", reason, limit="search_timeout")
        if limits.states is not None and len(self.keys) > limits.states:
            reason = f"the search met more than {limits.states:,} states"
            return Fault(FunctionFault.SEARCH_TIME, "successors", reason, limit="states")
        return None

    def _next(self, size: int) -> list[int]:
        """The next states that were not met before; that they are met now is written down."""
        batch: list[int] = []
        take = self.waiting.popleft if self.order == "breadth-first" else self.waiting.pop
        while self.waiting and len(batch) < size:
            number, parent = take()
            key = self.keys[number]
            if key not in self.parents:
                self.parents[key] = parent
                batch.append(number)
        return batch

    def _bad(self, batch: Sequence[int], done: Sequence[Visited]) -> Fault | None:
        if self.check is None:
            return None
        states = self.functions.states
        return self.check(
            [
                (states[number], [states[successor] for successor in dict.fromkeys(expanded.successors)])
                for number, expanded in zip(batch, done, strict=False)
                if not expanded.is_goal
            ]
        )

    def _take(self, batch: Sequence[int], done: Sequence[Visited]) -> int | None:
        """Put what came of a batch into the queue; the goal, if one is there."""
        for number, expanded in zip(batch, done, strict=False):
            if expanded.is_goal:
                return number
            self.expansions += 1
            self.generated += len(expanded.successors)
            if self.order == "depth-first":
                self.waiting.extend((successor, number) for successor in expanded.successors)
                continue
            for successor in expanded.successors:
                if successor not in self.queued:  # it is already queued, from an earlier state
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
