"""The statistics of the reports: intervals of a success rate, paired tests of two configurations on common seeds."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pddlego.runs.summary import Summary
from pddlego.util.text import count

_CONFIDENCE = 0.95

_FEWEST = 6
"""Pairs below which no interval of a mean is given."""


@dataclass(frozen=True)
class Interval:
    """A confidence interval (95 %)."""

    low: float
    high: float


def wilson(successes: int, trials: int) -> Interval:
    """The Wilson score interval of a success rate. Of no trials nothing is known: 0 to 1."""
    if trials == 0:
        return Interval(0.0, 1.0)
    from scipy.stats import binomtest

    interval = binomtest(successes, trials).proportion_ci(_CONFIDENCE, method="wilson")
    return Interval(float(interval.low), float(interval.high))


def mcnemar(pairs: Sequence[tuple[bool, bool]]) -> float:
    """The p-value of McNemar's exact test: do two configurations succeed on different seeds by more than chance?

    Only the pairs that differ count. Without any the p-value is 1.
    """
    first = sum(one and not other for one, other in pairs)
    second = sum(other and not one for one, other in pairs)
    if first + second == 0:
        return 1.0
    from scipy.stats import binomtest

    return float(binomtest(first, first + second).pvalue)


def bootstrap_mean(differences: Sequence[float], samples: int = 9_999) -> Interval:
    """The bootstrap interval (percentiles) of the mean of paired differences. The same numbers give the same interval.

    Of fewer than `_FEWEST` differences too little is known about their spread: the interval has no bounds.
    """
    if len(differences) < _FEWEST:
        return Interval(float("-inf"), float("inf"))
    if len(set(differences)) == 1:
        return Interval(differences[0], differences[0])
    import numpy
    from scipy.stats import bootstrap

    result = bootstrap(
        (numpy.asarray(differences, dtype=float),),
        numpy.mean,
        n_resamples=samples,
        confidence_level=_CONFIDENCE,
        method="percentile",
        rng=numpy.random.default_rng(0),
    ).confidence_interval
    return Interval(float(result.low), float(result.high))


@dataclass(frozen=True)
class Comparison:
    """Two methods on the seeds of one game that both have, without episodes that were lost to an error.

    Repeats of a seed are one pair, because they are not independent games: it counts as won if most of them were, with
    their means. `compared` names the number that they are compared by, if there is one: `interval` is the bootstrap
    interval (95 %) of the mean difference in it, first minus second, where both won.
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

    @property
    def conclusion(self) -> str:
        """What may be concluded, in a sentence or two."""
        return f"{self._success()} {self._number()}".strip()

    def _success(self) -> str:
        if not self.pairs:
            return "No shared seeds, so they cannot be compared."
        basis = f"({count(self.pairs, 'shared seed')}, McNemar's exact test, p = {self.p_value:.3g})"
        if self.p_value >= 0.05:
            return f"No significant difference in success {basis}."
        better = self.first if self.only_first > self.only_second else self.second
        return f"{better} succeeds more often {basis}."

    def _number(self) -> str:
        name = self.compared
        if not name:
            return ""
        if self.interval is None or self.difference is None:
            return f"No shared wins to compare {name}."
        if self.both_won < _FEWEST:
            return f"Too few shared wins ({self.both_won}) to compare {name}."
        low, high = self.interval.low, self.interval.high
        basis = f"({count(self.both_won, 'shared win')}, bootstrap, 95 %: {low:+.2f} to {high:+.2f})"
        if low <= 0 <= high:
            return f"No significant difference in {name} {basis}."
        fewer = self.first if self.difference < 0 else self.second
        return f"{fewer} needs {abs(self.difference):.2f} fewer {name} {basis}."


@dataclass(frozen=True)
class Side:
    """One of two methods that are compared: what it is called, and its results."""

    name: str
    results: Sequence[Summary]


def compare(first: Side, second: Side, game: str, compared: str) -> Comparison:
    """Compare the results of two methods on one game, pairwise by seed; `compared` is a number that both measure."""
    one, other = (_by_seed(side.results, game, compared) for side in (first, second))
    common = [(one[seed], other[seed]) for seed in sorted(one.keys() & other.keys())]
    won = [(left is not None, right is not None) for left, right in common]
    both = [(left, right) for left, right in common if left is not None and right is not None]
    differences = [left - right for left, right in both]
    return Comparison(
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
