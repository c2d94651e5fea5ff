"""A domain from which conditions of actions were lost (LLMs4Plan, appendix A.2)."""

from __future__ import annotations

import random

from pddlego.pddl.domain import Domain, parse_domain
from pddlego.pddl.sexpr import Sexpr, read_sexprs, show


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
