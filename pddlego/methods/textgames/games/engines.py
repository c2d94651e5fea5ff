"""Engines other than TextWorldExpress: packages that offer one under the entry point group `pddlego.engines`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import entry_points

from pddlego.errors import EngineError, UsageError
from pddlego.methods.textgames.games.base import Game
from pddlego.methods.textgames.games.foreign import ForeignGame, guarded

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
    return sorted({BUILT_IN, *(each.name for each in entry_points(group=GROUP))})


def foreign_game(engine: str, spec: GameSpec) -> Game:
    """A game of another package's engine.

    Raises `UsageError` if there is no such engine, and `EngineError` if it cannot be loaded or makes no game.
    """
    found = next((each for each in entry_points(group=GROUP) if each.name == engine), None)
    if found is None:
        listed = ", ".join(engine_names())
        raise UsageError(
            f"There is no engine '{engine}'", f"There is: {listed}.", "Mend [game] engine, or install one."
        )
    factory: Factory = guarded(engine, f"load {found.value}", found.load)
    made = guarded(engine, "make the game", lambda: factory(spec))
    if not (hasattr(made, "start") and hasattr(made, "step")):
        raise EngineError(f"The engine '{engine}' made no game", f"It made {str(made)[:80]!r}.", "Ask its makers.")
    return ForeignGame(engine, made)
