"""What is right in the 24 Game: what `read` gives to the functions, transitions, goals and solutions."""

from itertools import pairwise

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
    for before, after in pairwise(path):
        if not _is_step(before, after):
            return f"no operation makes {after} of {before}"
    return "" if is_goal(path[-1], item) else f"{path[-1]} is not [24]"


def _is_step(before, after):
    """Whether two numbers were replaced by what one operation makes of them."""
    for i in range(len(before)):
        for j in range(len(before)):
            if i == j:
                continue
            rest = [number for place, number in enumerate(before) if place not in (i, j)]
            x, y = before[i], before[j]
            made = [x + y, x - y, x * y] + ([x / y] if y else [])
            if any(_same([*rest, number], after) for number in made):
                return True
    return False


def _same(left, right):
    return len(left) == len(right) and all(
        abs(x - y) < TOLERANCE for x, y in zip(sorted(left), sorted(right), strict=True)
    )
