"""TextWorldExpress as a `Game`: the real engine on the shared Java machine."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from pddlego.errors import EngineError
from pddlego.methods.textgames.games.base import Observation
from pddlego.methods.textgames.games.engines import GameSpec
from pddlego.methods.textgames.games.java import JavaMachine, shared_machine, uninterrupted


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
            with uninterrupted():
                return call()
        except Py4JJavaError as error:
            why = str(error.java_exception).partition(":")[2].strip() or "It does not say why"
            raise EngineError(f"The game engine failed to {what}", why, f"Parameters: {self.parameters}.") from error
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
