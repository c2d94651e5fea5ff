"""What every look at conditions and effects needs: their conjuncts, and the words in them."""

from __future__ import annotations

from pddlego.pddl.sexpr import Sexpr


def conjuncts(part: Sexpr) -> tuple[Sexpr, ...]:
    """What stands in a conjunction, nested ones too; what is none is its own only conjunct."""
    if isinstance(part, tuple) and part[:1] == ("and",):
        return tuple(inner for each in part[1:] for inner in conjuncts(each))
    return (part,) if part else ()


def words(part: Sexpr) -> set[str]:
    """Every word in an expression."""
    return {part} if isinstance(part, str) else {word for inner in part for word in words(inner)}
