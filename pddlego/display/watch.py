"""Follows the episodes of a run folder: a list, one of them in the panels of `play`, or many small maps."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path

from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from pddlego.display.app import MOVES
from pddlego.display.console import Glyphs
from pddlego.display.screens import Renderer, RendererOf, Size
from pddlego.display.show import KEYS, Show, ShownPlace, keys_line
from pddlego.episode.events import Outcome
from pddlego.errors import JournalError
from pddlego.runs.journal import Codec
from pddlego.runs.tail import EpisodeStatus, FolderTail, JournalTail
from pddlego.util.text import clean, count

_LIST_KEYS = (("↑↓", "choose"), ("enter", "open"), ("g", "maps"), ("q", "quit"))
_GRID_KEYS = (("g", "list"), ("q", "quit"))
_ONE_KEYS = (("esc", "back"), *KEYS)

_MAP_WIDTH, _MAP_HEIGHT = 30, 9
"""A smaller map shows nothing."""

_STYLE = {Outcome.WON: "green", Outcome.INTERRUPTED: "yellow"}


def ordered(peeks: Sequence[EpisodeStatus]) -> list[EpisodeStatus]:
    """What is under way first, the newest of it on top; then what has ended, the newest first."""
    return sorted(peeks, key=lambda peek: (peek.outcome is not None, -peek.changed, peek.path.name))


def list_picture(
    peeks: Sequence[EpisodeStatus],
    chosen: int,
    title: str,
    now: float,
    size: Size,
    glyphs: Glyphs,
    *,
    keys: bool = True,
) -> RenderableType:
    """The episodes with their state, as many as fit, around the chosen one; with the `keys` that work."""
    room = max(1, size.height - 4)
    first = max(0, min(chosen - room // 2, len(peeks) - room))
    shown = peeks[first : first + room]
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    for head in ("", *HEAD):
        table.add_column(
            Text(head, no_wrap=True),
            justify="right" if head in NUMBERS else "left",
            no_wrap=head not in CUT,
            overflow="ellipsis",
            min_width=len(head) if head == HEAD[-1] else None,
        )
    for number, peek in enumerate(shown, start=first):
        mark, style = (glyphs.used, "reverse") if number == chosen else (" ", "")
        cells = (peek.setting, peek.mode, peek.model, str(peek.seed), _steps(peek))
        state = Text(peek.state(now), _style(peek, now))
        texts = [Text(clean(cell), no_wrap=True, overflow="ellipsis") for cell in cells]
        table.add_row(
            mark, *texts, state, Text(clean(peek.command), "dim", no_wrap=True, overflow="ellipsis"), style=style
        )
    below = [*(Text() for _ in range(room - len(shown))), keys_line(_LIST_KEYS, glyphs)] if keys else []
    return Group(_summary(peeks, title), table, *below)


HEAD = ("game", "mode", "model", "seed", "step", "state", "last command")
NUMBERS = ("seed", "step")
"""Columns that are aligned to the right."""

CUT = ("game", "model", "last command")
"""Columns that are cut where there is not enough room."""


def _summary(peeks: Sequence[EpisodeStatus], title: str) -> Text:
    """The number of episodes, and their states."""
    ended = [peek for peek in peeks if peek.outcome is not None]
    won = sum(peek.outcome is Outcome.WON for peek in ended)
    line = Text(clean(title), "bold", no_wrap=True, overflow="ellipsis")
    line.append(f"  {count(len(peeks), 'episode')}, {len(ended)} ended, {won} won", "cyan")
    return line


def _steps(peek: EpisodeStatus) -> str:
    """How far it is, and how far it may go."""
    return f"{peek.step}/{peek.most}" if peek.most else str(peek.step)


def _style(peek: EpisodeStatus, now: float) -> str:
    if peek.outcome is not None:
        return _STYLE.get(peek.outcome, "red")
    return "cyan" if peek.state(now) == "running" else "yellow"


def grid_shape(number: int, width: int, height: int) -> tuple[int, int]:
    """Columns and rows for so many maps, or for as many as fit, so that each is as large as can be."""
    most = max(1, min(number, width // _MAP_WIDTH))

    def shape(columns: int) -> tuple[int, int]:
        return columns, max(1, min(-(-number // columns), height // _MAP_HEIGHT))

    def worth(columns: int) -> tuple[int, float]:
        across, down = shape(columns)
        return min(number, across * down), min(width / across / 3, height / down)  # a cell is as wide as three are high

    return shape(max(range(1, most + 1), key=worth))


Drawn = Callable[[int, int], Panel]
"""The small picture of an episode, so wide and so high."""


def grid_picture(
    cells: Sequence[tuple[EpisodeStatus, Drawn]], number: int, now: float, size: Size, glyphs: Glyphs
) -> RenderableType:
    """Small maps beside and below each other, each with its episode and state."""
    width, height = size.width, size.height
    columns, rows = grid_shape(number, width, height - 2)
    grid = Table.grid(padding=0)
    shown = list(cells[: columns * rows])
    for start in range(0, len(shown), columns):
        panels = []
        for peek, drawn in shown[start : start + columns]:
            panel = drawn(width // columns, (height - 2) // rows)
            panel.title = Text(f"{clean(peek.setting)} {clean(peek.mode)} {peek.seed}")
            panel.subtitle = Text(f"{_steps(peek)} {peek.state(now)}", _style(peek, now))
            panels.append(panel)
        grid.add_row(*panels)
    hidden = number - len(shown)
    note = f"{len(shown)} of {number}: no room for more" if hidden > 0 and len(cells) > len(shown) else ""
    return Group(Text(note, "dim"), grid, keys_line(_GRID_KEYS, glyphs))


class _Opened:
    """An episode whose journal is read whole, and followed."""

    def __init__(self, tail: JournalTail, picture: Renderer, glyphs: Glyphs) -> None:
        self.tail, self.picture, self._glyphs = tail, picture, glyphs
        self.film = picture.film()
        self.fault = ""

    def small(self, width: int, height: int) -> Panel:
        """One of many that are shown at once."""
        return self.picture.screen.small(self.film.view, width, height, self._glyphs)

    def poll(self) -> bool:
        """Whether anything is new. A damaged line ends what is shown of this episode, and of no other."""
        if self.fault:
            return False
        try:
            return self.film.add(self.tail.poll())
        except JournalError as error:
            self.fault = error.sentence
            return True


class Watch:
    """`pddlego watch`: an `App` over a run folder. `grid` maps are shown at once from the start, if it is not 0."""

    def __init__(
        self,
        folder: FolderTail,
        codec: Codec,
        renderer_of: RendererOf,
        glyphs: Glyphs,
        *,
        grid: int = 0,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.folder, self.glyphs, self.clock = folder, glyphs, clock
        self._codec, self._picture_of = codec, renderer_of
        self.grid, self.showing_grid = grid or 9, bool(grid)
        self.chosen: Path | None = None
        self.show: Show | None = None
        self._opened: dict[Path, _Opened] = {}
        self._second = 0
        self.peeks: list[EpisodeStatus] = []  # in the order of the list
        self._look()

    def _look(self) -> bool:
        advanced = self.show is None and self.folder.advance()
        grown = self.folder.poll() or advanced
        if grown:
            self.peeks = ordered(list(self.folder.peeks.values()))
        return grown

    def picture(self, width: int, height: int) -> RenderableType:
        if self.show is not None and self.chosen is not None:
            fault = self._open(self.chosen).fault
            picture = self.show.picture(width, height - bool(fault))
            return Group(Text(clean(fault), "red", no_wrap=True, overflow="ellipsis"), picture) if fault else picture
        peeks, now = self.peeks, self.clock()
        if not peeks:
            return Group(Text(f"no episode has begun in {self.folder.run}", "dim"), keys_line(_GRID_KEYS, self.glyphs))
        if self.showing_grid:
            cells = [(peek, self._open(peek.path).small) for peek in peeks[: self.grid]]
            return grid_picture(cells, self.grid, now, Size(width, height), self.glyphs)
        size = Size(width, height)
        return list_picture(peeks, self._number(peeks), str(self.folder.run), now, size, self.glyphs)

    def press(self, key: str) -> bool:
        if self.show is not None:
            if key == "escape":
                self.show = None
                return True
            return self.show.press(key)
        if key == "g" or (key == "escape" and self.showing_grid):
            self.showing_grid = not self.showing_grid
        elif key == "enter" and not self.showing_grid:
            self._enter()
        else:
            self._choose(key)
        return key != "q"

    def tick(self) -> bool:
        """New events redraw at once, and while something runs the clock does every second."""
        grown = self._look()
        followed = self._followed()
        self._opened = {path: screen for path, screen in self._opened.items() if path in followed}
        for path in followed:
            grown = self._open(path).poll() or grown
        second = int(self.clock())
        passed, self._second = second != self._second, second
        return grown or (passed and bool(self.peeks) and self.peeks[0].outcome is None)

    def _followed(self) -> list[Path]:
        """The journals that are read whole: those on screen."""
        if self.show is not None and self.chosen is not None:
            return [self.chosen]
        return [peek.path for peek in self.peeks[: self.grid]] if self.showing_grid else []

    def _open(self, path: Path) -> _Opened:
        if path not in self._opened:
            method = next((peek.method for peek in self.peeks if peek.path == path), "")
            picture = self._picture_of(method)
            self._opened[path] = _Opened(JournalTail(path, self._codec), picture, self.glyphs)
            self._opened[path].poll()
        return self._opened[path]

    def _enter(self) -> None:
        peeks = self.peeks
        if not peeks:
            return
        self.chosen = peeks[self._number(peeks)].path
        opened, place = self._open(self.chosen), ShownPlace(following=True)
        self.show = Show(opened.film, opened.picture, self.glyphs, place, waited=self._waited, keys=_ONE_KEYS)

    def _waited(self) -> float:
        """Seconds since the chosen episode's journal last grew."""
        changed = next((peek.changed for peek in self.peeks if peek.path == self.chosen), self.clock())
        return max(0.0, self.clock() - changed)

    def _number(self, peeks: Sequence[EpisodeStatus]) -> int:
        """Where the chosen episode stands in the list now."""
        return next((number for number, peek in enumerate(peeks) if peek.path == self.chosen), 0)

    def _choose(self, key: str) -> None:
        peeks = self.peeks
        if peeks and key in MOVES:
            number = self._number(peeks) + MOVES[key]
            self.chosen = peeks[max(0, min(len(peeks) - 1, number))].path
