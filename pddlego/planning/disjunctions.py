"""Conditions with several disjunctions, of which mimir 0.13 loses some."""

from __future__ import annotations

from collections.abc import Iterator

from pddlego.pddl import Domain, Problem
from pddlego.pddl.conditions import And, Formula, Imply, Not, Or, When, parts_of, walk


def has_several_disjunctions(domain: Domain, problem: Problem) -> bool:
    """Whether a condition of a task has several disjunctions."""
    return any(_disjunctions(condition) > 1 for condition in (*_conditions(domain), problem.goal))


def _conditions(domain: Domain) -> Iterator[Formula]:
    for action in domain.actions:
        yield action.precondition
        yield from (part.condition for part, _ in walk(action.effect) if isinstance(part, When))
    yield from (rule.condition for rule in domain.derived)


def _disjunctions(condition: Formula, negated: bool = False) -> int:
    """The number of disjunctions that a condition has if it is written with negations before atoms only."""
    match condition:
        case Not(part=part):
            return _disjunctions(part, not negated)
        case Imply(condition=if_, consequence=then):
            return (not negated) + _disjunctions(if_, not negated) + _disjunctions(then, negated)
        case And() | Or():
            splits = isinstance(condition, Or) != negated and len(condition.parts) > 1
            return splits + sum(_disjunctions(part, negated) for part in condition.parts)
    return sum(_disjunctions(part, negated) for part in parts_of(condition))
