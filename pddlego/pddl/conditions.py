"""What every look at conditions and effects needs: their conjuncts, the lists inside of them, and their words."""

from __future__ import annotations

from collections.abc import Iterator

from pddlego.pddl.problem import Atom, read_atom
from pddlego.pddl.sexpr import Sexpr


def conjuncts(part: Sexpr) -> tuple[Sexpr, ...]:
    """What stands in a conjunction, nested ones too; what is none is its own only conjunct."""
    if isinstance(part, tuple) and part[:1] == ("and",):
        return tuple(inner for each in part[1:] for inner in conjuncts(each))
    return (part,) if part else ()


def required_atoms(condition: Sexpr) -> list[Atom]:
    """The conjuncts of a condition that are atoms."""
    return [atom for each in conjuncts(condition) if (atom := read_atom(each)) is not None]


def expressions(part: Sexpr) -> Iterator[tuple[Sexpr, ...]]:
    """An expression and all lists inside of it that are not empty, in their order."""
    if isinstance(part, tuple) and part:
        yield part
        for inner in part:
            yield from expressions(inner)


def words(part: Sexpr) -> Iterator[str]:
    """Every word in an expression, in its order."""
    if isinstance(part, str):
        yield part
    else:
        for inner in part:
            yield from words(inner)
