"""What is right in the 24 Game: what `read` gives to the functions, transitions, goals and solutions."""

from fractions import Fraction
from itertools import combinations, pairwise

TOLERANCE = 0.001


def read(item):
    if "Puzzles" in item:  # a row of the table of puzzles that the papers use
        return {"state": [int(number) for number in item["Puzzles"].split()]}
    return item


def check(state, successor, item):
    if len(successor) == len(state) - 1:
        return ""
    return "a successor has exactly one number less than its state, because two numbers become one"


def is_goal(state, item):
    return len(state) == 1 and abs(state[0] - 24) < TOLERANCE


def validate(path, search, item):
    solvable = str(item.get("solvable", 1)) in ("1", "True")
    if path is None:
        return "it can be solved, and no solution was found" if solvable else ""
    if not solvable:
        return "it cannot be solved, and a solution was found"
    if sorted(path[0]) != sorted(read(item)["state"]):
        return "it does not begin with the numbers of the puzzle"
    exact = [[Fraction(number) for number in read(item)["state"]]]
    for before, after in pairwise(path):
        exact = [made for numbers in exact for made in _made(numbers) if _same(made, after)]
        if not exact:
            return f"no operation makes {after} of {before}"
    return "" if [24] in exact else f"{path[-1]} is not [24]"


def _made(numbers):
    """Every list of numbers that one operation makes of `numbers`, which are fractions: no rounding adds up."""
    for i, j in combinations(range(len(numbers)), 2):
        rest = [number for place, number in enumerate(numbers) if place not in (i, j)]
        x, y = numbers[i], numbers[j]
        for number in (x + y, x * y, x - y, y - x, *([x / y] if y else []), *([y / x] if x else [])):
            yield [*rest, number]


def _same(left, right):
    return len(left) == len(right) and all(
        abs(x - y) < TOLERANCE for x, y in zip(sorted(left), sorted(right), strict=True)
    )
