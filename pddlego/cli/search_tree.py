"""The picture of a search: its states as a tree, in the order in which they were generated below each state."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from rich.text import Text

from pddlego.display.screens import Drawing
from pddlego.display.shapes import group, text
from pddlego.planning.result import SearchedState, SearchTree
from pddlego.util.text import both_ends, count

_ROW, _DOT, _LETTER = 16, 5, 7
"""Pixels: the height of a row, the radius of a state, and the width of a letter."""

_INDENT, _LEVELS = 22, 500
"""Pixels: the indent of a level, and the width of all levels, for which the indent of a deep tree is smaller."""

_MOST_LETTERS = 60
"""The maximum length of a label; the title of a state has all of it."""


def tree_drawing(tree: SearchTree) -> Drawing:
    """The tree, a state a row; of a search with too many states the numbers of states by depth."""
    expanded = sum(expanded for _, expanded in tree.depths)
    lines = [Text(f"{count(sum(generated for generated, _ in tree.depths), 'state')}, {expanded:,} of them expanded")]
    if not tree.is_whole:
        lines += [
            Text(f"{count(depth, 'action')}: {count(generated, 'state')}, {expanded:,} expanded")
            for depth, (generated, expanded) in enumerate(tree.depths)
        ]
        return Drawing((), lines)
    lines.append(Text("full: expanded, with its place in the order; blue: on the plan; h: the value of the heuristic"))
    return Drawing([*_parts(tree.states)], lines)


def _parts(states: tuple[SearchedState, ...]) -> Iterator[str]:
    """The parts of the picture: first the lines between the states."""
    rows, places, ways = [*_rows(states)], dict[int, tuple[int, int]](), list[str]()
    indent = min(_INDENT, _LEVELS / (max(level for _, level in rows) or 1))
    for row, (index, level) in enumerate(rows):
        before = states[index].before
        places[index] = x, y = round(level * indent) + 2 * _DOT, row * _ROW + 2 * _DOT
        if before is not None:
            left, top = places[before]
            ways.append(f"M{left} {top + _DOT}V{y}H{x - _DOT}")
    width = max(
        x + 4 * _DOT + _LETTER * min(_MOST_LETTERS, len(_label(states[index]))) for index, (x, _) in places.items()
    )
    size = f'viewBox="0 0 {width} {len(states) * _ROW + _DOT}" width="{width}" height="{len(states) * _ROW + _DOT}"'
    yield f'<svg {size} role="group" aria-label="the states of the search"><g class="axis"><path d="{"".join(ways)}"/>'
    yield from (_state(states[index], *place) for index, place in places.items())
    yield "</g></svg>"


def _rows(states: tuple[SearchedState, ...]) -> Iterator[tuple[int, int]]:
    """The index and the level of each state, those that were generated from a state below it."""
    after = defaultdict[int | None, list[int]](list)
    for index, state in enumerate(states):
        after[state.before].append(index)
    waiting = [(0, 0)]
    while waiting:
        index, level = waiting.pop()
        yield index, level
        waiting += ((following, level + 1) for following in reversed(after[index]))


def _label(state: SearchedState) -> str:
    """What is known of a state."""
    order = f"{state.expanded}. " if state.expanded is not None else ""
    value = "" if state.value is None else f", h {state.value:g}"
    return f"{order}{state.action or 'the initial state'}{value}"


def _state(state: SearchedState, x: int, y: int) -> str:
    """A dot with its label."""
    label = _label(state)
    dot = f'<rect x="{x - _DOT}" y="{y - _DOT}" width="{2 * _DOT}" height="{2 * _DOT}" rx="{_DOT}"/>'
    kinds = ["state", *["expanded"] * (state.expanded is not None), *["planned"] * state.on_plan]
    return group(" ".join(kinds), label, dot + text(both_ends(label, _MOST_LETTERS), x + 2 * _DOT, y + 4, "label"))
