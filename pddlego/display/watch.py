"""Follows the episodes of a run folder: a list, one of them in the panels of `play`, or many small maps."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from pddlego.display.frames import Film
from pddlego.display.panels import map_panel
from pddlego.display.show import KEYS, Place, Show, keys_line
from pddlego.display.text import Glyphs, clean
from pddlego.display.view import View
from pddlego.events import Outcome
from pddlego.tail import FolderTail, JournalTail, Peek

LIST_KEYS = (("↑↓", "choose"), ("enter", "open"), ("g", "maps"), ("q", "quit"))
GRID_KEYS = (("g", "list"), ("q", "quit"))
ONE_KEYS = (("esc", "back"), *KEYS)

MAP_WIDTH, MAP_HEIGHT = 30, 9
"""A smaller map shows nothing."""

_STYLE = {Outcome.WON: "green", Outcome.INTERRUPTED: "yellow"}


def ordered(peeks: Sequence[Peek]) -> list[Peek]:
    """What is under way first, the newest of it on top; then what has ended, the newest first."""
    return sorted(peeks, key=lambda each: (each.outcome is not None, -each.changed, str(each.path)))


def list_picture(
    peeks: Sequence[Peek],
    chosen: int,
    title: str,
    now: float,
    width: int,
    height: int,
    glyphs: Glyphs,
    keys: bool = True,
) -> RenderableType:
    """The episodes with their state, as many as fit, around the chosen one; with the `keys` that work."""
    room = max(1, height - 4)
    first = max(0, min(chosen - room // 2, len(peeks) - room))
    table = Table(box=None, pad_edge=False, header_style="bold", width=width)
    table.add_column("", width=1)
    for name in ("game", "mode", "model"):
        table.add_column(name, no_wrap=True, overflow="ellipsis")
    for name in ("seed", "step"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("state", no_wrap=True)
    table.add_column("last command", no_wrap=True, overflow="ellipsis", min_width=16, ratio=1)
    for number, each in enumerate(peeks[first : first + room], start=first):
        style = "reverse" if number == chosen else ""
        state = Text(each.state(now), _style(each, now))
        names = (Text(clean(part)) for part in (each.setting, each.mode, each.model))
        mark = glyphs.used if number == chosen else ""
        steps = f"{each.step}/{each.most}"
        table.add_row(mark, *names, str(each.seed), steps, state, Text(clean(each.command), "dim"), style=style)
    if not keys:
        return Group(_summary(peeks, title), table)
    blank = Text("\n" * max(0, room - len(peeks) - 1)) if len(peeks) < room else Text("", end="")
    return Group(_summary(peeks, title), table, blank, keys_line(LIST_KEYS, glyphs))


def _summary(peeks: Sequence[Peek], title: str) -> Text:
    """How many episodes there are, and how they stand."""
    ended = [each for each in peeks if each.outcome is not None]
    won = sum(each.outcome is Outcome.WON for each in ended)
    line = Text(clean(title), "bold", no_wrap=True, overflow="ellipsis")
    line.append(f"  {len(peeks)} episodes, {len(ended)} ended, {won} won", "cyan")
    return line


def _style(peek: Peek, now: float) -> str:
    if peek.outcome is not None:
        return _STYLE.get(peek.outcome, "red")
    return "cyan" if peek.state(now) == "running" else "yellow"


def grid_shape(number: int, width: int, height: int) -> tuple[int, int]:
    """Columns and rows for so many maps, or for as many as fit, so that each is as large as can be."""
    most = max(1, min(number, width // MAP_WIDTH))

    def shape(columns: int) -> tuple[int, int]:
        return columns, max(1, min(-(-number // columns), height // MAP_HEIGHT))

    def worth(columns: int) -> tuple[int, float]:
        across, down = shape(columns)
        return min(number, across * down), min(width / across / 3, height / down)  # a cell is as wide as three are high

    return shape(max(range(1, most + 1), key=worth))


def grid_picture(
    cells: Sequence[tuple[Peek, View]], number: int, now: float, width: int, height: int, glyphs: Glyphs
) -> RenderableType:
    """Small maps beside and below each other, each with its episode and state."""
    columns, rows = grid_shape(number, width, height - 2)
    grid = Table.grid(padding=0)
    shown = list(cells[: columns * rows])
    for start in range(0, len(shown), columns):
        panels = []
        for peek, view in shown[start : start + columns]:
            panel = map_panel(view, width // columns, (height - 2) // rows, glyphs)
            panel.title = Text(f"{clean(peek.setting)} {clean(peek.mode)} {peek.seed}")
            panel.subtitle = Text(f"{peek.step}/{peek.most} {peek.state(now)}", _style(peek, now))
            panels.append(panel)
        grid.add_row(*panels)
    hidden = number - len(shown)
    note = f"{len(shown)} of {number}: no room for more" if hidden > 0 and len(cells) > len(shown) else ""
    return Group(Text(note, "dim"), grid, keys_line(GRID_KEYS, glyphs))


@dataclass
class _Opened:
    """An episode whose journal is read whole, and followed."""

    tail: JournalTail
    film: Film = field(default_factory=Film)

    def poll(self) -> bool:
        return self.film.add(self.tail.poll())


class Watch:
    """`pddlego watch`: an `App` over a run folder. `grid` maps are shown at once from the start, if it is not 0."""

    def __init__(
        self, folder: FolderTail, glyphs: Glyphs, grid: int = 0, clock: Callable[[], float] = time.time
    ) -> None:
        self.folder, self.glyphs, self.clock = folder, glyphs, clock
        self.grid, self.showing_grid = grid or 9, bool(grid)
        self.chosen: Path | None = None
        self.show: Show | None = None
        self._opened: dict[Path, _Opened] = {}
        self._second = 0
        self.folder.poll()

    def peeks(self) -> list[Peek]:
        return ordered(list(self.folder.peeks.values()))

    def picture(self, width: int, height: int) -> RenderableType:
        if self.show is not None:
            return self.show.picture(width, height)
        peeks, now = self.peeks(), self.clock()
        if not peeks:
            return Group(Text(f"no episode has begun in {self.folder.run}", "dim"), keys_line(GRID_KEYS, self.glyphs))
        if self.showing_grid:
            cells = [(each, self._open(each.path).film.view) for each in peeks[: self.grid]]
            return grid_picture(cells, self.grid, now, width, height, self.glyphs)
        return list_picture(peeks, self._number(peeks), str(self.folder.run), now, width, height, self.glyphs)

    def press(self, key: str) -> bool:
        if self.show is not None:
            if key == "escape":
                self.show = None
                return True
            return self.show.press(key)
        if key == "g":
            self.showing_grid = not self.showing_grid
        elif key == "enter" and not self.showing_grid:
            self._enter()
        else:
            self._choose(key)
        return key != "q"

    def tick(self) -> bool:
        """New events redraw at once, and while something runs the clock does every second."""
        grown = self.folder.poll()
        for each in self._followed():
            grown = self._open(each).poll() or grown
        second = int(self.clock())
        passed, self._second = second != self._second, second
        return grown or (passed and any(each.outcome is None for each in self.folder.peeks.values()))

    def _followed(self) -> list[Path]:
        """The journals that are read whole: those on screen."""
        if self.show is not None and self.chosen is not None:
            return [self.chosen]
        return [each.path for each in self.peeks()[: self.grid]] if self.showing_grid else []

    def _open(self, path: Path) -> _Opened:
        if path not in self._opened:
            self._opened[path] = _Opened(JournalTail(path))
            self._opened[path].poll()
        return self._opened[path]

    def _enter(self) -> None:
        peeks = self.peeks()
        if not peeks:
            return
        peek = peeks[self._number(peeks)]
        self.chosen = peek.path
        place = Place(following=True) if peek.outcome is None else replace(Place(), frame=10**9)
        self.show = Show(self._open(peek.path).film, self.glyphs, place, keys=ONE_KEYS)

    def _number(self, peeks: Sequence[Peek]) -> int:
        """Where the chosen episode stands in the list now."""
        return next((number for number, each in enumerate(peeks) if each.path == self.chosen), 0)

    def _choose(self, key: str) -> None:
        peeks = self.peeks()
        steps = {"down": 1, "j": 1, "up": -1, "k": -1, "pagedown": 10, "pageup": -10}
        if not peeks or key not in (*steps, "home", "end"):
            return
        last = len(peeks) - 1
        number = {"home": 0, "end": last}.get(key, self._number(peeks) + steps.get(key, 0))
        self.chosen = peeks[max(0, min(last, number))].path
