"""Results as numbers: one row for each game, mode and model, and a line for each episode."""

from __future__ import annotations

import csv
import io
import statistics
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from pddlego.evaluation.estimate import Estimate, Expected
from pddlego.evaluation.models import is_free
from pddlego.evaluation.statistics import Interval, wilson
from pddlego.methods.base import Column
from pddlego.methods.registry import measuring_of
from pddlego.models.limiter import LedgerEntry, Price
from pddlego.runs.cells import Cell
from pddlego.runs.summary import FIRST, LAST, Summary
from pddlego.util.text import both_ends, clean, csv_cell, money

Configuration = tuple[str, str, str]
"""Game, mode, model."""


@dataclass(frozen=True)
class Measured:
    """A number of a method in a row: its mean over the `episodes` that have it, and the median where that is wanted."""

    column: Column
    mean: float | None
    median: float | None = None
    episodes: int = 0


@dataclass(frozen=True)
class Row:
    """What one configuration did. Means are over all `episodes`; `measured` says what the method measures.

    Episodes are cells with an outcome of their own: one that was interrupted is not played yet. `counted` leaves out
    those lost to errors of a model's endpoint or an engine; `interval` is Wilson's (95 %) of the success over all.
    `score` is the method's, from 0 to 1. `cost` is all that was spent, None where a model has no price; `unanswered` is
    what of it was, or may have been, spent on requests that got no answer.
    """

    setting: str
    mode: str
    model: str
    episodes: int
    won: int
    counted: int
    interval: Interval
    score: float
    measured: tuple[Measured, ...]
    calls: float
    from_cache: float
    tokens: float
    seconds: float
    cost: float | None
    unanswered: float = 0.0

    @property
    def success(self) -> float:
        """Over all episodes."""
        return self.won / self.episodes

    def number(self, name: str) -> Measured | None:
        """What was measured under that name; None where the method does not measure it."""
        return next((measured for measured in self.measured if measured.column.name == name), None)


def rows(
    results: Iterable[Summary],
    prices: Mapping[str, Price] | None = None,
    attempts: Iterable[Summary] = (),
    entries: Iterable[LedgerEntry] = (),
) -> list[Row]:
    """One row for each configuration of which a cell was played, in the order of its first cell.

    The cost is that of all `attempts`, those that were lost and played again too; without them that of the results. The
    `entries` of a ledger know better, where there are some: each request is in it with what it took, those that got no
    answer too.
    """
    spent = by_configuration(attempts)
    known = _entries_of((summary.cell for group in spent.values() for summary in group), entries)
    rows = []
    played = sorted((summary for summary in results if summary.played), key=lambda summary: summary.cell)
    for key, group in by_configuration(played).items():
        cost, mine = _cost(spent.get(key, group), prices or {}), known.get(key, [])
        if cost is not None and mine:
            cost = sum(entry.cost for entry in mine)
        unanswered = sum(entry.cost for entry in mine if not entry.answered)
        rows.append(_row(key, group, cost, unanswered))
    return rows


def by_configuration(summaries: Iterable[Summary]) -> dict[Configuration, list[Summary]]:
    """The summaries of each game, mode and model."""
    groups: dict[Configuration, list[Summary]] = {}
    for summary in summaries:
        groups.setdefault(summary.cell.configuration, []).append(summary)
    return groups


def _entries_of(cells: Iterable[Cell], entries: Iterable[LedgerEntry]) -> dict[Configuration, list[LedgerEntry]]:
    """The requests of each configuration."""
    labels = {cell.label: cell.configuration for cell in cells}
    by_configuration: dict[Configuration, list[LedgerEntry]] = {}
    for entry in entries:
        if entry.origin in labels:
            by_configuration.setdefault(labels[entry.origin], []).append(entry)
    return by_configuration


def _row(configuration: Configuration, summaries: Sequence[Summary], cost: float | None, unanswered: float) -> Row:
    setting, mode, model = configuration
    won = sum(summary.won for summary in summaries)
    tallies = [summary.usage for summary in summaries]
    return Row(
        setting=setting,
        mode=mode,
        model=model,
        episodes=len(summaries),
        won=won,
        counted=sum(summary.counts for summary in summaries),
        interval=wilson(won, len(summaries)),
        score=statistics.mean(summary.score for summary in summaries),
        measured=tuple(_measured(column, summaries) for column in measuring_of(setting, mode).columns),
        calls=statistics.mean(usage.calls for usage in tallies),
        from_cache=statistics.mean(usage.from_cache for usage in tallies),
        tokens=statistics.mean(usage.tokens_in + usage.tokens_out for usage in tallies),
        seconds=statistics.mean(usage.seconds for usage in tallies),
        cost=cost,
        unanswered=unanswered,
    )


def _measured(column: Column, summaries: Sequence[Summary]) -> Measured:
    chosen = [summary for summary in summaries if summary.won] if column.over == "won" else summaries
    numbers = [summary.measures.numbers[column.name] for summary in chosen if column.name in summary.measures.numbers]
    if not numbers:
        return Measured(column, None)
    middle = statistics.median(numbers) if column.median else None
    return Measured(column, statistics.mean(numbers), middle, len(numbers))


def _cost(summaries: Sequence[Summary], prices: Mapping[str, Price]) -> float | None:
    cell = summaries[0].cell
    if is_free(cell) or all(summary.usage.calls == summary.usage.from_cache for summary in summaries):
        return 0.0
    price = prices.get(cell.model)
    if price is None:
        return None
    tallies = (summary.usage for summary in summaries)
    return sum(price.cost(usage.tokens_in, usage.tokens_out, usage.tokens_cached) for usage in tallies)


def spent_elsewhere(rows: Iterable[Row], entries: Iterable[LedgerEntry]) -> str:
    """A note on spending that is in no row of the table, because its cells have no outcome."""
    cost = sum(entry.cost for entry in entries) - sum(row.cost or 0.0 for row in rows)
    return f"Another {money(cost)} was spent on cells without a result." if cost >= 0.00005 else ""


def played_of(results: Iterable[Summary], planned: Collection[Cell]) -> str:
    """`4 of 10 cells played`, if not all were; `planned` is empty if it is unknown."""
    known = list(results)
    played, total = sum(row.played for row in known), len({row.cell for row in known} | set(planned))
    return "" if played == total else f"{played} of {total} cells played"


def columns(results: Iterable[Summary]) -> tuple[str, ...]:
    """The columns of the result table: what stands in all, with what the methods measured in between, but no times."""
    measured: dict[str, None] = {}
    for (setting, mode, _), group in by_configuration(results).items():
        timed = {column.name for column in measuring_of(setting, mode).columns if column.timed}
        measured |= dict.fromkeys(name for summary in group for name in summary.measures.numbers if name not in timed)
    return (*FIRST, *measured, *LAST)


def result_table(results: Iterable[Summary]) -> str:
    """The result table as CSV: a line for each cell, sorted, with nothing in it that differs from run to run."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    ordered = sorted(results, key=lambda summary: summary.cell)
    head = columns(ordered)
    writer.writerow(head)
    for summary in ordered:
        values = as_values(summary)
        writer.writerow(csv_cell(values.get(name, "")) for name in head)
    return text.getvalue()


def as_values(summary: Summary) -> dict[str, object]:
    """An episode in the result table, by the names of its columns."""
    cell = summary.cell
    first = (cell.setting, cell.mode, cell.model, cell.seed, cell.repeat)
    return {
        **{name: round(number, 4) for name, number in summary.measures.numbers.items()},
        **dict(zip(FIRST, (*first, summary.outcome.value, round(summary.score, 4)), strict=True)),
        **{name: getattr(summary.usage, name) for name in LAST},
    }


NAMES = ("game", "mode", "model")

NAME = 12
"""Characters that are left of a long name."""


def results_table(rows: Iterable[Row], width: int) -> RenderableType:
    """One row for each configuration; a column without values is left out.

    What has no place in `width` is left out and named below.
    """
    ordered = list(rows)
    names = [[clean(part) for part in (row.setting, row.mode, row.model)] for row in ordered]
    room = width - sum(min(NAME, max(map(len, part))) + 2 for part in zip(*names, strict=True))
    columns = {name: cells for name, cells in row_columns(ordered).items() if any(cells)}
    shown = dict(columns)
    for name in _order(ordered):
        if _width(shown) <= room:
            break
        shown.pop(name, None)
    hidden = [name for name in columns if name not in shown]
    widths = _name_widths(names, width - _width(shown))
    table = _table(widths)
    for name, cells in shown.items():
        table.add_column(name, justify="right", no_wrap=True, min_width=_widest(name, cells))
    for number in range(len(ordered)):
        shortened = (Text(both_ends(name, room)) for name, room in zip(names[number], widths, strict=True))
        table.add_row(*shortened, *(cells[number] for cells in shown.values()))
    if not hidden:
        return table
    return Group(table, Text(f"A wider terminal also shows: {', '.join(hidden)}.", "dim"))


def row_columns(rows: Sequence[Row]) -> dict[str, list[str]]:
    """Every column with its cells: those of all methods, and in between what each of them measures."""
    columns = {
        "won": [f"{row.won}/{row.episodes}" for row in rows],
        "success": [f"{100 * row.success:.0f}%" for row in rows],
        "95 %": [f"{100 * row.interval.low:.0f}-{100 * row.interval.high:.0f}" for row in rows],
        "score": [f"{row.score:.2f}" for row in rows],
        "without errors": ["" if row.counted == row.episodes else f"{row.won}/{row.counted}" for row in rows],
    }
    for name in _measured_names(rows):
        values = [row.number(name) for row in rows]
        columns[name] = [_mean(value) for value in values]
        if any(value is not None and value.column.median for value in values):
            columns["median"] = [_number(value.median if value else None, 1) for value in values]
    return columns | {
        "calls": [_number(row.calls or None, 2) for row in rows],
        "from cache": [_number(row.from_cache or None, 2) for row in rows],
        "tokens": [_number(row.tokens or None, 0) for row in rows],
        "seconds": [_number(row.seconds, 1) for row in rows],
        "cost": [money(row.cost) if row.cost != 0 else "" for row in rows],
        "no answer": [money(row.unanswered) if row.unanswered else "" for row in rows],
    }


def _measured_names(rows: Iterable[Row]) -> list[str]:
    """What the methods measure and show, each name once."""
    return list(dict.fromkeys(value.column.name for row in rows for value in row.measured if value.column.shown))


def _mean(measured: Measured | None) -> str:
    """A mean as a cell; empty if it does not exist, or if 0 is left blank."""
    if measured is None or measured.mean is None or (measured.column.blank_zero and not measured.mean):
        return ""
    if measured.column.counted:
        return f"{round(measured.mean * measured.episodes)}/{measured.episodes}"
    return f"{measured.mean:,.{measured.column.digits}f}"


def _order(rows: Sequence[Row]) -> list[str]:
    """The columns that give way on a narrow terminal, in order: numbers are shown whole or not at all. What a method
    measures gives way before the cost, and what methods are compared by after all but the score."""
    compared = {value.column.name for row in rows for value in row.measured if value.column.compared}
    others = [name for name in _measured_names(rows) if name not in compared]
    first = ("no answer", "seconds", "median", "tokens", *others, "calls", "from cache", "cost")
    return [*first, "without errors", *compared, "score", "95 %"]


def _name_widths(names: list[list[str]], room: int) -> list[int]:
    """The widths of the columns with names: the longest is shortened until all have room, or none is above `NAME`."""
    widths = [_widest(head, (name_row[number] for name_row in names)) for number, head in enumerate(NAMES)]
    while sum(width + 2 for width in widths) > room and max(widths) > NAME:
        widths[widths.index(max(widths))] -= 1
    return widths


def _width(columns: Mapping[str, list[str]]) -> int:
    return sum(_widest(name, cells) + 2 for name, cells in columns.items())


def _widest(name: str, cells: Iterable[str]) -> int:
    return max(len(cell) for cell in (name, *cells))


def upper_bound_table(cases: Iterable[Estimate]) -> Table:
    """What an evaluation may take at most, with the sum at the end."""
    estimates = list(cases)
    table = _table()
    expects = any(bound.expected is not None for bound in estimates)
    names = ("episodes", "max calls", "max tokens", "max cost", *(_EXPECTED if expects else ()))
    for name in names:
        table.add_column(name, justify="right", no_wrap=True)
    for bound in estimates:
        numbers = (f"{bound.episodes}", f"{bound.calls:,}", f"{bound.tokens:,}", money(bound.cost))
        likely = _expected(bound.expected) if expects else ()
        table.add_row(*(Text(clean(part)) for part in (bound.setting, bound.mode, bound.model)), *numbers, *likely)
    sums = [
        sum(column)
        for column in zip(*((bound.episodes, bound.calls, bound.tokens) for bound in estimates), strict=True)
    ]
    costs = [bound.cost for bound in estimates]
    total = money(None if None in costs else sum(cost or 0.0 for cost in costs))
    table.add_row("all", "", "", *(f"{number:,}" for number in sums), total, style="bold")
    return table


_EXPECTED = ("likely calls", "tokens", "cost")
"""What the built-in model's calls let expect."""


def _expected(expected: Expected | None) -> tuple[str, str, str]:
    if expected is None:
        return "", "", ""
    return f"{expected.calls:,}", f"{expected.tokens:,}", money(expected.cost)


def _table(widths: Iterable[int | None] = (None, None, None)) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name, width in zip(NAMES, widths, strict=True):
        table.add_column(name, no_wrap=True, overflow="ellipsis", width=width)
    return table


def _number(value: float | None, digits: int) -> str:
    return "" if value is None else f"{value:,.{digits}f}"
