"""What generators of tasks make problems with."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from pddlego.pddl import Atom, Problem, Sexpr, TypedName

Fact = tuple[str, ...]
"""A predicate and its arguments."""


def names(prefix: str, number: int) -> list[str]:
    """`prefix0`, `prefix1` and so on."""
    return [f"{prefix}{each}" for each in range(number)]


def typed(names: Iterable[str], kind: str = "object") -> Iterator[TypedName]:
    """Objects of one type."""
    return (TypedName(name, kind) for name in names)


def make_problem(domain: str, objects: Iterable[TypedName], facts: Iterable[Fact], goal: Sequence[Fact]) -> Problem:
    """A problem whose goal is a conjunction."""
    atoms = frozenset(Atom(head, tuple(args)) for head, *args in facts)
    wanted: Sexpr = ("and", *sorted(goal))
    return Problem(f"{domain}-task", domain, frozenset(objects), atoms, wanted)
