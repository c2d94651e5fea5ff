"""The interval of an expression contains its value for all operands in their intervals."""

from __future__ import annotations

import math
import random
from fractions import Fraction

from pddlego.pddl.conditions import Term
from pddlego.planning.numbers import calculated
from pddlego.planning.why.intervals import ANY_NUMBER, Interval, combined_interval

_INFINITE = Fraction(10**6)
"""Stands for values near an infinite bound."""


def random_interval(rng: random.Random) -> Interval:
    low, high = sorted(Fraction(rng.randint(-4, 4), rng.randint(1, 3)) for _ in range(2))
    return rng.choice(((low, high), (low, low), (low, math.inf), (-math.inf, high), ANY_NUMBER))


def random_value(rng: random.Random, interval: Interval) -> Fraction:
    low, high = (bound if isinstance(bound, Fraction) else _INFINITE * (1 if bound > 0 else -1) for bound in interval)
    return rng.choice((low, high, low + (high - low) * Fraction(rng.randint(0, 10), 10)))


def test_an_interval_contains_every_value() -> None:
    rng = random.Random(1)
    inside = 0
    for _ in range(5_000):
        name, intervals = rng.choice("+-*/"), [random_interval(rng) for _ in range(2)]
        if name == "-" and rng.random() < 0.2:
            intervals.pop()
        values = [random_value(rng, interval) for interval in intervals]
        value, bounds = calculated(Term(name), values), combined_interval(name, intervals)
        if value is not None:
            assert bounds is not None and bounds[0] <= value <= bounds[1], (name, intervals, values)
            inside += 1
    assert inside >= 4_000
