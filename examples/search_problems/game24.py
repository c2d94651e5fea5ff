"""24 Game: solvability is proved with fractions, without rounding."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations_with_replacement

from examples.search_problems.items import Items


def combined(numbers: tuple[Fraction, ...]) -> Iterator[tuple[Fraction, ...]]:
    """Everything that one operation makes of numbers, sorted."""
    for i, x in enumerate(numbers):
        for j, y in enumerate(numbers):
            if i == j:
                continue
            rest = [number for place, number in enumerate(numbers) if place not in (i, j)]
            for made in (x + y, x - y, x * y, *([x / y] if y else [])):
                yield tuple(sorted((*rest, made)))


def makes_24(numbers: tuple[Fraction, ...]) -> bool:
    """Whether 24 can be made of numbers."""
    met = {numbers}
    waiting = [numbers]
    while waiting:
        state = waiting.pop()
        if len(state) == 1 and state[0] == 24:
            return True
        for after in combined(state):
            if after not in met:
                met.add(after)
                waiting.append(after)
    return False


def known_successors(state: Sequence[float]) -> list[list[float]]:
    """All successors of a state, each once, with the numbers of Python's operators: `4 / 4` is `1.0`.

    Of equal numbers, the whole one is kept, so that a comparison of texts finds each of them in what a program returns.
    """
    known: dict[tuple[float, ...], list[float]] = {}
    for i, x in enumerate(state):
        for j, y in enumerate(state):
            if i == j:
                continue
            rest = [number for place, number in enumerate(state) if place not in (i, j)]
            for made in (x + y, x - y, x * y, *([x / y] if y else [])):
                after = sorted((*rest, made))
                key = tuple(round(number, 6) for number in after)
                if key not in known or isinstance(made, int):
                    known[key] = after
    return [known[key] for key in sorted(known)]


def game24() -> Items:
    """Every puzzle with cards from 1 to 13 that can be solved: 1,362."""
    hands = combinations_with_replacement(range(1, 14), 4)
    puzzles: list[list[float]] = [list(hand) for hand in hands if makes_24(tuple(map(Fraction, hand)))]
    tests = random.Random("24game").sample(puzzles, 10)
    states: list[list[float]] = [
        [1.5, 8, 12],
        [6, 6, 12],
        [2, 12],
        [6, 18],
        [0, 24],
        [0.5, 48],
        [3, 3, 3],
        [1, 1],
        [24, 0],
    ]
    return {
        "goals": [[24], {"state": [23.999999999999993], "extra": True}],
        "non_goals": [[], [3], [24, 1], [1, 6, 4], [1, 1, 4, 6], {"state": [23.9], "extra": True}],
        "successors": [{"state": state, "successors": known_successors(state)} for state in [*tests, *states]],
        "soundness": [{"state": puzzle} for puzzle in tests],
        "instances": [{"state": puzzle} for puzzle in puzzles],
    }
