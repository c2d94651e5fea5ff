"""The planner as the rest of the package sees it: a planning process behind one call."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO, cast

from pddlego.pddl import Domain, Problem
from pddlego.planning.result import PlanResult, PlanStatus, Search
from pddlego.planning.solve import OUT_OF_MEMORY
from pddlego.planning.worker import NO_MEMORY, receive, send
from pddlego.util.deadline import Deadline
from pddlego.util.environment import for_children

ENGINES = ("pyperplan", "fast-downward")

MAX_TIMEOUT = 1_000_000.0
"""Seconds; more than any timer is asked for, and less than the longest that the system takes."""

ENDING = 5.0
"""Seconds that a process that closed its pipe is waited for, at most."""

_BOOT = "import sys; sys.path[:] = sys.argv[4:]; from pddlego.planning.worker import main; main()"


class ProcessPlanner:
    """Plans in a process of its own, started at once and again after a time-out or a crash.

    `timeout` is in seconds for each call, `memory` in MiB for the process; 0 is no limit. Calls from several threads
    wait for each other; planners are cheap, so give each worker its own where that matters.
    """

    def __init__(self, engine: str = "pyperplan", timeout: float = 30.0, memory: int = 4096) -> None:
        if engine not in ENGINES:
            raise ValueError(f"there is no planner '{engine}'; the planners are {', '.join(ENGINES)}")
        self.engine = engine
        self.timeout = timeout
        self.memory = memory
        self._lock = threading.Lock()
        self._folder = tempfile.mkdtemp(prefix="pddlego-planner-")
        self._process = self._start()

    @property
    def description(self) -> Mapping[str, Any]:
        return {"engine": self.engine, "timeout": self.timeout, "memory": self.memory}

    def solve(self, domain: Domain, problem: Problem, search: Search, seconds: float | None = None) -> PlanResult:
        """Plan for `problem.goal`; `timeout`, `out of memory` and `crashed` are answers like any other.

        `seconds` may be fewer than the planner's own time-out, and are no more.
        """
        own = self.timeout or MAX_TIMEOUT
        with self._lock:
            return self._solve(domain, problem, search, own if seconds is None else min(own, max(0.01, seconds)))

    def close(self) -> None:
        with self._lock:
            self._kill()
            shutil.rmtree(self._folder, ignore_errors=True)

    def __enter__(self) -> ProcessPlanner:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _solve(self, domain: Domain, problem: Problem, search: Search, timeout: float) -> PlanResult:
        started = time.perf_counter()
        deadline = Deadline(timeout, self._signal)
        try:
            answer = self._ask((domain.text, problem, search))
            deadline.cancel()
            if deadline.expired:
                self._restart()  # the answer and the kill crossed
            return answer
        except (EOFError, OSError):
            seconds = time.perf_counter() - started
            # It closed its pipe, so it is ending: its own exit code says why, if we do not kill it first.
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(timeout=ENDING)
            self._kill()
            if deadline.expired:
                message = f"no answer within {timeout:.3g} s"
                return PlanResult(PlanStatus.TIMEOUT, problem.goal, None, message, seconds)
            if self._process.returncode == NO_MEMORY:
                return PlanResult(PlanStatus.MEMORY, problem.goal, None, OUT_OF_MEMORY, seconds)
            message = f"the planner process ended ({self._process.returncode}); its memory limit is {self.memory} MiB"
            return PlanResult(PlanStatus.CRASHED, problem.goal, None, message, seconds)
        except BaseException:
            # Interrupted between question and answer: the pipe is out of step, so the process must go.
            self._kill()
            raise
        finally:
            deadline.cancel()

    def _ask(self, question: tuple[str, Problem, Search]) -> PlanResult:
        """Ask the process; if it was gone before it heard the question, ask a new one."""
        if self._process.poll() is not None:
            self._restart()
        try:
            send(cast(BinaryIO, self._process.stdin), question)
        except OSError:
            self._restart()
            send(cast(BinaryIO, self._process.stdin), question)
        return cast(PlanResult, receive(cast(BinaryIO, self._process.stdout)))

    def _restart(self) -> None:
        self._kill()
        self._process = self._start()

    def _start(self) -> subprocess.Popen[bytes]:
        paths = [path or str(Path.cwd()) for path in sys.path]
        command = [sys.executable, "-c", _BOOT, self.engine, str(self.memory), str(os.getpid()), *paths]
        started = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=self._folder,
            env=for_children(PYTHONHASHSEED="0"),
            start_new_session=True,
        )
        self._waited = False
        return started

    def _signal(self) -> None:
        """Kill the process with all its children, unless it was waited for: its number may be another's by then."""
        if self._waited:
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if hasattr(os, "killpg"):
                os.killpg(self._process.pid, signal.SIGKILL)
            else:
                self._process.kill()

    def _kill(self) -> None:
        self._signal()
        with contextlib.suppress(OSError):
            for stream in (self._process.stdin, self._process.stdout):
                if stream is not None:
                    stream.close()
        self._process.wait()
        self._waited = True
