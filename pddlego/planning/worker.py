"""The planning process: answers planning calls on its pipes until they close.

A process of its own bounds time and memory, survives whatever a problem does to a planner, keeps the translator's
printing away from our screen, and has a fixed hash seed, so that the same problem gives the same plan everywhere.
"""

from __future__ import annotations

import contextlib
import gc
import os
import pickle
import signal
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import BinaryIO, cast

from pddlego.pddl import Problem, parse_domain
from pddlego.planning.graphplan.values import GraphSearch, TaskKind
from pddlego.planning.result import PlanResult, PlanStatus, Search
from pddlego.planning.solve import OUT_OF_MEMORY, Solver, solve, solve_strips


@dataclass(frozen=True)
class Job:
    """What a planning process is asked: the text of the domain, the problem, how to search.

    With a `graph` Graphplan plans, whatever the engine.
    """

    text: str
    problem: Problem
    search: Search
    graph: GraphSearch | None = None
    task: TaskKind = "relevant"


NO_MEMORY = 77
"""The exit status of a process that had no memory left even to say so."""

_domain = lru_cache(maxsize=8)(parse_domain)


def send(stream: BinaryIO, value: object) -> None:
    """Write one value."""
    stream.write(pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL))
    stream.flush()


def receive(stream: BinaryIO) -> object:
    """Read one value. Raises `EOFError` when the other side is gone."""
    try:
        return pickle.load(stream)
    except pickle.UnpicklingError as error:  # it was gone in the middle of the value
        raise EOFError from error


def main() -> None:
    """Serve: arguments are the engine, the memory limit in MiB (0 for none) and the number of the parent process."""
    engine, memory, parent = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    answers = os.fdopen(os.dup(1), "wb")
    # Planners print, also from C; nothing but answers may reach the pipe.
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 1)
    os.dup2(silence, 2)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _limit_memory(memory)
    threading.Thread(target=_die_with, args=(parent,), daemon=True).start()
    solver = _solver(engine)
    gc.freeze()  # what is loaded now stays: the collector need not look at it again at every call
    try:
        while True:
            job = cast(Job, receive(sys.stdin.buffer))
            send(answers, _answer(job, partial(_tell, answers), solver))
    except EOFError:
        pass
    except MemoryError:
        os._exit(NO_MEMORY)


def _tell(answers: BinaryIO, value: object) -> tuple[str, ...]:
    """Send something that is not the end of a job, and receive what is answered."""
    send(answers, value)
    return cast("tuple[str, ...]", receive(sys.stdin.buffer))


def _answer(job: Job, tell: Callable[[object], tuple[str, ...]], solver: Solver) -> PlanResult:
    if job.graph is not None:
        from pddlego.planning.graphplan.search import graph_solver

        solver = graph_solver(job.graph, job.task == "whole", tell)
    # Python itself may fail without memory, and then says "error return without exception set".
    with contextlib.suppress(MemoryError, SystemError):
        return solve(_domain(job.text), job.problem, job.search, solver)
    # Not in a handler: as long as there is an error, everything that the search had found is still in use.
    return PlanResult(PlanStatus.MEMORY, job.problem.goal, message=OUT_OF_MEMORY)


def _solver(engine: str) -> Solver:
    if engine == "graphplan":
        import pddlego.planning.graphplan.search

    if engine == "fast-downward":
        from pddlego.planning.unified import solve_fast_downward

        return solve_fast_downward
    # Loaded before the first call, while the game engine is still starting.
    import pddlego.planning.ground
    import pddlego.planning.search  # noqa: F401

    return solve_strips


def _limit_memory(mebibytes: int) -> None:
    if not mebibytes:
        return
    try:
        import resource
    except ImportError:  # Windows has no such limits.
        return
    resource.setrlimit(resource.RLIMIT_AS, (mebibytes << 20, mebibytes << 20))


def _die_with(parent: int) -> None:
    """End, with all children, when the parent is gone: a long search does not notice the closed pipe.

    The parent says its number: asked for here, it could be that of a process that adopted us.
    """
    while os.getppid() == parent:
        time.sleep(1.0)
    if hasattr(os, "killpg"):
        os.killpg(os.getpid(), signal.SIGKILL)
    os._exit(1)
