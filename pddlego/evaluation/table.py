"""Results as numbers: one row for each game, mode and model, and a line for each episode."""

from __future__ import annotations

import csv
import io
import statistics
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from pddlego.errors import UsageError
from pddlego.evaluation.models import is_free
from pddlego.evaluation.statistics import Interval, wilson
from pddlego.methods.base import Column, Measuring
from pddlego.methods.registry import measuring_of
from pddlego.models.spending import Price
from pddlego.runs.cells import Cell
from pddlego.runs.ledger import LedgerEntry
from pddlego.runs.measures import FIRST, LAST, Measures
from pddlego.runs.summary import Summary
from pddlego.util.text import csv_cell

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
    what of it was, or may have been, spent on requests that got no answer. Many fields, because each is a column.
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


def measuring(setting: str, mode: str) -> Measuring:
    """What is measured of a setting in a mode; nothing where its method is not installed any more."""
    try:
        return measuring_of(setting, mode)
    except UsageError:
        return Measuring(lambda events, used: Measures())


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
    known = _entries_of((summary.cell for found in spent.values() for summary in found), entries)
    listed = []
    played = sorted((summary for summary in results if summary.played), key=lambda summary: summary.cell)
    for key, found in by_configuration(played).items():
        cost, mine = _cost(spent.get(key, found), prices or {}), known.get(key, [])
        if cost is not None and mine:
            cost = sum(entry.cost for entry in mine)
        unanswered = sum(entry.cost for entry in mine if not entry.answered)
        listed.append(_row(key, found, cost, unanswered))
    return listed


def by_configuration(summaries: Iterable[Summary]) -> dict[Configuration, list[Summary]]:
    """The summaries of each game, mode and model."""
    found: dict[Configuration, list[Summary]] = {}
    for summary in summaries:
        found.setdefault(summary.cell.configuration, []).append(summary)
    return found


def _entries_of(cells: Iterable[Cell], entries: Iterable[LedgerEntry]) -> dict[Configuration, list[LedgerEntry]]:
    """The requests of each configuration."""
    labels = {cell.label: cell.configuration for cell in cells}
    found: dict[Configuration, list[LedgerEntry]] = {}
    for entry in entries:
        if entry.origin in labels:
            found.setdefault(labels[entry.origin], []).append(entry)
    return found


def _row(configuration: Configuration, found: Sequence[Summary], cost: float | None, unanswered: float) -> Row:
    setting, mode, model = configuration
    won = sum(summary.won for summary in found)
    tallies = [summary.tally for summary in found]
    return Row(
        setting=setting,
        mode=mode,
        model=model,
        episodes=len(found),
        won=won,
        counted=sum(summary.counts for summary in found),
        interval=wilson(won, len(found)),
        score=statistics.mean(summary.score for summary in found),
        measured=tuple(_measured(column, found) for column in measuring(setting, mode).columns),
        calls=statistics.mean(tally.calls for tally in tallies),
        from_cache=statistics.mean(tally.from_cache for tally in tallies),
        tokens=statistics.mean(tally.tokens_in + tally.tokens_out for tally in tallies),
        seconds=statistics.mean(tally.seconds for tally in tallies),
        cost=cost,
        unanswered=unanswered,
    )


def _measured(column: Column, found: Sequence[Summary]) -> Measured:
    chosen = [summary for summary in found if summary.won] if column.over == "won" else found
    numbers = [summary.measures.numbers[column.name] for summary in chosen if column.name in summary.measures.numbers]
    if not numbers:
        return Measured(column, None)
    middle = statistics.median(numbers) if column.median else None
    return Measured(column, statistics.mean(numbers), middle, len(numbers))


def _cost(found: Sequence[Summary], prices: Mapping[str, Price]) -> float | None:
    cell = found[0].cell
    if is_free(cell) or all(summary.tally.calls == summary.tally.from_cache for summary in found):
        return 0.0
    price = prices.get(cell.model)
    if price is None:
        return None
    tallies = (summary.tally for summary in found)
    return sum(price.cost(tally.tokens_in, tally.tokens_out, tally.tokens_cached) for tally in tallies)


def spent_elsewhere(listed: Iterable[Row], entries: Iterable[LedgerEntry]) -> str:
    """A remark on what a ledger says was spent, and stands in no row: on cells that have no outcome."""
    cost = sum(each.cost for each in entries) - sum(each.cost or 0.0 for each in listed)
    return f"Besides, {cost:.2f} was spent on cells that have no outcome." if cost >= 0.005 else ""


def played_of(results: Iterable[Summary], planned: Collection[Cell]) -> str:
    """`4 of 10 cells played`, if not all were; `planned` is empty where nobody knows what was asked for."""
    known = list(results)
    played, total = sum(each.played for each in known), len({each.cell for each in known} | set(planned))
    return "" if played == total else f"{played} of {total} cells played"


def columns(results: Iterable[Summary]) -> tuple[str, ...]:
    """The columns of the result table: what stands in all, with what the methods measured in between, but no times."""
    measured: dict[str, None] = {}
    for (setting, mode, _), found in by_configuration(results).items():
        timed = {column.name for column in measuring(setting, mode).columns if column.timed}
        measured |= dict.fromkeys(name for summary in found for name in summary.measures.numbers if name not in timed)
    return (*FIRST, *measured, *LAST)


def result_table(results: Iterable[Summary]) -> str:
    """The result table as CSV: a line for each cell, sorted, with nothing in it that differs from run to run."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    listed = sorted(results, key=lambda summary: summary.cell)
    head = columns(listed)
    writer.writerow(head)
    for summary in listed:
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
        **{name: getattr(summary.tally, name) for name in LAST},
    }
