"""A domain from which conditions of actions were lost (LLMs4Plan, appendix A.2)."""

from __future__ import annotations

import random
from collections.abc import Iterator

from pddlego.pddl.domain import Domain, parse_domain
from pddlego.pddl.sexpr import Sexpr, read_sexprs, show

PARTS = (":precondition", ":effect")

Place = tuple[int, int, int]
"""The number of an expression in the domain, of the part in it, and of the condition in that."""


def corrupted(domain: Domain, share: float, seed: str) -> tuple[Domain, tuple[str, ...]]:
    """The domain without that share (0 to 1) of its conditions, drawn by `seed`, and what was removed, by action.

    Conditions are the conjuncts of all preconditions and effects of actions, whatever stands inside of them (a `when`
    is one); the share is rounded to whole conditions.
    """
    (whole,) = read_sexprs(domain.text).expressions
    assert isinstance(whole, tuple)
    places = list(_places(whole))
    lost = set(random.Random(seed).sample(places, round(share * len(places))))
    parts: list[str] = []
    removed: list[str] = []
    for number, part in enumerate(whole[1:], start=1):
        if isinstance(part, tuple) and part[:1] == (":action",):
            kept = list(part)
            for place in range(len(part) - 1):
                if part[place] in PARTS:
                    conjuncts = _conjuncts(part[place + 1])
                    gone = [each for each in range(len(conjuncts)) if (number, place, each) in lost]
                    removed += [f"{part[1]} {str(part[place])[1:]} {show(conjuncts[each])}" for each in gone]
                    kept[place + 1] = ("and", *(each for at, each in enumerate(conjuncts) if at not in gone))
            parts.append(show(tuple(kept)))
        else:
            parts.append(show(part))
    body = "\n  ".join(parts)
    return parse_domain(f"(define {body})"), tuple(removed)


def _places(whole: tuple[Sexpr, ...]) -> Iterator[Place]:
    for number, part in enumerate(whole):
        if isinstance(part, tuple) and part[:1] == (":action",):
            for place in range(len(part) - 1):
                if part[place] in PARTS:
                    yield from ((number, place, each) for each in range(len(_conjuncts(part[place + 1]))))


def _conjuncts(condition: Sexpr) -> tuple[Sexpr, ...]:
    if isinstance(condition, str) or not condition:
        return ()
    return condition[1:] if condition[0] == "and" else (condition,)
