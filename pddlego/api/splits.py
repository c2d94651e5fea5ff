"""Splits of seeds: which seeds may be used for training."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Literal

from pddlego.errors import UsageError
from pddlego.methods.registry import first_mode, method_of

if TYPE_CHECKING:
    from pddlego.methods.base import Setting

Split = Literal["train", "dev", "test"]


def setting_of(game: str, mode: str | None) -> Setting:
    """The setting as the mode plays it. Raises `UsageError` for an unknown one."""
    method = method_of(game, mode or first_mode(game))
    return method.load(game, method.options())


def split_of(setting: Setting, seed: int) -> str:
    """The name of the split that contains the seed, such as `test`; `train` if no split does.

    If the setting plays another fold of the game than `train`, the split is called like the fold.
    """
    if setting.fold != "train":
        return setting.fold
    names = sorted((name for name, seeds in setting.seeds.items() if seed in seeds), key=lambda name: name != "test")
    return names[0] if names else "train"


def seeds_of(setting: Setting, split: Split) -> Sequence[int]:
    """The seeds of a split, in order. Raises `UsageError` if it has none."""
    check_split_name(setting, split)
    seeds: Sequence[int] = setting.all_seeds if setting.fold == split != "train" else setting.seeds.get(split, ())
    if split == "train":
        seeds = [seed for seed in setting.all_seeds if split_of(setting, seed) == "train"]
    if not seeds:
        raise UsageError(f"{setting.name} has no seeds of the split {split}", "", "Choose another split.")
    return seeds


def check_split_name(setting: Setting, split: str) -> None:
    """Raise `UsageError` for an unknown split."""
    names = ("train", *setting.seeds) if setting.fold == "train" else (setting.fold,)
    if split not in names:
        reason = f"Its splits are: {', '.join(names)}."
        raise UsageError(f"{setting.name} has no split '{split}'", reason, "Choose one of them.")


def check_split(setting: Setting, seed: int, split: str | None) -> None:
    """Raise `UsageError` if a seed is not in the split; without one, if it is in the split `test`."""
    if split is None:
        refuse_test_seeds(setting, [seed])
    elif (own := split_of(setting, seed)) != split:
        refuse_test_seeds(setting, [seed] if split == "train" else [])
        reason = f"It is in the split {own}."
        advice = "Choose another seed, or leave out the split."
        raise UsageError(f"Seed {seed} of {setting.name} is not in the split {split}", reason, advice)


def refuse_test_seeds(setting: Setting, seeds: Iterable[int]) -> None:
    """Raise `UsageError` if one of the seeds is in the split `test`."""
    leaked = next((seed for seed in seeds if split_of(setting, seed) == "test"), None)
    if leaked is not None:
        reason = f"Seed {leaked} is in the split test, with which models are compared."
        raise UsageError(f"{setting.name}: test seeds are not for training", reason, "Choose other seeds.")
