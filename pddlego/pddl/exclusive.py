"""Facts that every action keeps apart, read off the actions of a domain: a block is on the table, on another, or held.

A candidate says that for each object at most one fact of some predicates is true, as `clear ?x`, `on * ?x` and
`holding ?x`. It holds if every action that makes such a fact true makes one of the same object false that was true
before (the balance of Helmert's *Concise finite-domain representations*, 2009); where an action does not, the candidate
is widened by a fact that it makes false. Different parameters are taken for different objects, so what is found is
evidence for a warning and no proof.
"""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pddlego.pddl.conditions import Atom, Not, atoms_of, conjuncts, required_atoms
from pddlego.pddl.domain import Action, Domain
from pddlego.pddl.problem import Problem
from pddlego.pddl.rules import Defect, DefectKind, warning

_MAX_CANDIDATES, _MAX_PARTS, _MAX_ARGUMENTS = 500, 5, 2
"""Candidates that are looked at, predicates of one, and arguments of a predicate in it."""

Candidate = frozenset[tuple[str, int]]
"""Predicates, each with the place of the object that its facts are counted for."""


@dataclass(frozen=True)
class _Effects:
    """What an action needs and changes in every case. `others` are predicates that it makes true in some cases."""

    needs: frozenset[Atom]
    adds: frozenset[Atom]
    deletes: frozenset[Atom]
    others: frozenset[str]


def exclusive(domain: Domain) -> tuple[Candidate, ...]:
    """The candidates that every action keeps, in the order of the predicates."""
    actions = [_effects(action) for action in domain.actions]
    moved = {atom.predicate for action in actions for atom in action.adds}
    moved &= {atom.predicate for action in actions for atom in action.deletes}
    start = [
        frozenset({(predicate.name, place)})
        for predicate in domain.predicates
        if predicate.name in moved
        for place in range(len(predicate.parameters))
        if len(predicate.parameters) <= _MAX_ARGUMENTS
    ]
    waiting, seen, kept = deque(start), set(start), list[Candidate]()
    while waiting:
        candidate = waiting.popleft()
        wider = next(
            (wider_candidate for action in actions if (wider_candidate := _unbalanced(candidate, action)) is not None),
            None,
        )
        if wider is None:
            kept.append(candidate)
        for part in sorted(wider or ()):
            more = candidate | {part}
            predicates = {name for name, _ in more}
            fits = part[0] in moved and len(predicates) == len(more) <= _MAX_PARTS
            if fits and more not in seen and len(seen) < _MAX_CANDIDATES:
                seen.add(more)
                waiting.append(more)
    return tuple(kept)


def broken_invariants(domain: Domain, problem: Problem) -> Iterator[Defect]:
    """Facts of the problem that all actions keep apart, where most objects have one of them at most."""
    reported: set[frozenset[Atom]] = set()
    for candidate in exclusive(domain):
        places = dict(candidate)
        groups: dict[str, list[Atom]] = defaultdict(list)
        for fact in problem.sorted_facts():
            place = places.get(fact.predicate)
            if place is not None and place < len(fact.args):
                groups[fact.args[place]].append(fact)
        # Of one predicate alone there may well be several at the beginning: what is exchanged is kept, not made single.
        crowded = {name: facts for name, facts in groups.items() if len({fact.predicate for fact in facts}) > 1}
        if 2 * len(crowded) >= len(groups):
            continue  # the rule rather than the exception: such facts are counted, and do not exclude each other
        for name, facts in sorted(crowded.items()):
            if frozenset(facts) not in reported:
                reported.add(frozenset(facts))
                atoms = " and ".join(map(str, facts))
                message = f"{atoms} exclude each other for {name}: every action that makes one of them true makes"
                message += " another false; keep the one that is true at the beginning"
                yield warning(DefectKind.BROKEN_INVARIANT, name, message, facts[0].place)


def _unbalanced(candidate: Candidate, action: _Effects) -> set[tuple[str, int]] | None:
    """What may widen a candidate that the action does not keep; None if it does."""
    places = dict(candidate)
    if action.others & set(places):
        return set()
    added: dict[str, list[Atom]] = defaultdict(list)
    for atom in action.adds:
        if atom.predicate in places and atom not in action.needs:
            added[atom.args[places[atom.predicate]]].append(atom)
    for name, atoms in sorted(added.items()):
        gone = [atom for atom in action.deletes & action.needs if name in atom.args]
        taken = [atom for atom in gone if atom.predicate in places and atom.args[places[atom.predicate]] == name]
        if len(atoms) > 1:
            return set()
        if not taken:
            short = (atom for atom in gone if len(atom.args) <= _MAX_ARGUMENTS)
            return {(atom.predicate, atom.args.index(name)) for atom in short}
    return None


def _effects(action: Action) -> _Effects:
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
    return _Effects(needs, frozenset(adds), frozenset(deletes - adds), frozenset(others))


@dataclass(frozen=True)
class Invariant:
    """A condition that every valid problem satisfies; `about` describes it.

    `once` is a fact of which there is at most one for each value of its variables: `(connected ?a * ?d)` says that an
    exit leads to one room, `(at *)` that the agent is in one place. It holds only where all its variables have `names`
    of this form (a regular expression), and not where the fact `unless` is true. `never` are facts that are not true
    together, as `(open ?x)` and `(closed ?x)`.
    """

    about: str
    once: Atom | None = None
    never: tuple[Atom, ...] = ()
    names: str = ""
    unless: Atom | None = None


def parse_invariant(
    domain: Domain, about: str, once: str, never: Sequence[str] = (), names: str = "", unless: str = ""
) -> Invariant:
    """An invariant of a domain. Raises `ValueError` for an undeclared fact or an invalid regular expression."""
    if bool(once) == bool(never) or (never and len(never) < 2):
        raise ValueError(f"invariant '{about}': give either `once`, or `never` with two facts or more")
    if (names or unless) and not once:
        raise ValueError(f"invariant '{about}': `names` and `unless` belong to `once`")
    try:
        re.compile(names)
    except (re.error, OverflowError, RecursionError) as error:
        raise ValueError(f"invariant '{about}': names is not a regular expression ({error})") from error
    pattern = _pattern(domain, about, once) if once else None
    exception = _pattern(domain, about, unless) if unless else None
    if pattern and exception and not set(exception.args) <= set(pattern.args):
        raise ValueError(f"invariant '{about}': `unless` names a variable that `once` does not")
    return Invariant(about, pattern, tuple(_pattern(domain, about, pattern) for pattern in never), names, exception)


def contradictions(problem: Problem, invariants: Sequence[Invariant]) -> tuple[str, ...]:
    """How the problem contradicts itself: one message for each, naming the facts."""
    return tuple(message for invariant in invariants for message in _contradictions(problem, invariant))


def _contradictions(problem: Problem, invariant: Invariant) -> Iterator[str]:
    if invariant.once is not None:
        groups: dict[tuple[str, ...], list[Atom]] = defaultdict(list)
        for fact in problem.sorted_facts():
            binding = _bound(invariant.once, fact)
            if binding is not None and _holds_for(invariant, problem, binding):
                groups[tuple(binding.values())].append(fact)
        for facts in groups.values():
            if len(facts) > 1:
                yield f"{' and '.join(map(str, facts))}: {invariant.about}"
        return
    first, *others = invariant.never
    for fact in problem.sorted_facts():
        binding = _bound(first, fact)
        together = [_filled(pattern, binding) for pattern in others] if binding is not None else []
        if together and all(atom in problem.facts for atom in together):
            yield f"{' and '.join(map(str, (fact, *together)))}: {invariant.about}"


def _holds_for(invariant: Invariant, problem: Problem, values: dict[str, str]) -> bool:
    """Whether the invariant says anything about these values of its variables."""
    if invariant.names and not all(re.search(invariant.names, value) for value in values.values()):
        return False
    return invariant.unless is None or _filled(invariant.unless, values) not in problem.facts


def _bound(pattern: Atom, fact: Atom) -> dict[str, str] | None:
    """The values of the pattern's variables in a fact; None if it does not match."""
    if pattern.predicate != fact.predicate or len(pattern.args) != len(fact.args):
        return None
    binding: dict[str, str] = {}
    for wanted, value in zip(pattern.args, fact.args, strict=True):
        if wanted.startswith("?"):
            if binding.setdefault(wanted, value) != value:
                return None
        elif wanted not in ("*", value):
            return None
    return binding


def _filled(pattern: Atom, values: dict[str, str]) -> Atom:
    return Atom(pattern.predicate, tuple(values.get(arg, arg) for arg in pattern.args))


def _pattern(domain: Domain, about: str, text: str) -> Atom:
    atom = domain.atom(text)
    if atom is None:
        raise ValueError(f"invariant '{about}': '{text}' is not a fact of the domain")
    return atom
