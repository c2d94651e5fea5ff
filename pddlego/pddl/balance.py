"""Candidates for facts that exclude each other, from the actions of a domain: a block is on the table or held.

A candidate is a set of predicates, such as `clear ?x`, `on * ?x` and `holding ?x`, with the claim that for each object
at most one of their facts is true. The claim holds if every action that makes such a fact true makes another fact about
the same object false that was true before (the balance of Helmert's *Concise finite-domain representations*, 2009). A
candidate that an action violates is extended by a fact that the action makes false. Different parameters are assumed to
be different objects, so a candidate is evidence for a warning, not a proof. `ImpliedFacts` also considers one object
for several parameters, which gives a proof.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pddlego.pddl.conditions import Atom, Not, atoms_of, conjuncts, required_atoms
from pddlego.pddl.domain import Action, Domain

MAX_CANDIDATES, _MAX_PARTS, MAX_ARGUMENTS = 500, 5, 2
"""The maximum numbers of candidates, of predicates in a candidate, and of arguments of such a predicate."""


Candidate = frozenset[tuple[str, int]]
"""Predicates, each with the index of the argument for which its facts are counted."""


@dataclass(frozen=True)
class ActionChanges:
    """The atoms that an action always needs, adds and deletes, and the `others`: predicates in its other effects."""

    needs: frozenset[Atom]
    adds: frozenset[Atom]
    deletes: frozenset[Atom]
    others: frozenset[str]


ALL = -1
"""In place of an index: the facts of the whole problem are counted, because the agent is `at` one place."""


def exclusive(domain: Domain, in_all: bool = False) -> tuple[Candidate, ...]:
    """The candidates that hold under every action, in the order of the predicates.

    With `in_all`, also candidates that count the facts of the whole problem.
    """
    actions = [effects_of(action) for action in domain.actions]
    moved = {atom.predicate for action in actions for atom in action.adds}
    moved &= {atom.predicate for action in actions for atom in action.deletes}
    start = [
        frozenset({(predicate.name, place)})
        for predicate in domain.predicates
        if predicate.name in moved
        for place in range(len(predicate.parameters))
        if len(predicate.parameters) <= MAX_ARGUMENTS
    ]
    if in_all:
        start += [
            frozenset({(one.name, ALL)}) for one in domain.predicates if one.name in moved and len(one.parameters) < 2
        ]
    start = start[:MAX_CANDIDATES]
    waiting, seen, balanced = deque(start), set(start), list[Candidate]()
    while waiting:
        candidate = waiting.popleft()
        wider = next(
            (wider_candidate for action in actions if (wider_candidate := added_beside(candidate, action)) is not None),
            None,
        )
        if wider is None:
            balanced.append(candidate)
        for part in sorted(wider or ()):
            more = candidate | {part}
            predicates = {name for name, _ in more}
            fits = part[0] in moved and len(predicates) == len(more) <= _MAX_PARTS
            if fits and more not in seen and len(seen) < MAX_CANDIDATES:
                seen.add(more)
                waiting.append(more)
    return tuple(balanced)


def added_beside(candidate: Candidate, action: ActionChanges) -> set[tuple[str, int]] | None:
    """The facts that may extend a candidate that the action violates; None if the action keeps the candidate."""
    places = dict(candidate)
    if action.others & set(places):
        return set()
    added: dict[str, list[Atom]] = defaultdict(list)
    for atom in action.adds:
        if atom.predicate in places and atom not in action.needs:
            added[counted_for(atom, places)].append(atom)
    for name, atoms in sorted(added.items()):
        gone = [atom for atom in action.deletes & action.needs if name in atom.args or not name]
        taken = [atom for atom in gone if atom.predicate in places and counted_for(atom, places) == name]
        if len(atoms) > 1:
            return set()
        if not taken:
            short = (atom for atom in gone if len(atom.args) <= (MAX_ARGUMENTS if name else 1))
            return {(atom.predicate, atom.args.index(name) if name else ALL) for atom in short}
    return None


def counted_for(atom: Atom, places: Mapping[str, int]) -> str:
    """The object for which a fact of a candidate is counted; empty for the whole problem."""
    place = places[atom.predicate]
    return "" if place == ALL else atom.args[place]


def is_constant(candidate: Candidate, actions: Iterable[ActionChanges]) -> bool:
    """Whether no action changes the number of true facts of a candidate, if that number is one."""
    places = dict(candidate)
    for action in actions:
        needed = Counter(counted_for(atom, places) for atom in action.needs if atom.predicate in places)
        impossible = any(times > 1 for times in needed.values())  # it needs two facts of which only one can be true
        if not impossible and (added_beside(candidate, action) is not None or _empties(candidate, action)):
            return False
    return True


def _empties(candidate: Candidate, action: ActionChanges) -> bool:
    """Whether an action may make a fact of a candidate false without making another one true."""
    places = dict(candidate)
    added = Counter(counted_for(atom, places) for atom in action.adds - action.needs if atom.predicate in places)
    gone = Counter(counted_for(atom, places) for atom in action.deletes if atom.predicate in places)
    return any(added[name] < times for name, times in gone.items())


def effects_of(action: Action) -> ActionChanges:
    needs = frozenset(required_atoms(action.precondition))
    adds, deletes, others = set[Atom](), set[Atom](), set[str]()
    for part in conjuncts(action.effect):
        match part:
            case Atom():
                adds.add(part)
            case Not(part=Atom() as atom):
                deletes.add(atom)
            case _:
                others.update(atom.predicate for atom in atoms_of(part))
    return ActionChanges(needs, frozenset(adds), frozenset(deletes - adds), frozenset(others))
