"""One program in one process of its own: loaded once, called many times, ended by the host only."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from pddlego.errors import EngineError
from pddlego.sandbox.jail import batches, values
from pddlego.sandbox.result import (
    CallResult,
    Expansion,
    ExpansionResult,
    ResultForm,
    SandboxLimits,
    SandboxState,
    Status,
    read_call,
    read_expansion,
)
from pddlego.util.text import writable

_LOCKING = 60.0
"""Seconds that a process may take to lock itself, on a machine that is busy."""

CHUNK = 1 << 16
"""Bytes that are read from the pipe at once."""

_NEARLY = 0.85
"""The share of its memory that a process has had when we take it that it died of wanting more."""

MODULE = "program"
"""What a program is called that needs no other name."""

_FORGED = "the program wrote to the sandbox's own pipe"

End = Callable[[int, bool], tuple[int | None, int]]
"""Ends a process, killing it if requested: its exit code (negative: a signal) and the most bytes that it had."""


Read = Callable[[bytes], ExpansionResult]
"""Reads an answer. Raises `ValueError` for one that no sandbox gives."""


class _BrokenError(Exception):
    """The other side is gone, or says what no sandbox says."""


class Session:
    """A program in a sandbox. Not for several threads at once. `loaded` is what came of loading the program.

    `layers` are those that hold; after the process has ended every call ends as `died`.
    """

    def __init__(self, child: int, pipes: tuple[int, int], limits: SandboxLimits, end: End) -> None:
        self.limits = limits
        self.child: int | None = child
        self._out, self._in = pipes
        self._end = end
        self._buffer = bytearray()
        self._unsent = b""
        self._arguments: dict[str, tuple[Any, ...]] = {}
        self._posted: deque[Read] = deque()  # how to read the answers that have not come yet
        self._used_before: float | None = None  # seconds of CPU time, before the first of them
        self._reason = "the process has ended"
        os.set_blocking(self._out, False)
        self._arriving = select.poll()
        self._arriving.register(self._in, select.POLLIN)
        try:
            self.layer_faults: Mapping[str, str] = self._layers()
        except BaseException:
            self.close()
            raise
        self.loaded = CallResult(Status.RETURNED)

    @property
    def layers(self) -> tuple[str, ...]:
        """The layers that hold."""
        return tuple(name for name, reason in self.layer_faults.items() if not reason)

    def load(self, source: str, module: str = MODULE, names: Mapping[str, Any] | None = None) -> CallResult:
        """Run a program's text, which defines its functions. One that is not Python is `unreadable`.

        Programs of one session see nothing of each other if they have different names as a `module`. `names` are values
        that the program knows from its beginning.
        """
        read = self._ask({"compile": writable(source), "module": module})
        known = values.tagged(dict(names or {}), self.limits.most)
        self.loaded = self._ask({"load": module, "names": known}) if read.returned else replace(read, unreadable=True)
        return self.loaded

    def defines(self, function: str, module: str = MODULE) -> bool:
        """Whether a program has that name, although something in it failed."""
        return self._ask({"module": module, "defines": function}).value is True

    def call(
        self,
        function: str,
        *arguments: object,
        seconds: float | None = None,
        echo: bool = False,
        module: str = MODULE,
        result: ResultForm = "any",
    ) -> CallResult:
        """Call a function with values of JSON's types, tuples, sets and dictionaries.

        `echo` asks for the arguments as they are after the call. `seconds` are of CPU time; None: as the limits say. Of
        a `result` only its truth may be wanted, or the list of what it holds. Raises `TooLargeError` for arguments that
        cannot be sent.
        """
        sent = values.tagged(list(arguments), self.limits.most * 10)
        request = {"module": module, "call": function, "arguments": sent, "echo": echo, "result": result}
        read = partial(read_call, wanted=result, arguments=len(arguments) if echo else None)
        return self._ask(request, seconds, read)

    def post(self, expansion: Expansion) -> None:
        """Send states to be expanded, without waiting. Each is answered by one `expanded`, in their order."""
        most = self.limits.most * 10
        functions = {
            name: {"function": (call.module, call.function), "arguments": self._new_arguments(name, call.arguments)}
            for name, call in ((batches.GOAL, expansion.goal), (batches.SUCCESSORS, expansion.successors))
        }
        states = [
            {"v": values.tagged(state.value, most)} if isinstance(state, SandboxState) else state
            for state in expansion.states
        ]
        request = {"states": states, "watched": expansion.watched, "fresh": expansion.fresh, **functions}
        arguments = 1 + len(expansion.successors.arguments)
        self._post(request, partial(read_expansion, states=len(states), arguments=arguments))

    def _new_arguments(self, name: str, arguments: tuple[Any, ...]) -> Any:
        """Arguments as they are sent; None where they are those of the expansion before."""
        if self._arguments.get(name) is arguments:
            return None
        self._arguments[name] = arguments
        return values.tagged(list(arguments), self.limits.most * 10)

    def expanded(self) -> ExpansionResult:
        """What came of the first expansion that was not answered yet: all of its states together have the time of one
        call."""
        return self._collect(None)

    def close(self) -> None:
        """End the process. Safe to call twice."""
        self._finish(kill=True)

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _layers(self) -> Mapping[str, str]:
        """What the process says of its locks before it runs anything. Raises `EngineError`."""
        with contextlib.suppress(_BrokenError):
            line, _ = self._exchange(_LOCKING, _LOCKING, None)
            if line is not None:
                return {str(name): str(reason) for name, reason in json.loads(line)["layers"].items()}
        raise EngineError("A sandbox did not start", "Its process ended while it was being locked.", "Try again.")

    def _ask(self, request: Mapping[str, Any], seconds: float | None = None, read: Read = read_call) -> CallResult:
        self._post(request, read)
        return self._collect(seconds).result

    def _post(self, request: Mapping[str, Any], read: Read) -> None:
        """Send a request, as far as the pipe takes it; the rest goes out while an answer is waited for."""
        if self.child is None:
            return
        if not self._posted:
            self._used_before = self._used()
            if self._buffer:
                self._finish(kill=True, reason=_FORGED)
                return
        self._posted.append(read)
        self._unsent = self._write(self._unsent + json.dumps(request).encode() + b"\n")

    def _collect(self, seconds: float | None) -> ExpansionResult:
        """What came of the first request that was not answered yet."""
        if self.child is None:
            return ExpansionResult(CallResult(Status.DIED, message=self._reason))
        limit = self.limits.seconds if seconds is None else seconds
        began, clock = self._used_before, time.monotonic()
        try:
            line, late = self._exchange(limit, limit * self.limits.patience, began)
            read = self._posted.popleft()
            self._used_before = self._used()
            spent = max(0.0, (self._used_before or 0.0) - began) if began is not None else time.monotonic() - clock
            answer = read(line) if line is not None else ExpansionResult(CallResult(Status.TIMEOUT))
        except _BrokenError as error:
            return ExpansionResult(self._gone(str(error), time.monotonic() - clock))
        except ValueError:  # the program wrote to the pipe itself
            self._finish(kill=True, reason=_FORGED)
            return ExpansionResult(CallResult(Status.DIED, message=_FORGED))
        except BaseException:
            self.close()  # interrupted between question and answer: the pipe is out of step
            raise
        return self._judged(answer, late, limit, spent)

    def _judged(self, answer: ExpansionResult, late: bool, limit: float, seconds: float) -> ExpansionResult:
        """The answer with its time. A process that took too long, or has no memory left, is ended."""
        result = replace(answer.result, seconds=seconds)
        if late:
            self._finish(kill=True, reason="it was ended because it took too long")
            trace = result.traceback if result.status is Status.TIMEOUT else ""
            reason = f"it took longer than {limit:g} {'second' if limit == 1 else 'seconds'}"
            return ExpansionResult(CallResult(Status.TIMEOUT, message=reason, traceback=trace, seconds=seconds))
        if result.status is Status.MEMORY:
            self._finish(kill=True, reason="it was ended because it ran out of memory")
            result = replace(result, message=self._memory_message())
        return replace(answer, result=result)

    def _memory_message(self) -> str:
        return f"it needs more than {self.limits.memory:,} MiB of memory"

    def _exchange(self, seconds: float, wall: float, used: float | None) -> tuple[bytes | None, bool]:
        """Receive a line; None if it does not arrive in time. The second says whether the program had to be stopped.

        `used` is the CPU time of the process before. What is not sent yet is sent meanwhile. Raises `_BrokenError`.
        """
        began = time.monotonic()
        ends, stop_requested, left = began + wall, False, min(seconds, wall)
        while True:
            if self._unsent:
                self._unsent = self._write(self._unsent)
            if b"\n" in self._buffer or (self._wait(bool(self._unsent), left) and self._read()):
                end = self._buffer.index(b"\n")
                line = bytes(self._buffer[:end])
                del self._buffer[: end + 1]
                return line, stop_requested
            now = time.monotonic()
            spent = now - began if used is None else (self._used() or 0.0) - used
            left = min(seconds - spent, ends - now)
            if left <= 0:
                if stop_requested:
                    return None, True
                stop_requested, ends = True, now + self.limits.grace
                seconds = spent + self.limits.grace
                left = self.limits.grace
                self._stop()

    def _wait(self, sending: bool, seconds: float) -> bool:
        """Wait until something came, or more can be sent. Whether something came."""
        if not sending:
            return bool(self._arriving.poll(max(1.0, seconds * 1000)))
        both = select.poll()
        both.register(self._in, select.POLLIN)
        both.register(self._out, select.POLLOUT)
        return any(descriptor == self._in for descriptor, _ in both.poll(max(1.0, seconds * 1000)))

    def _write(self, data: bytes) -> bytes:
        try:
            return data[os.write(self._out, data) :]
        except BlockingIOError:
            return data
        except OSError:
            return b""  # it is gone, which reading will notice

    def _read(self) -> bool:
        """Take what came. Whether a line is whole."""
        got = os.read(self._in, CHUNK)
        if not got:
            raise _BrokenError("")
        self._buffer += got
        if len(self._buffer) > self.limits.most + CHUNK:  # the end of one line, and the begin of the next
            self._finish(kill=True, reason="it was ended because it sent too much")
            raise _BrokenError("it sent more than it may")
        return b"\n" in got

    def _stop(self) -> None:
        """Ask the program to stop. If it does not, it is killed."""
        if self.child is not None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(self.child, signal.SIGINT)

    def _used(self) -> float | None:
        """Seconds of CPU time that the process has used; None where the system does not say."""
        if self.child is None:
            return None
        try:
            # The CPU clock of another process, by the number that the C library's `clock_getcpuclockid` gives it.
            return time.clock_gettime((~self.child << 3) | 2)
        except (OSError, OverflowError):
            return None

    def _gone(self, reason: str, seconds: float) -> CallResult:
        """What is said of a process that is gone: killed for what it sent, out of memory, or ended by itself."""
        if reason:
            return CallResult(Status.TOO_LARGE, message=reason, seconds=seconds)
        status, memory = self._finish(kill=False)
        if status not in (0, None) and status < 0 and memory > _NEARLY * (self.limits.memory << 20):
            self._reason = self._memory_message()
            return CallResult(Status.MEMORY, message=self._reason, seconds=seconds)
        how = f"signal {-status}" if status is not None and status < 0 else f"exit code {status}"
        self._reason = f"the program ended its own process ({how})"
        if status == -signal.SIGKILL:
            self._reason = "the program closed its connection, and was ended"
        return CallResult(Status.DIED, message=self._reason, seconds=seconds)

    def _finish(self, kill: bool, reason: str = "") -> tuple[int | None, int]:
        if self.child is None:
            return None, 0
        child, self.child = self.child, None
        self._reason = reason or self._reason
        for descriptor in (self._out, self._in):
            os.close(descriptor)
        return self._end(child, kill)
