"""Sokoban: levels of ours, and the least number of moves, found breadth first."""

from __future__ import annotations

from collections import deque
from typing import Any

from examples.search_problems.items import Items

LEVELS = (
    ("######", "#@ $.#", "#  $.#", "######"),
    ("######", "#.   #", "# #$ #", "#  @ #", "######"),
    ("#######", "#..   #", "#  $$ #", "#   @ #", "#######"),
    ("########", "#  .   #", "# $##$ #", "#  .   #", "#   @  #", "########"),
    ("#######", "#   . #", "#     #", "## $ ##", "#   #@#", "# #   #", "#######"),
    ("########", "#.  @# #", "# #$   #", "#  .   #", "#    $ #", "##    ##", "########"),
    ("#########", "#      ##", "#  $# . #", "#.  $   #", "#  @    #", "#########"),
    ("#######", "# .#  #", "#     #", "#. $$##", "# #   #", "#    @#", "#######"),
    ("########", "# #   @#", "#  .   #", "# $   ##", "## ##$ #", "#    . #", "########"),
    ("########", "#     .#", "#   $$$#", "#. # # #", "#.   @ #", "########"),
    ("########", "# .    #", "# $$## #", "#   $..#", "#  ##@ #", "########"),
    ("########", "#  $.# #", "# #$   #", "#   $. #", "# #  # #", "#   #@.#", "########"),
    ("########", "#@ #   #", "#      #", "# #$  .#", "# $ # .#", "#    ###", "########"),
    ("#########", "# $ .#  #", "#  #    #", "##  # # #", "# @#  $ #", "#  .. $ #", "#########"),
    ("########", "#.   $ #", "#@$ ## #", "#      #", "#  #.$.#", "########"),
    ("#########", "#.   #  #", "#  #$   #", "#    #  #", "# @   $##", "##.     #", "#########"),
)
"""`#` wall, `.` place for a stone, `$` stone, `@` player."""

TESTS, TESTED = 3, (1, 2, 3)
"""The first levels are for the searches of the tests; states of these are unit tests."""

Place = tuple[int, int]
Situation = tuple[Place, frozenset[Place]]
"""Where the player is, and where the stones are."""

DIRECTIONS = ((-1, 0), (1, 0), (0, -1), (0, 1))


def read(level: tuple[str, ...]) -> tuple[list[list[int]], Situation]:
    """The grid with 1 for a wall and 2 for a place of a stone, and the situation."""
    grid = [[1 if cell == "#" else 2 if cell == "." else 0 for cell in row] for row in level]
    successors = {
        sign: [(r, c) for r, row in enumerate(level) for c, cell in enumerate(row) if cell == sign] for sign in "@$"
    }
    return grid, (successors["@"][0], frozenset(successors["$"]))


def following(grid: list[list[int]], situation: Situation) -> list[Situation]:
    """What one move or push makes of a situation."""
    (row, column), stones = situation
    situations: list[Situation] = []
    for down, right in DIRECTIONS:
        to, beyond = (row + down, column + right), (row + 2 * down, column + 2 * right)
        if grid[to[0]][to[1]] == 1:
            continue
        if to not in stones:
            situations.append((to, stones))
        elif grid[beyond[0]][beyond[1]] != 1 and beyond not in stones:
            situations.append((to, stones - {to} | {beyond}))
    return situations


def is_goal(grid: list[list[int]], situation: Situation) -> bool:
    """Whether every stone has its place."""
    return all(grid[row][column] == 2 for row, column in situation[1])


def path(grid: list[list[int]], start: Situation) -> list[Situation]:
    """A shortest way to the goal. Raises `ValueError` if it does not exist."""
    parents: dict[Situation, Situation | None] = {start: None}
    waiting = deque([start])
    while waiting:
        situation = waiting.popleft()
        if is_goal(grid, situation):
            situations: list[Situation] = [situation]
            while (before := parents[situations[-1]]) is not None:
                situations.append(before)
            return situations[::-1]
        for after in following(grid, situation):
            if after not in parents:
                parents[after] = situation
                waiting.append(after)
    raise ValueError("this level cannot be solved")


def as_state(situation: Situation) -> dict[str, Any]:
    """A situation as the functions are given it."""
    return {"at-player": situation[0], "at-stone": sorted(situation[1])}


def sokoban() -> Items:
    """Thirteen levels; three for the searches of the tests, and states on the way with known successors."""
    goals, others, known, levels = [], [], [], []
    for number, level in enumerate(LEVELS):
        grid, start = read(level)
        way = path(grid, start)
        levels.append({"id": f"level-{number + 1}", "state": as_state(start), "grid": grid, "cost": len(way) - 1})
        if number in TESTED:
            goals.append({"state": as_state(way[-1]), "grid": grid})
            others += [{"state": as_state(situation), "grid": grid} for situation in (start, way[-2])]
            for situation in (start, way[len(way) // 2], way[-1]):
                after = list(map(as_state, following(grid, situation)))
                known.append({"state": as_state(situation), "grid": grid, "successors": after})
    return {
        "goals": goals,
        "non_goals": others,
        "successors": known,
        "soundness": levels[:TESTS],
        "instances": levels[TESTS:],
    }
