"""Arithmetic with intervals of exact numbers, whose bounds may be infinite."""

from __future__ import annotations

import math
from fractions import Fraction

from pddlego.pddl.numbers import ADDITIVE

Bound = Fraction | float
"""An exact number, or an infinite `float`: other floats are no bounds."""

Interval = tuple[Bound, Bound]

ANY_NUMBER: Interval = (-math.inf, math.inf)

_MOST_BITS = 4_000
"""The size of a bound from which on it counts as infinite."""


def is_infinite(bound: Bound) -> bool:
    """Whether a bound is infinite, or so large that it counts as that."""
    return isinstance(bound, float) or bound.numerator.bit_length() + bound.denominator.bit_length() > _MOST_BITS


def changed_interval(name: str, old: Interval, amount: Interval) -> Interval:
    """The interval of a number after any number of equal changes."""
    if name == "assign":
        return amount
    if name not in ADDITIVE:
        return ANY_NUMBER
    low, high = amount if name == "increase" else (-amount[1], -amount[0])
    return old[0] if low >= 0 else -math.inf, old[1] if high <= 0 else math.inf


def combined_interval(name: str, parts: list[Interval]) -> Interval | None:
    """The interval of an arithmetic expression with these operands; None if it divides by zero."""
    if len(parts) == 1:
        return -parts[0][1], -parts[0][0]
    one, *others = parts
    for other in others:
        if name == "/":
            if other == (0, 0):
                return None
            if other[0] <= 0 <= other[1] or not all(isinstance(bound, Fraction) for bound in other):
                return ANY_NUMBER
            other = (1 / other[1], 1 / other[0])
        if name == "-":
            other = (-other[1], -other[0])
        if name in "+-":
            one = _plus(one[0], other[0]), _plus(one[1], other[1])
        else:
            corners = [_times(left, right) for left in one for right in other]
            one = min(corners), max(corners)
    return one


def _plus(one: Bound, other: Bound) -> Bound:
    return one if isinstance(one, float) else other if isinstance(other, float) else one + other


def _times(one: Bound, other: Bound) -> Bound:
    if isinstance(one, Fraction) and isinstance(other, Fraction):
        return one * other
    return Fraction(0) if 0 in (one, other) else math.inf if (one > 0) is (other > 0) else -math.inf
