"""Repair advice: the changes that make a condition true in a state."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Iterable, Mapping

from pddlego.errors import TooManyCasesError
from pddlego.pddl import Atom
from pddlego.pddl.conditions import (
    And,
    Compare,
    Exists,
    Forall,
    Formula,
    Imply,
    Not,
    Or,
    Renaming,
    Scope,
    changed_atoms,
    scope_of,
)
from pddlego.pddl.numbers import read_fluents
from pddlego.planning.numbers import shown
from pddlego.planning.state import State
from pddlego.planning.world import World

_MOST_PIECES = 20
"""The maximum number of pieces of advice in a list: a condition over all objects may have thousands."""


Binding = Mapping[str, str]


def _set(part: Formula, wanted: bool) -> str:
    return f"(Set {part} to {'true' if wanted else 'false'})"


def advice(
    world: World,
    condition: Formula,
    state: State,
    binding: Binding,
    wanted: bool = True,
    change: Callable[[Formula, bool], str] = _set,
) -> str:
    """Return the changes that make `condition` as `wanted` in `state`; empty if it already is.

    `change` words the change of one fact; the default is the wording of VAL.
    """

    def inner(part: Formula, wanted: bool, binding: Binding = binding) -> str:
        return advice(world, part, state, binding, wanted, change)

    if world.holds(condition, state, binding, wanted):
        return ""
    match condition:
        case Not():
            return inner(condition.part, not wanted)
        case And() | Or():
            pieces = (inner(part, wanted) for part in condition.parts)
            return _joined(pieces, all_of=isinstance(condition, And) is wanted)
        case Imply():
            first = inner(condition.condition, not wanted)
            return _joined((first, inner(condition.consequence, wanted)), all_of=not wanted)
        case Exists() | Forall():
            cases = world.bindings(condition.variables, binding)
            pieces = (inner(condition.part, wanted, case) for case in cases)
            return _joined(pieces, all_of=isinstance(condition, Forall) is wanted)
    return change(Renaming(binding).formula(condition), wanted)


_MOST_FACTS = 3
"""The maximum number of true facts that advice names."""


def _possible_change(world: World, part: Formula, wanted: bool, state: State) -> str:
    """Word the change of one fact; if no action can make it, name similar facts that are true."""
    if isinstance(part, Compare):
        return _possible_numbers(world, part, wanted, state)
    if not isinstance(part, Atom):
        return f"(Use {'one object' if wanted else 'different objects'} for the two arguments of {part})"
    if part.predicate in world.domain.rules or _is_possible(world, part, wanted):
        return _set(part, wanted)
    never = f"(No action makes {part} {'true' if wanted else 'false'}"
    alike = [fact for fact in state.facts if fact.predicate == part.predicate]
    alike.sort(key=lambda fact: (sum(map(operator.ne, fact.args, part.args)), fact.sort_key))
    if not wanted or not alike:
        return f"{never}: use other objects)" if not wanted else f"{never}, and no fact of {part.predicate} is true)"
    return f"{never}: use objects for which it is true, as in {', '.join(map(str, alike[:_MOST_FACTS]))})"


def _possible_numbers(world: World, part: Compare, wanted: bool, state: State) -> str:
    """Word the change of a comparison with the current values; name a number that has none, or divides by zero."""
    values = {fluent: world.value(fluent, state, {}) for fluent in read_fluents(part)}
    lacking = [fluent for fluent, value in values.items() if value is None]
    if lacking:
        return f"(Give {lacking[0]} a value first, in :init or with assign)"
    known = ", ".join(f"{fluent} is {shown(value)}" for fluent, value in values.items() if value is not None)
    if any(fluent.head in world.changing for fluent in values):
        return f"(Make {part} {'true' if wanted else 'false'}: {known})"
    return f"(No action makes {part} {'true' if wanted else 'false'}: {known})"


def _is_possible(world: World, fact: Atom, wanted: bool) -> bool:
    """Whether some action has an effect that makes the fact as `wanted`."""

    def fits(arg: str, name: str, kinds: Scope) -> bool:
        return world.domain.is_a(world.types[name], kinds[arg]) if arg in kinds else arg[0] == "?" or arg == name

    return any(
        value is wanted
        and (atom.predicate, len(atom.args)) == (fact.predicate, len(fact.args))
        and all(fits(arg, name, scope_of(action.parameters)) for arg, name in zip(atom.args, fact.args, strict=True))
        for action in world.domain.actions
        for atom, value in changed_atoms(action.effect)
    )


def _joined(advice: Iterable[str], all_of: bool) -> str:
    """Join pieces of advice, of which the user follows each one (`all_of`) or only one."""
    pieces = list(dict.fromkeys(itertools.islice(filter(None, advice), _MOST_PIECES + 1)))
    if len(pieces) < 2:
        return "".join(pieces)
    more = ["…"] if len(pieces) > _MOST_PIECES else []
    indent = "    "
    lines = [piece.replace("\n", f"\n{indent}") for piece in (*pieces[:_MOST_PIECES], *more)]
    text = f"\n{indent}{'and' if all_of else 'or'} ".join(lines)
    return f"(Follow {'each' if all_of else 'one'} of:\n{indent}{text}\n)"


def advice_with_val(world: World, condition: Formula, state: State, binding: Binding) -> tuple[str, str]:
    """Return the changes that make a condition true, also in the wording of VAL; empty if there are too many cases."""

    def change(part: Formula, wanted: bool) -> str:
        return _possible_change(world, part, wanted, state)

    try:
        return advice(world, condition, state, binding, change=change), advice(world, condition, state, binding)
    except TooManyCasesError:
        return "", ""
