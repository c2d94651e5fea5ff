"""Pictures of a binary relation after each step: boxes in rows, from those that have no pair with another one upwards.

So blocks are towers, and roads are layers. No dependency of pddlego lays out graphs (those of networkx need numpy).
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property, lru_cache

from pddlego.display.shapes import BOX, PITCH, Place, group, opening

Pair = tuple[str, str]
Curve = tuple[Place, Place, Place, Place]  # the start, the control point, the end and the middle

_DOWN = 92
"""Pixels from row to row: lines from column to column need more room than the ways of a map."""

_ROWS, _COLUMNS = 8, 6
"""How many rows and columns fit into a pane."""

_BENDS = (0, 46, -46, 60, -60, 75, -75, 100, -100, 140, -140)
"""Pixels between a straight line and the middle of a curve, in the order in which they are tried."""


@dataclass(frozen=True)
class Relation:
    """A relation between `names`, with the pairs of different names that it has in each state."""

    name: str
    names: Sequence[str]
    states: Sequence[AbstractSet[Pair]]

    def parts(self, step: int, box_at: Callable[[str, Place], str]) -> list[str]:
        """The parts of the picture of a state, in a frame that has room for those of all states."""
        places = self._places[step]
        return [self._start, *self._lines(step), *(box_at(name, places[name]) for name in self.names), "</svg>"]

    @cached_property
    def _start(self) -> str:
        frame = {place for places in self._places for place in places.values()}
        columns = len({x for x, _ in frame})
        width = f' style="--columns: {columns}"' + ' class="wide"' * (columns > _COLUMNS + 2)
        frame |= {curve[-1] for step in range(len(self.states)) for curve in self._curves(step).values()}
        return opening(frame, f"{self.name} of {len(self.names)} objects", width)

    @cached_property
    def _places(self) -> Sequence[Mapping[str, Place]]:
        placed, bases = list[Mapping[str, tuple[int, int]]](), dict[str, int]()
        for pairs in self.states:
            placed.append(_layers(self.names, pairs, bases))
            bases = {name: column for name, (column, row) in placed[-1].items() if row == 0}
        columns, rows = (1 + max(cell[axis] for cells in placed for cell in cells.values()) for axis in (0, 1))
        if rows > _ROWS and len({*map(frozenset, self.states)}) == 1:  # no tower, so it may go up and down
            placed = [{name: _folded(cell, columns) for name, cell in cells.items()} for cells in placed]
            columns, rows = columns * -(-rows // _ROWS), _ROWS
        shelves = (width for width in range(_COLUMNS, columns) if -(-columns // width) * rows <= _ROWS)
        width = next(shelves, columns)
        return [
            {name: (x % width * PITCH[0], (x // width * rows - y) * _DOWN) for name, (x, y) in cells.items()}
            for cells in placed
        ]

    def _curves(self, step: int) -> Mapping[Pair, Curve]:
        """A curve for each pair and its opposite."""
        places, pairs = self._places[step], self.states[step]
        taken = frozenset(places.values())
        drawn = sorted(pair for pair in pairs if pair[::-1] not in pairs or pair < pair[::-1])
        return {pair: _curve(places[pair[0]], places[pair[1]], taken) for pair in drawn}

    def _lines(self, step: int) -> Iterator[str]:
        """The curves. One way only has an arrow."""
        pairs, before = self.states[step], self.states[max(0, step - 1)]
        for (first, second), curve in self._curves(step).items():
            both = (second, first) in pairs
            title = f"({self.name} {first} {second})" + (f" and ({self.name} {second} {first})" if both else "")
            (x, y), (a, b), (u, v), (middle, height) = curve
            path = f'<path d="M{x} {y}Q{a} {b} {u} {v}"/>'
            turn = f"translate({middle} {height}) rotate({round(math.degrees(math.atan2(v - y, u - x)))})"
            arrow = "" if both else f'<path class="tip" transform="{turn}" d="M8 0L-5 6V-6Z"/>'
            is_old = (first, second) in before and (not both or (second, first) in before)
            yield group("exit" if is_old else "exit added", title, path + arrow)


@lru_cache(maxsize=10_000)
def _curve(start: Place, end: Place, taken: frozenset[Place]) -> Curve:
    """The least bent curve of those that pass behind the fewest boxes."""
    (x, y), (u, v) = start, end
    others, length = taken - {start, end}, math.dist(start, end)

    def bent(bend: int) -> Curve:
        control, middle = (
            (round((x + u) / 2 + by * (v - y) / length), round((y + v) / 2 + by * (x - u) / length))
            for by in (2 * bend, bend)
        )
        return start, control, end, middle

    return min(map(bent, _BENDS), key=lambda curve: _behind(curve, others))


def _behind(curve: Curve, boxes: AbstractSet[Place]) -> int:
    """How many of 19 points of a quadratic Bézier curve are behind boxes."""
    start, control, end = (complex(*place) for place in curve[:3])
    parts = (number / 20 for number in range(1, 20))
    points = [(1 - part) ** 2 * start + 2 * part * (1 - part) * control + part**2 * end for part in parts]
    cells = [(round(point.real / PITCH[0]) * PITCH[0], round(point.imag / _DOWN) * _DOWN) for point in points]
    off = (point - complex(*cell) for point, cell in zip(points, cells, strict=True) if cell in boxes)
    return sum(abs(by.real) < BOX[0] / 2 + 3 and abs(by.imag) < BOX[1] / 2 + 3 for by in off)


def _folded(cell: tuple[int, int], columns: int) -> tuple[int, int]:
    """A cell of a high picture: every `_ROWS` rows go on to the right, up and down by turns."""
    fold, row = divmod(cell[1], _ROWS)
    return cell[0] + fold * columns, _ROWS - 1 - row if fold % 2 else row


def _layers(names: Sequence[str], pairs: AbstractSet[Pair], before: Mapping[str, int]) -> Mapping[str, tuple[int, int]]:
    """The column and row of each name: one row above a name that it has a pair with, in its column if that is free.

    Names without pairs keep their columns of `before`. If every name has one, the first is in row 0.
    """
    cells, ordered, firsts = dict[str, tuple[int, int]](), sorted(pairs), {first for first, _ in pairs}
    bases = [name for name in names if name not in firsts]
    waiting = deque((name, before.get(name, 0), 0) for name in sorted(bases, key=lambda name: name not in before))
    while waiting or len(cells) < len(names):
        if not waiting:
            right = 1 + max((column for column, _ in cells.values()), default=-1)
            waiting.append((next(name for name in names if name not in cells), right, 0))
        name, column, row = waiting.popleft()
        if name not in cells:
            while (column, row) in cells.values():
                column += 1
            cells[name] = column, row
            waiting += ((first, column, row + 1) for first, second in ordered if second == name)
    return cells
