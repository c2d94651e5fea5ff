"""Tables of an evaluation for people: what it may cost, and what came of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from pddlego.evaluation.estimate import Estimate, Expected
from pddlego.evaluation.table import Measured, Row
from pddlego.util.text import both_ends, clean

NAMES = ("game", "mode", "model")

NAME = 12
"""Characters that are left of a long name."""


def results_table(rows: Iterable[Row], width: int) -> RenderableType:
    """One row for each configuration; a column stands only where somebody has something in it.

    What has no place in `width` is left out and named below.
    """
    listed = list(rows)
    names = [[clean(part) for part in (each.setting, each.mode, each.model)] for each in listed]
    room = width - sum(min(NAME, max(map(len, part))) + 2 for part in zip(*names, strict=True))
    columns = {name: cells for name, cells in _columns(listed).items() if any(cells)}
    shown = dict(columns)
    for name in _order(listed):
        if _width(shown) <= room:
            break
        shown.pop(name, None)
    hidden = [name for name in columns if name not in shown]
    widths = _name_widths(names, width - _width(shown))
    table = _table(widths)
    for name, cells in shown.items():
        table.add_column(name, justify="right", no_wrap=True, min_width=_widest(name, cells))
    for number in range(len(listed)):
        shortened = (Text(both_ends(name, room)) for name, room in zip(names[number], widths, strict=True))
        table.add_row(*shortened, *(cells[number] for cells in shown.values()))
    if not hidden:
        return table
    return Group(table, Text(f"A wider terminal also shows: {', '.join(hidden)}.", "dim"))


def _columns(rows: Sequence[Row]) -> dict[str, list[str]]:
    """Every column with its cells: those of all methods, and in between what each of them measures."""
    columns = {
        "won": [f"{row.won}/{row.episodes}" for row in rows],
        "success": [f"{100 * row.success:.0f}%" for row in rows],
        "95 %": [f"{100 * row.interval.low:.0f}-{100 * row.interval.high:.0f}" for row in rows],
        "score": [f"{row.score:.2f}" for row in rows],
        "without errors": ["" if row.counted == row.episodes else f"{row.won}/{row.counted}" for row in rows],
    }
    for name in _measured_names(rows):
        found = [row.number(name) for row in rows]
        columns[name] = [mean_of(each) for each in found]
        if any(each is not None and each.column.median for each in found):
            columns["median"] = [_number(each.median if each else None, 1) for each in found]
    return columns | {
        "calls": [_number(row.calls or None, 2) for row in rows],
        "from cache": [_number(row.from_cache or None, 2) for row in rows],
        "tokens": [_number(row.tokens or None, 0) for row in rows],
        "seconds": [_number(row.seconds, 1) for row in rows],
        "cost": [_money(row.cost) for row in rows],
        "no answer": [f"{row.unanswered:.2f}" if row.unanswered else "" for row in rows],
    }


def _measured_names(rows: Iterable[Row]) -> list[str]:
    """What the methods measure and show, each name once."""
    return list(dict.fromkeys(each.column.name for row in rows for each in row.measured if each.column.shown))


def mean_of(measured: Measured | None) -> str:
    """A mean as a cell; empty where there is none, or where 0 says nothing."""
    if measured is None or measured.mean is None or (measured.column.blank_zero and not measured.mean):
        return ""
    if measured.column.counted:
        return f"{round(measured.mean * measured.episodes)}/{measured.episodes}"
    return f"{measured.mean:,.{measured.column.digits}f}"


def _order(rows: Sequence[Row]) -> list[str]:
    """The columns that give way on a narrow terminal, in order: numbers are shown whole or not at all. What a method
    measures gives way before the cost, and what methods are compared by after all but the score."""
    compared = {each.column.name for row in rows for each in row.measured if each.column.compared}
    others = [name for name in _measured_names(rows) if name not in compared]
    first = ("no answer", "seconds", "median", "tokens", *others, "calls", "from cache", "cost")
    return [*first, "without errors", *compared, "score", "95 %"]


def _name_widths(names: list[list[str]], room: int) -> list[int]:
    """The widths of the columns with names: the longest is shortened until all have room, or none is above `NAME`."""
    widths = [_widest(head, (each[number] for each in names)) for number, head in enumerate(NAMES)]
    while sum(each + 2 for each in widths) > room and max(widths) > NAME:
        widths[widths.index(max(widths))] -= 1
    return widths


def _width(columns: Mapping[str, list[str]]) -> int:
    return sum(_widest(name, cells) + 2 for name, cells in columns.items())


def _widest(name: str, cells: Iterable[str]) -> int:
    return max(len(each) for each in (name, *cells))


def worst_case_table(cases: Iterable[Estimate]) -> Table:
    """What an evaluation may take at most, with the sum at the end."""
    listed = list(cases)
    table = _table()
    expects = any(each.expected is not None for each in listed)
    names = ("episodes", "calls at most", "tokens (estimate)", "cost", *(EXPECTED if expects else ()))
    for name in names:
        table.add_column(name, justify="right", no_wrap=True)
    for each in listed:
        numbers = (f"{each.episodes}", f"{each.calls:,}", f"{each.tokens:,}", _money(each.cost) or "0")
        likely = _expected(each.expected) if expects else ()
        table.add_row(*(Text(clean(part)) for part in (each.setting, each.mode, each.model)), *numbers, *likely)
    sums = [sum(column) for column in zip(*((each.episodes, each.calls, each.tokens) for each in listed), strict=True)]
    costs = [each.cost for each in listed]
    total = "n/a" if None in costs else f"{sum(each or 0 for each in costs):.2f}"
    table.add_row("all", "", "", *(f"{each:,}" for each in sums), total, style="bold")
    return table


EXPECTED = ("calls expected", "tokens", "cost")
"""What the built-in model's calls let expect."""


def _expected(expected: Expected | None) -> tuple[str, str, str]:
    if expected is None:
        return "", "", ""
    return f"{expected.calls:,}", f"{expected.tokens:,}", _money(expected.cost) or "0"


def _table(widths: Iterable[int | None] = (None, None, None)) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name, width in zip(NAMES, widths, strict=True):
        table.add_column(name, no_wrap=True, overflow="ellipsis", width=width)
    return table


def _number(value: float | None, digits: int) -> str:
    return "" if value is None else f"{value:,.{digits}f}"


def _money(value: float | None) -> str:
    return "n/a" if value is None else f"{value:.2f}" if value else ""
