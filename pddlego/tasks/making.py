"""What generators of tasks make problems with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from pddlego.pddl import Atom, Problem, Sexpr, TypedName

Fact = tuple[str, ...]
"""A predicate and its arguments."""


def names(prefix: str, number: int) -> list[str]:
    """`prefix0`, `prefix1` and so on."""
    return [f"{prefix}{each}" for each in range(number)]


def make_problem(
    domain: str, objects: Mapping[str, Iterable[str]], facts: Iterable[Fact], goal: Iterable[Fact]
) -> Problem:
    """A problem whose goal is a conjunction. `objects` are their names by type."""
    typed = frozenset(TypedName(name, kind) for kind, names in objects.items() for name in names)
    atoms = frozenset(Atom(head, tuple(args)) for head, *args in facts)
    wanted: Sexpr = ("and", *sorted(goal))
    return Problem(f"{domain}-task", domain, typed, atoms, wanted)
