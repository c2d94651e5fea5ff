"""An episode that begins where another was left, with a problem that a person may have corrected."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pddlego.errors import DIFFERS, ReplayError
from pddlego.pddl import Problem


@dataclass(frozen=True)
class Repeated:
    """A command with the answer that was recorded, and what the model was told if the plan expected another.

    `free` is a look around that took no step.
    """

    command: str
    text: str
    unforeseen: str = ""
    free: bool = False


@dataclass(frozen=True)
class Restart:
    """The episode that was recorded at `source` goes on after `step`.

    `commands` bring the game there: each with its answer, which must come again. `before` is the
    problem that the agent had there, made from the first `known` observations. `corrected` is what a person made of it,
    with which the agent plans at once. Without it the agent asks the model about what came since; where that is nothing
    it plans at once, too. `look` is the game's first answer, where it is known, and `written` the domain of the model's
    with its commands, where it wrote one.
    """

    source: str
    step: int
    commands: Sequence[Repeated]
    before: Problem
    known: int
    corrected: Problem | None = None
    look: str = ""
    written: str = ""


def check_same(to: str, recorded: str, now: str) -> None:
    """Raises `ReplayError` if the game answers otherwise than it did before."""
    if recorded and recorded != now:
        raise ReplayError(
            f"{DIFFERS} to {to}", f"Recorded: {recorded!r}. Now: {now!r}.", "Is it the same game and seed?"
        )
