"""Lines in a panel that can be scrolled, broken into rows where they are too long, and rows of marks."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from rich.cells import chop_cells
from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from pddlego.display.glyphs import Glyphs


def text_panel(lines: list[Text], title: str, width: int, height: int, scroll: int = 0) -> Panel:
    """Lines in a panel of exactly this size, wrapped, from line `scroll` on; says how far it is when not all fit."""
    room, inner = max(1, height - 2), max(1, width - 4)
    rows = wrapped(lines, inner)
    first = max(0, min(scroll, len(rows) - room))
    shown = rows[first : first + room]
    part = f"{first + 1}-{first + len(shown)} of {len(rows)}" if len(rows) > room else None
    return Panel(Group(*shown), title=title, subtitle=part, width=width, height=height, border_style="dim")


def panel(lines: Sequence[Text], title: str, width: int, height: int) -> Panel:
    """Lines that fit, in a panel of exactly this size."""
    return Panel(Group(*lines), title=title, width=width, height=height, border_style="dim")


def beside(*parts: RenderableType) -> Table:
    """Things of one height, side by side."""
    grid = Table.grid(padding=0)
    grid.add_row(*parts)
    return grid


def marks(label: str, good: Sequence[bool], total: int, width: int, glyphs: Glyphs) -> list[Text]:
    """A mark for each of `total` things: good, bad, or not tried yet; wrapped, with a label before them."""
    line = Text(label, "bold", no_wrap=True)
    for number in range(total):
        if number >= len(good):
            line.append(glyphs.dot, "dim")
        elif good[number]:
            line.append(glyphs.done, "green")
        else:
            line.append(glyphs.failed, "red")
    return wrapped([line], max(len(label) + 1, width))


def wrapped(lines: list[Text], width: int) -> list[Text]:
    """Lines as rows of at most `width` cells. Long ones are broken anywhere, so that nothing is hidden."""
    rows: list[Text] = []
    for line in lines:
        whole = line.copy()
        whole.no_wrap = True
        pieces = chop_cells(whole.plain, width)
        rows += whole.divide(accumulate(map(len, pieces[:-1])))
    return rows
