"""An episode that begins where another was left, with a problem that a person may have corrected."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pddlego.errors import PddlegoError
from pddlego.pddl import Problem


class ReplayError(PddlegoError):
    """A game or an agent does not do again what was recorded."""


@dataclass(frozen=True)
class Restart:
    """The episode that was recorded at `source` goes on after `step`.

    `commands` bring the game there: each with the answer that was recorded, which must come again. `before` is the
    problem that the agent had there, made from the first `known` observations. `corrected` is what a person made of it,
    with which the agent plans at once; without it the agent asks the model again.
    """

    source: str
    step: int
    commands: Sequence[tuple[str, str]]
    before: Problem
    known: int
    corrected: Problem | None = None
