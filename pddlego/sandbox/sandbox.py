"""Runs programs written by models in processes without files, network or environment.

    with Sandbox() as sandbox, sandbox.open(source) as program:
        result = program.call("get_plan", objects, init, goal)

One server process per sandbox loads Python once and is forked for every session, so that a session begins in a few
milliseconds. The host never runs a line of the program, and trusts nothing that comes back.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any, Literal, get_args

from pddlego.errors import EngineError, UsageError, explained, is_too_many_files
from pddlego.sandbox.jail.layers import LANDLOCK, LIMITS, SECCOMP, USER
from pddlego.sandbox.result import SandboxLimits
from pddlego.sandbox.session import Session

Isolation = Literal["required", "best-effort", "off"]
"""`required` refuses to run a program where the system cannot lock it away; `best-effort` takes what it can get; `off`
only limits time and memory."""

ISOLATIONS: tuple[Isolation, ...] = get_args(Isolation)

NEEDED = (LIMITS, LANDLOCK, SECCOMP)
"""Layers without which `required` refuses; for root there is its own user besides. Namespaces come on top."""

_MORE_MODULES = ("numpy",)
"""Modules outside of the standard library that may be imported if they are installed."""

_HASH_SEED = "0"
"""Of every sandbox: the order of sets is the same in every run."""

_BOOT = "import sys; sys.path.insert(0, sys.argv.pop(1)); from jail.server import main; main()"


class Sandbox:
    """Makes sessions. Safe for several threads; starts nothing before it is used, and again if its server is gone."""

    def __init__(self, isolation: Isolation = "required") -> None:
        if isolation not in ISOLATIONS:
            raise UsageError(
                f"Unknown isolation '{isolation}'", f"It is one of: {', '.join(ISOLATIONS)}.", "Choose one of them."
            )
        self.isolation: Isolation = isolation
        self._lock = threading.Lock()
        self._server: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._errors: IO[bytes] | None = None

    def layers(self) -> tuple[str, ...]:
        """The layers that hold, of a sandbox that is made for it. Raises `UsageError` where too few of them do."""
        with self.session() as session:
            return session.layers

    def open(self, source: str, limits: SandboxLimits | None = None) -> Session:
        """A session with a program in it; `loaded` of it says what came of that."""
        session = self.session(limits, modules_of(source))
        try:
            session.load(source)
        except BaseException:
            session.close()
            raise
        return session

    def session(self, limits: SandboxLimits | None = None, modules: tuple[str, ...] = ()) -> Session:
        """A session without a program. Raises `UsageError` where the system cannot isolate as it must."""
        limits = limits or SandboxLimits()
        request = {
            "memory": limits.memory,
            "most": limits.most,
            "modules": modules,
            "only": [LIMITS] if self.isolation == "off" else None,
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
        session = Session(child, (out, into), limits, self._end)
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

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _check(self, session: Session) -> None:
        """Raises `UsageError` if a layer is missing that must hold."""
        if self.isolation != "required":
            return
        needed = (*NEEDED, USER) if hasattr(os, "getuid") and os.getuid() == 0 else NEEDED
        missing = [f"{name} ({reason})" for name in needed if (reason := session.layer_faults.get(name, "not there"))]
        if missing:
            raise UsageError(
                "Programs cannot be isolated here",
                f"Missing: {', '.join(missing)}. {_where()}",
                "Run it on Linux 5.13 or later, or accept less: --isolation best-effort (see 'pddlego doctor').",
            )

    def _end(self, child: int, kill: bool) -> tuple[int | None, int]:
        """End a process through the server, whose child it is."""
        with contextlib.suppress(EngineError):
            answer = self._ask({"end": child, "kill": kill}, ())
            return answer["status"], int(answer["memory"])
        return None, 0

    def _ask(self, request: Mapping[str, Any], pipes: tuple[int, ...]) -> dict[str, Any]:
        """Ask the server, and start it if needed; when it ends, its sessions end."""
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
                self._stop()  # interrupted between question and answer
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
        command = [sys.executable, "-s", "-S", "-c", _BOOT, str(Path(__file__).parent), *_places()]
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 -- lives as long as the server
        try:
            with theirs:
                self._server = subprocess.Popen(
                    command,
                    stdin=theirs.fileno(),
                    stdout=subprocess.DEVNULL,
                    stderr=self._errors,
                    env={"PYTHONHASHSEED": _HASH_SEED, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
                    cwd="/",
                    start_new_session=True,
                )
        except OSError as error:
            ours.close()
            if is_too_many_files(error):
                raise EngineError("The sandbox did not start", explained(error)) from error
            raise _not_started(f"{sys.executable}: {error.strerror}") from error
        self._control = ours

    def _errors_of_start(self) -> str:
        """What a server that ended before it served said of it; empty where it served."""
        if self._errors is None:
            return ""
        self._errors.seek(0)
        lines = self._errors.read().decode(errors="replace").splitlines()
        return next((line.strip() for line in reversed(lines) if "error" in line.lower()), "")

    def _stop(self) -> None:
        if self._control is not None:
            self._control.close()  # at the end of its connection it kills its children
            self._control = None
        if self._server is not None:
            try:
                self._server.wait(timeout=5)
            except subprocess.TimeoutExpired:
                self._server.kill()
                self._server.wait()
            self._server = None


def _not_started(reason: str) -> EngineError:
    """The error for a server that the system could not start: mostly its files cannot be read by this user."""
    return EngineError(
        "The sandbox did not start",
        f"{reason.rstrip('.')}.",
        f"The user of this process must be able to run {sys.executable} and to read {Path(__file__).parent}: "
        "install Python and pddlego where that user can read them, or run as the user who owns them.",
    )


def modules_of(source: str) -> tuple[str, ...]:
    """Which of `_MORE_MODULES` a program imports."""
    # Not with Python's parser: what a model wrote can make it use up all memory, or crash.
    # Not `^\s*`, which would look at the rest of a run of empty lines from each of them.
    imported = r"^[^\S\n]*(?:import|from)\s[^#\n]*\b"
    return tuple(name for name in _MORE_MODULES if re.search(rf"{imported}{name}\b", source, re.M))


def _places() -> list[str]:
    """The folders of the modules outside of the standard library."""
    specs = [find_spec(name) for name in _MORE_MODULES]
    return list(dict.fromkeys(str(Path(spec.origin).parent.parent) for spec in specs if spec and spec.origin))


def _where() -> str:
    return "" if sys.platform == "linux" else f"This is {sys.platform}, and only Linux has these locks."
