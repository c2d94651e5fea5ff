"""What is played: a cell is one episode, a matrix says which cells an evaluation has."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

NO_MODEL = "none"
"""The model of a mode that asks none: `random` is played once, not once for each model."""


@dataclass(frozen=True, order=True)
class Cell:
    """One episode to play. `repeat` counts from 1; repeats differ only in what a model answers."""

    setting: str
    mode: str
    model: str
    seed: int
    repeat: int = 1

    @property
    def configuration(self) -> tuple[str, str, str]:
        """What is compared: game, mode and model."""
        return self.setting, self.mode, self.model

    @property
    def model_seed(self) -> int:
        """The seed that the model is given. It differs between repeats: these are to be different answers."""
        return self.seed + 1_000_003 * (self.repeat - 1)

    @property
    def label(self) -> str:
        """A name for files and people, unique within an evaluation."""
        tail = f"-repeat{self.repeat}" if self.repeat > 1 else ""
        return f"{self.setting}-{self.mode}-{file_name(self.model)}-seed{self.seed}{tail}"


_LONGEST_NAME = 100
"""Characters of a model's name in a file's name: file systems allow 255 bytes for the whole."""


def file_name(model: str) -> str:
    """A model's name as part of a file's name, unique: if characters are replaced, a digest of the name is added."""
    name = re.sub(r"[^A-Za-z0-9.,+=@_-]+", "-", model)
    if name == model and len(name) <= _LONGEST_NAME:
        return name
    return f"{name[:_LONGEST_NAME]}-{hashlib.sha256(model.encode(errors='replace')).hexdigest()[:8]}"


@dataclass(frozen=True)
class Matrix:
    """What an evaluation was asked to play: `seeds` of each game, with each mode and model, `repeats` times.

    Modes `without_model` ask none and have a seed of their own: they are played once, and not repeated.
    """

    seeds: Mapping[str, tuple[int, ...]]
    modes: tuple[str, ...]
    models: tuple[str, ...]
    repeats: int = 1
    without_model: tuple[str, ...] = ("random",)

    def cells(self) -> tuple[Cell, ...]:
        """All cells, in the order in which they are played: every configuration of a seed before the next seed.

        The order makes what is known after an interrupt comparable.
        """
        cells = []
        longest = max((len(own) for own in self.seeds.values()), default=0)
        for repeat in range(1, self.repeats + 1):
            for number in range(longest):
                for setting, own in self.seeds.items():
                    if number < len(own):
                        cells += [
                            Cell(setting, mode, model, own[number], repeat) for mode, model in self._pairs(repeat)
                        ]
        return tuple(dict.fromkeys(cells))

    def _pairs(self, repeat: int) -> Iterator[tuple[str, str]]:
        for mode in self.modes:
            if mode not in self.without_model:
                for model in self.models:
                    yield mode, model
            elif repeat == 1:
                yield mode, NO_MODEL
