"""BlocksWorld with four and five blocks: random towers, and the least number of actions, found breadth first."""

from __future__ import annotations

import itertools
import random
from collections import deque
from typing import Any

from examples.search_problems.items import Items

Towers = frozenset[tuple[str, ...]]
"""Towers from the table up."""

Situation = tuple[Towers, str | None]
"""The towers, and the block that the hand holds."""

FOUR, FIVE = 450, 50
"""Instances of each size."""


def following(situation: Situation) -> list[Situation]:
    """What one action makes of a situation: a hand that is empty takes a block, one that holds a block puts it."""
    towers, held = sorted(situation[0]), situation[1]
    situations: list[Situation] = []
    for tower in towers:
        others = [other for other in towers if other != tower]
        if held is not None:
            situations.append((frozenset([*others, (*tower, held)]), None))
        else:
            rest = [tower[:-1]] if tower[:-1] else []
            situations.append((frozenset([*others, *rest]), tower[-1]))
    return situations if held is None else [(frozenset([*towers, (held,)]), None), *situations]


def distance(start: Towers, goal: set[tuple[str, str]]) -> int:
    """The least number of actions until every pair of the goal is on each other."""
    waiting: deque[tuple[Situation, int]] = deque([((start, None), 0)])
    met: set[Situation] = {(start, None)}
    while waiting:
        situation, steps = waiting.popleft()
        if goal <= pairs(situation[0]):
            return steps
        for after in following(situation):
            if after not in met:
                met.add(after)
                waiting.append((after, steps + 1))
    raise ValueError("no way leads to the goal")


def pairs(towers: Towers) -> set[tuple[str, str]]:
    """Which block is on which."""
    return {(upper, lower) for tower in towers for lower, upper in itertools.pairwise(tower)}


def as_state(situation: Situation) -> dict[str, Any]:
    """A situation as the functions are given it."""
    towers, held = sorted(situation[0]), situation[1]
    return {
        "clear": [tower[-1] for tower in towers],
        "on-table": [tower[0] for tower in towers],
        "arm-empty": held is None,
        "holding": held,
        "on": sorted(pairs(situation[0])),
    }


def as_goal(wanted: set[tuple[str, str]]) -> dict[str, Any]:
    """A goal: facts that must be true."""
    return {"clear": [], "on-table": [], "on": sorted(wanted)}


def random_towers(blocks: str, source: random.Random) -> Towers:
    """Blocks in any order, cut into towers."""
    order = source.sample(blocks, len(blocks))
    towers: list[tuple[str, ...]] = []
    for block in order:
        if towers and source.random() < 0.5:
            towers[-1] = (*towers[-1], block)
        else:
            towers.append((block,))
    return frozenset(towers)


def instance(blocks: str, source: random.Random) -> dict[str, Any]:
    """Towers, a goal that is not true yet, and the least number of actions."""
    while True:
        start, end = random_towers(blocks, source), random_towers(blocks, source)
        goal = pairs(end)
        if goal and not goal <= pairs(start):
            return {"state": as_state((start, None)), "goal": as_goal(goal), "cost": distance(start, goal)}


def blocksworld() -> Items:
    """500 instances; ten for the searches of the tests, with other blocks; states on the way with known successors."""
    source = random.Random("blocksworld")
    tests = [instance("abcd", source) for _ in range(10)]
    goals, others, known = [], [], []
    for _ in range(4):
        towers = random_towers("abcde", source)
        while len(pairs(towers)) < 2:
            towers = random_towers("abcde", source)
        situation: Situation = (towers, None)
        some = set(sorted(pairs(towers))[:1])
        goals += [{"state": as_state(situation), "goal": as_goal(wanted)} for wanted in (pairs(towers), some)]
        for _ in range(5):
            known.append({"state": as_state(situation), "successors": list(map(as_state, following(situation)))})
            situation = source.choice(following(situation))
        turned = {(lower, upper) for upper, lower in pairs(towers)}
        others += [
            {"state": as_state((towers, None)), "goal": as_goal(turned)},
            {"state": as_state((towers, None)), "goal": as_goal(pairs(towers) | {sorted(turned)[0]})},
        ]
    return {
        "goals": goals,
        "non_goals": others,
        "successors": known,
        "soundness": tests,
        "instances": [
            *(instance("abcd", source) for _ in range(FOUR)),
            *(instance("abcde", source) for _ in range(FIVE)),
        ],
    }
