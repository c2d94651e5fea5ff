"""Interference of steps at the same time, as PDDL 2.1 defines it (Fox and Long 2003, definition 12).

Two actions interfere if one adds or deletes an atom that a condition of the other mentions, or deletes an atom that the
other adds; or if one changes a number that the other reads or changes, unless both only increase or decrease it.
Without interference every order of the actions has the same result.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from pddlego.pddl import Atom, Domain
from pddlego.pddl.conditions import ANY_TYPE, Change, Formula, Scope, Term, When, walk
from pddlego.pddl.domain import Action
from pddlego.pddl.numbers import read_fluents
from pddlego.planning.result import PlanStep
from pddlego.planning.state import State
from pddlego.planning.world import World


@dataclass(frozen=True)
class _Mention:
    """An atom in a condition of an action, with the types of the variables that quantifiers bind in it."""

    predicate: str
    args: tuple[str, ...]
    types: tuple[tuple[str, str], ...]

    def key(self, binding: Mapping[str, str]) -> tuple[str, ...]:
        """Return the arguments that no quantifier binds."""
        quantified = dict(self.types)
        return tuple(binding.get(arg, arg) for arg in self.args if arg not in quantified)


_Changers = dict[int, Atom]
"""Up to two steps by index, each with an atom that it changes: enough to find one besides a given step."""


def interference(world: World, steps: Sequence[PlanStep], state: State) -> tuple[int, int, Atom] | None:
    """Return the indices of two steps that interfere if all are executed in `state`, and an atom that both concern.

    Each step is applicable in `state`. None if no steps interfere.
    """
    added: dict[Atom, _Changers] = {}
    deleted: list[tuple[Atom, int]] = []
    changed: dict[str, list[tuple[Atom, int]]] = defaultdict(list)
    for number, step in enumerate(steps):
        adds, deletes = world.changes(step, state)
        deleted += [(atom, number) for atom in deletes - adds]
        for atom in adds:
            _note(added.setdefault(atom, {}), atom, number)
        changes = (_fluent_atom(change.fluent) for change, _ in world.number_changes(step, state))
        for atom in itertools.chain(adds | deletes, changes):
            changed[atom.predicate].append((atom, number))
    for atom, number in deleted:
        other = _other(number, added.get(atom, {}))
        if other is not None:
            return min(number, other), max(number, other), atom
    actions = {step.action: world.domain.actions_by_name[step.action] for step in steps}
    mentions = {name: _mentions(world.domain, action) for name, action in actions.items()}
    tables = {
        mention: _table(world, mention, changed[mention.predicate]) for own in mentions.values() for mention in own
    }
    for number, step in enumerate(steps):
        binding = world.binding(step)
        for mention in mentions[step.action]:
            changers = tables[mention].get(mention.key(binding), {})
            other = _other(number, changers)
            if other is not None:
                atom = changers[other]
                fluent = Atom(atom.predicate.removeprefix(_NUMBER), atom.args)
                return min(number, other), max(number, other), fluent
    return None


_NUMBER = "= "
"""Begins the predicate of the atom that stands for a number; no predicate has a blank in its name."""


def _fluent_atom(fluent: Term) -> Atom:
    return Atom(_NUMBER + fluent.head, tuple(part.head for part in fluent.parts or ()))


def _note(changers: _Changers, atom: Atom, number: int) -> None:
    if len(changers) < 2:
        changers.setdefault(number, atom)


def _other(number: int, changers: _Changers) -> int | None:
    return next((changer for changer in changers if changer != number), None)


def _table(world: World, mention: _Mention, changed: Sequence[tuple[Atom, int]]) -> dict[tuple[str, ...], _Changers]:
    """Group the steps that change atoms of a mention by the arguments that no quantifier binds."""
    table: dict[tuple[str, ...], _Changers] = defaultdict(dict)
    for atom, number in changed:
        bound = dict(zip(mention.args, atom.args, strict=True))
        consistent = tuple(bound[name] for name in mention.args) == atom.args
        if consistent and all(world.domain.is_a(world.types[bound[name]], kind) for name, kind in mention.types):
            _note(table[mention.key(bound)], atom, number)
    return table


def _mentions(domain: Domain, action: Action) -> Iterable[_Mention]:
    """Return the atoms and numbers that the precondition and the effect depend on, each once."""
    conditions: list[tuple[Formula, Scope]] = [(action.precondition, {})]
    conditions += [(node.condition, scope) for node, scope in walk(action.effect) if isinstance(node, When)]
    nodes = [pair for part, scope in conditions for pair in walk(part, scope)]
    nodes += [(node, scope) for node, scope in walk(action.effect) if isinstance(node, Change)]
    atoms = ((atom, types) for node, types in nodes for atom in _read_atoms(node))
    return dict.fromkeys(mention for atom, types in atoms for mention in _mentioned(domain, atom, types))


def _read_atoms(node: Formula) -> Iterable[Atom]:
    """Return the atom that a formula is, or the atoms of the numbers that it depends on. Its parts do not count."""
    return (node,) if isinstance(node, Atom) else map(_fluent_atom, read_fluents(node))


def _mentioned(domain: Domain, atom: Atom, types: Scope) -> Iterator[_Mention]:
    """Yield the atom; if it is derived, every atom of the predicates that its rules use, directly or indirectly."""
    if atom.predicate not in domain.rules:
        own = tuple((arg, types[arg]) for arg in dict.fromkeys(atom.args) if arg in types)
        yield _Mention(atom.predicate, atom.args, own)
        return
    waiting, seen = [atom.predicate], {atom.predicate}
    while waiting:
        for rule in domain.rules[waiting.pop()]:
            used = {atom.predicate: len(atom.args) for node, _ in walk(rule.condition) for atom in _read_atoms(node)}
            for name in sorted(used.keys() - seen):
                seen.add(name)
                if name in domain.rules:
                    waiting.append(name)
                    continue
                names = tuple(f"?{number}" for number in range(used[name]))
                yield _Mention(name, names, tuple((variable, ANY_TYPE) for variable in names))
