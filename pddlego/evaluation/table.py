"""The tables of results: a row for each configuration, a line for each episode, and the upper bounds of a dry run.

A column for all methods is one entry: of `COMMON_COLUMNS` in `methods/base.py` if each episode has such a number, else
of `shown_columns`.
"""

from __future__ import annotations

import csv
import io
import math
import statistics
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from pddlego.evaluation.models import is_free
from pddlego.evaluation.statistics import Interval, wilson
from pddlego.methods.base import CELL_COLUMNS, COMMON_COLUMNS, ENGINE_COLUMN, FILE_COLUMNS, Column
from pddlego.methods.registry import measuring_of
from pddlego.models.limiter import LedgerEntry, Price
from pddlego.runs.cells import Cell
from pddlego.runs.summary import Summary
from pddlego.util.text import both_ends, clean, csv_cell, is_alike, left_out, money

Configuration = tuple[str, str, str]
"""Game, mode, model."""

ALL_GAMES = "all games"
"""The name of all games together in tables."""

NAMES = CELL_COLUMNS[:3]
MODE = NAMES[1]
"""The columns that name a configuration, and the one of these that is not shortened while another one can be."""


@dataclass(frozen=True)
class Measured:
    """A column of a row: the mean and the median over the `episodes` that have the number; None without any."""

    column: Column
    mean: float | None
    median: float | None
    episodes: int


@dataclass(frozen=True)
class Row:
    """The results of one configuration over its `episodes`, which is the number of its played cells.

    `seeds` are those of these cells. `counted` is the number of episodes that were not lost to errors of an endpoint or
    an engine. `interval` is Wilson's interval (95 %) of the success over all episodes. `common` has the numbers of
    `COMMON_COLUMNS` by name, and `measured` those of the method. `cost` is the cost of all requests, None if a model
    has no price, and `paid` their number without answers of the cache; `unanswered` is the part of the cost that may
    have been spent on requests without an answer.
    """

    setting: str
    mode: str
    model: str
    episodes: int
    seeds: frozenset[int]
    won: int
    counted: int
    interval: Interval
    common: Mapping[str, Measured]
    cost: float | None
    paid: int
    unanswered: float
    measured: Mapping[str, Measured]

    @property
    def success(self) -> float:
        """The share of all episodes that were won."""
        return self.won / self.episodes

    @property
    def score(self) -> float:
        """The mean score, from 0 to 1."""
        return self.mean("score") or 0.0

    def mean(self, name: str) -> float | None:
        """The mean of a number; None if no episode has it."""
        number = self.common.get(name) or self.measured.get(name)
        return number.mean if number else None


def rows(
    results: Iterable[Summary],
    prices: Mapping[str, Price] | None = None,
    attempts: Iterable[Summary] = (),
    entries: Iterable[LedgerEntry] = (),
) -> list[Row]:
    """One row for each configuration with a played cell, in the order of the cells.

    The cost is that of all `attempts`, including those that were lost and played again; without `attempts` it is that
    of the results. If the ledger has `entries` for a configuration with a price, the cost is their sum, because they
    include requests without an answer.
    """
    spent = by_configuration(attempts)
    known = _entries_of((summary.cell for group in spent.values() for summary in group), entries)
    rows = []
    played = sorted((summary for summary in results if summary.played), key=lambda summary: summary.cell)
    for key, group in by_configuration(played).items():
        usages = [summary.usage for summary in spent.get(key, group)]
        paid = sum(usage.calls - usage.from_cache for usage in usages)
        cost, own = cost_of(spent.get(key, group), prices or {}), known.get(key, [])
        if cost is not None and own and all(entry.cost or not entry.tokens for entry in own):
            cost, paid = sum(entry.cost for entry in own), len(own)
        rows.append(_row(group, cost, paid, sum(entry.cost for entry in own if not entry.answered)))
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


def _row(summaries: Sequence[Summary], cost: float | None, paid: int, unanswered: float) -> Row:
    setting, mode, model = summaries[0].cell.configuration
    won = sum(summary.won for summary in summaries)
    return Row(
        setting=setting,
        mode=mode,
        model=model,
        episodes=len(summaries),
        seeds=frozenset(summary.cell.seed for summary in summaries),
        won=won,
        counted=sum(summary.counts for summary in summaries),
        interval=wilson(won, len(summaries)),
        common=_measured(COMMON_COLUMNS, summaries),
        cost=cost,
        paid=paid,
        unanswered=unanswered,
        measured=_measured(measuring_of(setting, mode).columns, summaries),
    )


def _measured(columns: Iterable[Column], summaries: Sequence[Summary]) -> dict[str, Measured]:
    measured = {}
    for column in columns:
        chosen = [summary for summary in summaries if summary.won or column.over == "all"]
        numbers = [number for summary in chosen if (number := column.of(summary)) is not None]
        mean = statistics.mean(numbers) if numbers else None
        median = statistics.median(numbers) if numbers and column.median else None
        measured[column.name] = Measured(column, mean, median, len(numbers))
    return measured


def cost_of(summaries: Sequence[Summary], prices: Mapping[str, Price]) -> float | None:
    """The cost of the answers to attempts at one configuration; None for a model without a price."""
    cell = summaries[0].cell
    if is_free(cell) or all(summary.usage.calls == summary.usage.from_cache for summary in summaries):
        return 0.0
    price = prices.get(cell.model)
    if price is None:
        return None
    tallies = (summary.usage for summary in summaries)
    return sum(price.cost(usage.tokens_in, usage.tokens_out, usage.tokens_cached) for usage in tallies)


def spent_elsewhere(rows: Iterable[Row], entries: Iterable[LedgerEntry]) -> str:
    """A note on the cost of cells without a result, which no row of the table includes; empty if there is no cost."""
    cost = sum(entry.cost for entry in entries) - sum(row.cost or 0.0 for row in rows)
    return f"Another {money(cost)} was spent on cells without a result." if cost >= 0.00005 else ""


def played_of(results: Iterable[Summary], planned: Collection[Cell]) -> str:
    """`4 of 10 cells played`, if not all were; `planned` is empty if it is unknown."""
    known = list(results)
    played, total = sum(row.played for row in known), len({row.cell for row in known} | set(planned))
    return "" if played == total else f"{played} of {total} cells played"


def columns(results: Collection[Summary]) -> tuple[str, ...]:
    """The columns of the table of episodes: those of every method around those that the methods measured."""
    measured: dict[str, None] = {}
    for (setting, mode, _), group in by_configuration(results).items():
        hidden = {column.name for column in measuring_of(setting, mode).columns if not column.listed}
        measured |= dict.fromkeys(name for summary in group for name in summary.measures.numbers if name not in hidden)
    first, *others = (column.name for column in COMMON_COLUMNS if column.listed)
    files = FILE_COLUMNS if any(summary.game_file for summary in results) else ()
    engine = (ENGINE_COLUMN,) if any(summary.engine for summary in results) else ()
    return tuple(dict.fromkeys((*CELL_COLUMNS, first, *measured, *others, *files, *engine)))


def result_table(results: Iterable[Summary], same: Mapping[str, str] = MappingProxyType({})) -> str:
    """The table of episodes as CSV: a line for each cell, sorted, without anything that differs from run to run.

    `same` are more columns with one value.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    ordered = sorted(results, key=lambda summary: summary.cell)
    head = (*columns(ordered), *same)
    writer.writerow(head)
    for summary in ordered:
        values = {**as_values(summary), **same}
        writer.writerow(csv_cell(values.get(name, "")) for name in head)
    return text.getvalue()


def as_values(summary: Summary) -> dict[str, object]:
    """An episode in the table of episodes, by the names of the columns."""
    cell = summary.cell
    common = {column.name: column.of(summary) for column in COMMON_COLUMNS if column.listed}
    return {
        **{name: round(number, 4) for name, number in summary.measures.numbers.items()},
        **dict(zip(NAMES, cell.configuration, strict=True)),
        "seed": cell.seed,
        "repeat": cell.repeat,
        "outcome": summary.outcome.value,
        "game_file": summary.game_file.get("path", ""),
        "game_sha256": summary.game_file.get("sha256", ""),
        ENGINE_COLUMN: summary.engine,
        **{name: round(number, 4) for name, number in common.items() if number is not None},
    }


_SHORTEST_NAME = 12
"""Names are not shortened below this number of characters, or half of it so that numbers are whole."""


@dataclass(frozen=True)
class ShownColumn:
    """A column of the table of configurations. A narrow terminal leaves out columns with a lower `rank` first."""

    name: str
    cells: Sequence[str]
    rank: float = math.inf

    @property
    def width(self) -> int:
        return max(len(cell) for cell in (self.name, *self.cells))

    @property
    def is_alike(self) -> bool:
        """Whether all its rows are equal, so that it can be left out. A mode belongs to its row nevertheless."""
        return self.name != MODE and is_alike(self.cells)


def shown_columns(rows: Sequence[Row]) -> list[ShownColumn]:
    """The columns of the table of configurations, without empty ones."""
    common = list(_mean_columns([row.common for row in rows]))
    every = [
        ShownColumn("won", [f"{row.won}/{row.episodes}" for row in rows]),
        ShownColumn("success", [f"{100 * row.success:.0f}%" for row in rows]),
        ShownColumn("95 %", [row.interval.percent for row in rows], 11),
        *common[:1],
        ShownColumn(
            "without errors", ["" if row.counted == row.episodes else f"{row.won}/{row.counted}" for row in rows], 8
        ),
        *_mean_columns([row.measured for row in rows]),
        *(replace(column, name=column.name.replace("_", " ")) for column in common[1:]),
        ShownColumn("cost", [money(row.cost) if row.cost != 0 else "" for row in rows], 7),
        ShownColumn("no answer", [money(row.unanswered) if row.unanswered else "" for row in rows], 0),
    ]
    return [column for column in every if any(column.cells)]


def _mean_columns(rows: Sequence[Mapping[str, Measured]]) -> Iterator[ShownColumn]:
    """The means of the numbers that are shown, each with its median if a method has one."""
    for name in dict.fromkeys(name for row in rows for name, number in row.items() if number.column.shown):
        numbers = [row.get(name) for row in rows]
        columns = [number.column for number in numbers if number is not None]
        rank = 9 if any(column.compared for column in columns) else columns[0].rank
        hidden = all(column.blank_zero for column in columns) and not any(number and number.mean for number in numbers)
        yield ShownColumn(name, [_mean(None if hidden else number) for number in numbers], rank)
        if any(column.median for column in columns):
            yield ShownColumn("median", [_number(number.median if number else None, 1) for number in numbers], 2)


def _mean(measured: Measured | None) -> str:
    """A mean as a cell; empty if it does not exist."""
    if measured is None or measured.mean is None:
        return ""
    if measured.column.counted:
        return f"{round(measured.mean * measured.episodes)}/{measured.episodes}"
    return _number(measured.mean, measured.column.digits)


def results_table(rows: Iterable[Row], width: int) -> RenderableType:
    """The table of configurations with their results, for `width` columns of a terminal."""
    ordered = list(rows)
    return fitted_table([(row.setting, row.mode, row.model) for row in ordered], shown_columns(ordered), width)


def fitted_table(of: Iterable[Configuration], columns: Sequence[ShownColumn], width: int) -> RenderableType:
    """A table of configurations. What has no room in `width` is left out, and named below the table.

    Columns that are alike in all rows are left out first, with their value; then those of the lowest rank.
    """
    configurations = list(of)
    names = ((name, [one[place] for one in configurations]) for place, name in enumerate(NAMES))
    every = [*(ShownColumn(name, [clean(part) for part in parts]) for name, parts in names), *columns]
    shown = list(every)

    def least(column: ShownColumn) -> int:
        is_name = column.name in NAMES and column.name != MODE
        return min(column.width, max(len(column.name), _SHORTEST_NAME)) if is_name else column.width

    for column in sorted(every, key=lambda column: (not column.is_alike, column.rank)):
        if sum(least(one) + 2 for one in shown) - 2 <= width or (column.rank == math.inf and not column.is_alike):
            break
        shown = [one for one in shown if one is not column]
    numbers = [column for column in shown if column.name not in NAMES]
    room = width + 2 - sum(column.width + 2 for column in numbers)
    widths = name_widths({column.name: column.width for column in shown if column.name in NAMES}, room)
    table = name_columns(widths)
    for column in numbers:
        table.add_column(column.name, justify="right", no_wrap=True, min_width=column.width)
    for row in zip(*(column.cells for column in shown), strict=True):
        cells = zip(shown, row, strict=True)
        table.add_row(*(Text(both_ends(cell, widths.get(column.name, len(cell)))) for column, cell in cells))
    hidden = [column for column in every if not any(column is one for one in shown)]
    alike = [(column.name, column.cells[0]) for column in hidden if column.is_alike]
    lines = left_out(alike, [column.name for column in hidden if not column.is_alike])
    return Group(table, *(Text(line, "dim") for line in lines)) if lines else table


def name_widths(widths: Mapping[str, int], room: int) -> dict[str, int]:
    """The widths of columns with names: the widest are shortened, the mode last, until all fit, if possible."""
    narrowed = dict(widths)
    for kept, least in ((MODE, _SHORTEST_NAME), ("", _SHORTEST_NAME), ("", _SHORTEST_NAME // 2)):
        names = [name for name in narrowed if name != kept]
        while sum(own + 2 for own in narrowed.values()) > room and any(narrowed[name] > least for name in names):
            narrowed[max(names, key=narrowed.__getitem__)] -= 1
    return narrowed


def name_columns(widths: Mapping[str, int | None] = MappingProxyType(dict.fromkeys(NAMES))) -> Table:
    """A table with the columns of game, mode and model."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name, width in widths.items():
        table.add_column(name, no_wrap=True, overflow="ellipsis", width=width)
    return table


def _number(value: float | None, digits: int) -> str:
    return "" if value is None else f"{value:,.{digits}f}"
