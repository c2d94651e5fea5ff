"""What a reader refuses although `check` finds no error, each with the reason."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Explained:
    """What a reader says, in part, and why that is not an error of the task."""

    reader: str
    message: str
    reason: str


EXPLAINED = (
    Explained("mimir", "several disjunctions", "it loses some of them; we refuse such conditions"),
    Explained("translator", "Got: (either", "PDDL of 1998; we write a static predicate in its place"),
    Explained("translator", "Fractional numbers", "PDDL has fractions as costs; we multiply them first"),
    Explained("translator", "AssertionError", "forall below when, or a cost alone; we write simple effects"),
    Explained("unified-planning", "is recursive", "it has no derived predicates, and this one cannot be written out"),
    Explained("unified-planning", "declared more than once", "its types have one parent"),
    Explained("unified-planning", "is not well-formed", "it takes no argument of a wider type than declared"),
    Explained("unified-planning", "problem\n'object'.", "it does not know the type object if no type is below it"),
    Explained(
        "unified-planning", "fluent: at has arity", "it takes an object that is called like a predicate for that"
    ),
    Explained("unified-planning", "already defined", "it has one name for a predicate and a function"),
    Explained("unified-planning", "ExpressionManager.Always", "it reads always as its own word"),
)


def explanation(reader: str, message: str) -> Explained | None:
    return next((entry for entry in EXPLAINED if entry.reader == reader and entry.message in message), None)
