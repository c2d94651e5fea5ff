"""The border to engines of other packages: whatever such an engine does wrong is an `EngineError` that names it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from pddlego.errors import EngineError
from pddlego.methods.textgames.games.base import Game, Observation
from pddlego.util.text import writable

T = TypeVar("T")


def guarded(engine: str, what: str, call: Callable[[], T]) -> T:
    """The result of `call` into other people's code. Raises `EngineError` for whatever it raises, exits included."""
    try:
        return call()
    except EngineError:
        raise
    except (Exception, SystemExit) as error:
        why = f"{type(error).__name__}: {error}"
        raise EngineError(f"The engine '{engine}' failed to {what}", why, "Ask those who made it.") from error


class ForeignGame:
    """A game of another package, whose answers are checked."""

    def __init__(self, engine: str, game: Game) -> None:
        self._engine, self._game = engine, game

    @property
    def task(self) -> str:
        return writable(str(guarded(self._engine, "say its task", lambda: self._game.task)))

    def start(self) -> Observation:
        return self._checked(guarded(self._engine, "start the game", self._game.start))

    def step(self, command: str) -> Observation:
        return self._checked(guarded(self._engine, f"answer '{command}'", lambda: self._game.step(command)))

    def _checked(self, answer: object) -> Observation:
        if isinstance(answer, Observation):
            listed = isinstance(answer.valid_commands, tuple)
            texts = (answer.text, answer.look, *answer.valid_commands) if listed else (None,)
            if all(isinstance(each, str) for each in texts) and isinstance(answer.score, (int, float)):
                valid = tuple(writable(each) for each in answer.valid_commands)
                text, look = writable(answer.text), writable(answer.look)
                return replace(answer, text=text, look=look, score=float(answer.score), valid_commands=valid)
        raise EngineError(
            f"The engine '{self._engine}' gave no observation",
            f"It gave {str(answer)[:80]!r} in place of an Observation(text, score, won, lost, valid_commands, look).",
            "Ask those who made it.",
        )
