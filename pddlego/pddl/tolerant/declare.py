"""What only its use declares: types, objects and predicates, where the use leaves one possibility."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

from pddlego.pddl.derived import expressions
from pddlego.pddl.names import is_name
from pddlego.pddl.problem import ANY_TYPE, TypedName, read_typed_list
from pddlego.pddl.remarks import IMPLIED, NEEDS
from pddlego.pddl.sexpr import Sexpr
from pddlego.pddl.tolerant.structure import CONNECTIVES, FIELDS, Section

Atoms = Iterator[tuple[tuple[str, ...], Mapping[str, str]]]
"""Atoms as words, each with the types of the variables that are bound there."""

FLAGS = {**NEEDS, "when": ":conditional-effects"}
"""The requirement that a word in a precondition or an effect needs."""

KNOWN = frozenset({*IMPLIED[":adl"], ":derived-predicates", ":adl", ":action-costs"})
"""Requirements of what is planned with here; `:action-costs` is refused later, by its name."""


def typed(items: Iterable[Sexpr]) -> list[TypedName]:
    """A typed list as far as it can be read."""
    return list(read_typed_list(items, []))


def atoms(condition: Sexpr, bound: Mapping[str, str]) -> Atoms:
    """Every atom in a condition or an effect."""
    if not isinstance(condition, tuple) or not condition:
        return
    first, rest = condition[0], condition[1:]
    if first in ("exists", "forall") and rest and isinstance(rest[0], tuple):
        inner = {**bound, **{each.name: each.type for each in typed(rest[0])}}
        for part in rest[1:]:
            yield from atoms(part, inner)
    elif isinstance(first, str) and first not in CONNECTIVES:
        if all(isinstance(each, str) for each in rest):
            yield (first, *(str(each) for each in rest)), bound
    elif first != "=":
        for part in rest:
            yield from atoms(part, bound)


def fields(action: Section) -> dict[str, Sexpr]:
    """The fields of an action."""
    return {str(key): value for key, value in zip(action[2::2], action[3::2], strict=False) if key in FIELDS}


def parameters_of(action: Section) -> list[TypedName]:
    """The parameters of an action."""
    found = fields(action).get(":parameters", ())
    return typed(found if isinstance(found, tuple) else ())


def changed(action: Section) -> Iterator[str]:
    """The predicates that an action may make true or false."""
    return (name for name, _ in _literals(fields(action).get(":effect", ()), True))


def asked(action: Section) -> Iterator[str]:
    """The predicates of which an action asks that they are true."""
    own = fields(action)
    return (name for name, positive in _literals(own.get(":precondition", ()), True) if positive)


def _literals(condition: Sexpr, positive: bool) -> Iterator[tuple[str, bool]]:
    """The predicates of a condition or an effect, each with whether it is to be true."""
    if not isinstance(condition, tuple) or not condition:
        return
    first, rest = condition[0], condition[1:]
    if first == "not":
        positive = not positive
    elif first in ("exists", "forall", "when"):
        rest = rest[1:]
    elif isinstance(first, str) and first not in CONNECTIVES:
        yield first, positive
        return
    for part in rest:
        yield from _literals(part, positive)


def free_variables(
    action: Section, given: set[str], parameters: Mapping[str, tuple[str, ...]]
) -> tuple[TypedName, ...]:
    """Variables that are no parameters, of which the precondition asks something that tells their type."""
    found: dict[str, set[str]] = defaultdict(set)
    for name, *args in _asked_atoms(fields(action).get(":precondition", ())):
        kinds = parameters.get(name, ())
        for place, each in enumerate(args):
            if each.startswith("?") and each not in given:
                found[each].add(kinds[place] if len(kinds) == len(args) else "")
    return tuple(TypedName(name, kinds.pop()) for name, kinds in found.items() if len(kinds) == 1 and "" not in kinds)


def _asked_atoms(condition: Sexpr) -> Iterator[tuple[str, ...]]:
    """The atoms that are to be true, but for those with variables of their own."""
    if not isinstance(condition, tuple) or not condition:
        return
    first, rest = condition[0], condition[1:]
    if first in ("and", "or"):
        for part in rest:
            yield from _asked_atoms(part)
    elif isinstance(first, str) and first not in CONNECTIVES and all(isinstance(each, str) for each in rest):
        yield (first, *(str(each) for each in rest))


def with_parameters(action: Section, parameters: Iterable[TypedName]) -> Section:
    """The action with other parameters."""
    own = fields(action)
    own[":parameters"] = tuple(word for each in parameters for word in (each.name, "-", each.type))
    return (*action[:2], *(part for key in FIELDS if key in own for part in (key, own[key])))


def compared(action: Section) -> Iterator[tuple[str, str]]:
    """Names that an action compares its variables with, with the types of these."""
    kinds = {each.name: each.type for each in parameters_of(action)}
    own = fields(action)
    for condition in (own.get(":precondition", ()), own.get(":effect", ())):
        for word, *sides in expressions(condition):
            if word == "=" and len(sides) == 2 and all(isinstance(each, str) for each in sides):
                one, other = map(str, sides)
                for variable, name in ((one, other), (other, one)):
                    if variable in kinds and is_name(name):
                        yield name, kinds[variable]


def demanded(uses: Atoms) -> dict[tuple[str, int], str]:
    """The type of each argument of a predicate, by its place, where all variables that stand there have one type."""
    found: dict[tuple[str, int], set[str]] = defaultdict(set)
    for (name, *args), bound in uses:
        for place, each in enumerate(args):
            if each in bound and bound[each] != ANY_TYPE:
                found[name, place].add(bound[each])
    return {key: kinds.pop() for key, kinds in found.items() if len(kinds) == 1}


def atoms_of(action: Section) -> Atoms:
    """Every atom of an action with the types of its variables."""
    own = fields(action)
    bound = {each.name: each.type for each in parameters_of(action)}
    for key in (":precondition", ":effect"):
        yield from atoms(own.get(key, ()), bound)


def flags_needed(actions: Iterable[Section], goal: Sexpr, any_types: bool) -> set[str]:
    """The requirement flags that are made use of. In effects `not` needs none."""
    needed = {":typing"} if any_types else set()
    conditions = [goal]
    for action in actions:
        own = fields(action)
        conditions.append(own.get(":precondition", ()))
        if any(part[0] == "when" for part in expressions(own.get(":effect", ()))):
            needed.add(FLAGS["when"])
    parts = (part for condition in conditions for part in expressions(condition))
    return needed | {FLAGS[str(part[0])] for part in parts if part[0] in FLAGS}


def used_predicates(
    uses: Atoms, declared: Collection[str], type_of: Callable[[str], str | None]
) -> dict[str, tuple[str, ...]]:
    """Undeclared predicates with the types of their arguments, where all uses agree."""
    found: dict[str, set[tuple[str, ...]]] = defaultdict(set)
    for (name, *args), bound in uses:
        if name not in declared and is_name(name):
            kinds = tuple(bound.get(each) or type_of(each) or "" for each in args)
            found[name].add(kinds)
    agreed = {name: _agreed(several) for name, several in found.items()}
    return {name: kinds for name, kinds in agreed.items() if kinds is not None}


def _agreed(several: set[tuple[str, ...]]) -> tuple[str, ...] | None:
    """The one row of types that fits all uses; a use that does not tell fits any."""
    if len({len(each) for each in several}) != 1:
        return None
    row = []
    for column in zip(*several, strict=True):
        told = {each for each in column if each}
        if len(told) != 1:
            return None
        row.append(told.pop())
    return tuple(row)


def used_objects(
    uses: Iterable[tuple[str, ...]], known: Iterable[str], parameters: Mapping[str, tuple[str, ...]]
) -> dict[str, str]:
    """Undeclared objects with the type that their only possible use tells: all predicates must agree on one."""
    there = set(known)
    found: dict[str, set[str]] = defaultdict(set)
    for name, *args in uses:
        kinds = parameters.get(name)
        for place, each in enumerate(args):
            if each not in there and is_name(each) and not each.startswith("?"):
                found[each].add(kinds[place] if kinds is not None and len(kinds) == len(args) else "")
    told = {name: kinds - {ANY_TYPE} or kinds for name, kinds in found.items()}  # `object` tells nothing
    return {name: kinds.pop() for name, kinds in told.items() if len(kinds) == 1 and "" not in kinds}
