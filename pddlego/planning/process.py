"""Planners as the rest of the package sees them: a planning process, and a pool of several."""

from __future__ import annotations

import contextlib
import math
import os
import queue
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO, cast

from pddlego.errors import UsageError
from pddlego.pddl import Domain, Problem
from pddlego.planners import one_of, planner_names
from pddlego.planning.engines import missing
from pddlego.planning.graphplan.values import AdviceQuestion, Graphplan, GraphTask, SearchMoment
from pddlego.planning.result import GROUND, Planner, PlanResult, PlanStatus, Search
from pddlego.planning.worker import NO_MEMORY, OUT_OF_MEMORY, Job, receive, send
from pddlego.util.children import for_children, kill_group, start_python
from pddlego.util.closing import Closeable
from pddlego.util.limits import Clock, Deadline

_ENDING = 5.0
"""The maximum number of seconds to wait for the end of a process that has closed its pipe."""

CLOSING = 1.0
"""The maximum number of seconds that a running call has to end when the planner is closed."""

_BOOT = "import sys; sys.path[:] = sys.argv[4:]; from pddlego.planning.worker import main; main()"


class ProcessPlanner(Closeable):
    """A planner in a separate process, which is started immediately and again after a time-out or a crash.

    Without an `engine`, each search names its engine. `timeout` is in seconds per call, and `memory` in MiB for the
    process; 0 means no limit. Calls from several threads are executed one after the other. Planners are cheap, so use
    one for each worker to plan in parallel.
    """

    def __init__(
        self,
        engine: str | None = None,
        timeout: float = 30.0,
        memory: int = 4096,
        clock: Clock = time.monotonic,
    ) -> None:
        if engine not in (None, "auto", *planner_names()):
            raise ValueError(f"unknown planner '{engine}'; the planners are {one_of(('auto', *planner_names()))}")
        self.engine = engine
        self.timeout = timeout
        self.memory = memory
        self._clock = clock
        self._lock, self._closed = threading.Lock(), False
        self._folder = tempfile.mkdtemp(prefix="pddlego-planner-")
        self._process = self._start()

    @property
    def description(self) -> Mapping[str, Any]:
        return {"engine": self.engine, "timeout": self.timeout, "memory": self.memory}

    def solve(self, domain: Domain, problem: Problem, search: Search, seconds: float | None = None) -> PlanResult:
        """Plan for `problem.goal`. A time-out, lack of memory or a crash is reported as the status of the result.

        `seconds` may shorten the planner's own time-out but never exceeds it. A `Graphplan` search is used with any
        engine; the time it waits for answers does not count. Raises `UsageError` for an argument of the wrong type,
        such as text in place of a domain.
        """
        _check_type("domain", domain, Domain, "parse_domain(text)")
        _check_type("problem", problem, Problem, "parse_problem(text)")
        _check_type("search", search, Search, "Search.parse(text)")
        timeout = self.timeout or math.inf
        timeout = timeout if seconds is None else min(timeout, max(0.01, seconds))
        graphplan = search if isinstance(search, Graphplan) else None
        if graphplan is None and self.engine == "graphplan" and search != GROUND:
            graphplan = Graphplan()
        with self._lock:
            return self._solve(domain, problem, search, graphplan, timeout)

    def close(self) -> None:
        self._closed = True
        self._signal()  # a running call ends; a call that waits for an adviser may hold the lock for ever
        locked = self._lock.acquire(timeout=CLOSING)
        try:
            self._kill()
            shutil.rmtree(self._folder, ignore_errors=True)
        finally:
            if locked:
                self._lock.release()

    def _solve(
        self, domain: Domain, problem: Problem, search: Search, graphplan: Graphplan | None, timeout: float
    ) -> PlanResult:
        spent, task = 0.0, None
        plain = Search(search.algorithm, search.heuristic, self.engine or search.engine, search.is_kept)
        graph = (graphplan.graph, graphplan.task) if graphplan else ()
        message: object = Job(domain.text or domain.canonical, problem, plain, timeout, *graph)
        while True:
            began = self._clock()
            deadline = Deadline(max(0.01, timeout - spent), self._signal, self._clock)
            try:
                answer = self._ask(message)
                deadline.cancel()
                if deadline.expired:
                    self._restart()  # the process was killed while it answered
                    if not isinstance(answer, PlanResult):
                        return self._late(problem, timeout, self._clock() - began + spent)
            except (EOFError, OSError):
                spent += self._clock() - began
                return self._gone(problem, deadline.expired, timeout, spent)
            except BaseException:
                # Interrupted between question and answer: the pipe is out of step, so the process must go.
                self._kill()
                raise
            finally:
                deadline.cancel()
            spent += self._clock() - began
            if isinstance(answer, PlanResult):
                return replace(answer, seconds=spent)
            message = ()
            if isinstance(answer, GraphTask):
                task = answer
                continue
            assert graphplan is not None
            try:
                if isinstance(answer, AdviceQuestion):
                    message = tuple(graphplan.advise(replace(answer, domain=domain, problem=problem, task=task)))
                else:
                    graphplan.watch(cast("SearchMoment", answer))
            except BaseException:
                self._kill()  # the process still works on an answer that is no longer needed
                raise

    def _gone(self, problem: Problem, expired: bool, timeout: float, seconds: float) -> PlanResult:
        """The result of a call whose process has ended instead of answering."""
        # The process closed its pipe, so it is ending: its exit code is the reason, unless we kill it first.
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=_ENDING)
        self._kill()
        if self._closed:
            return PlanResult(PlanStatus.CRASHED, problem.goal, None, "the planner is closed", seconds)
        if expired:
            return self._late(problem, timeout, seconds)
        if self._process.returncode == NO_MEMORY:
            return PlanResult(PlanStatus.MEMORY, problem.goal, None, OUT_OF_MEMORY, seconds)
        message = f"the planner process ended ({self._process.returncode}); its memory limit is {self.memory} MiB"
        return PlanResult(PlanStatus.CRASHED, problem.goal, None, message, seconds)

    def _late(self, problem: Problem, timeout: float, seconds: float) -> PlanResult:
        return PlanResult(PlanStatus.TIMEOUT, problem.goal, None, f"no answer within {timeout:.3g} s", seconds)

    def _ask(self, question: object) -> object:
        """Send a message, and receive the reply. A process that ended before it received a job is started again."""
        if isinstance(question, Job) and self._process.poll() is not None:
            self._restart()
        try:
            send(cast(BinaryIO, self._process.stdin), question)
        except (OSError, ValueError):  # the process is gone, or the planner was closed meanwhile
            if not isinstance(question, Job):
                raise EOFError from None
            self._restart()
            send(cast(BinaryIO, self._process.stdin), question)
        return receive(cast(BinaryIO, self._process.stdout))

    def _restart(self) -> None:
        """Start the process again. Raises `EOFError` if the planner is closed."""
        self._kill()
        if self._closed:
            raise EOFError
        self._process = self._start()

    def _start(self) -> subprocess.Popen[bytes]:
        paths = [path or str(Path.cwd()) for path in sys.path]
        started = start_python(
            "The planner",
            ["-c", _BOOT, self.engine or "pyperplan", str(self.memory), str(os.getpid()), *paths],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=self._folder,
            env=for_children(PYTHONHASHSEED="0"),
        )
        self._waited = False
        return started

    def _signal(self) -> None:
        """Kill the process and its children, unless it was waited for: another process may have its id by then."""
        if not self._waited:
            kill_group(self._process.pid)

    def _kill(self) -> None:
        self._signal()
        with contextlib.suppress(OSError):
            for stream in (self._process.stdin, self._process.stdout):
                if stream is not None:
                    stream.close()
        self._process.wait()
        self._waited = True


def _check_type(name: str, value: object, kind: type, call: str) -> None:
    """Raise `UsageError` if an argument of the planner has another type; name the `call` that makes the right one."""
    if not isinstance(value, kind):
        reason = f"It is of the type {type(value).__name__}."
        raise UsageError(f"The planner's argument {name} is not a {kind.__name__}", reason, f"Pass {call}.")


class PlannerPool(Closeable):
    """A planner for many threads. Planning is CPU-bound, so more planners than processors are useless.

    The planners must be alike, so that it does not matter which one answers; they are closed with the pool.
    """

    def __init__(self, planners: Sequence[Planner]) -> None:
        if not planners:
            raise ValueError("a pool needs at least one planner")
        self._planners = tuple(planners)
        self._idle: queue.LifoQueue[Planner] = queue.LifoQueue()
        for planner in planners:
            self._idle.put(planner)

    @property
    def description(self) -> Mapping[str, Any]:
        return self._planners[0].description

    def solve(self, domain: Domain, problem: Problem, search: Search, seconds: float | None = None) -> PlanResult:
        """Plan for `problem.goal` with the first planner that is idle.

        Waiting for it does not count, so that a result does not depend on other episodes. A planner that waits for the
        answer of a `Graphplan` is not idle.
        """
        planner = self._idle.get()
        try:
            return planner.solve(domain, problem, search, seconds)
        finally:
            self._idle.put(planner)

    def close(self) -> None:
        for planner in self._planners:
            planner.close()


_MIN_MEMORY = 128
"""The minimum memory of a planner in MiB."""


def make_planner(engine: str | None, timeout: float, memory: int) -> ProcessPlanner:
    """Start a planner. Raises `UsageError` for an unknown engine, missing packages and impossible limits.

    Raises `EngineError` for a planner of another package that cannot be loaded.
    """
    needed = missing("pyperplan") or missing(engine or "pyperplan")  # the translator belongs to every planner
    if needed is not None:
        package, command = needed
        raise UsageError(
            f"The planner {engine or 'pyperplan'} is not installed", f"Missing: {package}.", f"Install it: {command}."
        )
    if not 0 <= timeout <= 1_000_000 or memory < 0:
        reason = f"The time is {timeout} seconds, the memory {memory} MiB."
        raise UsageError("The limits of the planner are not possible", reason, "Use 0 for no limit.")
    if 0 < memory < _MIN_MEMORY:
        what, reason = f"A planner memory of {memory} MiB is too small", f"The planner needs about {_MIN_MEMORY} MiB."
        raise UsageError(what, reason, "Increase the memory, or use 0 for no limit.")
    return ProcessPlanner(engine, timeout, memory)
