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
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import BinaryIO, cast

from pddlego.errors import TooManyCasesError
from pddlego.pddl import Domain, Problem, check, parse_domain
from pddlego.pddl.check import check_domain
from pddlego.pddl.conditions import in_short
from pddlego.pddl.constraints import constraints_in
from pddlego.pddl.costs import needs_numbers, penalties
from pddlego.pddl.rules import Level
from pddlego.planning.abilities import turns_for
from pddlego.planning.engines import EngineTurn, Slices, refusal
from pddlego.planning.exact import engine_task
from pddlego.planning.graphplan.values import GraphSearch, TaskKind
from pddlego.planning.ground import PlanningError
from pddlego.planning.preferences import best_plan
from pddlego.planning.result import (
    EXPLAIN,
    GROUND,
    NO_PLAN,
    NO_VALID_PLAN,
    NOTHING_THERE,
    TOO_DEEP,
    Plan,
    PlanResult,
    PlanStatus,
    Search,
)
from pddlego.planning.separate import separated
from pddlego.planning.unconstrained import constraints_of
from pddlego.planning.validation import goal_holds, speaks_of_nothing, validate
from pddlego.planning.validation.cost import plan_cost
from pddlego.planning.validation.fault import FaultKind
from pddlego.util.children import die_with, limit_memory
from pddlego.util.limits import Work

_MOST_DEFECTS = 5
"""The maximum number of defects of a domain in a message."""

OUT_OF_MEMORY = "the planner ran out of memory: the problem has too many states, or too many objects"

NO_MEMORY = 77
"""The exit status of a planning process that has no memory left to answer."""


@dataclass(frozen=True)
class Job:
    """A planning call: the text of the domain, the problem, the search and the time limit.

    With a `graph`, Graphplan plans instead of the engine of the search.
    """

    text: str
    problem: Problem
    search: Search
    seconds: float = math.inf
    graph: GraphSearch | None = None
    task: TaskKind = "relevant"


_domain = lru_cache(maxsize=8)(parse_domain)


def send(stream: BinaryIO, value: object) -> None:
    stream.write(pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL))
    stream.flush()


def receive(stream: BinaryIO) -> object:
    """Read one value. Raises `EOFError` if the other process has ended."""
    try:
        return pickle.load(stream)
    except pickle.UnpicklingError as error:  # it ended in the middle of the value
        raise EOFError from error


def main() -> None:
    """Serve until the pipe closes.

    The command-line arguments are the engine to load first, the memory limit in MiB (0: none), and the id of the
    parent.
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
    gc.freeze()  # loaded modules stay: the garbage collector need not visit them at every call
    gc.set_threshold(100_000)  # grounding makes many objects and no cycles: 8 % of a call with 100 rooms
    try:
        while True:
            job = cast(Job, receive(sys.stdin.buffer))
            send(answers, _answer(job, partial(_tell, answers)))
    except EOFError:
        pass
    except MemoryError:
        os._exit(NO_MEMORY)


def _preload(engine: str) -> None:
    """Import the modules of the first call, while the game engine is still starting."""
    if engine == "graphplan":
        import pddlego.planning.graphplan.search
    elif engine in ("auto", "pyperplan"):
        import pddlego.planning.search  # noqa: F401


def _tell(answers: BinaryIO, value: object) -> tuple[str, ...]:
    """Send a value that does not end the job, and receive the answer to it."""
    send(answers, value)
    return cast("tuple[str, ...]", receive(sys.stdin.buffer))


def _answer(job: Job, tell: Callable[[object], tuple[str, ...]]) -> PlanResult:
    # Python itself may fail without memory, and then says "error return without exception set".
    with contextlib.suppress(MemoryError, SystemError):
        domain = _domain(job.text)
        if job.search.algorithm == EXPLAIN.algorithm:
            from pddlego.planning.why import explain_no_plan

            why = explain_no_plan(domain, job.problem, 0.75 * job.seconds)
            return PlanResult(PlanStatus.BOUND, job.problem.goal, why=why)
        try:
            return solve(domain, job.problem, job.search, _attempts(job, domain, tell))
        except PlanningError as error:
            return PlanResult(error.status, job.problem.goal, message=error.message)
    # Not in an except block, where the exception keeps the memory of the search in use.
    return PlanResult(PlanStatus.MEMORY, job.problem.goal, message=OUT_OF_MEMORY)


def _attempts(job: Job, domain: Domain, tell: Callable[[object], tuple[str, ...]]) -> list[EngineTurn]:
    """The attempts for the task of a job. Raises `PlanningError` if no engine can plan for it."""
    numeric = needs_numbers(domain, job.problem)
    if numeric is None and job.graph is not None:
        from pddlego.planning.graphplan.search import graph_solver

        return [EngineTurn("graphplan", graph_solver(job.graph, job.task == "relevant", tell))]
    if numeric is not None and (job.graph is not None or job.search.algorithm == GROUND.algorithm):
        what = "only action costs are possible here, no other numbers and no time"
        raise PlanningError(f"{in_short(str(numeric))}: {what}")
    return turns_for(domain, job.problem, job.search, job.seconds)


def solve(domain: Domain, problem: Problem, search: Search, tries: Sequence[EngineTurn]) -> PlanResult:
    """Plan for `problem.goal`: the first attempt that finds a plan, or proves that none exists, ends the call.

    Every plan is executed on the problem before it is returned. Work is not counted, because the process is killed at
    the time limit. Raises `MemoryError`.
    """
    started = time.perf_counter()
    result = _before_planning(domain, problem)
    if result is None:
        for attempt in tries:
            result = replace(_attempted(domain, problem, search, attempt), engine=attempt.engine)
            if result.status in (PlanStatus.SOLVED, PlanStatus.UNSOLVABLE):
                break
    assert result is not None
    return replace(result, seconds=time.perf_counter() - started)


def _before_planning(domain: Domain, problem: Problem) -> PlanResult | None:
    """Return the result of a call that needs no planning; None if the call needs planning."""
    defects = [defect.message for defect in check(domain, problem, Level.TIME) if defect.blocking]
    if domain.unstratified is not None:
        defects.append(f"derived predicate {domain.unstratified} follows from its own negation")
    if defects:
        return PlanResult(PlanStatus.INVALID, problem.goal, message="; ".join(defects))
    try:
        if problem.later or any(penalties(problem).values()) or not goal_holds(domain, problem, Work()):
            return None  # timed literals may still change it, and other plans may keep more preferences
        if next(constraints_in(constraints_of(domain, problem)), None) and validate(domain, problem, Plan(()), Work()):
            return None  # a plan without steps breaks a constraint
        vacuous = speaks_of_nothing(domain, problem, Work())
    except (RecursionError, TooManyCasesError):
        return PlanResult(PlanStatus.INVALID, problem.goal, message=TOO_DEEP)
    message = NOTHING_THERE if vacuous else "the goal is already true in the initial state"
    return PlanResult(PlanStatus.ALREADY_TRUE, problem.goal, message=message)


def _attempted(domain: Domain, problem: Problem, search: Search, attempt: EngineTurn) -> PlanResult:
    """Run one attempt, and validate its plan."""

    def failed(status: PlanStatus, message: str) -> PlanResult:
        return PlanResult(status, problem.goal, message=message)

    with contextlib.suppress(MemoryError, SystemError):  # Python without memory may say either
        ends = time.monotonic() + attempt.seconds

        def solver(own: Domain, task: Problem) -> Plan | Slices | None:
            if (left := ends - time.monotonic()) <= 0:  # earlier calls, with fewer constraints, took the time
                raise PlanningError(status=PlanStatus.TIMEOUT)
            return attempt.solver(own, task, search, left)

        try:
            plan = best_plan(domain, problem, search, solver, at_once=search.algorithm == GROUND.algorithm)
            if isinstance(plan, tuple):
                return PlanResult(PlanStatus.GROUND, problem.goal, slices=plan)
            fault = validate(domain, problem, plan, Work()) if plan is not None else None
            if plan is not None and fault is not None and fault.kind is FaultKind.INTERFERENCE and plan.durations:
                others = (other for other in separated(domain, problem, plan) if not validate(domain, problem, other))
                plan, fault = next(((other, None) for other in others), (plan, fault))
        except PlanningError as error:
            message = error.message
            if error.status is PlanStatus.INVALID:
                # The engine names a chain of its own steps; our check names the place and the fix.
                found = check_domain(domain, Level.TIME)[:_MOST_DEFECTS]
                own = "; ".join(defect.message for defect in found if defect.blocking)
                message = own or message
                is_limit = attempt.is_parser and not refusal(attempt.engine, search)
                if is_limit and not own:  # the file is valid, and the engine cannot read it
                    return failed(PlanStatus.CRASHED, message)
            elif error.status is PlanStatus.TIMEOUT:
                message = f"no plan within {attempt.seconds:.3g} s"
            return failed(error.status, message)
        except (RecursionError, TooManyCasesError):
            return failed(PlanStatus.INVALID, TOO_DEEP)
        if plan is None:
            return failed(PlanStatus.UNSOLVABLE, NO_PLAN)
        if fault is None:
            return PlanResult(PlanStatus.SOLVED, problem.goal, plan, cost=plan_cost(domain, problem, plan))
        if fault.kind is FaultKind.TOO_LARGE:
            return failed(PlanStatus.INVALID, TOO_DEEP)
        if needs_numbers(domain, problem) is None:
            return failed(PlanStatus.CRASHED, f"{NO_VALID_PLAN}: {fault.what}")
        rounds = not engine_task(str(domain), str(problem)).is_exact
        how = ", which computes in floating point" if rounds else ""
        return failed(PlanStatus.BOUND, f"{NO_VALID_PLAN}: in a plan of {attempt.engine}{how}, {fault.what}")
    # Not in an except block, where the exception keeps the memory of the search in use.
    return failed(PlanStatus.MEMORY, OUT_OF_MEMORY)
