"""Sokoban."""


def successors(state, grid):
    row, column = state["at-player"]
    stones = state["at-stone"]

    def is_free(place):
        inside = 0 <= place[0] < len(grid) and 0 <= place[1] < len(grid[place[0]])
        return inside and grid[place[0]][place[1]] != 1 and place not in stones

    results = []
    for down, right in ((-1, 0), (1, 0), (0, -1), (0, 1)):
        to, beyond = (row + down, column + right), (row + 2 * down, column + 2 * right)
        if is_free(to):
            results.append({"at-player": to, "at-stone": list(stones)})
        elif to in stones and is_free(beyond):
            pushed = [beyond if stone == to else stone for stone in stones]
            results.append({"at-player": to, "at-stone": pushed})
    return results


def is_goal(state, grid):
    return all(grid[row][column] == 2 for row, column in state["at-stone"])
