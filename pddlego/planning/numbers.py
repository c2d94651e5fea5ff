"""The arithmetic of numeric planning: exact fractions, without a tolerance.

Numbers are the decimals as written. An expression has no value if a function in it has none, and where it divides by
zero. All changes of one moment read the state before it (Fox and Long 2003, definitions 11 and 12).
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from fractions import Fraction
from functools import reduce

from pddlego.errors import PddlegoError, TooManyCasesError
from pddlego.pddl.conditions import Change, Term
from pddlego.pddl.numbers import ADDITIVE

_MOST_BITS = 4_000
"""The maximum size of a number: repeated products grow without bound."""

_MOST_DIGITS = 30
"""The maximum length of an exact number in a message."""


class HugeNumberError(TooManyCasesError):
    """A number has more bits than can be calculated with. `part` names the expression."""

    excess = f"is a number of more than {_MOST_BITS:,} bits"

    def __init__(self, part: str) -> None:
        reason = "Numbers that are multiplied again and again grow without bound."
        PddlegoError.__init__(self, f"{part} {self.excess}", reason, "Use smaller numbers.")
        self.part = part


class ImpossibleChangeError(Exception):
    """A step cannot change a number: it has no value, or two changes at once depend on their order."""

    def __init__(self, what: str, advice: str) -> None:
        super().__init__(what)
        self.what, self.advice = what, advice


_OPERATIONS: dict[str, Callable[[Fraction, Fraction], Fraction]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "increase": operator.add,
    "decrease": operator.sub,
    "scale-up": operator.mul,
    "scale-down": operator.truediv,
}

COMPARISONS: dict[str, Callable[[Fraction, Fraction], bool]] = {
    "=": operator.eq,
    "<": operator.lt,
    ">": operator.gt,
    "<=": operator.le,
    ">=": operator.ge,
}


def calculated(term: Term, values: Iterable[Fraction | None]) -> Fraction | None:
    """The value of an arithmetic expression whose operands have these values; None without one."""
    known = []
    for value in values:
        if value is None:
            return None
        known.append(value)
    if len(known) == 1:
        return -known[0]
    if term.head == "/" and not known[1]:
        return None
    return reduce(lambda one, other: _bounded(_OPERATIONS[term.head](one, other), term), known)


def changed_values(
    changes: Iterable[tuple[Change, Fraction | None]], before: Mapping[Term, Fraction]
) -> dict[Term, Fraction]:
    """The new values after the ground changes of one moment, each with the value of its expression.

    Raises `ImpossibleChangeError`.
    """
    values: dict[Term, Fraction] = {}
    firsts: dict[Term, Change] = {}
    for change, amount in changes:
        fluent, name = change.fluent, change.operator
        first = firsts.setdefault(fluent, change)
        if first is not change and not {first.operator, name} <= ADDITIVE:
            what = f"{change}: {first} changes {fluent} at the same time"
            raise ImpossibleChangeError(what, "(Use other objects, or keep one of both effects)")
        if amount is None or (name == "scale-down" and not amount):
            what = f"{change}: {change.value} {'has no value' if amount is None else 'is 0'}"
            raise ImpossibleChangeError(what, _give(change.value))
        old = values.get(fluent, before.get(fluent))
        if name == "assign":
            values[fluent] = amount
        elif old is None:
            raise ImpossibleChangeError(f"{change}: {fluent} has no value", _give(fluent))
        else:
            values[fluent] = _bounded(_OPERATIONS[name](old, amount), fluent)
    return values


def _give(term: Term) -> str:
    return f"(Give {term} a value first, in :init or with assign)"


def _bounded(value: Fraction, term: Term) -> Fraction:
    """The value. Raises `HugeNumberError` if it is too large."""
    if value.numerator.bit_length() + value.denominator.bit_length() > _MOST_BITS:
        raise HugeNumberError(str(term))
    return value


def shown(value: Fraction) -> str:
    """A number as messages write it: exact as a decimal or a fraction, or about."""
    decimal = Decimal(value.numerator) / Decimal(value.denominator)
    text = f"{decimal:f}" if abs(decimal.adjusted()) < _MOST_DIGITS else ""
    if text and Fraction(text) == value:
        return text.rstrip("0").rstrip(".") if "." in text else text
    exact = str(value)
    return exact if len(exact) <= _MOST_DIGITS else f"about {decimal:.6g}"
