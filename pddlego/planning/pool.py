"""Several planning processes behind one call: each call goes to one that is idle."""

from __future__ import annotations

import queue
import time
from collections.abc import Mapping, Sequence
from typing import Any

from pddlego.pddl import Domain, Problem
from pddlego.planning.result import Planner, PlanResult, PlanStatus, Search


class PlannerPool:
    """A planner for many threads. Planning is work for a processor: there is no use for more planners than processors.

    The planners must be alike, so that it does not matter which one answers; they are closed with the pool.
    """

    def __init__(self, planners: Sequence[Planner]) -> None:
        if not planners:
            raise ValueError("a pool needs at least one planner")
        self._planners = tuple(planners)
        self._idle: queue.LifoQueue[Planner] = queue.LifoQueue()
        for each in planners:
            self._idle.put(each)

    @property
    def description(self) -> Mapping[str, Any]:
        return self._planners[0].description

    def solve(self, domain: Domain, problem: Problem, search: Search, seconds: float | None = None) -> PlanResult:
        """Plan for `problem.goal` with the first planner that is idle; waiting for it counts, too.

        A planner that waits for the answer of a `Graphplan` is not idle.
        """
        began = time.monotonic()
        try:
            planner = self._idle.get(timeout=seconds)
        except queue.Empty:
            waited = time.monotonic() - began
            return PlanResult(PlanStatus.TIMEOUT, problem.goal, None, "no planner was idle in time", waited)
        left = {} if seconds is None else {"seconds": max(0.01, seconds - (time.monotonic() - began))}
        try:
            return planner.solve(domain, problem, search, **left)
        finally:
            self._idle.put(planner)

    def close(self) -> None:
        for each in self._planners:
            each.close()

    def __enter__(self) -> PlannerPool:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
