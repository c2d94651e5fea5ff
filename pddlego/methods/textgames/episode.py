"""What is played: one episode of a mode on a seed of a setting."""

from __future__ import annotations

from dataclasses import dataclass

from pddlego.events import Limits
from pddlego.methods.base import Variant, parse_variant
from pddlego.methods.textgames.modes import MODES, PLANNING, WRITES_DOMAIN
from pddlego.methods.textgames.settings import GameSetting


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
        return frozenset((*self.variant.without, *self.setting.protocol.without))

    @property
    def most_retries(self) -> int:
        """How often a question is asked again at most: the setting may have a number of its own."""
        attempts = self.setting.protocol.attempts
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
