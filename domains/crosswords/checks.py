"""What is right in mini crosswords: what `read` gives to the functions, transitions, goals and solutions."""

import json

SIZE = 5


def read(item):
    horizontal, vertical = _answers(item)
    found = {
        "state": item.get("state", [[None] * SIZE for _ in range(SIZE)]),
        "successor_arguments": [horizontal, vertical],
        "goal_arguments": [horizontal, vertical],
    }
    return {**found, "successors": item["successors"]} if "successors" in item else found


def check(state, successor, item):
    filled = _empty(state) - _empty(successor)
    if filled < 0:
        return "a successor has fewer filled cells than its state"
    if filled == 0:
        return "a successor has the same number of filled cells as its state"
    return "" if filled <= SIZE else "a successor fills more than five cells, and one word has five"


def is_goal(state, item):
    horizontal, vertical = _answers(item)
    if _empty(state) or len(state) != SIZE or any(len(row) != SIZE for row in state):
        return False
    rows = ["".join(row) for row in state]
    columns = ["".join(row[place] for row in state) for place in range(SIZE)]
    return all(word in words for word, words in zip([*rows, *columns], [*horizontal, *vertical], strict=True))


def validate(path, search, item):
    if path is None:
        return "it can be solved, and no solution was found"
    return "" if is_goal(path[-1], item) else "a row or a column is none of its answers"


def _answers(item):
    """The possible answers of the rows and of the columns; in a table they are the first two cells of a line."""
    for names in (("horizontal_answers", "vertical_answers"), ("horizontal_clues", "vertical_clues")):
        if names[0] in item:
            return item[names[0]], item[names[1]]
    rows, columns, *_ = item.values()
    return json.loads(rows), json.loads(columns)


def _empty(state):
    return sum(cell is None for row in state for cell in row)
