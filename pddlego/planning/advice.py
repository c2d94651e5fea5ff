"""Repair advice: what would have to change for a condition to hold, in the wording of the validator VAL.

That is what language models were told in the papers of this field: `(Set (at-ferry l3) to true)`, or several of these
as `(Follow each of: …)`.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet

from pddlego.pddl import Atom, Sexpr
from pddlego.pddl.sexpr import show
from pddlego.planning.world import World

MOST = 20
"""Alternatives, or things to do, that are listed at most: a condition over all objects may have thousands."""

INDENT = "    "

Binding = Mapping[str, str]


def advice(world: World, condition: Sexpr, state: AbstractSet[Atom], binding: Binding, wanted: bool = True) -> str:
    """What to change so that `condition` is as `wanted` in `state`; empty if it is already."""
    if world.holds(condition, state, binding) is wanted or isinstance(condition, str):
        return ""
    head, parts = condition[0] if condition else "and", condition[1:]

    def each(conditions: Iterable[Sexpr], value: bool = wanted) -> Iterable[str]:
        return (advice(world, part, state, binding, value) for part in conditions)

    if head == "not":
        return advice(world, parts[0], state, binding, not wanted)
    if head in ("and", "or"):
        return _joined(each(parts), all_of=(head == "and") is wanted)
    if head == "imply":
        return _joined((*each(parts[:1], not wanted), *each(parts[1:])), all_of=not wanted)
    if head in ("exists", "forall"):
        cases = (advice(world, parts[1], state, case, wanted) for case in world.bindings(parts[0], binding))
        return _joined(cases, all_of=(head == "forall") is wanted)
    return f"(Set {bound(condition, binding)} to {'true' if wanted else 'false'})"


def bound(condition: Sexpr, binding: Binding) -> str:
    """A condition as text, with objects in place of the variables."""
    if isinstance(condition, str):
        return binding.get(condition, condition)
    return "(" + " ".join(bound(part, binding) for part in condition) + ")" if condition else show(condition)


def _joined(found: Iterable[str], all_of: bool) -> str:
    """Several pieces of advice as one: each of them is to be followed, or one of them is enough."""
    pieces = list(dict.fromkeys(itertools.islice(filter(None, found), MOST + 1)))
    if len(pieces) == 1:
        return pieces[0]
    more = ["…"] if len(pieces) > MOST else []
    word = "and" if all_of else "or"
    lines = [piece.replace("\n", f"\n{INDENT}") for piece in (*pieces[:MOST], *more)]
    listed = f"\n{INDENT}{word} ".join(lines)
    return f"(Follow {'each' if all_of else 'one'} of:\n{INDENT}{listed}\n)" if pieces else ""
