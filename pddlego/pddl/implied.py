"""The facts that follow from true facts of a task: exactly one fact of a group is true, and an order has no circles."""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from pddlego.pddl.balance import ALL, ActionChanges, counted_for, effects_of, exclusive, is_constant
from pddlego.pddl.conditions import Atom, Equal, Formula, Not, Renaming, TypedName, changed_atoms, conjuncts
from pddlego.pddl.domain import Action, Domain, circles_of
from pddlego.pddl.problem import Problem
from pddlego.util.limits import Work


class ImpliedFacts:
    """The facts that follow from true facts, because exactly one fact of each group is true in every reachable state.

    A group is a candidate and an object: exactly one of its facts is true in the initial state, and no action changes
    this number. Raises `TooManyCasesError` if the computation takes more than `work`.
    """

    def __init__(self, domain: Domain, problem: Problem, true: Iterable[Atom], work: Work | None = None) -> None:
        self.domain, self._work = domain, work or Work()
        actions = [effects for action in domain.actions for effects in _merged(domain, action)]
        kept = exclusive(domain, in_all=True)
        self._places = [dict(candidate) for candidate in kept if is_constant(candidate, actions)]
        first = Counter(group for fact in problem.facts for group in self._groups_of(fact, every=True))
        self._single = {group for group, times in first.items() if times == 1}
        self._objects = [*domain.constants, *problem.objects]
        self._true_in: dict[tuple[int, str], Atom] = {}
        names = {obj.name for obj in self._objects}
        single = [
            places if all((number, name) in self._single for name in names) else {}
            for number, places in enumerate(self._places)
        ]
        plain = [effects_of(action) for action in domain.actions]
        self._acyclic = {name for name in domain.predicates_by_name if _stays_acyclic(name, single, plain)}
        self._acyclic = {name for name in self._acyclic if not _has_circle(name, problem.facts)}
        self._next: dict[tuple[str, str], str] = {}
        self.true: set[Atom] = set()
        for atom in true:
            self._take(atom)
        waiting = self._single - self._true_in.keys()
        while True:
            decided = [group for group in sorted(waiting) if self._decide(group)]
            if not decided:
                break
            waiting -= self._true_in.keys()

    @property
    def is_total(self) -> bool:
        """Whether the truth of all changeable facts is known: each is in a group, and each group has its true fact."""
        changing = {atom.predicate for action in self.domain.actions for atom, _ in changed_atoms(action.effect)}
        grouped = {predicate for places in self._places for predicate in places}
        every = {(n, name) for n, places in enumerate(self._places) for name in self._keys(places)}
        return changing <= grouped and every == self._single and self._single <= self._true_in.keys()

    def _keys(self, places: Mapping[str, int]) -> list[str]:
        """The objects for which the facts of a candidate are counted."""
        return [""] if ALL in places.values() else [obj.name for obj in self._objects]

    def is_excluded(self, atom: Atom) -> bool:
        """Whether an atom must be false: another fact of its groups is true, or the atom would close a circle."""
        self._work.spend()
        if any(self._true_in.get(group, atom) != atom for group in self._groups_of(atom)):
            return True
        if atom.predicate in self._acyclic:
            name: str | None = atom.args[1]
            for _ in range(len(self._next) + 1):
                if name is None or name == atom.args[0]:
                    break
                name = self._next.get((atom.predicate, name))
            return name == atom.args[0]
        return False

    def _take(self, atom: Atom) -> None:
        self.true.add(atom)
        if atom.predicate in self._acyclic:
            self._next[atom.predicate, atom.args[0]] = atom.args[1]
        self._true_in |= dict.fromkeys(self._groups_of(atom), atom)

    def _decide(self, group: tuple[int, str]) -> bool:
        """Take the fact of an undecided group if only one can be true; return whether it was taken."""
        if group in self._true_in:
            return False
        possible = list(itertools.islice((atom for atom in self._members(group) if not self.is_excluded(atom)), 2))
        if len(possible) == 1:
            self._take(possible[0])
        return len(possible) == 1

    def _groups_of(self, atom: Atom, every: bool = False) -> list[tuple[int, str]]:
        groups = [(n, counted_for(atom, places)) for n, places in enumerate(self._places) if atom.predicate in places]
        return groups if every else [group for group in groups if group in self._single]

    def _members(self, group: tuple[int, str]) -> Iterator[Atom]:
        """All possible facts of a group."""
        number, name = group
        for predicate, place in self._places[number].items():
            parameters = self.domain.predicates_by_name[predicate].parameters
            choices = [
                [name] if index == place else self._of_type(parameter.type)
                for index, parameter in enumerate(parameters)
            ]
            yield from (Atom(predicate, args) for args in itertools.product(*choices))

    def _of_type(self, kind: str) -> list[str]:
        return [obj.name for obj in self._objects if self.domain.is_a(obj.type, kind)]


_MOST_MERGED = 200
"""The maximum number of variants of an action with one object for several parameters."""


def _merged(domain: Domain, action: Action) -> list[ActionChanges]:
    """The effects of an action, also with one object for several parameters, or a constant for a parameter."""
    variants = {action: None}
    waiting = [action]
    while waiting and len(variants) <= _MOST_MERGED:
        current = waiting.pop()
        unequal = {frozenset(names) for names in _unequal(current.precondition)}
        for first, second in itertools.product((*current.parameters, *domain.constants), current.parameters):
            names = frozenset((first.name, second.name))
            if len(names) < 2 or names in unequal or not _may_be_one(domain, first, second):
                continue
            renaming = Renaming({second.name: first.name})
            variant = replace(
                current,
                parameters=tuple(parameter for parameter in current.parameters if parameter != second),
                precondition=renaming.formula(current.precondition),
                effect=renaming.formula(current.effect),
            )
            if variant not in variants:
                variants[variant] = None
                waiting.append(variant)
    return [effects_of(variant) for variant in variants]


def _unequal(condition: Formula) -> Iterator[tuple[str, str]]:
    """The pairs of names that a condition requires to be different objects."""
    for part in conjuncts(condition):
        if isinstance(part, Not) and isinstance(part.part, Equal):
            yield part.part.left, part.part.right


def _may_be_one(domain: Domain, first: TypedName, second: TypedName) -> bool:
    return any(domain.is_a(kind, first.type) and domain.is_a(kind, second.type) for kind in domain.types)


def _stays_acyclic(predicate: str, places: Sequence[Mapping[str, int]], actions: Sequence[ActionChanges]) -> bool:
    """Whether no action can close a circle in a relation such as `on`.

    Each action that makes `(on ?x ?y)` true needs a fact about `?x` and another one about `?y` that exclude `(on * ?x)`
    and `(on * ?y)`. Because these facts differ, `?x` is not `?y`.
    """

    def excluding_predicates(needs: Iterable[Atom], name: str, group: Mapping[str, int]) -> set[str]:
        inside = (atom for atom in needs if atom.predicate in group and atom.predicate != predicate)
        return {atom.predicate for atom in inside if counted_for(atom, group) == name}

    def is_safe(action: ActionChanges, group: Mapping[str, int]) -> bool:
        added = [atom for atom in action.adds if atom.predicate == predicate]
        if len(added) != 1 or len(added[0].args) != 2:
            return not added
        first, second = (excluding_predicates(action.needs, name, group) for name in added[0].args)
        return bool(first and second) and first.isdisjoint(second)

    groups = [group for group in places if group.get(predicate) == 1]
    return any(all(is_safe(action, group) for action in actions) for group in groups)


def breaks_order(atom: Atom, facts: Iterable[Atom]) -> bool:
    """Whether a fact closes a circle in a relation that has chains but no circles, such as `(next ?lower ?higher)`."""
    if len(atom.args) != 2:
        return False
    others = [fact for fact in facts if fact.predicate == atom.predicate]
    has_chain = not {fact.args[0] for fact in others}.isdisjoint(fact.args[1] for fact in others)
    return has_chain and not _has_circle(atom.predicate, others) and _has_circle(atom.predicate, [*others, atom])


def _has_circle(predicate: str, facts: Iterable[Atom]) -> bool:
    """Whether the facts of a predicate with two arguments lead from an object back to it."""
    edges: dict[str, set[str]] = defaultdict(set)
    for fact in facts:
        if fact.predicate == predicate:
            edges[fact.args[0]].add(fact.args[1])
    return bool(circles_of(edges))
