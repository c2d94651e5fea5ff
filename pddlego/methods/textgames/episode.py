"""One episode of a text game: what is played, under which limits, and where it begins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pddlego.episode.events import Limits
from pddlego.errors import DIFFERS, ReplayError
from pddlego.methods.base import Variant, parse_variant
from pddlego.methods.textgames.options import MODES, PLANNING, WRITES_DOMAIN
from pddlego.methods.textgames.settings import GameSetting
from pddlego.pddl import Problem


@dataclass(frozen=True)
class Episode:
    """The setting, the seed, the mode and its limits.

    `retries` says how often the model is asked again about an unusable answer, if the setting does not. With its `whole
    memory` a model is shown every command with its answer, and not what is new; one that `rewinds` begins the game anew
    after a refused command, and repeats what had worked. Raises `UsageError` for a mode that does not exist.
    """

    setting: GameSetting
    seed: int
    mode: str
    limits: Limits
    retries: int = 5
    replan_every_step: bool = False
    whole_memory: bool = False
    rewinds: bool = False

    def __post_init__(self) -> None:
        parse_variant(self.mode, MODES)

    @property
    def variant(self) -> Variant:
        """The mode, taken apart."""
        return parse_variant(self.mode, MODES)

    @property
    def without(self) -> frozenset[str]:
        """The parts that are out: those of the variant, and those that no mode has in this setting."""
        return frozenset((*self.variant.without, *self.setting.asking.protocol.without))

    @property
    def most_retries(self) -> int:
        """How often a question is asked again at most: the setting may have a number of its own."""
        attempts = self.setting.asking.protocol.attempts
        return self.retries if attempts is None else attempts - 1

    @property
    def writes_domain(self) -> bool:
        """Whether the model writes the domain, too."""
        return self.variant.mode.name in WRITES_DOMAIN

    @property
    def plans(self) -> bool:
        """Whether there are problems and plans in it."""
        return self.variant.mode.name in PLANNING

    @property
    def monitors(self) -> bool:
        """Whether what the game answers is compared with what the plan expected: a surprise ends the plan, and no
        question is asked where all went as expected and nothing else was said."""
        return self.plans and "replanning" not in self.without


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
