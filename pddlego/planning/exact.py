"""Numeric and temporal tasks as engines read them, which compute in floating point.

An engine that finds no plan has proved that none exists only if it computed exactly. It does with whole numbers, so
those of a linear task are multiplied by their common denominator: 0.1 + 0.2 = 0.3 becomes 1 + 2 = 3.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction

from pddlego.pddl.conditions import ARITHMETIC, CHANGES, number
from pddlego.pddl.sexpr import Sexpr, read_sexprs, show
from pddlego.planning.numbers import COMPARISONS

_FIELDS = frozenset({":precondition", ":condition", ":effect", ":goal"})
"""The fields in which some engines refuse a comparison or a change that is not in a conjunction."""

_GREATEST = 2**31
"""Numbers up to it may be added four million times before floating point, with 53 bits, rounds a sum."""


@dataclass(frozen=True)
class EngineTask:
    """The texts of a domain and a problem.

    `is_exact`: floating point computes with its numbers without rounding. `is_temporal`: it has durations or timed
    literals; its plans have times then. `durative` names its durative actions.
    """

    domain: str
    problem: str
    is_exact: bool = False
    is_temporal: bool = False
    durative: frozenset[str] = frozenset()


def engine_task(domain: str, problem: str) -> EngineTask:
    """Rewrite a task for engines. Texts that are not one list each are returned as they are.

    Sums and products get two operands, a sign becomes `(- 0 x)`, functions get their parentheses, and a comparison or
    change that is the whole condition, effect or goal is put into a conjunction.
    """
    readings = read_sexprs(domain), read_sexprs(problem)
    if any(len(reading.expressions) != 1 or reading.defects for reading in readings):
        return EngineTask(domain, problem)
    sections = [section for section in readings[0].expressions[0] if section[:1] == (":functions",)]
    constants = {head[0] for section in sections for head in section if isinstance(head, tuple) and len(head) == 1}
    numbers = _Numbers(constants)
    for reading in readings:
        numbers.rewritten(reading.expressions[0])
    numbers = _Numbers(constants, numbers.factor)
    texts = [show(numbers.rewritten(reading.expressions[0])) for reading in readings]
    return EngineTask(texts[0], texts[1], numbers.are_exact, numbers.are_timed, frozenset(numbers.durative))


@dataclass
class _Numbers:
    """Rewrites expressions, multiplies their numbers by `scale`, and collects what decides whether that is exact.

    `fixed` are numbers that are not multiplied: factors of products, and times. `changed` are functions that effects
    change, `sources` those whose values decide by how much: if one is both, numbers may double again and again.
    """

    constants: set[Sexpr]
    scale: int = 1
    numbers: set[Fraction] = field(default_factory=set)
    fixed: set[Fraction] = field(default_factory=set)
    changed: set[Sexpr] = field(default_factory=set)
    sources: set[Sexpr] = field(default_factory=set)
    durative: set[str] = field(default_factory=set)
    are_linear: bool = True
    are_divided: bool = False
    are_timed: bool = False

    @property
    def factor(self) -> int:
        """The number that makes all numbers of the task whole; 1 if it may not be multiplied."""
        factor = math.lcm(*(value.denominator for value in self.numbers))
        return factor if self.are_linear and not self.are_timed else 1

    @property
    def are_exact(self) -> bool:
        used = {value * self.scale for value in self.numbers} | self.fixed
        small = all(value.denominator == 1 and abs(value) <= _GREATEST for value in used)
        return small and not self.are_divided and self.sources.isdisjoint(self.changed)

    def rewritten(self, part: Sexpr) -> Sexpr:
        """A section, condition or effect."""
        if isinstance(part, str) or not part:
            return part
        head, *rest = part
        if head in COMPARISONS and len(rest) == 2 and any(map(self._is_number, rest)):
            return (head, *map(self._value, rest))
        if head in CHANGES and len(rest) == 2:
            return self._change(str(head), *rest)
        if head == ":metric":
            self.are_linear &= "total-time" not in _words(part)
            return (head, *rest[:1], *map(self._value, rest[1:]))
        time = number(rest[0]) if head == "at" and rest and isinstance(rest[0], str) else None
        self.fixed |= set() if time is None else {time}
        self.durative |= {str(name) for name in rest[:1] if head == ":durative-action"}
        self.are_timed |= time is not None or bool(self.durative)
        parts = [self.rewritten(child) for child in part]
        return tuple(_listed(parts[place - 1], child) if place else child for place, child in enumerate(parts))

    def _is_number(self, part: Sexpr) -> bool:
        return not isinstance(part, str) or _is_literal(part) or part in self.constants or part == "?duration"

    def _change(self, head: str, fluent: Sexpr, value: Sexpr) -> Sexpr:
        target = (fluent,) if isinstance(fluent, str) else fluent
        scales = head.startswith("scale")
        self.changed.add(target[0])
        self.are_divided |= head == "scale-down"
        self.are_linear &= _is_literal(value) or not scales
        if scales or head != "assign" or value[:1] in _OPERATORS:  # not a copy, as in (assign (x) (y))
            self.sources |= {*_words(value), *target[: int(scales)]}
        return (head, target, self._value(value, multiplied=not scales))

    def _value(self, part: Sexpr, multiplied: bool = True) -> Sexpr:
        """A numeric expression. Its numbers are `multiplied` unless it is a factor."""
        if isinstance(part, str):
            value = number(part)
            if value is None:
                return (part,) if part in self.constants else part
            (self.numbers if multiplied else self.fixed).add(value)
            return str(value * self.scale) if multiplied and self.scale > 1 else part
        if part[:1] not in _OPERATORS:
            return part
        operator, *operands = part
        self.are_divided |= operator == "/"
        others = sum(not _is_literal(operand) for operand in operands)
        self.are_linear &= operator in ("+", "-") or (operator == "*" and others == 1)
        values = [self._value(one, multiplied and not (operator == "*" and _is_literal(one))) for one in operands]
        return _in_pairs(str(operator), values)


_OPERATORS = tuple((operator,) for operator in ARITHMETIC)


def _is_literal(part: Sexpr) -> bool:
    return isinstance(part, str) and number(part) is not None


def _words(part: Sexpr) -> set[str]:
    return {part} if isinstance(part, str) else {word for child in part for word in _words(child)}


def _in_pairs(operator: str, parts: list[Sexpr]) -> Sexpr:
    """Sums and products of many operands as nested ones of two, no deeper than needed."""
    if len(parts) == 1:
        return (operator, "0", *parts) if operator == "-" else parts[0]
    if len(parts) < 3 or operator not in ("+", "*"):
        return (operator, *parts)
    half = len(parts) // 2
    return (operator, _in_pairs(operator, parts[:half]), _in_pairs(operator, parts[half:]))


def _listed(keyword: Sexpr, part: Sexpr) -> Sexpr:
    """The value of a field; in a conjunction if it is one comparison or one change."""
    return ("and", part) if keyword in _FIELDS and part and part[0] in {*COMPARISONS, *CHANGES} else part
