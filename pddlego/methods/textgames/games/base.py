"""What the agent knows of a game. Another engine is another implementation of `Game`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class Observation:
    """One answer of a game. `score` runs from 0 to 1; `won` is the game's own word for success, nothing else.

    `look` is what there is to see now, where the game tells that besides its answer, without a command.
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
