"""Perturbed domains: with meaningless names, without some of their conditions, or with wrong numbers."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import groupby
from math import floor
from typing import Any, TypeVar

from pddlego.pddl.conditions import ANY_TYPE, And, Change, Compare, Formula, Renaming, Term, number, with_parts
from pddlego.pddl.domain import Action, Domain, DurativeAction, Predicate, Rule
from pddlego.pddl.numbers import TOTAL_COST, numeric_part
from pddlego.pddl.problem import Problem, rename
from pddlego.util.text import natural

_Schema = TypeVar("_Schema", bound=Action)


@dataclass(frozen=True)
class Anonymous:
    """A domain with meaningless names. `names` maps each original name to its new name."""

    domain: Domain
    names: Mapping[str, str]

    def problem(self, problem: Problem) -> Problem:
        """Convert a problem of the original domain to a problem of this domain."""
        objects = sorted((obj.name for obj in problem.objects if obj.name not in self.names), key=natural)
        own = {name: f"object{number}" for number, name in enumerate(objects, start=len(self.domain.constants))}
        renamed = rename(problem, Renaming({**self.names, **own}, self.names, self.names))
        return replace(renamed, name="my-problem", domain=self.domain.name)


def anonymous(domain: Domain) -> Anonymous:
    """The domain with a new name for each named element. Names are numbered in the order of the file.

    `total-cost` and `?duration` belong to PDDL and keep their names.
    """
    names = _numbered("predicate", (predicate.name for predicate in domain.predicates))
    names |= _numbered("function", (function.name for function in domain.functions if function.name != TOTAL_COST.head))
    names |= _numbered("operator", (action.name for action in (*domain.actions, *domain.durative)))
    names |= _numbered("object", (constant.name for constant in domain.constants))
    names |= _numbered("type", (name for name in domain.types if name != ANY_TYPE))
    variables = re.findall(r"\?(?!duration[\s()])[^\s()]+", (domain.text or domain.canonical).lower())
    names |= _numbered("?v", dict.fromkeys(variables))
    renaming = Renaming(names, names, names)

    def head(predicate: Predicate) -> Predicate:
        return Predicate(names.get(predicate.name, predicate.name), renaming.typed(predicate.parameters))

    def action(original: _Schema) -> _Schema:
        formulas = ("precondition", "effect", *(("duration",) if isinstance(original, DurativeAction) else ()))
        changed: dict[str, Any] = {name: renaming.formula(getattr(original, name)) for name in formulas}
        return replace(original, name=names[original.name], parameters=renaming.typed(original.parameters), **changed)

    renamed = Domain(
        "my-domain",
        domain.requirements,
        supertypes=renaming.typed(domain.supertypes),
        constants=renaming.typed(domain.constants),
        predicates=tuple(map(head, domain.predicates)),
        functions=tuple(
            replace(
                function, name=names.get(function.name, function.name), parameters=renaming.typed(function.parameters)
            )
            for function in domain.functions
        ),
        actions=tuple(map(action, domain.actions)),
        durative=tuple(map(action, domain.durative)),
        derived=tuple(Rule(head(rule.predicate), renaming.formula(rule.condition)) for rule in domain.derived),
        constraints=renaming.formula(domain.constraints),
    )
    return Anonymous(replace(renamed, text=str(renamed)), names)


def _numbered(prefix: str, names: Iterable[str]) -> dict[str, str]:
    return {name: f"{prefix}{number}" for number, name in enumerate(names)}


def corrupted(domain: Domain, share: float, seed: str, pooled: bool = False) -> tuple[Domain, tuple[str, ...]]:
    """The domain without a `share` (0 to 1) of its conditions, drawn by `seed`, and the removed conditions as texts.

    Conditions are the conjuncts of the preconditions and effects of all actions (a `when` is one condition). The share
    of each precondition and of each effect is rounded down, so that short ones stay intact. With `pooled`, the share of
    all conditions together is rounded to the nearest number. LLMs4Plan (Table 3) states no rule; docs/graphplan.md
    compares both with its figures.
    """
    conditions = _conditions(domain)
    rng, everything = random.Random(seed), range(len(conditions))
    if pooled:
        lost = set(rng.sample(everything, round(share * len(conditions))))
    else:
        lists = [list(group) for _, group in groupby(everything, lambda number: conditions[number][:2])]
        # The small number keeps a share such as 0.3 of ten conditions from being rounded down to two.
        lost = {number for group in lists for number in rng.sample(group, floor(share * len(group) + 1e-9))}
    removed = tuple(" ".join(map(str, conditions[number])) for number in sorted(lost))
    return _with_conditions(domain, (part for place, part in enumerate(conditions) if place not in lost)), removed


def miscounted(domain: Domain, share: float, seed: str) -> tuple[Domain, tuple[str, ...]]:
    """The domain with errors in a `share` (0 to 1) of its numeric conditions, drawn by `seed`, and the errors as texts.

    Numeric are those conditions (as in `corrupted`) that need numbers other than action costs. One with an error is
    removed, or `increase` and `decrease` are swapped in it, or its constants are larger by 1.
    """
    conditions, rng, errors = _conditions(domain), random.Random(seed), list[str]()
    numeric = [place for place, (_, _, part) in enumerate(conditions) if numeric_part((part,))]
    wrong: dict[int, Formula | None] = {}
    for place in sorted(rng.sample(numeric, round(share * len(numeric)))):
        name, field, part = conditions[place]
        changes = [change for change in (_swapped(part), _enlarged(part)) if change != part]
        wrong[place] = chosen = rng.choice([None, *changes])
        errors.append(f"{name} {field} {part}{f' -> {chosen}' if chosen else ''}")
    kept = [(name, field, wrong.get(place, part)) for place, (name, field, part) in enumerate(conditions)]
    changed = ((name, field, part) for name, field, part in kept if part is not None)
    return _with_conditions(domain, changed), tuple(errors)


_SWAPS = {"increase": "decrease", "decrease": "increase"}


def _swapped(part: Formula) -> Formula:
    """A condition in which `increase` and `decrease` are swapped."""
    if isinstance(part, Change):
        return replace(part, operator=_SWAPS.get(part.operator, part.operator))
    return with_parts(part, _swapped)


def _enlarged(part: Formula) -> Formula:
    """A condition whose constants are larger by 1."""

    def larger(term: Term) -> Term:
        if term.parts is None and number(term.head) is not None:
            return Term(f"{Decimal(term.head) + 1:f}")
        return replace(term, parts=tuple(map(larger, term.parts))) if term.parts else term

    match part:
        case Change():
            return replace(part, value=larger(part.value))
        case Compare():
            return replace(part, left=larger(part.left), right=larger(part.right))
    return with_parts(part, _enlarged)


_Condition = tuple[str, str, Formula]
"""The name of an action, `precondition` or `effect`, and a conjunct of it."""


def _conditions(domain: Domain) -> list[_Condition]:
    return [
        (action.name, field, part)
        for action in (*domain.actions, *domain.durative)
        for field in ("precondition", "effect")
        for part in _conjuncts(getattr(action, field))
    ]


def _with_conditions(domain: Domain, conditions: Iterable[_Condition]) -> Domain:
    kept: dict[tuple[str, str], list[Formula]] = {}
    for name, field, part in conditions:
        kept.setdefault((name, field), []).append(part)

    def left(action: _Schema) -> _Schema:
        parts = {name: And(tuple(kept.get((action.name, name), ()))) for name in ("precondition", "effect")}
        return replace(action, precondition=parts["precondition"], effect=parts["effect"])

    changed = replace(domain, actions=tuple(map(left, domain.actions)), durative=tuple(map(left, domain.durative)))
    return replace(changed, text=str(changed))


def _conjuncts(condition: Formula) -> tuple[Formula, ...]:
    return condition.parts if isinstance(condition, And) else (condition,)
