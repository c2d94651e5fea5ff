"""Warnings about facts of a goal or of `:init` that exclude each other."""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping

from pddlego.pddl.balance import (
    ALL,
    MAX_ARGUMENTS,
    MAX_CANDIDATES,
    Candidate,
    counted_for,
    effects_of,
    exclusive,
    is_constant,
)
from pddlego.pddl.conditions import (
    And,
    Atom,
    Exists,
    Formula,
    Not,
    Renaming,
    changed_atoms,
    conjuncts,
    parts_of,
    required_atoms,
)
from pddlego.pddl.domain import Action, Domain
from pddlego.pddl.problem import Problem
from pddlego.pddl.rules import Defect, DefectKind, warning


def exclusive_goals(domain: Domain, problem: Problem) -> Iterator[Defect]:
    """Warnings about facts of the goal that exclude each other, such as `(on a b)` and `(on a c)`."""
    goals = sorted(required_atoms(problem.goal), key=str)
    reported: set[frozenset[Atom]] = set()
    for candidate in exclusive(domain) if len(goals) > 1 else ():
        places = dict(candidate)
        first = _grouped(problem.facts, places)
        for name, facts in sorted(_grouped(goals, places).items()):
            if len({*facts}) > 1 and len(first[name]) < 2 and frozenset(facts) not in reported:
                reported.add(frozenset(facts))
                fault = f"the goal: {' and '.join(map(str, facts))} exclude each other for {name}: every action that"
                fault += " makes one of them true makes another false"
                yield warning(DefectKind.CONTRADICTING_GOAL, name, fault, "keep one", facts[0].place)


def never_together(domain: Domain, goal: Formula) -> str:
    """A message about two parts of a goal that no action can leave true together; empty without such parts.

    Each action that makes one of them true makes the other false, such as `(visited ?l)` for a goal "at ?l and not
    visited". So the goal is reached only if it is true at the beginning.
    """
    stated = (literal for literal in _literals(goal) if literal[0].predicate not in domain.rules)
    literals = list(itertools.islice(stated, _MOST_LITERALS))
    for pair in itertools.combinations(literals, 2):
        makers = [(action, *changes) for action in domain.actions for changes in _breaking(action, *pair)]
        if makers and all(broken for _, _, broken in makers):
            action, made, broken = makers[0]
            message = (
                f"action {action.name} makes {broken} when it makes {made}, so that {' and '.join(map(_shown, pair))}"
            )
            return f"{message} are never true together: remove one of the effects, or choose another goal"
    return ""


_MOST_LITERALS = 20
"""The maximum number of parts of a goal that are compared with each other."""


_Literal = tuple[Atom, bool]


def _literals(goal: Formula) -> Iterator[_Literal]:
    match goal:
        case Atom() | Not(part=Atom()):
            yield from changed_atoms(goal)
        case And() | Exists():
            yield from (literal for part in parts_of(goal) for literal in _literals(part))


def _shown(literal: _Literal) -> str:
    return str(literal[0] if literal[1] else Not(literal[0]))


def _breaking(action: Action, *pair: _Literal) -> Iterator[tuple[str, str]]:
    """Each effect that makes one literal of a pair true, and the effect that always breaks the other with it, or ''."""
    always = {literal for part in conjuncts(action.effect) for literal in _literals(part)}
    for (atom, value), (other, wanted) in (pair, pair[::-1]):
        for effect, new in changed_atoms(action.effect):
            if (effect.predicate, new, len(effect.args)) != (atom.predicate, value, len(atom.args)):
                continue
            names = dict(zip(atom.args, effect.args, strict=True))
            if any(not (name + arg).count("?") and name != arg for name, arg in names.items()):
                continue  # two constants
            known = all(name in names or not name.startswith("?") for name in other.args)
            broken = Renaming(names).atom(other), not wanted
            breaks = known and broken in always and (not wanted or (broken[0], True) not in always)
            yield f"{effect if new else Not(effect)} true", f"{_shown(broken)} true" if breaks else ""


def _grouped(facts: Iterable[Atom], places: Mapping[str, int]) -> dict[str, list[Atom]]:
    """The facts of a candidate, by the object for which they are counted."""
    groups: dict[str, list[Atom]] = defaultdict(list)
    for fact in facts:
        place = places.get(fact.predicate)
        if place is not None and place < len(fact.args):
            groups[counted_for(fact, places)].append(fact)
    return groups


def broken_invariants(domain: Domain, problem: Problem) -> Iterator[Defect]:
    """Warnings about facts of `:init` that exclude each other, if most objects have at most one of them."""
    reported: set[frozenset[Atom]] = set()
    facts_in_order = problem.sorted_facts()
    places = list(itertools.islice(_unique(domain, problem), MAX_CANDIDATES))
    for candidate in (*exclusive(domain), *places):
        groups = _grouped(facts_in_order, dict(candidate))
        crowded = {name: facts for name, facts in groups.items() if len(facts) > 1}
        if candidate not in places:
            # Several facts of one predicate prove nothing: balanced actions keep their number, whatever it is.
            crowded = {name: facts for name, facts in crowded.items() if len({fact.predicate for fact in facts}) > 1}
            if 2 * len(crowded) >= len(groups):
                continue  # most objects have several of these facts, so the facts do not exclude each other
        for name, facts in sorted(crowded.items()):
            if frozenset(facts) not in reported:
                reported.add(frozenset(facts))
                atoms = " and ".join(map(str, facts))
                whose = f" for {name}" if name else ""
                usually = "usually " if candidate in places else ""  # tokens that only move may be many
                fault = f"{atoms} {usually}exclude each other{whose}: every action that makes one of them true makes"
                fault, advice = f"{fault} another false", "keep the one that is true at the beginning"
                yield warning(DefectKind.BROKEN_INVARIANT, name, fault, advice, facts[0].place)


def _unique(domain: Domain, problem: Problem) -> Iterator[Candidate]:
    """The predicates that are used like `at`: moves keep the number of their facts, and other actions need one.

    Tokens that only move, such as the free cells of a puzzle, may be many.
    """
    actions, listed = (
        [effects_of(action) for action in domain.actions],
        Counter(fact.predicate for fact in problem.facts),
    )
    moved = {atom.predicate for action in actions for atom in action.adds}
    needs: dict[str, list[tuple[int, bool]]] = defaultdict(list)  # how many facts an action needs, and keeps
    for action in actions:
        gone = {atom.predicate for atom in action.deletes}
        for name, number in Counter(atom.predicate for atom in action.needs).items():
            needs[name].append((number, name not in gone))
    for predicate in domain.predicates:
        name, arity = predicate.name, len(predicate.parameters)
        if name not in moved or listed[name] < 2 or arity > MAX_ARGUMENTS:
            continue
        if any(keeps for _, keeps in needs[name]) and max(needs[name])[0] == 1:
            candidates = (frozenset({(name, place)}) for place in (range(arity) if arity > 1 else (ALL,)))
            yield from (candidate for candidate in candidates if is_constant(candidate, actions))
