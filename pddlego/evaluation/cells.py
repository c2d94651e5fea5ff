"""What an evaluation consists of: one cell for each game, mode, model, seed and repeat."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from pddlego.errors import UsageError
from pddlego.settings import Setting

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
    def label(self) -> str:
        """A name for files and people, unique within an evaluation."""
        tail = f"-repeat{self.repeat}" if self.repeat > 1 else ""
        return f"{self.setting}-{self.mode}-{file_name(self.model)}-seed{self.seed}{tail}"


LONGEST_NAME = 100
"""Characters of a model's name in a file's name: file systems take 255 bytes for the whole."""


def file_name(model: str) -> str:
    """A model's name as part of a file's name. Two names stay two: what is not plain is written as its code.

    Of a long one the end is replaced by a digest of the whole.
    """
    name = re.sub(r"[^A-Za-z0-9.-]", lambda match: f"_{ord(match.group()):x}_", model)
    if len(name) <= LONGEST_NAME:
        return name
    digest = hashlib.sha256(model.encode(errors="replace")).hexdigest()[:16]
    return f"{name[: LONGEST_NAME - len(digest) - 1]}_{digest}"


@dataclass(frozen=True)
class Matrix:
    """What an evaluation was asked to play: `seeds` of each game, with each mode and model, `repeats` times."""

    seeds: Mapping[str, tuple[int, ...]]
    modes: tuple[str, ...]
    models: tuple[str, ...]
    repeats: int = 1

    def cells(self) -> tuple[Cell, ...]:
        """Every cell, in the order in which they are played."""
        return matrix(self.seeds, self.modes, self.models, self.repeats)


def matrix(
    seeds: Mapping[str, Sequence[int]], modes: Sequence[str], models: Sequence[str], repeats: int = 1
) -> tuple[Cell, ...]:
    """All cells, in the order in which they are played: every configuration of a seed before the next seed.

    `seeds` says for each game which seeds are played. The order makes what is known after an interrupt comparable.
    """
    cells = []
    longest = max((len(each) for each in seeds.values()), default=0)
    for repeat in range(1, repeats + 1):
        for number in range(longest):
            for setting, own in seeds.items():
                if number < len(own):
                    pairs = _pairs(modes, models, repeat)
                    cells += [Cell(setting, mode, model, own[number], repeat) for mode, model in pairs]
    return tuple(dict.fromkeys(cells))


def _pairs(modes: Sequence[str], models: Sequence[str], repeat: int) -> Iterator[tuple[str, str]]:
    for mode in modes:
        if mode == "random":
            if repeat == 1:  # it has a seed of its own: a repeat would be the same episode
                yield mode, NO_MODEL
        else:
            for model in models:
                yield mode, model


def parse_seeds(text: str, setting: Setting) -> tuple[int, ...]:
    """`dev`, `test` or a list such as `0-9,20,30-39`, as seeds of the setting's fold, in order, each once.

    Raises `UsageError` for anything else and for seeds that the fold does not have.
    """
    found: list[int] = []
    for part in text.split(","):
        word = part.strip()
        if word in setting.seeds:
            found += setting.seeds[word]
        else:
            found += _range(word, setting)
    for seed in found:
        setting.check_seed(seed)
    return tuple(dict.fromkeys(found))


def _range(word: str, setting: Setting) -> Iterable[int]:
    match = re.fullmatch(r"(\d{1,9})(?:\s*-\s*(\d{1,9}))?", word)
    first, last = (int(match.group(1)), int(match.group(2) or match.group(1))) if match else (1, 0)
    if last < first:
        splits = ", ".join(setting.seeds)
        why = f"{setting.name} has the splits {splits or '(none)'}; otherwise write seeds as 0-9,20."
        raise UsageError(f"'{word}' names no seeds", why, "Example: --seeds 10-59.")
    if last - first > 1_000_000:
        setting.check_seed(last)
    return range(first, last + 1)
