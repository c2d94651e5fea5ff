"""Deduction over made-up kinds, in the manner of PrOntoQA: rules 'if X then Y' in a chain, with others that mislead."""

from __future__ import annotations

import itertools
import random
from typing import Any

from examples.search_problems.items import Items

KINDS = (
    "wumpus",
    "yumpus",
    "zumpus",
    "dumpus",
    "rompus",
    "numpus",
    "tumpus",
    "vumpus",
    "impus",
    "jompus",
    "gorpus",
    "shumpus",
    "lempus",
    "sterpus",
    "grimpus",
    "lorpus",
    "brimpus",
    "timpus",
    "yimpus",
    "rempus",
    "fompus",
    "worpus",
    "terpus",
    "gerpus",
    "kerpus",
    "borpus",
    "scrompus",
    "zhorpus",
    "bompus",
    "jelpus",
    "felpus",
    "chorpus",
    "hilpus",
    "storpus",
    "yerpus",
    "boompus",
    "gwompus",
    "rorpus",
    "quimpus",
)
"""Names that mean nothing, so that only the rules say what follows."""

PROPERTIES = (
    "amenable",
    "bitter",
    "blue",
    "bright",
    "cold",
    "cuddly",
    "dull",
    "earthy",
    "feisty",
    "floral",
    "fruity",
    "happy",
    "hot",
    "kind",
    "large",
    "liquid",
    "loud",
    "luminous",
    "mean",
    "metallic",
    "moderate",
    "muffled",
    "nervous",
    "opaque",
    "orange",
    "overcast",
    "rainy",
    "red",
    "shy",
    "slow",
    "small",
    "snowy",
    "sour",
    "spicy",
    "sunny",
    "sweet",
    "temperate",
    "transparent",
    "wooden",
)

INSTANCES = 400


def instance(source: random.Random) -> dict[str, Any]:
    """A fact, rules, and a question that follows from them or whose opposite does.

    The kinds are a chain, each with a property or the opposite of one. The question is about a property of some kind
    that can be reached; a rule about another kind says the opposite of it.
    """
    length = source.randint(3, 6)
    *chain, stranger = source.sample(KINDS, length + 2)
    properties = source.sample(PROPERTIES, length + 1)
    signs = [source.random() < 0.5 for _ in properties]
    rules = [[lower, upper] for lower, upper in itertools.pairwise(chain)]
    rules += [[kind, _literal(name, sign)] for kind, name, sign in zip(chain, properties, signs, strict=True)]
    asked = source.randrange(len(chain))
    start = source.randrange(asked + 1)
    holds = source.random() < 0.5
    name, sign = properties[asked], signs[asked]
    rules.append([stranger, _literal(name, not sign)])
    source.shuffle(rules)
    query = _literal(name, sign if holds else not sign)
    return {"state": [chain[start]], "rules": rules, "query": query, "answer": holds}


def _literal(name: str, sign: bool) -> str:
    return name if sign else f"not-{name}"


def opposite(literal: str) -> str:
    """What is true if it is not."""
    return literal.removeprefix("not-") if literal.startswith("not-") else f"not-{literal}"


def known_successors(state: list[str], rules: list[list[str]]) -> list[list[str]]:
    """Every state with one fact more."""
    added = sorted({then for condition, then in rules if condition in state and then not in state})
    return [sorted([*state, fact]) for fact in added]


def closure(state: list[str], rules: list[list[str]]) -> list[str]:
    """Everything that follows, in the order in which it does."""
    towers = list(state)
    while more := [then for condition, then in rules if condition in towers and then not in towers]:
        towers.append(more[0])
    return towers


def deduction() -> Items:
    """400 instances; three for the searches of the tests, and states on the way with known successors."""
    source = random.Random("deduction")
    tests = [instance(source) for _ in range(3)]
    goals, others, known = [], [], []
    for item in tests:
        everything = closure(item["state"], item["rules"])
        fact = item["query"] if item["answer"] else opposite(item["query"])
        goals.append({"state": everything, "goal": fact})
        others += [{"state": item["state"], "goal": fact}, {"state": everything, "goal": opposite(fact)}]
        for length in (1, 2, len(everything) - 1):
            state = everything[:length]
            known.append({"state": state, "rules": item["rules"], "successors": known_successors(state, item["rules"])})
    return {
        "goals": goals,
        "non_goals": others,
        "successors": known,
        "soundness": tests,
        "instances": [instance(source) for _ in range(INSTANCES)],
    }
