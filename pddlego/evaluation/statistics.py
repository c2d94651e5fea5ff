"""The statistics of the reports: intervals of a success rate, paired tests of two configurations on common seeds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

CONFIDENCE = 0.95

FEWEST = 6
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

    found = binomtest(successes, trials).proportion_ci(CONFIDENCE, method="wilson")
    return Interval(float(found.low), float(found.high))


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

    Of fewer than `FEWEST` differences too little is known about their spread: the interval has no bounds.
    """
    if len(differences) < FEWEST:
        return Interval(float("-inf"), float("inf"))
    if len(set(differences)) == 1:
        return Interval(differences[0], differences[0])
    import numpy
    from scipy.stats import bootstrap

    found = bootstrap(
        (numpy.asarray(differences, dtype=float),),
        numpy.mean,
        n_resamples=samples,
        confidence_level=CONFIDENCE,
        method="percentile",
        rng=numpy.random.default_rng(0),
    ).confidence_interval
    return Interval(float(found.low), float(found.high))
