"""Arithmetic with intervals of exact numbers, whose bounds may be infinite."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from fractions import Fraction

from pddlego.pddl.conditions import Formula, Term, walk
from pddlego.pddl.numbers import ADDITIVE, read_fluents
from pddlego.planning.numbers import shown

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
        if name == "+":
            one = _plus(one[0], other[0]), _plus(one[1], other[1])
        elif name == "-":
            one = _plus(one[0], -other[1]), _plus(one[1], -other[0])
        elif name == "/" and other == (0, 0):
            return None
        elif math.inf in map(abs, (*one, *other)) or (name == "/" and other[0] <= 0 <= other[1]):
            one = ANY_NUMBER
        else:
            corners = [left * right if name == "*" else left / right for left in one for right in other]
            one = min(corners), max(corners)
    return one


def _plus(one: Bound, other: Bound) -> Bound:
    return one if isinstance(one, float) else other if isinstance(other, float) else one + other


def bounds_text(parts: Iterable[Formula], interval: Callable[[Term], Interval | None]) -> str:
    """The intervals of the ground numbers in conditions, as the end of a sentence; empty without one."""
    texts = []
    nodes = (node for part in parts for node, _ in walk(part))
    for fluent in dict.fromkeys(fluent for node in nodes for fluent in read_fluents(node)):
        bounds = interval(fluent)
        texts += [f"{fluent} has no number"] if bounds is None and "?" not in str(fluent) else []
        low, high = (None if isinstance(bound, float) else shown(bound) for bound in bounds or ANY_NUMBER)
        if low and high:
            texts.append(f"{fluent} is {low}" if low == high else f"{fluent} is between {low} and {high}")
        elif low or high:
            texts.append(f"{fluent} is at least {low}" if low else f"{fluent} is at most {high}")
    return f": {', '.join(texts)}" if texts else ""
