"""What a method measures of an episode, for tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

FIRST = ("game", "mode", "model", "seed", "repeat", "outcome", "score")
LAST = ("calls", "characters", "tokens_in", "tokens_out", "tokens_cached", "from_cache")
"""The columns that tables of episodes have of every method, around those that it measures."""


@dataclass(frozen=True)
class Measures:
    """Numbers by name, each a column of tables, and counts of what happened: by kind, in several groups.

    `series` are points for figures, each an x and a y, by the name of the figure.
    """

    numbers: Mapping[str, int | float] = field(default_factory=dict)
    counts: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    series: Mapping[str, tuple[tuple[float, float], ...]] = field(default_factory=dict)
