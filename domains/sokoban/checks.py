"""What is right in Sokoban: what `read` gives to the functions, transitions, goals and solutions."""

from itertools import pairwise


def read(item):
    found = {
        "state": _state(item["state"]),
        "successor_arguments": [item["grid"]],
        "goal_arguments": [item["grid"]],
    }
    if "successors" in item:
        found["successors"] = [_state(state) for state in item["successors"]]
    return found


def check(state, successor, item):
    stones = [tuple(stone) for stone in successor["at-stone"]]
    if len(set(stones)) < len(stones):
        return "two stones cannot be at the same place"
    if tuple(successor["at-player"]) in stones:
        return "the player and a stone cannot be at the same place"
    return ""


def is_goal(state, item):
    grid = item["grid"]
    return all(_is_free(grid, stone) and grid[stone[0]][stone[1]] == 2 for stone in state["at-stone"])


def validate(path, search, item):
    if path is None:
        return "it can be solved, and no solution was found"
    if _situation(path[0]) != _situation(item["state"]):
        return "it does not begin as the level does"
    for number, (before, after) in enumerate(pairwise(path)):
        if _situation(after) not in _following(item["grid"], _situation(before)):
            return f"no move leads from state {number} to state {number + 1}"
    return "" if is_goal(path[-1], item) else "not every stone has its place in the last state"


def _following(grid, situation):
    """What one move or push makes of a situation."""
    (row, column), stones = situation
    for down, right in ((-1, 0), (1, 0), (0, -1), (0, 1)):
        to, beyond = (row + down, column + right), (row + 2 * down, column + 2 * right)
        if not _is_free(grid, to):
            continue
        if to not in stones:
            yield to, stones
        elif _is_free(grid, beyond) and beyond not in stones:
            yield to, stones - {to} | {beyond}


def _is_free(grid, place):
    row, column = place
    return 0 <= row < len(grid) and 0 <= column < len(grid[row]) and grid[row][column] != 1


def _situation(state):
    return tuple(state["at-player"]), frozenset(map(tuple, state["at-stone"]))


def _state(found):
    """A state as Python has it: places are tuples."""
    return {"at-player": tuple(found["at-player"]), "at-stone": [tuple(stone) for stone in found["at-stone"]]}
