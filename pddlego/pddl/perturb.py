"""Domains that are changed on purpose: names that say nothing, and conditions that are lost."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pddlego.pddl.derived import words
from pddlego.pddl.domain import Domain, parse_domain
from pddlego.pddl.names import natural
from pddlego.pddl.problem import ANY_TYPE, Atom, Problem, TypedName
from pddlego.pddl.sexpr import Sexpr, read_sexprs, show

WORDS = frozenset(
    ("define", "domain", "and", "or", "not", "imply", "exists", "forall", "when", "=", "-", "either", ANY_TYPE)
)
"""Words of the language, which stay."""


@dataclass(frozen=True)
class Anonymous:
    """A domain without meaning, and the new name of each of its names."""

    domain: Domain
    names: Mapping[str, str]

    def problem(self, problem: Problem) -> Problem:
        """A problem of the old domain as one of the new."""
        objects = sorted((each.name for each in problem.objects if each.name not in self.names), key=natural)
        own = {name: f"object{number}" for number, name in enumerate(objects, start=len(self.domain.constants))}
        names = {**self.names, **own}
        typed = frozenset(TypedName(names[each.name], names.get(each.type, each.type)) for each in problem.objects)
        facts = frozenset(Atom(names[fact.predicate], tuple(names[arg] for arg in fact.args)) for fact in problem.facts)
        return Problem("my-problem", self.domain.name, typed, facts, _renamed(problem.goal, names))


def anonymous(domain: Domain) -> Anonymous:
    """The domain with new names for everything that has one. Names are numbered in the order of the file."""
    names = _numbered("predicate", (each.name for each in domain.predicates))
    names |= _numbered("operator", (each.name for each in domain.actions))
    names |= _numbered("object", (each.name for each in domain.constants))
    names |= _numbered("type", (name for name in domain.types if name != ANY_TYPE))
    (whole,) = read_sexprs(domain.text).expressions
    names |= _numbered("?v", dict.fromkeys(word for word in words(whole) if word.startswith("?")))
    assert isinstance(whole, tuple)
    parts = "\n  ".join(show(_renamed(part, names)) for part in whole[1:] if part[:1] != ("domain",))
    return Anonymous(parse_domain(f"(define (domain my-domain)\n  {parts})"), names)


def _numbered(prefix: str, names: Iterable[str]) -> dict[str, str]:
    return {name: f"{prefix}{number}" for number, name in enumerate(names)}


def _renamed(part: Sexpr, names: Mapping[str, str]) -> Sexpr:
    if isinstance(part, str):
        return part if part in WORDS or part.startswith(":") else names.get(part, part)
    return tuple(_renamed(inner, names) for inner in part)


def corrupted(domain: Domain, share: float, seed: str) -> tuple[Domain, tuple[str, ...]]:
    """The domain without that share (0 to 1) of its conditions, drawn by `seed`, and what was removed, by action.

    Conditions are the conjuncts of all preconditions and effects of actions, whatever stands inside of them (a `when`
    is one); the share is rounded to whole conditions.
    """
    (whole,) = read_sexprs(domain.text).expressions
    fields = [(number, place) for number, part in enumerate(whole) for place in _fields(part)]
    conditions = [(field, each) for field in fields for each in _conjuncts(whole[field[0]][field[1]])]
    lost = set(random.Random(seed).sample(range(len(conditions)), round(share * len(conditions))))
    kept: dict[tuple[int, int], list[Sexpr]] = {field: [] for field in fields}
    removed: list[str] = []
    for number, (field, condition) in enumerate(conditions):
        if number in lost:
            action, place = whole[field[0]], field[1]
            removed.append(f"{action[1]} {str(action[place - 1])[1:]} {show(condition)}")
        else:
            kept[field].append(condition)
    parts = [list(part) for part in whole]
    for (number, place), left in kept.items():
        parts[number][place] = ("and", *left)
    body = "\n  ".join(show(tuple(part)) for part in parts[1:])
    return parse_domain(f"(define {body})"), tuple(removed)


def _fields(part: Sexpr) -> list[int]:
    """Where the precondition and the effect of an action stand in it; nowhere in other parts."""
    if part[:1] != (":action",):
        return []
    return [place for place in range(1, len(part)) if part[place - 1] in (":precondition", ":effect")]


def _conjuncts(condition: Sexpr) -> tuple[Sexpr, ...]:
    if isinstance(condition, str) or not condition:
        return ()
    return condition[1:] if condition[0] == "and" else (condition,)
