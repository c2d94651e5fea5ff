"""The seeds that a text names."""

from __future__ import annotations

import re
from collections.abc import Iterable

from pddlego.errors import UsageError
from pddlego.methods.base import Setting, check_seed


def parse_seeds(text: str, setting: Setting) -> tuple[int, ...]:
    """The seeds that `dev`, `test` or a list such as `0-9,20,30-39` means, in order, each once.

    Raises `UsageError` for anything else, and for seeds that the setting does not have.
    """
    seeds: list[int] = []
    for part in text.split(","):
        word = part.strip()
        seeds += setting.seeds[word] if word in setting.seeds else _range(word, setting)
    for seed in seeds:
        check_seed(setting, seed)
    return tuple(dict.fromkeys(seeds))


def _range(word: str, setting: Setting) -> Iterable[int]:
    match = re.fullmatch(r"(\d{1,9})(?:\s*-\s*(\d{1,9}))?", word)
    first, last = (int(match.group(1)), int(match.group(2) or match.group(1))) if match else (1, 0)
    if last < first:
        splits = ", ".join(setting.seeds)
        reason = f"{setting.name} has the splits {splits or '(none)'}; otherwise write seeds as 0-9,20."
        raise UsageError(f"'{word}' names no seeds", reason, "Example: --seeds 10-59.")
    if last - first > 1_000_000:
        check_seed(setting, last)
    return range(first, last + 1)
