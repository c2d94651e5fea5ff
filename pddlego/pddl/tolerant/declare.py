"""What only its use declares: types, objects and predicates, where the use leaves one possibility."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

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
    When,
    parts_of,
    read_condition,
    read_effect,
    read_typed_list,
    scope_of,
    walk,
    word_of,
)
from pddlego.pddl.domain import Action
from pddlego.pddl.lint import IMPLIED, NEEDS
from pddlego.pddl.names import is_name
from pddlego.pddl.sexpr import Sexpr, show
from pddlego.pddl.tolerant.structure import FIELDS, Section

Use = tuple[Atom, Scope]
"""An atom with the types of the variables that are bound there."""

KNOWN = frozenset({*IMPLIED[":adl"], ":derived-predicates", ":adl", ":action-costs"})
"""Requirements of what is planned with here; `:action-costs` is refused later, by its name."""


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


def with_parameters(section: Section, parameters: Iterable[TypedName]) -> Section:
    """The section of an action with other parameters."""
    fields = _fields(section)
    fields[":parameters"] = tuple(word for parameter in parameters for word in (parameter.name, "-", parameter.type))
    return (*section[:2], *(part for key in FIELDS if key in fields for part in (key, fields[key])))


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
            if arg in bound and bound[arg] != ANY_TYPE:
                types[atom.predicate, place].add(bound[arg])
    return {key: kinds.pop() for key, kinds in types.items() if len(kinds) == 1}


def flags_needed(actions: Iterable[Action], goal: Formula, any_types: bool) -> set[str]:
    """The requirement flags of what is used. In effects `not` needs none."""
    needed = {":typing"} if any_types else set()
    conditions = [goal]
    for action in actions:
        conditions.append(action.precondition)
        if any(isinstance(node, When) for node, _ in walk(action.effect)):
            needed.add(":conditional-effects")
    words = (word_of(node) for condition in conditions for node, _ in walk(condition))
    return needed | {NEEDS[word] for word in words if word in NEEDS}


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
