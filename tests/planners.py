"""Planning processes that are kept between tests: starting one takes longer than most tests take with it."""

from __future__ import annotations

import time

from pddlego.planning import ProcessPlanner
from pddlego.util.limits import Clock

MOST = 4

_idle: list[_KeptPlanner] = []


class _KeptPlanner(ProcessPlanner):
    """A planner that waits for its next user when it is closed, unless a call is running."""

    def close(self) -> None:
        if not self._lock.acquire(blocking=False):
            super().close()
            return
        self._lock.release()
        if self not in _idle:
            _idle.append(self)
        if len(_idle) > MOST:
            ProcessPlanner.close(_idle.pop(0))


def kept_planner(
    engine: str | None = None, timeout: float = 30.0, memory: int = 4096, clock: Clock = time.monotonic
) -> ProcessPlanner:
    """An idle planner with these limits, or a new one."""
    for planner in _idle:
        if (planner.engine, planner.timeout, planner.memory, planner._clock) == (engine, timeout, memory, clock):
            _idle.remove(planner)
            return planner
    return _KeptPlanner(engine, timeout, memory, clock)


def close_kept() -> None:
    while _idle:
        ProcessPlanner.close(_idle.pop())
