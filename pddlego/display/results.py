"""Tables of an evaluation for people: what it may cost, and what came of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from pddlego.display.text import both_ends, clean
from pddlego.evaluation.estimate import WorstCase
from pddlego.evaluation.table import Row

LEAST = (
    *("no answer", "seconds", "median", "tokens", "refused", "calls", "from cache", "cost", "without errors"),
    *("steps", "score", "95 %"),
)
"""Columns that give way on a narrow terminal, in this order: numbers are shown whole or not at all."""

NAMES = ("game", "mode", "model")

NAME = 12
"""Characters that are left of a long name."""


def results_table(rows: Iterable[Row], width: int) -> RenderableType:
    """One row for each configuration; a column stands only where somebody has something in it.

    What has no place in `width` is left out and named below.
    """
    listed = list(rows)
    columns = [
        ("won", [f"{each.won}/{each.episodes}" for each in listed]),
        ("success", [f"{100 * each.success:.0f}%" for each in listed]),
        ("95 %", [f"{100 * each.interval.low:.0f}-{100 * each.interval.high:.0f}" for each in listed]),
        ("score", [f"{each.score:.2f}" for each in listed]),
        ("without errors", [_counted(each) for each in listed]),
        ("steps", [_number(each.steps, 2) for each in listed]),
        ("median", [_number(each.median_steps, 1) for each in listed]),
        ("refused", [_number(each.refused or None, 2) for each in listed]),
        ("calls", [_number(each.calls or None, 2) for each in listed]),
        ("from cache", [_number(each.from_cache or None, 2) for each in listed]),
        ("tokens", [_number(each.tokens or None, 0) for each in listed]),
        ("seconds", [_number(each.seconds, 1) for each in listed]),
        ("cost", [_cost(each.cost) for each in listed]),
        ("no answer", [f"{each.unanswered:.2f}" if each.unanswered else "" for each in listed]),
    ]
    names = [[clean(part) for part in (each.setting, each.mode, each.model)] for each in listed]
    room = width - sum(min(NAME, max(map(len, part))) + 2 for part in zip(*names, strict=True))
    shown, hidden = _fitting({name: cells for name, cells in columns if any(cells)}, room)
    used = sum(_widest(*each) + 2 for each in shown.items())
    widths = _name_widths(names, width - used)
    table = _table(widths)
    for name, cells in shown.items():
        table.add_column(name, justify="right", no_wrap=True, min_width=_widest(name, cells))
    for number in range(len(listed)):
        shortened = (Text(both_ends(name, room)) for name, room in zip(names[number], widths, strict=True))
        table.add_row(*shortened, *(cells[number] for cells in shown.values()))
    if not hidden:
        return table
    return Group(table, Text(f"A wider terminal also shows: {', '.join(hidden)}.", "dim"))


def _name_widths(names: list[list[str]], room: int) -> list[int]:
    """The widths of the columns with names: the longest is shortened until all have room, or none is above `NAME`."""
    widths = [_widest(head, (each[number] for each in names)) for number, head in enumerate(NAMES)]
    while sum(each + 2 for each in widths) > room and max(widths) > NAME:
        widths[widths.index(max(widths))] -= 1
    return widths


def _fitting(columns: Mapping[str, list[str]], room: int) -> tuple[dict[str, list[str]], list[str]]:
    """The columns that fit, and the names of those that do not."""
    shown = dict(columns)
    for name in LEAST:
        if sum(_widest(*each) + 2 for each in shown.items()) <= room:
            break
        shown.pop(name, None)
    return shown, [name for name in columns if name not in shown]


def _widest(name: str, cells: Iterable[str]) -> int:
    return max(len(each) for each in (name, *cells))


def worst_case_table(cases: Iterable[WorstCase]) -> Table:
    """What an evaluation may take at most, with the sum at the end."""
    listed = list(cases)
    table = _table()
    for name in ("episodes", "calls at most", "tokens (estimate)", "cost"):
        table.add_column(name, justify="right", no_wrap=True)
    for each in listed:
        numbers = (f"{each.episodes}", f"{each.calls:,}", f"{each.tokens:,}", _cost(each.cost) or "0")
        table.add_row(*(Text(clean(part)) for part in (each.setting, each.mode, each.model)), *numbers)
    sums = [sum(column) for column in zip(*((each.episodes, each.calls, each.tokens) for each in listed), strict=True)]
    costs = [each.cost for each in listed]
    total = "n/a" if None in costs else f"{sum(each or 0 for each in costs):.2f}"
    table.add_row("all", "", "", *(f"{each:,}" for each in sums), total, style="bold")
    return table


def _table(widths: Iterable[int | None] = (None, None, None)) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name, width in zip(NAMES, widths, strict=True):
        table.add_column(name, no_wrap=True, overflow="ellipsis", width=width)
    return table


def _counted(row: Row) -> str:
    if row.counted == row.episodes:
        return ""
    return f"{row.won}/{row.counted}"


def _number(value: float | None, digits: int) -> str:
    return "" if value is None else f"{value:,.{digits}f}"


def _cost(value: float | None) -> str:
    return "n/a" if value is None else f"{value:.2f}" if value else ""
