"""Decides whether actions at the same time interfere, as PDDL 2.1 defines it (Fox and Long 2003, definition 12).

Two actions interfere if one adds or deletes an atom that a condition of the other mentions, or deletes an atom that the
other adds. Actions that do not interfere have the same result in any order.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from pddlego.pddl import Atom, Domain
from pddlego.pddl.conditions import ANY_TYPE, Exists, Forall, Formula, When, parts_of
from pddlego.pddl.domain import Action
from pddlego.planning.result import PlanStep
from pddlego.planning.world import World


@dataclass(frozen=True)
class Interference:
    """Two steps, by their indices, and an atom that one changes and the other needs or changes."""

    first: int
    second: int
    atom: Atom


@dataclass(frozen=True)
class _Mention:
    """An atom in a condition of an action, with the types of the variables that quantifiers bind in it."""

    predicate: str
    args: tuple[str, ...]
    types: tuple[tuple[str, str], ...]

    def key(self, binding: Mapping[str, str]) -> tuple[str, ...]:
        """The arguments that no quantifier binds."""
        quantified = dict(self.types)
        return tuple(binding.get(arg, arg) for arg in self.args if arg not in quantified)


_Changers = dict[int, Atom]
"""Steps by their index, with an atom that each changes. Two are enough: one of them is another than any given step."""


def interference(world: World, steps: Sequence[PlanStep], state: AbstractSet[Atom]) -> Interference | None:
    """Two of the steps that interfere if all are executed in `state`, in which each is applicable; None if none do."""
    added: dict[Atom, _Changers] = {}
    deleted: list[tuple[Atom, int]] = []
    changed: dict[str, list[tuple[Atom, int]]] = defaultdict(list)
    for number, step in enumerate(steps):
        adds, deletes = world.changes(step, state)
        deleted += [(atom, number) for atom in deletes - adds]
        for atom in adds:
            _note(added.setdefault(atom, {}), atom, number)
        for atom in adds | deletes:
            changed[atom.predicate].append((atom, number))
    for atom, number in deleted:
        other = _other(number, added.get(atom, {}))
        if other is not None:
            return Interference(min(number, other), max(number, other), atom)
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
                return Interference(min(number, other), max(number, other), changers[other])
    return None


def _note(changers: _Changers, atom: Atom, number: int) -> None:
    if len(changers) < 2:
        changers.setdefault(number, atom)


def _other(number: int, changers: _Changers) -> int | None:
    return next((changer for changer in changers if changer != number), None)


def _table(world: World, mention: _Mention, changed: Sequence[tuple[Atom, int]]) -> dict[tuple[str, ...], _Changers]:
    """Who changes atoms that a mention may be about, by the arguments that no quantifier binds."""
    types = dict(mention.types)
    table: dict[tuple[str, ...], _Changers] = defaultdict(dict)
    for atom, number in changed:
        bound = dict(zip(mention.args, atom.args, strict=True))
        consistent = tuple(bound[name] for name in mention.args) == atom.args
        if consistent and all(world.domain.is_a(world.types[bound[name]], kind) for name, kind in types.items()):
            _note(table[mention.key(bound)], atom, number)
    return table


def _mentions(domain: Domain, action: Action) -> tuple[_Mention, ...]:
    """The atoms in the precondition and in the conditions of conditional effects, each once."""
    found = dict.fromkeys(_in_condition(domain, action.precondition, {}))
    found |= dict.fromkeys(_in_effect(domain, action.effect, {}))
    return tuple(found)


def _in_effect(domain: Domain, effect: Formula, types: dict[str, str]) -> Iterator[_Mention]:
    types = _with(types, effect)
    if isinstance(effect, When):
        yield from _in_condition(domain, effect.condition, types)
        yield from _in_effect(domain, effect.effect, types)
    else:
        for part in parts_of(effect):
            yield from _in_effect(domain, part, types)


def _in_condition(domain: Domain, condition: Formula, types: dict[str, str]) -> Iterator[_Mention]:
    if not isinstance(condition, Atom):
        types = _with(types, condition)
        for part in parts_of(condition):
            yield from _in_condition(domain, part, types)
    elif condition.predicate not in domain.rules:
        own = tuple((arg, types[arg]) for arg in dict.fromkeys(condition.args) if arg in types)
        yield _Mention(condition.predicate, condition.args, own)
    else:
        yield from _behind(domain, condition.predicate)


def _behind(domain: Domain, derived: str) -> Iterator[_Mention]:
    """Every atom of the predicates that a derived predicate follows from: it may depend on any of them."""
    waiting, seen = [derived], {derived}
    while waiting:
        for rule in domain.rules[waiting.pop()]:
            for name in sorted(_predicates(rule.condition) - seen):
                seen.add(name)
                if name in domain.rules:
                    waiting.append(name)
                    continue
                parameters = domain.predicates_by_name[name].parameters
                names = tuple(f"?{number}" for number in range(len(parameters)))
                yield _Mention(name, names, tuple((one, ANY_TYPE) for one in names))


def _predicates(condition: Formula) -> set[str]:
    if isinstance(condition, Atom):
        return {condition.predicate}
    return {name for part in parts_of(condition) for name in _predicates(part)}


def _with(types: dict[str, str], formula: Formula) -> dict[str, str]:
    """The types of quantified variables inside of a formula."""
    if isinstance(formula, Exists | Forall):
        return types | {variable.name: variable.type for variable in formula.variables}
    return types
