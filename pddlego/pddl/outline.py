"""What somebody who writes problems must know of a domain: types, constants, and predicates with what they mean.

Actions and derived predicates are the planner's business: they tell a writer of facts little, and are most of a file.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from pddlego.pddl.domain import Domain, Predicate
from pddlego.pddl.problem import ANY_TYPE, TypedName


def outline(domain: Domain, without: Collection[str] = ()) -> str:
    """The domain in a few lines: one for its types, one for its constants, one for each predicate.

    Left out are derived predicates and those whose names are in `without`: no problem states them.
    """
    hidden = {*domain.rules, *without}
    types = [TypedName(name, parent) for name, parent in domain.supertypes]
    lines = [f"Domain: {domain.name}"]
    lines += [f"Types: {_listed(types)}"] if types else []
    lines += [f"Constants: {_listed(domain.constants)}"] if domain.constants else []
    lines.append("Predicates:")
    lines += [_line(predicate) for predicate in domain.predicates if predicate.name not in hidden]
    return "\n".join(lines)


def _line(predicate: Predicate) -> str:
    return f"{_signature(predicate)} {predicate.meaning}".rstrip()


def _signature(predicate: Predicate) -> str:
    parameters = " ".join(_typed(predicate.parameters))
    return f"({predicate.name} {parameters})" if parameters else f"({predicate.name})"


def _listed(names: Iterable[TypedName]) -> str:
    """`a b - type; c - other`, in the order of the types."""
    by_type: dict[str, list[str]] = {}
    for each in names:
        by_type.setdefault(each.type, []).append(each.name)
    return "; ".join(" ".join(listed) + ("" if kind == ANY_TYPE else f" - {kind}") for kind, listed in by_type.items())


def _typed(parameters: tuple[TypedName, ...]) -> Iterator[str]:
    """The parameters, with their type behind the last of a row of one type."""
    for number, each in enumerate(parameters):
        following = parameters[number + 1].type if number + 1 < len(parameters) else None
        yield each.name if following == each.type or each.type == ANY_TYPE else f"{each.name} - {each.type}"
