from __future__ import annotations

import math
from itertools import islice

import numpy
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from pddlego.evaluation.statistics import _positions, bootstrap_mean, mcnemar, paired_difference, wilson


@given(st.integers(1, 500).flatmap(lambda trials: st.tuples(st.integers(0, trials), st.just(trials))))
def test_wilson_is_that_of_scipy(case: tuple[int, int]) -> None:
    won, trials = case
    expected = scipy.stats.binomtest(won, trials).proportion_ci(0.95, method="wilson")
    result = wilson(won, trials)
    assert (result.low, result.high) == pytest.approx((expected.low, expected.high), abs=1e-12)
    assert 0 <= result.low <= won / trials <= result.high <= 1


def test_of_nothing_nothing_is_known() -> None:
    assert (wilson(0, 0).low, wilson(0, 0).high) == (0, 1)
    assert mcnemar([]) == 1.0
    assert bootstrap_mean([3.0, 3.0]).low == -math.inf, "two equal differences prove nothing"


@given(st.integers(0, 40), st.integers(0, 40), st.integers(0, 5))
def test_mcnemar_is_a_coin_on_the_pairs_that_differ(first: int, second: int, same: int) -> None:
    pairs = [(True, False)] * first + [(False, True)] * second + [(True, True), (False, False)] * same
    if first + second:
        assert mcnemar(pairs) == pytest.approx(scipy.stats.binomtest(first, first + second).pvalue, rel=1e-9)
    assert mcnemar(pairs) == pytest.approx(mcnemar([(other, one) for one, other in pairs]))


def test_mcnemar_with_many_pairs_does_not_overflow() -> None:
    pairs = [(True, False)] * 2_000 + [(False, True)] * 1_900
    assert mcnemar(pairs) == pytest.approx(scipy.stats.binomtest(2_000, 3_900).pvalue, rel=1e-9)


@pytest.mark.parametrize("size", [6, 7, 40, 300])
def test_the_bootstrap_interval_is_that_of_scipy(size: int) -> None:
    values = numpy.random.default_rng(size).integers(-20, 20, size).astype(float)
    for scaled in (values, values / 3):
        expected = scipy.stats.bootstrap(
            (scaled,), numpy.mean, n_resamples=999, method="percentile", rng=numpy.random.default_rng(0)
        ).confidence_interval
        result = bootstrap_mean(scaled.tolist(), samples=999)
        assert (result.low, result.high) == pytest.approx((expected.low, expected.high), rel=1e-12)


@pytest.mark.parametrize("size", [6, 45, 300])
def test_whole_numbers_have_the_interval_of_numpy_to_the_last_bit(size: int) -> None:
    random, values = numpy.random.default_rng(0), numpy.random.default_rng(size).integers(-99, 99, size).astype(float)
    means = [values[random.integers(0, size, size)].mean() for _ in range(999)]
    tail = 100 * (1 - 0.95) / 2
    result = bootstrap_mean(values.tolist(), samples=999)
    assert [result.low, result.high] == numpy.percentile(means, (tail, 100 - tail)).tolist()


def test_many_differences_have_the_interval_of_the_normal_distribution() -> None:
    """It differs from that of the bootstrap by less than the chance in 9,999 samples does."""
    values = numpy.random.default_rng(0).normal(1, 3, 3_000)
    result = bootstrap_mean(values.tolist())
    expected = scipy.stats.bootstrap(
        (values,), numpy.mean, method="percentile", rng=numpy.random.default_rng(0)
    ).confidence_interval
    assert (result.low, result.high) == pytest.approx((expected.low, expected.high), abs=0.004)


def test_positions_are_those_of_numpy() -> None:
    for size in (6, 50, 256, 257, 3_000_000_000):  # the last size rejects a third of the words
        expected = numpy.random.default_rng(0).integers(0, size, 200).tolist()
        assert list(islice(_positions(size), 200)) == expected


@given(st.lists(st.integers(-20, 20).map(float), min_size=6, max_size=30))
def test_the_bootstrap_interval_holds_the_mean_and_is_always_the_same(differences: list[float]) -> None:
    result = bootstrap_mean(differences, samples=199)
    assert min(differences) <= result.low <= result.high <= max(differences)
    assert result == bootstrap_mean(differences, samples=199)


def test_the_interval_of_a_paired_difference_is_that_of_the_example() -> None:
    """Approval of a prime minister in two surveys (Agresti, Categorical Data Analysis, section 10.1): 0.02 to 0.06."""
    pairs = [*[(True, True)] * 794, *[(True, False)] * 150, *[(False, True)] * 86, *[(False, False)] * 570]
    interval = paired_difference(pairs)
    assert (round(interval.low, 3), round(interval.high, 3)) == (0.021, 0.059)


@given(st.lists(st.tuples(st.booleans(), st.booleans()), max_size=60))
def test_the_interval_of_a_paired_difference_turns_with_the_sides(pairs: list[tuple[bool, bool]]) -> None:
    interval = paired_difference(pairs)
    turned = paired_difference([(second, first) for first, second in pairs])
    assert (interval.low, interval.high) == pytest.approx((-turned.high, -turned.low))
    assert -1 <= interval.low < interval.high <= 1
