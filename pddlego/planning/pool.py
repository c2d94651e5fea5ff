"""Several planning processes behind one call: each call goes to one that is idle."""

from __future__ import annotations

import queue
from collections.abc import Mapping, Sequence
from typing import Any

from pddlego.pddl import Domain, Problem
from pddlego.planning.result import Planner, PlanResult, Search


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

    def solve(self, domain: Domain, problem: Problem, search: Search) -> PlanResult:
        """Plan for `problem.goal` with the first planner that is idle."""
        planner = self._idle.get()
        try:
            return planner.solve(domain, problem, search)
        finally:
            self._idle.put(planner)

    def close(self) -> None:
        for each in self._planners:
            each.close()

    def __enter__(self) -> PlannerPool:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
