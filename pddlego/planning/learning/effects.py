"""Learns what an action adds and deletes.

Where parameters are the same object, atoms over them may be the same fact: then one or the other explains a change.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass
from typing import TypeAlias

from pddlego.pddl import Atom
from pddlego.pddl.conditions import And, Equal, Formula, Not, Or, conjuncts

_Group: TypeAlias = frozenset[Atom]
"""Atoms that were the same fact in a transition."""


@dataclass(frozen=True)
class LearnedEffects:
    """The atoms that an action adds and deletes, and the conditions under which no other atom makes a difference.

    There is `doubt` if the same facts change in some transitions and not in others.
    """

    adds: tuple[Atom, ...]
    deletes: tuple[Atom, ...]
    guards: tuple[Formula, ...]
    doubt: bool

    @property
    def formula(self) -> And:
        return And((*self.adds, *map(Not, self.deletes)))


class EffectLesson:
    """What transitions teach of the effects on the `atoms` over the parameters of an action."""

    def __init__(self, atoms: Sequence[Atom]) -> None:
        self._atoms = atoms
        self._may_add, self._may_delete = set(atoms), set(atoms)
        self._added, self._deleted, self._stayed = set[_Group](), set[_Group](), set[_Group]()

    def add(self, facts: Sequence[Atom], before: Set[Atom], after: Set[Atom]) -> Atom | None:
        """Learn from a success, in which the atoms are these facts. Returns a changed fact that no atom is."""
        groups: dict[Atom, list[Atom]] = defaultdict(list)
        for atom, fact in zip(self._atoms, facts, strict=True):
            groups[fact].append(atom)
        for fact, atoms in groups.items():
            if fact in after:
                (self._stayed if fact in before else self._added).add(frozenset(atoms))
            else:
                self._may_add.difference_update(atoms)
                if fact in before:
                    self._deleted.add(frozenset(atoms))
        return min((fact for fact in before ^ after if fact not in groups), key=str, default=None)

    def learned(self, needed: Iterable[Formula]) -> LearnedEffects:
        """The effects of an action that needs these conditions."""
        conditions = set(needed)
        may_delete = set(self._may_delete)
        for group in self._stayed:
            if len(group) == 1 or self._may_add.isdisjoint(group):
                may_delete -= group
        may_delete = {atom for atom in may_delete if Not(atom) not in conditions}
        deletes, same_deletes, doubt_deletes = self._explained(self._deleted, may_delete)
        again = {group for group in self._stayed if not group.isdisjoint(deletes)}  # deleted, and added
        may_add = set(self._may_add)
        adds, same, doubt = self._explained(self._added | again, may_add)
        open_adds = may_add.difference(conditions, adds)
        guards = [_unless(atom, [_same(atom, add) for add in adds]) for atom in open_adds]
        for atom in may_delete.difference(deletes, adds):
            groups = [group for group in self._stayed if atom in group]
            others = [{other for other in deletes if other.predicate == atom.predicate} - group for group in groups]
            stays = [_same(atom, *group) for group, other in zip(groups, others, strict=True) if not other]
            guards.append(_unless(Not(atom), [_same(atom, other) for other in (*adds, *deletes)] + stays))
        only_deleted = tuple(atom for atom in deletes if atom not in adds)
        guards = [*dict.fromkeys((*same, *same_deletes, *sorted(guards, key=str)))]
        return LearnedEffects(tuple(adds), only_deleted, tuple(guards), doubt or doubt_deletes)

    def _explained(self, groups: set[_Group], may_change: set[Atom]) -> tuple[list[Atom], list[Formula], bool]:
        """The atoms that explain changes; the condition that several that may are the same fact; what none explains."""
        explained = sorted((group & may_change for group in groups), key=lambda group: sorted(map(str, group)))
        only = {atom for group in explained if len(group) == 1 for atom in group}
        same: dict[Formula, None] = {}
        for group in explained:
            if group and only.isdisjoint(group):
                first, *others = sorted(
                    group, key=lambda atom: (sum(arg[0] != "?" for arg in atom.args), atom.sort_key)
                )
                only.add(first)
                same |= dict.fromkeys(equal for other in others for equal in conjuncts(_same(first, other) or And()))
                may_change.difference_update(others)  # the same fact: without a difference
        return [atom for atom in self._atoms if atom in only], list(same), not all(explained)


def _same(one: Atom, *others: Atom) -> Formula | None:
    """The condition that atoms are the same fact; None if they never are."""
    if any(other.predicate != one.predicate for other in others):
        return None
    pairs = (pair for other in others for pair in zip(one.args, other.args, strict=True))
    return And(tuple(Equal(*sorted(pair, reverse=True)) for pair in pairs if pair[0] != pair[1]))


def _unless(condition: Formula, cases: Sequence[Formula | None]) -> Formula:
    """A condition, or one of the cases in which it is not needed."""
    same = sorted({case for case in cases if case is not None}, key=str)
    return Or((condition, *same)) if same else condition
