"""Breadth-first and depth-first search with a model's functions, in the sandbox beside them or from this process.

From here, breadth-first search expands states in batches: whatever their successors are, the first states of the queue
come next.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from pddlego.episode.events import Event
from pddlego.methods.thought_of_search.events import SearchRunning
from pddlego.methods.thought_of_search.expander import Queue
from pddlego.methods.thought_of_search.functions import (
    KNOWN,
    Expanded,
    Fault,
    FunctionFault,
    ModelFunctions,
    SearchPart,
)
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

    With a `key_form`, the name and the argument of `key` in `expander.KEYS`, a search without a `check` runs in the
    sandbox. If it meets a fault or more than `KNOWN` states, all of it is done again from here, with the results that
    the sandbox has kept: no function is called twice. Only if its process has ended, a new one calls them all again.
    """

    functions: ModelFunctions
    order: SearchOrder
    key: StateKey
    limits: SearchLimits
    check: Check | None = None
    clock: Clock = time.monotonic
    key_form: tuple[str, Sequence[str]] | None = None

    def run(self, search: SearchTask, instance: str = "") -> Generator[Event, None, SearchResult]:
        """Search, with an event about the progress for an instance once a second."""
        self._begin(search)
        if self.key_form is not None and self.check is None:
            result = yield from self._beside(self.key_form, instance)
            if result is not None:
                return result
        return (yield from self._from_here(search, instance))

    def _begin(self, search: SearchTask) -> None:
        self.functions.begin(search, self.limits.memory)
        self._used, self._own = self.functions.seconds, time.thread_time()
        self._began = self._reported = self.clock()

    def _beside(
        self, key_form: tuple[str, Sequence[str]], instance: str
    ) -> Generator[Event, None, SearchResult | None]:
        """Search beside the functions. Returns None if that fails: the same search from here finds the fault."""
        begins, most = True, KNOWN if self.limits.states is None else self.limits.states
        while True:
            part = self.functions.search(key_form, self.order == "depth-first", begins, most)
            begins = False
            if part is None:
                return None
            fault = None if part.is_over else self._exceeded(part.expansions)
            if part.is_over or fault is not None:
                return self._ended(part, part.path, fault)
            yield from self._progress(part, instance)

    def _from_here(self, search: SearchTask, instance: str) -> Generator[Event, None, SearchResult]:
        """Search with batches of states that the functions expand."""
        functions = self.functions
        queue = self.queue = Queue(self.order == "depth-first")
        queue.keys.append(self.key(search.start))
        size = _FIRST if self.order == "breadth-first" else 1
        pending: deque[list[int]] = deque()
        while True:
            while queue.waiting and len(pending) < (_PENDING if self.order == "breadth-first" else 1):
                share = max(1, min(size, len(queue.waiting) // _PENDING)) if len(queue.waiting) > _FEW else size
                if batch := queue.next(share):
                    functions.post(batch, self.check is not None)
                    pending.append(batch)
            if not pending:
                break
            if (fault := self._exceeded(len(queue.keys))) is not None:
                return self._ended(queue, fault=fault)
            yield from self._progress(queue, instance)
            now = self.clock()
            batch = pending.popleft()
            done, fault = functions.expanded()
            queue.keys.extend(map(self.key, functions.states[len(queue.keys) :]))
            goal = self._take(batch, done)
            if (bad := self._bad(batch, done)) is not None:
                return self._ended(queue, fault=bad)
            if goal is not None or fault is not None:
                path = None if goal is None else tuple(functions.states[number] for number in queue.path(goal))
                return self._ended(queue, path, fault)
            took = self.clock() - now
            if self.order == "breadth-first":
                size = min(_LARGEST, size * 2) if took < _SHORT else max(1, size // 4) if took > _LONG else size
        return self._ended(queue)

    def _spent(self) -> float:
        return self.functions.seconds - self._used + time.thread_time() - self._own

    def _ended(
        self, counts: Queue | SearchPart, path: tuple[Any, ...] | None = None, fault: Fault | None = None
    ) -> SearchResult:
        return SearchResult(path, counts.expansions, counts.generated, self._spent(), fault)

    def _progress(self, counts: Queue | SearchPart, instance: str) -> Iterator[Event]:
        """An event about the progress, once a second."""
        if self.clock() - self._reported > 1.0:
            self._reported = self.clock()
            yield SearchRunning(instance, counts.expansions)

    def _exceeded(self, states: int) -> Fault | None:
        limits = self.limits
        if self._spent() > limits.seconds or self.clock() - self._began > limits.seconds * limits.patience:
            reason = f"the search took longer than {limits.seconds:g} seconds"
            return Fault(FunctionFault.SEARCH_TIME, "successors", reason, limit="search_timeout")
        if limits.states is not None and states > limits.states:
            reason = f"the search met more than {limits.states:,} states"
            return Fault(FunctionFault.SEARCH_TIME, "successors", reason, limit="states")
        return None

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
            self.queue.add(number, successors)
        return None
