"""The statistics of the reports: intervals of a success rate, paired tests of two configurations on common seeds."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice

from pddlego.runs.summary import Summary

_CONFIDENCE = 0.95

_Z = statistics.NormalDist().inv_cdf((1 + _CONFIDENCE) / 2)

_FEWEST = 6
"""Pairs below which no interval of a mean is given."""

_MANY = 2_000
"""Pairs above which the interval of a mean is that of the normal distribution, which takes no samples."""


@dataclass(frozen=True)
class Interval:
    """A confidence interval (95 %)."""

    low: float
    high: float

    @property
    def percent(self) -> str:
        """Both bounds in per cent, such as `34-100`."""
        return f"{100 * self.low:.0f}-{100 * self.high:.0f}"


def wilson(successes: int, trials: int) -> Interval:
    """The Wilson score interval of a success rate; 0 to 1 without trials."""
    if trials == 0:
        return Interval(0.0, 1.0)
    rate, square = successes / trials, _Z**2
    centre = rate + square / (2 * trials)
    margin = _Z * (rate * (1 - rate) / trials + square / (4 * trials**2)) ** 0.5
    low, high = ((centre + side * margin) / (1 + square / trials) for side in (-1, 1))
    return Interval(low if successes else 0.0, high if successes < trials else 1.0)


def mcnemar(pairs: Sequence[tuple[bool, bool]]) -> float:
    """The p-value of McNemar's exact test: do two configurations succeed on different seeds by more than chance?

    Only the pairs that differ count. Without any the p-value is 1.
    """
    first = sum(one and not other for one, other in pairs)
    second = sum(other and not one for one, other in pairs)
    ways, at_most = 1, 0  # of choosing `chosen` of all pairs, and of choosing as few as the smaller count
    for chosen in range(min(first, second) + 1):
        at_most += ways
        ways = ways * (first + second - chosen) // (chosen + 1)
    return min(1.0, 2 * at_most / (1 << first + second))


def paired_difference(pairs: Sequence[tuple[bool, bool]]) -> Interval:
    """The interval of the difference of two success rates, first minus second, on the same episodes.

    It is the adjusted Wald interval of Agresti and Min (2005): half an observation is added to each cell of the table.
    """
    total = len(pairs) + 2
    first = 0.5 + sum(one and not other for one, other in pairs)
    second = 0.5 + sum(other and not one for one, other in pairs)
    difference = (first - second) / total
    margin = _Z * ((first + second) - (first - second) ** 2 / total) ** 0.5 / total
    return Interval(max(-1.0, difference - margin), min(1.0, difference + margin))


def bootstrap_mean(differences: Sequence[float], samples: int = 9_999) -> Interval:
    """The bootstrap interval (percentiles) of the mean of paired differences. The same numbers give the same interval.

    With fewer than `_FEWEST` differences the interval is infinite. With more than `_MANY`, it is that of the normal
    distribution.
    """
    if len(differences) < _FEWEST:
        return Interval(float("-inf"), float("inf"))
    if len(set(differences)) == 1:
        return Interval(differences[0], differences[0])
    size = len(differences)
    if size > _MANY:
        mean, margin = statistics.fmean(differences), _Z * statistics.stdev(differences) / math.sqrt(size)
        return Interval(mean - margin, mean + margin)
    positions = _kept_positions(size, samples) if size <= _BYTE else _positions(size)
    drawn = map(differences.__getitem__, positions)
    means = sorted(math.fsum(islice(drawn, size)) / size for _ in range(samples))
    tail = 100 * (1 - _CONFIDENCE) / 2
    return Interval(_quantile(means, tail / 100), _quantile(means, (100 - tail) / 100))


def _quantile(ordered: Sequence[float], share: float) -> float:
    """The value below which this share of the numbers is, between two numbers by linear interpolation."""
    place, part = divmod((len(ordered) - 1) * share, 1)
    low, high = ordered[int(place) : int(place) + 2]
    return low + (high - low) * part if part < 0.5 else high - (high - low) * (1 - part)


_BYTE = 1 << 8
_WORD = (1 << 32) - 1
_LONG_WORD = (1 << 64) - 1
_STATE = (1 << 128) - 1
_SEED = 35399562948360463058890781895381311971
_STEP = 87136372517582989555478159403783844777
_FACTOR = 0x2360ED051FC65DA44385DF649FCCF645


def _positions(size: int) -> Iterator[int]:
    """Random numbers below `size`, the same ones each time: those of `numpy.random.default_rng(0).integers`.

    The generator is PCG64 (O'Neill 2014), whose 128 bits of state give two words; Lemire's method (2019) brings a word
    below `size` without bias.
    """
    state, least = _SEED, (1 << 32) % size
    while True:
        state = (state * _FACTOR + _STEP) & _STATE
        word = (state >> 64) ^ (state & _LONG_WORD)
        word = word >> (state >> 122) | word << 64 - (state >> 122)  # rotated; the bits above 64 are not used
        for half in (word & _WORD, word >> 32 & _WORD):
            if (half * size) & _WORD >= least:
                yield half * size >> 32


@lru_cache(maxsize=32)
def _kept_positions(size: int, samples: int) -> bytes:
    """The positions of all samples of at most 256 numbers: a report has many intervals of equally many numbers."""
    return bytes(islice(_positions(size), size * samples))


@dataclass(frozen=True)
class PairedComparison:
    """Two methods on the seeds of a game that both played, without episodes that were lost to an error.

    Repeats of a seed are one pair, because they are not independent: a seed counts as won if most of its repeats were
    won. `difference` is the mean difference (first minus second) of the `compared` number on the seeds that both won,
    and `interval` its bootstrap interval (95 %). `p_value` is that of McNemar's exact test, and `adjusted` the same
    after Holm's correction for all comparisons of a report.
    """

    game: str
    first: str
    second: str
    pairs: int
    only_first: int
    only_second: int
    p_value: float
    both_won: int
    difference: float | None
    interval: Interval | None
    compared: str
    adjusted: float = 1.0


@dataclass(frozen=True)
class Side:
    """One of two methods that are compared: its name and its results."""

    name: str
    results: Sequence[Summary]


def compare_paired(first: Side, second: Side, game: str, compared: str) -> PairedComparison:
    """Compare the results of two methods on one game, pairwise by seed; `compared` is a number that both measure."""
    one, other = (_by_seed(side.results, game, compared) for side in (first, second))
    common = [(one[seed], other[seed]) for seed in sorted(one.keys() & other.keys())]
    won = [(left is not None, right is not None) for left, right in common]
    both = [(left, right) for left, right in common if left is not None and right is not None]
    differences = [left - right for left, right in both]
    return PairedComparison(
        game=game,
        first=first.name,
        second=second.name,
        pairs=len(common),
        only_first=sum(left and not right for left, right in won),
        only_second=sum(right and not left for left, right in won),
        p_value=mcnemar(won),
        both_won=len(both),
        difference=statistics.mean(differences) if both and compared else None,
        interval=bootstrap_mean(differences) if both and compared else None,
        compared=compared,
    )


def _by_seed(results: Iterable[Summary], game: str, compared: str) -> dict[int, float | None]:
    """The mean of the compared number for each seed that was won more often than not, None for the others."""
    repeats: dict[int, list[Summary]] = {}
    for summary in results:
        if summary.counts and summary.cell.setting == game:
            repeats.setdefault(summary.cell.seed, []).append(summary)
    by_seed: dict[int, float | None] = {}
    for seed, played in repeats.items():
        numbers = [summary.measures.numbers.get(compared, 0) for summary in played if summary.won]
        by_seed[seed] = statistics.mean(numbers) if 2 * len(numbers) > len(played) else None
    return by_seed


def holm_corrected(comparisons: Sequence[PairedComparison]) -> tuple[PairedComparison, ...]:
    """The comparisons with p-values adjusted for their number, by Holm's step-down procedure."""
    adjusted: dict[int, float] = {}
    least = 0.0
    ordered = sorted(range(len(comparisons)), key=lambda number: comparisons[number].p_value)
    for rank, number in enumerate(ordered):
        least = max(least, min(1.0, comparisons[number].p_value * (len(comparisons) - rank)))
        adjusted[number] = least
    return tuple(replace(one, adjusted=adjusted[number]) for number, one in enumerate(comparisons))
