"""Engines that play games: the built-in one, and those that other packages offer (entry point `pddlego.engines`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from importlib.metadata import entry_points
from typing import Protocol, TypeVar

from pddlego.errors import EngineError, UsageError
from pddlego.util.text import writable


@dataclass(frozen=True)
class Observation:
    """One answer of a game. `score` runs from 0 to 1; `won` is the game's own word for success, nothing else.

    `look` describes what is visible now, if the game reports it besides its answer, without a command.
    """

    text: str
    score: float = 0.0
    won: bool = False
    lost: bool = False
    valid_commands: tuple[str, ...] = ()
    look: str = ""


class Game(Protocol):
    """One independent game. Raises `EngineError` when the engine fails."""

    def start(self) -> Observation:
        """Begin anew and look around."""

    def step(self, command: str) -> Observation:
        """Send one command. Every command counts as a step, refused ones too."""

    @property
    def task(self) -> str:
        """The task as the game states it."""


T = TypeVar("T")


def _guarded(engine: str, what: str, call: Callable[[], T]) -> T:
    """The result of `call` into other people's code. Raises `EngineError` for whatever it raises, exits included."""
    try:
        return call()
    except EngineError:
        raise
    except (Exception, SystemExit) as error:
        reason = f"{type(error).__name__}: {error}"
        raise EngineError(f"The engine '{engine}' failed to {what}", reason, "Ask those who made it.") from error


class ForeignGame:
    """A game of another package, whose answers are checked."""

    def __init__(self, engine: str, game: Game) -> None:
        self._engine, self._game = engine, game

    @property
    def task(self) -> str:
        return writable(str(_guarded(self._engine, "say its task", lambda: self._game.task)))

    def start(self) -> Observation:
        return self._checked(_guarded(self._engine, "start the game", self._game.start))

    def step(self, command: str) -> Observation:
        return self._checked(_guarded(self._engine, f"answer '{command}'", lambda: self._game.step(command)))

    def _checked(self, answer: object) -> Observation:
        if isinstance(answer, Observation):
            is_list = isinstance(answer.valid_commands, tuple)
            texts = (answer.text, answer.look, *answer.valid_commands) if is_list else (None,)
            if all(isinstance(text, str) for text in texts) and isinstance(answer.score, (int, float)):
                valid = tuple(writable(command) for command in answer.valid_commands)
                text, look = writable(answer.text), writable(answer.look)
                return replace(answer, text=text, look=look, score=float(answer.score), valid_commands=valid)
        raise EngineError(
            f"The engine '{self._engine}' gave no observation",
            f"It gave {str(answer)[:80]!r} in place of an Observation(text, score, won, lost, valid_commands, look).",
            "Ask those who made it.",
        )


GROUP = "pddlego.engines"
BUILT_IN = "textworldexpress"


@dataclass(frozen=True)
class GameSpec:
    """Which game to make: the names and numbers of the setting, already checked, and the seed."""

    name: str
    parameters: Mapping[str, int]
    seed: int
    fold: str


Factory = Callable[[GameSpec], Game]
"""What an entry point names. Raises `EngineError` where the game cannot be made."""


def engine_names() -> list[str]:
    """All engines that are installed."""
    return sorted({BUILT_IN, *(entry_point.name for entry_point in entry_points(group=GROUP))})


def foreign_game(engine: str, spec: GameSpec) -> Game:
    """A game of another package's engine.

    Raises `UsageError` if there is no such engine, and `EngineError` if it cannot be loaded or makes no game.
    """
    entry_point = next((entry_point for entry_point in entry_points(group=GROUP) if entry_point.name == engine), None)
    if entry_point is None:
        names = ", ".join(engine_names())
        raise UsageError(
            f"Unknown engine '{engine}'", f"The engines are: {names}.", "Fix engine in [game], or install the engine."
        )
    factory: Factory = _guarded(engine, f"load {entry_point.value}", entry_point.load)
    made = _guarded(engine, "make the game", lambda: factory(spec))
    if not (hasattr(made, "start") and hasattr(made, "step")):
        raise EngineError(f"The engine '{engine}' made no game", f"It made {str(made)[:80]!r}.", "Ask its makers.")
    return ForeignGame(engine, made)


__all__ = ["Game", "Observation"]
