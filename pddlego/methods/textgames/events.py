"""What happens in text games besides what happens everywhere: answers of the game, plans, resumptions."""

from __future__ import annotations

from dataclasses import dataclass

from pddlego.events import Event
from pddlego.planning import TriedRung


class GameEvent(Event):
    """An event of a text game."""

    method = "textgames"


@dataclass(frozen=True)
class Observed(GameEvent):
    """The game answered. `command` is None for the first look; `text` is the whole answer, `read` what is read of it.

    `refused` means that nothing happened; `surprise` says how the answer differs from what the plan expected,
    `unforeseen` what the model is told of that. `free` is a look around that took no step: the game tells it anyway.
    `repeated`: the game began anew after a refusal, and the command was sent again to get back; that is no step.
    """

    type = "observed"
    step: int
    command: str | None
    text: str
    read: str
    score: float = 0.0
    won: bool = False
    lost: bool = False
    refused: bool = False
    surprise: str = ""
    unforeseen: str = ""
    free: bool = False
    repeated: bool = False


@dataclass(frozen=True)
class PlannedStep:
    """One step of a plan: the ground action, its command, and the facts that it is expected to add and remove."""

    action: str
    command: str
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()


@dataclass(frozen=True)
class Planned(GameEvent):
    """The ladder was climbed. `rung` names the goal of the plan, or is None if no goal can be reached."""

    type = "planned"
    times = ("tried.seconds",)
    tried: tuple[TriedRung, ...]
    rung: str | None
    plan: tuple[PlannedStep, ...]

    @property
    def may_be_cut_short(self) -> bool:
        return self.rung is None


@dataclass(frozen=True)
class Resumed(GameEvent):
    """The episode goes on where another one was left, after `step`: the game was brought there by its commands.

    `source` is the journal of the other. `corrected` says that a person corrected the problem: `added` and `removed`
    are what they changed. `known` is of how many observations the problem `before` the correction was made. `written`
    is the domain of the model's, with its commands, where it wrote one.
    """

    type = "resumed"
    source: str
    step: int
    before: str
    known: int
    corrected: str | None = None
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    written: str = ""
