"""Lines in a panel that can be scrolled, broken into rows where they are too long."""

from __future__ import annotations

from rich.cells import cell_len
from rich.console import Group
from rich.panel import Panel
from rich.text import Text


def text_panel(lines: list[Text], title: str, width: int, height: int, scroll: int = 0) -> Panel:
    """Lines in a panel of exactly this size, wrapped, from line `scroll` on; says how far it is when not all fit."""
    room, inner = max(1, height - 2), max(1, width - 4)
    rows = wrapped(lines, inner)
    first = max(0, min(scroll, len(rows) - room))
    shown = rows[first : first + room]
    part = f"{first + 1}-{first + len(shown)} of {len(rows)}" if len(rows) > room else None
    return Panel(Group(*shown), title=title, subtitle=part, width=width, height=height, border_style="dim")


def wrapped(lines: list[Text], width: int) -> list[Text]:
    """Lines as rows of at most `width` cells. Long ones are broken anywhere, so that nothing is hidden."""
    rows: list[Text] = []
    for line in lines:
        whole = line.copy()
        whole.no_wrap = True
        rows += whole.divide(_cuts(whole.plain, width))
    return rows


def _cuts(text: str, width: int) -> list[int]:
    """Where a text is to be cut, so that every piece fits."""
    if text.isascii():
        return list(range(width, len(text), width))
    cuts, used = [], 0
    for place, letter in enumerate(text):
        size = cell_len(letter)
        if used and used + size > width:
            cuts.append(place)
            used = 0
        used += size
    return cuts
