"""Cells and matrices: a cell identifies one episode, and a matrix describes all cells of an evaluation."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

NO_MODEL = "none"
"""The name of the model in cells of modes that use no model, such as `random`."""


@dataclass(frozen=True, slots=True, order=True)
class Cell:
    """One episode to play. `repeat` counts from 1; repeats of a cell differ only in the answers of the model."""

    setting: str
    mode: str
    model: str
    seed: int
    repeat: int = 1

    @property
    def configuration(self) -> tuple[str, str, str]:
        """The setting, mode and model: evaluations compare configurations."""
        return self.setting, self.mode, self.model

    @property
    def model_seed(self) -> int:
        """The seed of the model's sampling. It differs between repeats, so that their answers are independent."""
        return self.seed + 1_000_003 * (self.repeat - 1)

    @property
    def series(self) -> str:
        """A readable name for files about all episodes of the configuration."""
        return f"{self.setting}-{self.mode}-{file_name(self.model)}"

    @property
    def label(self) -> str:
        """A readable name for files, unique within an evaluation."""
        tail = f"-repeat{self.repeat}" if self.repeat > 1 else ""
        return f"{self.series}-seed{self.seed}{tail}"


_LONGEST_NAME = 100
"""Maximum characters of a model's name in a file name: file systems allow 255 bytes for the whole file name."""


def file_name(model: str) -> str:
    """A unique form of a model's name for file names; if it had to be changed, it ends with a digest of the name."""
    name = re.sub(r"[^A-Za-z0-9.,+=@_-]+", "-", model)
    if name == model and len(name) <= _LONGEST_NAME:
        return name
    return f"{name[:_LONGEST_NAME]}-{hashlib.sha256(model.encode(errors='replace')).hexdigest()[:8]}"


def public_model(model: str) -> str:
    """The name of a model without the folder of its file: `local:/home/ann/qwen.gguf` is `local:qwen.gguf`."""
    return re.sub(r"^(local:|transcript:)[^,]*[/\\]", r"\1", model)


@dataclass(frozen=True)
class Matrix:
    """The episodes that an evaluation requests: the `seeds` of each setting, with each mode and model, `repeats` times.

    The repeats are counted from `first_repeat`. Modes `without_model` are played once, because other models and repeats
    would not change their episodes.
    """

    seeds: Mapping[str, tuple[int, ...]]
    modes: tuple[str, ...]
    models: tuple[str, ...]
    repeats: int = 1
    without_model: tuple[str, ...] = ("random",)
    first_repeat: int = 1

    def cells(self) -> tuple[Cell, ...]:
        """All cells in playing order: every configuration plays its n-th seed before any plays its next seed.

        So an interrupted evaluation has comparable results of all configurations.
        """
        cells = []
        longest = max((len(seeds) for seeds in self.seeds.values()), default=0)
        for repeat in range(self.first_repeat, self.repeats + 1):
            for index in range(longest):
                for setting, seeds in self.seeds.items():
                    if index < len(seeds):
                        cells += [
                            Cell(setting, mode, model, seeds[index], repeat) for mode, model in self._pairs(repeat)
                        ]
        return tuple(dict.fromkeys(cells))

    def _pairs(self, repeat: int) -> Iterator[tuple[str, str]]:
        for mode in self.modes:
            if mode not in self.without_model:
                for model in self.models:
                    yield mode, model
            elif repeat == 1:
                yield mode, NO_MODEL
