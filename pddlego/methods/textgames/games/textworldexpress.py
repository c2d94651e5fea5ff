"""TextWorldExpress as a `Game`: the real engine on the shared Java machine."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pddlego.errors import EngineError
from pddlego.methods.textgames.games import GameSpec, Observation, sendable
from pddlego.methods.textgames.games.java import JavaMachine, JavaProgram, shared_machine

_HEAP = 96
"""MiB that hold 200 games."""


def program() -> JavaProgram:
    """The engine, which reads its data from its own folder."""
    from textworld_express.constants import BASEPATH

    folder = Path(BASEPATH)
    return JavaProgram(folder / "textworld-express.jar", folder, _HEAP)


class ExpressGame:
    """One game of TextWorldExpress.

    Its parameters must have been checked: the engine accepts some malformed ones silently. The engine's step limit is
    off by one and its `done` mixes reasons, so neither is used.
    """

    def __init__(self, spec: GameSpec, machine: JavaMachine | None = None) -> None:
        self.spec = spec
        self.parameters = ",".join(f"{key}={value}" for key, value in spec.parameters.items())
        self._machine = machine or shared_machine(program(), spec.java)
        self._interface: Any = None
        self.task = ""

    def start(self) -> Observation:
        """Load the game and look around. Raises `EngineError`."""
        spec = self.spec
        self._interface = self._call("load the engine", lambda: self._jvm.textworldexpress.runtime.PythonInterface())
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
        sent = sendable(command)
        return self._observation(self._call(f"answer '{sent}'", lambda: self._interface.stepJSON(sent)))

    @property
    def solution(self) -> tuple[str, ...]:
        """The engine's own solution. Raises `EngineError`."""
        spec = self.spec
        solver = ExpressGame(spec, self._machine)
        solver.start()
        self._call("solve the game", lambda: solver._interface.generateNewGameJSON(spec.seed, spec.fold, True))
        return tuple(map(str, self._call("solve the game", lambda: list(solver._interface.getGoldActionSequence()))))

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
