"""What only its use declares: types, objects and predicates, where the use leaves one possibility."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from pddlego.pddl.conditions import (
    ANY_TYPE,
    And,
    Atom,
    Equal,
    Formula,
    Not,
    Or,
    Scope,
    TypedName,
    parts_of,
    read_condition,
    read_effect,
    read_typed_list,
    scope_of,
    walk,
)
from pddlego.pddl.domain import Action
from pddlego.pddl.names import is_name
from pddlego.pddl.sexpr import Sexpr, show
from pddlego.pddl.tolerant.layout import Section, same_or
from pddlego.pddl.tolerant.structure import FIELDS, changed_list

Use = tuple[Atom, Scope]
"""An atom with the types of the variables that are bound there."""


def typed(items: Iterable[Sexpr]) -> list[TypedName]:
    """A typed list as far as it can be read."""
    return list(read_typed_list(items)[0])


def action_of(section: Section) -> Action:
    """The action of a section, as far as it can be read."""
    fields = _fields(section)
    parameters = fields.get(":parameters", ())
    return Action(
        show(section[1]) if len(section) > 1 else "unnamed",
        tuple(typed(parameters if isinstance(parameters, tuple) else ())),
        read_condition(fields.get(":precondition", ())),
        read_effect(fields.get(":effect", ())),
    )


def _fields(section: Section) -> dict[str, Sexpr]:
    return {str(key): value for key, value in zip(section[2::2], section[3::2], strict=False) if key in FIELDS}


def is_whole(section: Section) -> bool:
    """Whether the section of an action consists of its name and of fields."""
    return len(section) % 2 == 0 and all(key in FIELDS for key in section[2::2])


def with_parameters(section: Section, parameters: Sequence[TypedName]) -> Section:
    """The section of an action with other parameters."""
    if ":parameters" not in section:
        return (*section[:2], ":parameters", changed_list((), parameters), *section[2:])
    place = section.index(":parameters") + 1
    words = section[place] if isinstance(section[place], tuple) else ()
    return same_or(section, (*section[:place], changed_list(tuple(words), parameters), *section[place + 1 :]))


def uses_in(action: Action) -> Iterator[Use]:
    """Every atom of an action."""
    scope = scope_of(action.parameters)
    for formula in (action.precondition, action.effect):
        yield from ((node, bound) for node, bound in walk(formula, scope) if isinstance(node, Atom))


def asked(condition: Formula, positive: bool = True) -> Iterator[str]:
    """The predicates of which a condition asks that they are true."""
    if isinstance(condition, Atom) and positive:
        yield condition.predicate
    for part in parts_of(condition):
        yield from asked(part, positive is not isinstance(condition, Not))


def free_variables(action: Action, parameters: Mapping[str, tuple[str, ...]]) -> tuple[TypedName, ...]:
    """Variables that are not parameters, of which the precondition asks something that shows their type."""
    bound = {parameter.name for parameter in action.parameters}
    types: dict[str, set[str]] = defaultdict(set)
    for atom in _asked_of_all(action.precondition):
        kinds = parameters.get(atom.predicate, ())
        for place, arg in enumerate(atom.args):
            if arg.startswith("?") and arg not in bound:
                types[arg].add(kinds[place] if len(kinds) == len(atom.args) else "")
    return tuple(TypedName(name, kinds.pop()) for name, kinds in types.items() if len(kinds) == 1 and "" not in kinds)


def _asked_of_all(condition: Formula) -> Iterator[Atom]:
    """The atoms that are to be true, except those with variables of their own."""
    if isinstance(condition, Atom):
        yield condition
    elif isinstance(condition, And | Or):
        for part in condition.parts:
            yield from _asked_of_all(part)


def compared(action: Action) -> Iterator[tuple[str, str]]:
    """Names that an action compares its variables with, with the types of these."""
    kinds = scope_of(action.parameters)
    for formula in (action.precondition, action.effect):
        for node, _ in walk(formula):
            if isinstance(node, Equal):
                for variable, name in ((node.left, node.right), (node.right, node.left)):
                    if variable in kinds and is_name(name):
                        yield name, kinds[variable]


def demanded(uses: Iterable[Use]) -> dict[tuple[str, int], str]:
    """The type of each argument of a predicate, by its place, where all variables that are used there have one type."""
    types: dict[tuple[str, int], set[str]] = defaultdict(set)
    for atom, bound in uses:
        for place, arg in enumerate(atom.args):
            if arg in bound:
                types[atom.predicate, place].add(bound[arg])
    return {key: kinds.pop() for key, kinds in types.items() if len(kinds) == 1 and ANY_TYPE not in kinds}


def used_predicates(
    uses: Iterable[Use], declared: Collection[str], type_of: Callable[[str], str | None]
) -> dict[str, tuple[str, ...]]:
    """Undeclared predicates with the types of their arguments, where all uses agree."""
    signatures: dict[str, set[tuple[str, ...]]] = defaultdict(set)
    for atom, bound in uses:
        if atom.predicate not in declared and is_name(atom.predicate):
            kinds = tuple(bound.get(arg) or type_of(arg) or "" for arg in atom.args)
            signatures[atom.predicate].add(kinds)
    agreed = {name: _agreed(several) for name, several in signatures.items()}
    return {name: kinds for name, kinds in agreed.items() if kinds is not None}


def _agreed(several: set[tuple[str, ...]]) -> tuple[str, ...] | None:
    """The one row of types that fits all uses; a use that does not tell fits any."""
    if len({len(row) for row in several}) != 1:
        return None
    row = []
    for column in zip(*several, strict=True):
        types = {kind for kind in column if kind}
        if len(types) != 1:
            return None
        row.append(types.pop())
    return tuple(row)


def used_objects(
    atoms: Iterable[Atom], known: Iterable[str], parameters: Mapping[str, tuple[str, ...]]
) -> dict[str, str]:
    """Undeclared objects with the type inferred from their use: all predicates must agree on one."""
    there = set(known)
    types: dict[str, set[str]] = defaultdict(set)
    for atom in atoms:
        kinds = parameters.get(atom.predicate)
        for place, arg in enumerate(atom.args):
            if arg not in there and is_name(arg) and not arg.startswith("?"):
                types[arg].add(kinds[place] if kinds is not None and len(kinds) == len(atom.args) else "")
    specific = {name: kinds - {ANY_TYPE} or kinds for name, kinds in types.items()}  # `object` carries no information
    return {name: kinds.pop() for name, kinds in specific.items() if len(kinds) == 1 and "" not in kinds}


_COMPARED = 40
"""Characters of a name that is compared with others; longer ones are not misspelt by accident."""


def slips(known: Iterable[str]) -> Callable[[str], bool]:
    """Whether a name may be a known one with a character too many or too few, or with two swapped."""
    names = {name for name in known if len(name) <= _COMPARED}
    shortened = {short for name in names for short in _shortened(name)}

    def is_slip(name: str) -> bool:
        if len(name) > _COMPARED:
            return False
        swapped = (name[:at] + name[at + 1] + name[at] + name[at + 2 :] for at in range(len(name) - 1))
        return name in shortened or any(other in names for other in (*_shortened(name), *swapped) if other != name)

    return is_slip


def _shortened(name: str) -> Iterator[str]:
    """The name without each of its characters; digits count things, but not variables."""
    counts = not name.startswith("?")
    return (name[:at] + name[at + 1 :] for at in range(len(name)) if not (counts and name[at].isdigit()))
