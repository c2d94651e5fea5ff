"""Numbers of PDDL 2.1, level 2: numeric expressions, and which parts of a domain need more than action costs."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from decimal import Decimal
from fractions import Fraction

from pddlego.pddl.conditions import ARITHMETIC, Change, Compare, Formula, Term, conjuncts, number, walk
from pddlego.pddl.rules import Reason
from pddlego.pddl.sexpr import MAX_NUMBER, NUMBER

TOTAL_COST = Term("total-cost", ())

TOTAL_TIME = Term("total-time", ())
"""The makespan of a plan, which only a metric may name; without times it is the number of its steps."""

DURATION = Term("?duration")
"""The duration of a durative action, in its parts."""

ADDITIVE = frozenset(("increase", "decrease"))
"""The changes of a number that may happen at the same time."""


_EXPONENT = re.compile(r"[+-]?(?:\d{1,100}\.?\d{0,100}|\.\d{1,100})(?:e[+-]?\d{1,3})?\Z", re.ASCII)


def written_out(text: str) -> str:
    """How to write a number with an exponent or a plus sign, which PDDL does not have; empty for other words."""
    plain = f"{Decimal(text):f}" if _EXPONENT.match(text) else ""
    return plain if len(plain) <= MAX_NUMBER else f"one of at most {MAX_NUMBER} digits"


def not_a_number(text: str, other: str = "") -> Reason | None:
    """Why a word is not a number; None for long numbers, which the reader of files reports."""
    if NUMBER.match(text):
        return None
    return Reason(f"{text} is not a number", f"write {written_out(text) or f'digits such as 400 or -2.5{other}'}")


MIRRORED = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}
"""The comparison that means the same when its sides change places; `=` has none."""


def is_cost(change: Change) -> bool:
    """Whether a change of a number is an action cost."""
    return change.operator == "increase" and change.fluent == TOTAL_COST


def fluents_in(term: Term) -> Iterator[Term]:
    """The functions with their arguments in a numeric expression: `(x)` and `(fuel ?t)` in `(* (x) (fuel ?t))`."""
    if term.head in ARITHMETIC:
        for part in term.parts or ():
            yield from fluents_in(part)
    elif term.parts is not None:
        yield term


IS_VIOLATED = "is-violated"
"""The function of a metric that counts the violated instances of a preference: `(is-violated NAME)`."""

ONE = Term("1")


def linear(term: Term) -> dict[Term, Fraction] | None:
    """The factors of the functions in sums and products with numbers, and of `ONE`; None for other expressions."""
    if term.parts is None:
        value = number(term.head)
        return None if value is None else {ONE: value}
    if term.head not in ARITHMETIC:
        return {term: Fraction(1)}
    parts = [factors for part in term.parts if (factors := linear(part)) is not None]
    others = [factors for factors in parts if factors.keys() != {ONE}]
    if len(parts) < len(term.parts) or (term.head == "*" and len(others) > 1):
        return None
    if term.head == "/":
        divisor = parts[1][ONE] if len(parts) == 2 and parts[1].keys() == {ONE} else Fraction(0)
        return {function: factor / divisor for function, factor in parts[0].items()} if divisor else None
    if term.head == "*":
        product = math.prod(factors[ONE] for factors in parts if factors.keys() == {ONE})
        return {function: factor * product for function, factor in (*others, {ONE: Fraction(1)})[0].items()}
    total: dict[Term, Fraction] = defaultdict(Fraction)
    for place, factors in enumerate(parts):
        for function, factor in factors.items():
            total[function] += -factor if term.head == "-" and (place or len(parts) == 1) else factor
    return total


def read_fluents(node: Formula) -> Iterator[Term]:
    """The functions whose values a comparison, or a change of a number, depends on; none for other formulas.

    A change that is not additive depends on its own function: no other change may happen at the same time.
    """
    if isinstance(node, Compare):
        yield from fluents_in(node.left)
        yield from fluents_in(node.right)
    elif isinstance(node, Change):
        yield from fluents_in(node.value)
        if node.operator not in ADDITIVE:
            yield node.fluent


def changed_fluents(effect: Formula) -> Iterator[Change]:
    """The changes of numbers in an effect, those under conditions included."""
    return (node for node, _ in walk(effect) if isinstance(node, Change))


def numeric_part(formulas: Iterable[Formula]) -> Formula | None:
    """The first part that needs numbers: a comparison, or a change that is not a classical action cost."""
    for formula in formulas:
        costs = {id(part) for part in conjuncts(formula) if isinstance(part, Change) and _is_classical(part)}
        for node, _ in walk(formula):
            if isinstance(node, Compare) or (isinstance(node, Change) and id(node) not in costs):
                return node
    return None


def _is_classical(change: Change) -> bool:
    """Whether a change adds a constant from 0, or the number of a function, to `(total-cost)`."""
    value = change.value
    if not is_cost(change) or value.head in (TOTAL_COST.head, *ARITHMETIC):
        return False
    constant = number(value.head) if value.parts is None else None
    return all(part.parts is None for part in value.parts or ()) and (constant is None or constant >= 0)


def duration_bounds(duration: Formula) -> list[tuple[str, Term]]:
    """The bounds of a duration, each with its sign as if `?duration` were on the left."""
    parts = (part for part in conjuncts(duration) if isinstance(part, Compare))
    return [
        (part.operator, part.right)
        if part.left == DURATION
        else (MIRRORED.get(part.operator, part.operator), part.left)
        for part in parts
    ]


def allows_duration(bounds: Iterable[tuple[str, Fraction]]) -> bool:
    """Whether a duration from 0 is within the bounds."""
    bounds = list(bounds)
    least = max((Fraction(0), *(value for sign, value in bounds if sign != "<=")))
    return all(value >= least for sign, value in bounds if sign != ">=")
