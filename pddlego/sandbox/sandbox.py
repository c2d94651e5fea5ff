"""Runs programs written by models in processes without files, network or environment.

    with Sandbox() as sandbox, sandbox.open(source) as program:
        result = program.call("total", [1, 2, 3])

One server process per sandbox loads Python once and is forked for every session, so that a session begins in a few
milliseconds. The host process never runs a line of the program, and does not trust its answers.
"""

from __future__ import annotations

import contextlib
import inspect
import json
import os
import re
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any, Literal, get_args

from pddlego.errors import EngineError, UsageError
from pddlego.sandbox.jail import values
from pddlego.sandbox.jail.layers import LANDLOCK, LIMITS, SECCOMP, USER
from pddlego.sandbox.result import CallResult, Check, ResultForm, SandboxLimits, Status, read_call, read_parts
from pddlego.util.children import start_python
from pddlego.util.closing import Closeable
from pddlego.util.limits import SLICE, Clock
from pddlego.util.text import count, writable
from pddlego.util.unexpected import explained

Isolation = Literal["required", "best-effort", "off"]
"""`required` refuses to run programs if a needed layer does not hold; `best-effort` uses the layers that hold; `off`
only limits time and memory."""

ISOLATIONS: tuple[Isolation, ...] = get_args(Isolation)

NEEDED = (LIMITS, LANDLOCK, SECCOMP)
"""The layers that `required` needs; for root, also `USER`. Namespaces are used if possible, but not needed."""

_MORE_MODULES = ("numpy",)
"""Modules outside of the standard library that programs may import if they are installed."""

_HASH_SEED = "0"
"""Python's hash seed in every sandbox, so that the order of sets is the same in every run."""

_BOOT = "import sys; sys.path.insert(0, sys.argv.pop(1)); from jail.server import main; main()"

_LOCKING = 60.0
"""Seconds that a process may take to lock itself, and to load a driver; a busy machine needs many."""

_ADVICE = "Fix the method: its driver can import what programs can, and pddlego.sandbox.jail.values."

CHUNK = 1 << 16
"""Maximum bytes of one read from the pipe."""

_NEARLY = 0.85
"""A process that a signal ended counts as out of memory if it had used this share of its limit."""

MODULE = "program"
"""The default module name of a program."""

_FORGED = "the program wrote to the sandbox's own pipe"


class Sandbox(Closeable):
    """Starts sessions. Safe for several threads. The server starts with the first session, or again after its end."""

    def __init__(self, isolation: Isolation = "required", clock: Clock = time.monotonic) -> None:
        if isolation not in ISOLATIONS:
            raise UsageError(
                f"Unknown isolation '{isolation}'", f"It is one of: {', '.join(ISOLATIONS)}.", "Choose one of them."
            )
        self.isolation: Isolation = isolation
        self._clock = clock
        self._lock = threading.Lock()
        self._server: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._errors: IO[bytes] | None = None

    def layers(self) -> tuple[str, ...]:
        """The layers that hold, found out in a new session. Raises `UsageError` if a needed layer does not hold."""
        with self.session() as session:
            return session.layers

    def open(self, source: str, limits: SandboxLimits | None = None) -> SandboxSession:
        """A session with a program. The session's `loaded` is the result of loading the program."""
        session = self.session(limits, modules_of(source))
        try:
            session.load(source)
        except BaseException:
            session.close()
            raise
        return session

    def session(
        self, limits: SandboxLimits | None = None, modules: tuple[str, ...] = (), driver: type | None = None
    ) -> SandboxSession:
        """A session without a program. Raises `UsageError` if a needed layer does not hold.

        The module of the class `driver` runs in the jail before any program; an instance handles the requests of
        `SandboxSession.post`. It may call functions of programs, whose modules are in `sys.modules`, many times for one
        request. It can import what programs can, and `pddlego.sandbox.jail.values`.
        """
        limits = limits or SandboxLimits()
        request = {
            "memory": limits.memory,
            "most": limits.most,
            "modules": modules,
            "only": [LIMITS] if self.isolation == "off" else None,
            "driver": driver and (str(Path(inspect.getfile(driver)).resolve()), driver.__name__),
        }
        with contextlib.ExitStack() as theirs, contextlib.ExitStack() as ours:
            theirs_in, out = os.pipe()
            theirs.callback(os.close, theirs_in)
            ours.callback(os.close, out)
            into, theirs_out = os.pipe()
            theirs.callback(os.close, theirs_out)
            ours.callback(os.close, into)
            answer = self._ask(request, (theirs_in, theirs_out))
            if (child := answer["child"]) is None:
                raise EngineError("No sandbox can be started", f"{answer['reason']}.", "Play with fewer --workers.")
            ours.pop_all()  # the session closes its own ends
        session = SandboxSession(child, (out, into), limits, self._end, self._clock)
        try:
            self._check(session)
        except BaseException:
            session.close()
            raise
        return session

    def close(self) -> None:
        """End the server with all sessions. Safe to call twice."""
        with self._lock:
            self._stop()

    def _check(self, session: SandboxSession) -> None:
        """Raise `UsageError` if a needed layer does not hold."""
        if self.isolation != "required":
            return
        needed = (*NEEDED, USER) if hasattr(os, "getuid") and os.getuid() == 0 else NEEDED
        missing = [f"{name} ({reason})" for name in needed if (reason := session.layer_faults.get(name, "not there"))]
        if missing:
            where = "" if sys.platform == "linux" else f"This is {sys.platform}, and only Linux has these locks."
            raise UsageError(
                "Programs cannot be isolated here",
                f"Missing: {', '.join(missing)}. {where}",
                "Run it on Linux 5.13 or later, or accept less: --isolation best-effort (see 'pddlego doctor').",
            )

    def _end(self, child: int, kill: bool) -> tuple[int | None, int]:
        """End a process through the server, which is its parent."""
        with contextlib.suppress(EngineError):
            answer = self._ask({"end": child, "kill": kill}, ())
            return answer["status"], int(answer["memory"])
        return None, 0

    def _ask(self, request: Mapping[str, Any], pipes: tuple[int, ...]) -> dict[str, Any]:
        """Send a request to the server, and return the answer. The server is started to begin a session."""
        with self._lock:
            starting = "memory" in request
            if starting and (self._server is None or self._server.poll() is not None):
                self._stop()
                self._start()
            try:
                return self._exchange(request, pipes)
            except (OSError, ValueError) as error:
                self._stop()
                if reason := self._errors_of_start():
                    raise _not_started(reason) from error
                raise EngineError("The sandbox does not answer", f"{error}.", "Try again.") from error
            except BaseException:
                self._stop()  # interrupted between request and answer
                raise

    def _exchange(self, request: Mapping[str, Any], pipes: tuple[int, ...]) -> dict[str, Any]:
        if self._control is None:
            raise OSError("its server is gone")
        data = json.dumps(request).encode() + b"\n"
        if pipes:
            socket.send_fds(self._control, [data], list(pipes))
        else:
            self._control.sendall(data)
        answer = b""
        while not answer.endswith(b"\n"):
            got = self._control.recv(65_536)
            if not got:
                raise OSError("its server is gone")
            answer += got
        fields: dict[str, Any] = json.loads(answer)
        return fields

    def _start(self) -> None:
        if not hasattr(socket, "send_fds"):
            raise UsageError("Programs cannot be run here", "The system has no Unix sockets.", "Use Linux or macOS.")
        ours, theirs = socket.socketpair()
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 -- lives as long as the server
        try:
            with theirs:
                self._server = start_python(
                    "The sandbox",
                    ["-s", "-S", "-c", _BOOT, str(Path(__file__).parent), *_places()],
                    stdin=theirs.fileno(),
                    stdout=subprocess.DEVNULL,
                    stderr=self._errors,
                    env={"PYTHONHASHSEED": _HASH_SEED, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
                    cwd="/",
                )
        except OSError as error:
            ours.close()
            raise EngineError("The sandbox did not start", explained(error)) from error
        except EngineError as error:
            ours.close()
            raise _not_started(error.reason) from error
        self._control = ours

    def _errors_of_start(self) -> str:
        """The last error message of a server that ended while it started; empty for one that has served."""
        if self._errors is None:
            return ""
        self._errors.seek(0)
        lines = self._errors.read().decode(errors="replace").splitlines()
        return next((line.strip() for line in reversed(lines) if "error" in line.lower()), "")

    def _stop(self) -> None:
        if self._control is not None:
            self._control.close()  # then the server kills its children and ends
            self._control = None
        if self._server is not None:
            try:
                self._server.wait(timeout=5)
            except subprocess.TimeoutExpired:
                self._server.kill()
                self._server.wait()
            self._server = None


def _not_started(reason: str) -> EngineError:
    """The error for a server that did not start; usually this user cannot read its files."""
    return EngineError(
        "The sandbox did not start",
        f"{reason.rstrip('.')}.",
        f"The user of this process must be able to run {sys.executable} and to read {Path(__file__).parent}: "
        "install Python and pddlego where that user can read them, or run as the user who owns them.",
    )


def modules_of(source: str) -> tuple[str, ...]:
    """The modules of `_MORE_MODULES` that a program imports."""
    # Not with Python's parser: a model's program can make the parser use up all memory, or crash.
    # Not `^\s*`: it would take quadratic time on a series of empty lines.
    imported = r"^[^\S\n]*(?:import|from)\s[^#\n]*\b"
    return tuple(name for name in _MORE_MODULES if re.search(rf"{imported}{name}\b", source, re.M))


def _places() -> list[str]:
    """The folders of `_MORE_MODULES`, if they are installed."""
    specs = [find_spec(name) for name in _MORE_MODULES]
    return list(dict.fromkeys(str(Path(spec.origin).parent.parent) for spec in specs if spec and spec.origin))


End = Callable[[int, bool], tuple[int | None, int]]
"""Ends a process, killing it if requested; returns its exit code (negative: a signal) and its peak memory in bytes."""


Read = Callable[[bytes], CallResult]
"""Reads an answer. Raises `ValueError` for an answer that the sandbox never writes."""


class _BrokenError(Exception):
    """The process has closed its pipe (empty message), or has sent too much."""


class SandboxSession(Closeable):
    """A process in the sandbox, with one or more programs. Not safe for several threads.

    `loaded` is the result of loading the last program. After the process has ended, every call ends as `died`.
    """

    def __init__(
        self, child: int, pipes: tuple[int, int], limits: SandboxLimits, end: End, clock: Clock = time.monotonic
    ) -> None:
        self.limits, self._clock = limits, clock
        self.child: int | None = child
        self._out, self._in = pipes
        self._end = end
        self._buffer = bytearray()
        self._unsent = b""
        self._posted: deque[Read] = deque()  # the functions that read the outstanding answers
        self._used_before: float | None = None  # seconds of CPU time before the first outstanding request
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
        """The names of the layers that hold."""
        return tuple(name for name, reason in self.layer_faults.items() if not reason)

    def load(self, source: str, module: str = MODULE, names: Mapping[str, Any] | None = None) -> CallResult:
        """Run a program's text, which defines its functions. The result of a text that is not Python is `unreadable`.

        Programs of one session with different `module` names have separate namespaces. `names` are values that the
        program's namespace contains from the beginning.
        """
        read = self._ask({"compile": writable(source), "module": module})
        known = values.tagged(dict(names or {}), self.limits.most)
        self.loaded = self._ask({"load": module, "names": known}) if read.returned else replace(read, unreadable=True)
        return self.loaded

    def defines(self, function: str, module: str = MODULE) -> bool:
        """Whether a program's namespace contains a name; also after an exception in the program."""
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

        `echo` requests the arguments as they are after the call. `seconds` is CPU time; None: the time in the limits.
        `result` is the conversion of the returned value. Raises `TooLargeError` for arguments that cannot be sent.
        """
        sent = values.tagged(list(arguments), self.limits.most * 10)
        request = {"module": module, "call": function, "arguments": sent, "echo": echo, "result": result}
        read = partial(read_call, wanted=result, arguments=len(arguments) if echo else None)
        return self._ask(request, seconds, read)

    def post(self, method: str, *arguments: object, check: Check = lambda result: result) -> None:
        """Call a method of the driver, without waiting. It gets the arguments as values of JSON.

        The result's value is the list of the values that the method yields, or of the one that it returns; also if an
        exception ended it. If `check` refuses the result, a program has forged it: the session is ended.
        """
        self._post({"drive": method, "arguments": arguments}, partial(read_parts, check=check))

    def collect(self, seconds: float | None = None) -> CallResult:
        """Wait for the result of the first outstanding `post`. `seconds` is CPU time; None: the time in the limits."""
        if self.child is None:
            return CallResult(Status.DIED, message=self._reason)
        limit = self.limits.seconds if seconds is None else seconds
        began, start = self._used_before, self._clock()
        try:
            line, late = self._exchange(limit, limit * self.limits.patience, began)
            read = self._posted.popleft()
            self._used_before = self._used()
            spent = max(0.0, (self._used_before or 0.0) - began) if began is not None else self._clock() - start
            answer = read(line) if line is not None else CallResult(Status.TIMEOUT)
        except _BrokenError as error:
            return self._gone(str(error), self._clock() - start)
        except ValueError:  # the program wrote to the pipe itself
            self._finish(kill=True, reason=_FORGED)
            return CallResult(Status.DIED, message=_FORGED)
        except BaseException:
            self.close()  # interrupted between request and answer: a later answer could be taken for another one
            raise
        return self._limited(replace(answer, seconds=spent), late, limit)

    def close(self) -> None:
        """End the process. Safe to call twice."""
        self._finish(kill=True)

    def _layers(self) -> Mapping[str, str]:
        """The fault of each layer (empty if it holds), which the process reports first. Raises `EngineError`."""
        line = None
        with contextlib.suppress(_BrokenError):
            line, _ = self._exchange(_LOCKING, _LOCKING, None)
        if line is None:
            raise EngineError("A sandbox did not start", "Its process ended while it was being locked.", "Try again.")
        answer = json.loads(line)
        if reason := answer["driver"]:
            raise EngineError("The driver of a sandbox cannot be loaded", f"{reason}.", _ADVICE)
        return {str(name): str(reason) for name, reason in answer["layers"].items()}

    def _ask(self, request: Mapping[str, Any], seconds: float | None = None, read: Read = read_call) -> CallResult:
        self._post(request, read)
        return self.collect(seconds)

    def _post(self, request: Mapping[str, Any], read: Read) -> None:
        """Send as much of a request as the pipe accepts; the rest is sent while the session waits for an answer."""
        if self.child is None:
            return
        if not self._posted:
            self._used_before = self._used()
            if self._buffer:
                self._finish(kill=True, reason=_FORGED)
                return
        self._posted.append(read)
        self._unsent = self._write(self._unsent + json.dumps(request).encode() + b"\n")

    def _limited(self, result: CallResult, late: bool, limit: float) -> CallResult:
        """The result of a call. A process that took too long or ran out of memory is ended."""
        if late:
            self._finish(kill=True, reason="it was ended because it took too long")
            trace = result.traceback if result.status is Status.TIMEOUT else ""
            reason = f"it took longer than {count(limit, 'second')}"
            return CallResult(Status.TIMEOUT, message=reason, traceback=trace, seconds=result.seconds)
        if result.status is Status.MEMORY:
            self._finish(kill=True, reason="it was ended because it ran out of memory")
            return replace(result, message=self._memory_message())
        return result

    def _memory_message(self) -> str:
        return f"it needs more than {self.limits.memory:,} MiB of memory"

    def _exchange(self, seconds: float, wall: float, used: float | None) -> tuple[bytes | None, bool]:
        """Receive a line (None if it does not arrive in time), and whether the program was asked to stop.

        `used` is the CPU time of the process before the request. Unsent data are sent meanwhile. Raises `_BrokenError`.
        """
        began = self._clock()
        ends, stop_requested, left = began + wall, False, min(seconds, wall)
        while True:
            if self._unsent:
                self._unsent = self._write(self._unsent)
            if b"\n" in self._buffer or (self._wait(bool(self._unsent), min(left, SLICE)) and self._read()):
                end = self._buffer.index(b"\n")
                line = bytes(self._buffer[:end])
                del self._buffer[: end + 1]
                return line, stop_requested
            now = self._clock()
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
        """Wait until data have arrived or more can be sent. Whether data have arrived."""
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
            return b""  # the process is gone, and `_read` will notice it

    def _read(self) -> bool:
        """Read the data that have arrived. Whether they complete a line."""
        got = os.read(self._in, CHUNK)
        if not got:
            raise _BrokenError("")
        self._buffer += got
        if len(self._buffer) > self.limits.most + CHUNK:  # a read may contain the beginning of the next line
            self._finish(kill=True, reason="it was ended because it sent too much")
            raise _BrokenError("it sent more than it may")
        return b"\n" in got

    def _stop(self) -> None:
        """Send the program the signal to stop; the caller kills it if it does not stop."""
        if self.child is not None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(self.child, signal.SIGINT)

    def _used(self) -> float | None:
        """The CPU time of the process in seconds; None if the system does not measure it."""
        if self.child is None:
            return None
        try:
            # The number of another process's CPU clock, as the C library's `clock_getcpuclockid` computes it.
            return time.clock_gettime((~self.child << 3) | 2)
        except (OSError, OverflowError):
            return None

    def _gone(self, reason: str, seconds: float) -> CallResult:
        """The result of a call whose process is gone: it sent too much, ran out of memory, or ended by itself."""
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
