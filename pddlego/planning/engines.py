"""The planners by name: which engines a planner tries, in which order and for how long."""

from __future__ import annotations

import contextlib
import math
import signal
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec

from pddlego.pddl import Domain, Problem
from pddlego.planning.ground import OutOfTimeError
from pddlego.planning.result import Plan, Search

Solver = Callable[[Domain, Problem, Search, float], "Plan | None"]
"""Returns a plan, or None if no plan exists, within so many seconds (which may be infinite).

Raises `NotPlannableError` for what the engine cannot express, and the other errors of `pddlego.planning.ground`.
"""

ENGINES = ("auto", "pyperplan", "fast-downward", "mimir", "graphplan")

HEAD_START = 0.3
"""CPU seconds for which `auto` tries pyperplan: enough for small problems, where compiled engines start slower.

CPU time, so that a busy machine does not change which engine finds the plan.
"""


@dataclass(frozen=True)
class Attempt:
    """One engine's turn, and how many seconds it may take."""

    engine: str
    solver: Solver
    seconds: float = math.inf


def attempts(search: Search, seconds: float) -> list[Attempt]:
    """The attempts of a planning call that may take so many seconds.

    The first one that finds a plan, or proves that none exists, ends the call. `auto` begins with pyperplan, goes on
    with the best compiled engine that is installed, and ends with pyperplan, in case that one cannot read the problem.
    """
    engines = ("fast-downward",) if search.is_optimal else ("fast-downward", "mimir")
    compiled = next((name for name in engines if not missing(name)), None)
    if search.engine != "auto" or compiled is None:
        engine = "pyperplan" if search.engine == "auto" else search.engine
        # The process ends a search in Python, which would slow it down to look at the clock itself.
        return [Attempt(engine, _solver(engine), math.inf if engine == "pyperplan" else seconds)]
    head = [Attempt("pyperplan", solve_strips, HEAD_START)] if hasattr(signal, "setitimer") else []
    left = max(0.1, seconds - HEAD_START * len(head))
    # What the compiled engine cannot read, pyperplan may be able to plan with.
    return [*head, Attempt(compiled, _solver(compiled), left), Attempt("pyperplan", solve_strips)]


def missing(engine: str) -> list[str]:
    """The packages that an engine needs and that are not installed."""
    needed = {"fast-downward": "up_fast_downward", "mimir": "pymimir"}.get(engine)
    return [needed] if needed and find_spec(needed) is None else []


def _solver(engine: str) -> Solver:
    if engine == "fast-downward":
        from pddlego.planning.downward import solve_downward

        return solve_downward
    if engine == "mimir":
        from pddlego.planning.mimir import solve_mimir

        return solve_mimir
    return solve_strips


def solve_strips(domain: Domain, problem: Problem, search: Search, seconds: float) -> Plan | None:
    """Ground with Fast Downward's translator and search with pyperplan."""
    from pddlego.planning.ground import ground
    from pddlego.planning.search import find_plan

    with _at_most(seconds) if math.isfinite(seconds) else contextlib.nullcontext():
        task = ground(domain, problem)
        return None if task is None else find_plan(task, search)


@contextlib.contextmanager
def _at_most(seconds: float) -> Iterator[None]:
    """Raise `OutOfTimeError` in this thread, which must be the main one, after so many seconds of CPU time."""

    def end(number: int, frame: object) -> None:
        raise OutOfTimeError

    before = signal.signal(signal.SIGVTALRM, end)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds, 0.1)  # again and again: Python ignores an error in a destructor
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
