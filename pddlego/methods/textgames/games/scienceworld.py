"""ScienceWorld (Wang et al., 2022) as a `Game`: the real engine, on a Java machine for each game."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from pddlego.methods.textgames.games import GameSpec, Observation, sendable
from pddlego.methods.textgames.games.java import JavaMachine, JavaProgram

_HEAP = 512
"""MiB for one game: lists of all commands are large."""

_RESTART = "reset task"
"""A command that begins the game anew, and is no move in it."""


def program() -> JavaProgram:
    """The engine."""
    from scienceworld.constants import BASEPATH, JAR_PATH

    return JavaProgram(Path(JAR_PATH), Path(BASEPATH), _HEAP)


class ScienceWorldGame:
    """One game of ScienceWorld. The seed is the number of the variation; parameters that are 1 are simplifications.

    An answer is followed by what is visible, where that has changed. A game is won when its score is full; it is lost
    when the engine ends it before, as it does after a wrong decision.

    Each game has a machine of its own from its start to `close`: the engine keeps its chance in static variables, so
    that games in one machine change each other.
    """

    def __init__(self, spec: GameSpec) -> None:
        self._spec = spec
        self._simplifications = ",".join(name for name, on in spec.parameters.items() if on)
        self._machine: JavaMachine | None = None
        self._interface: Any = None
        self._look = ""
        self.task = ""

    def start(self) -> Observation:
        """Begin the variation anew and look around. Raises `EngineError`."""
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
        """Every valid command: thousands, where many things are in reach. Raises `EngineError`."""
        return self._texts("list the commands", lambda: self._interface.getValidActionObjectCombinations())

    @property
    def solution(self) -> tuple[str, ...]:
        """The engine's gold path. Its names of things are those of this very game. Raises `EngineError`."""
        self._load(gold=True)
        return self._texts("solve the game", lambda: self._interface.getGoldActionSequence())

    def close(self) -> None:
        """End the game's machine."""
        if self._machine is not None:
            self._machine.close()

    def _load(self, gold: bool) -> None:
        spec, simplifications = self._spec, self._simplifications
        machine = self._machine = self._machine or JavaMachine(program(), spec.java)
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
