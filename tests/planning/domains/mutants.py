"""Domains that differ in one place from a given one, domains that mean the same, and random states to try both."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction

from pddlego.pddl import Atom, Domain
from pddlego.pddl.conditions import (
    And,
    AtTime,
    Change,
    Compare,
    Exists,
    Forall,
    Formula,
    Imply,
    Not,
    Or,
    Renaming,
    Term,
    TypedName,
    conjuncts,
    number,
    with_parts,
)
from pddlego.pddl.domain import Action, DurativeAction, Function, Predicate
from pddlego.planning.domains.differences import Part, paired_parts
from pddlego.planning.domains.witness import Situation, tried_in
from pddlego.planning.result import PlanStep

KINDS = (
    "condition removed",
    "condition added",
    "condition negated",
    "effect removed",
    "effect added",
    "parameter swapped",
    "number changed",
)


def mutant(domain: Domain, kind: str, rng: random.Random) -> Domain | None:
    """The domain with one action changed; None if it has nothing to change in this way."""
    actions: list[Action] = [*domain.actions, *domain.durative]
    rng.shuffle(actions)
    for action in actions:
        changed = _CHANGES[kind](domain, action, rng)
        if changed is not None and changed != action:
            return _with(domain, action, changed)
    return None


def _with(domain: Domain, old: Action, new: Action) -> Domain:
    actions = tuple(new if action is old else action for action in domain.actions)
    durative = tuple(new if action is old else action for action in domain.durative)
    return replace(domain, actions=actions, durative=durative)  # type: ignore[arg-type]


def _timed(action: Action, part: Formula, rng: random.Random, times: tuple[str, ...]) -> Formula:
    return AtTime(rng.choice(times), part) if isinstance(action, DurativeAction) else part


def _random_atom(domain: Domain, action: Action, rng: random.Random) -> Atom | None:
    predicates = [predicate for predicate in domain.predicates if predicate.name not in domain.rules]
    rng.shuffle(predicates)
    for predicate in predicates:
        choices = [
            [one.name for one in (*action.parameters, *domain.constants) if domain.is_a(one.type, parameter.type)]
            for parameter in predicate.parameters
        ]
        if all(choices):
            return Atom(predicate.name, tuple(map(rng.choice, choices)))
    return None


def _condition_removed(domain: Domain, action: Action, rng: random.Random) -> Action | None:
    parts = list(conjuncts(action.precondition))
    if not parts:
        return None
    parts.pop(rng.randrange(len(parts)))
    return replace(action, precondition=And(tuple(parts)))


def _condition_added(domain: Domain, action: Action, rng: random.Random) -> Action | None:
    atom = _random_atom(domain, action, rng)
    if atom is None:
        return None
    part = _timed(action, atom if rng.random() < 0.5 else Not(atom), rng, ("start", "all", "end"))
    return replace(action, precondition=And((*conjuncts(action.precondition), part)))


def _condition_negated(domain: Domain, action: Action, rng: random.Random) -> Action | None:
    parts = list(conjuncts(action.precondition))
    if not parts:
        return None
    place = rng.randrange(len(parts))
    one = parts[place]
    parts[place] = AtTime(one.time, Not(one.part)) if isinstance(one, AtTime) else Not(one)
    return replace(action, precondition=And(tuple(parts)))


def _effect_removed(domain: Domain, action: Action, rng: random.Random) -> Action | None:
    parts = list(conjuncts(action.effect))
    if not parts:
        return None
    parts.pop(rng.randrange(len(parts)))
    return replace(action, effect=And(tuple(parts)))


def _effect_added(domain: Domain, action: Action, rng: random.Random) -> Action | None:
    atom = _random_atom(domain, action, rng)
    if atom is None:
        return None
    part = _timed(action, atom if rng.random() < 0.5 else Not(atom), rng, ("start", "end"))
    return replace(action, effect=And((*conjuncts(action.effect), part)))


def _parameter_swapped(domain: Domain, action: Action, rng: random.Random) -> Action | None:
    """One conjunct with two parameters of one type in each other's place."""
    pairs = [
        (one.name, other.name) for one, other in itertools.combinations(action.parameters, 2) if one.type == other.type
    ]
    rng.shuffle(pairs)
    for one, other in pairs:
        renaming = Renaming({one: other, other: one})
        for name in rng.sample(("precondition", "effect"), 2):
            parts = list(conjuncts(getattr(action, name)))
            places = [place for place, part in enumerate(parts) if renaming.formula(part) != part]
            if places:
                place = rng.choice(places)
                parts[place] = renaming.formula(parts[place])
                new = And(tuple(parts))
                return replace(action, precondition=new) if name == "precondition" else replace(action, effect=new)
    return None


def _number_changed(domain: Domain, action: Action, rng: random.Random) -> Action | None:
    seen: list[str] = []

    def term(one: Term) -> Term:
        value = number(one.head) if one.parts is None else None
        if value is None:
            return one if one.parts is None else replace(one, parts=tuple(map(term, one.parts)))
        seen.append(one.head)
        return Term(str(value + 1)) if len(seen) == 1 and value.denominator == 1 else one

    def changed(part: Formula) -> Formula:
        match part:
            case Compare():
                return replace(part, left=term(part.left), right=term(part.right))
            case Change():
                return replace(part, value=term(part.value))
        return with_parts(part, changed)

    condition, effect = changed(action.precondition), changed(action.effect)
    return replace(action, precondition=condition, effect=effect) if seen else None


_CHANGES: dict[str, Callable[[Domain, Action, random.Random], Action | None]] = {
    "condition removed": _condition_removed,
    "condition added": _condition_added,
    "condition negated": _condition_negated,
    "effect removed": _effect_removed,
    "effect added": _effect_added,
    "parameter swapped": _parameter_swapped,
    "number changed": _number_changed,
}


def rewritten(domain: Domain, rng: random.Random) -> Domain:
    """A domain that means the same: other variables, another order, and other words for conditions."""
    for action in (*domain.actions, *domain.durative):
        names = {one.name: f"?v{number}" for number, one in enumerate(action.parameters)}
        renaming = Renaming(names)
        condition = _reworded(renaming.formula(action.precondition), rng)
        effect = _shuffled(renaming.formula(action.effect), rng)
        new = replace(action, parameters=renaming.typed(action.parameters), precondition=condition, effect=effect)
        if isinstance(new, DurativeAction):
            new = replace(new, duration=renaming.formula(new.duration))
        domain = _with(domain, action, new)
    return domain


def _shuffled(formula: Formula, rng: random.Random) -> Formula:
    formula = with_parts(formula, lambda part: _shuffled(part, rng))
    if isinstance(formula, And):
        return And(tuple(rng.sample(formula.parts, len(formula.parts))))
    return formula


def _reworded(formula: Formula, rng: random.Random) -> Formula:
    """An equivalent condition."""
    formula = with_parts(formula, lambda part: _reworded(part, rng))
    match formula:
        case And(parts=parts) if parts:
            shuffled = tuple(rng.sample(parts, len(parts)))
            return rng.choice([And(shuffled), And((*shuffled, shuffled[0]))])
        case Or(parts=(first, *rest)) if rest:
            return Imply(Not(first), Or(tuple(rest)))
        case Imply(premise, consequence):
            return Or((Not(premise), consequence))
        case Exists(variables, part):
            return Not(Forall(variables, Not(part)))
        case Forall(variables, part):
            return Not(Exists(variables, Not(part)))
        case Atom():
            choices: list[Formula] = [formula, Not(Not(formula)), And((formula,)), Or((formula,))]
            return rng.choice(choices)
    return formula


def random_situation(left: Domain, right: Domain, part: Part, rng: random.Random) -> Situation | None:
    """A state of a few objects with random facts and numbers, and the part with random arguments."""
    objects = {*left.constants}
    for kind in left.types:
        objects |= {TypedName(f"{kind}-{number}", kind) for number in range(rng.randint(0, 2))}
    arguments = []
    for parameter in part.left.parameters:
        fitting = sorted(one.name for one in objects if left.is_a(one.type, parameter.type))
        if not fitting:
            return None
        arguments.append(rng.choice(fitting))
    share = rng.choice((0.2, 0.5, 0.8, 0.95))
    facts, values = set(), set()
    numbers = [0, 1, 2, 5, 10, *_numbers(part.left), *_numbers(part.right)]
    signatures: list[Predicate | Function] = [*left.predicates, *left.functions]
    for signature in signatures:
        choices = [
            sorted(one.name for one in objects if left.is_a(one.type, parameter.type))
            for parameter in signature.parameters
        ]
        for args in itertools.islice(itertools.product(*choices), 300):
            if isinstance(signature, Predicate):
                if rng.random() < share and signature.name not in left.rules:
                    facts.add(Atom(signature.name, args))
            elif rng.random() < 0.9:
                term = Term(signature.name, tuple(map(Term, args)))
                values.add(Compare("=", term, Term(str(rng.choice(numbers) + rng.choice((-1, 0, 0, 1))))))
    times = (("?duration", _fraction(rng, numbers)), ("#t", _fraction(rng, numbers))) if part.moment else ()
    step = PlanStep(part.name, tuple(arguments))
    return Situation(frozenset(objects), frozenset(facts), frozenset(values), step, times)


def _fraction(rng: random.Random, numbers: list[int]) -> Fraction:
    return Fraction(max(0, rng.choice(numbers)))


def _numbers(action: Action) -> list[int]:
    words = str(action).replace("(", " ").replace(")", " ").split()
    return [int(word) for word in words if word.lstrip("-").isdigit()]


def refuted(left: Domain, right: Domain, rng: random.Random, tries: int) -> Iterator[Situation]:
    """Random states in which two domains with the same names differ."""
    every = list(paired_parts(left, right))
    for _ in range(tries):
        part = rng.choice(every)
        situation = random_situation(left, right, part, rng)
        if situation and tried_in(left, part.left, situation) != tried_in(right, part.right, situation):
            yield situation
