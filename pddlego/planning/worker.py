"""The planning process: answers planning calls on its pipes until they close.

A process of its own bounds time and memory, survives whatever a problem does to a planner, keeps the translator's
printing away from our screen, and has a fixed hash seed, so that the same problem gives the same plan everywhere.
"""

from __future__ import annotations

import contextlib
import gc
import math
import os
import pickle
import signal
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import BinaryIO, cast

from pddlego.pddl import Problem, parse_domain
from pddlego.planning.engines import Attempt, attempts
from pddlego.planning.graphplan.values import GraphSearch, TaskKind
from pddlego.planning.result import PlanResult, PlanStatus, Search
from pddlego.planning.solve import OUT_OF_MEMORY, solve
from pddlego.util.children import die_with, limit_memory


@dataclass(frozen=True)
class Job:
    """What a planning process is asked: the text of the domain, the problem, how to search, for how many seconds.

    With a `graph` Graphplan plans, whatever the engine.
    """

    text: str
    problem: Problem
    search: Search
    seconds: float = math.inf
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
    """Serve until the pipe closes.

    Arguments are the engine that is loaded first, the memory limit in MiB (0 for none), and the number of the parent.
    """
    engine, memory, parent = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    answers = os.fdopen(os.dup(1), "wb")
    # Planners print, also from C; nothing but answers may reach the pipe.
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 1)
    os.dup2(silence, 2)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    limit_memory(memory)
    threading.Thread(target=die_with, args=(parent, str(Path.cwd())), daemon=True).start()
    _preload(engine)
    gc.freeze()  # what is loaded now stays: the collector need not look at it again at every call
    try:
        while True:
            job = cast(Job, receive(sys.stdin.buffer))
            send(answers, _answer(job, partial(_tell, answers)))
    except EOFError:
        pass
    except MemoryError:
        os._exit(NO_MEMORY)


def _tell(answers: BinaryIO, value: object) -> tuple[str, ...]:
    """Send something that is not the end of a job, and receive what is answered."""
    send(answers, value)
    return cast("tuple[str, ...]", receive(sys.stdin.buffer))


def _answer(job: Job, tell: Callable[[object], tuple[str, ...]]) -> PlanResult:
    if job.graph is not None:
        from pddlego.planning.graphplan.search import graph_solver

        tries = [Attempt("graphplan", graph_solver(job.graph, job.task == "whole", tell))]
    else:
        tries = attempts(job.search, job.seconds)
    # Python itself may fail without memory, and then says "error return without exception set".
    with contextlib.suppress(MemoryError, SystemError):
        return solve(_domain(job.text), job.problem, job.search, tries)
    # Not in a handler: as long as there is an error, everything that the search had found is still in use.
    return PlanResult(PlanStatus.MEMORY, job.problem.goal, message=OUT_OF_MEMORY)


def _preload(engine: str) -> None:
    """Load what the first call needs, while the game engine is still starting."""
    if engine == "graphplan":
        import pddlego.planning.graphplan.search
    elif engine in ("auto", "pyperplan"):
        import pddlego.planning.search  # noqa: F401
