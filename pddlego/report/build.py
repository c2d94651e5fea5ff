"""From run folders to a report: rows, the layout of the paper's Table 1, failures, comparisons."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pddlego.errors import JournalError, UsageError
from pddlego.evaluation.statistics import Comparison, Side, compare, corrected
from pddlego.evaluation.table import Configuration, Row, by_configuration, played_of, rows, spent_elsewhere
from pddlego.methods.base import CountTable, ShareTable, base_mode
from pddlego.methods.registry import measuring_of, modes
from pddlego.models.base import notes
from pddlego.models.limiter import LedgerEntry, Price, read_ledger
from pddlego.pddl import EntryKind
from pddlego.report.figures import DrawnFigure, PaperFigure, draw_figures, paper_figures
from pddlego.runs.cells import NO_MODEL, Cell
from pddlego.runs.folders import CONFIRMED, EPISODES, LEDGER, RESUMED
from pddlego.runs.store import (
    RESULTS,
    changed_journals,
    read_cells,
    read_configuration,
    read_manifest,
    read_recorded_prices,
    read_results,
)
from pddlego.runs.summary import DEFECTS, LINES, REJECTED, UNMEASURED, Summary

_TROUBLE = frozenset({EntryKind.UNMATCHED.value, EntryKind.REFUSED.value})
"""Kinds of edit lines that had no effect; the other kinds were applied."""

_NO_RESULT = {
    RESUMED: "Its episodes were resumed from the middle of others.",
    CONFIRMED: "A person was asked in its episode, and could decide otherwise than the model.",
}
"""Entries of the manifest of an episode that a person influenced: its numbers are not those of a method alone."""

_Counter = Callable[[Summary], Mapping[str, int]]


@dataclass(frozen=True)
class CountRow:
    """How often something happened in the episodes of one configuration."""

    configuration: Configuration
    what: str
    number: int


@dataclass(frozen=True)
class ShareRow:
    """Shares of one counted thing in the episodes of one configuration: for each column the part, and the whole."""

    configuration: Configuration
    what: str
    shares: Mapping[str, tuple[int, int]]


@dataclass(frozen=True)
class Report:
    """What some evaluations say. `results` holds the last attempt at each cell, sorted by cell.

    `failures` are the outcomes of episodes that were not won; `answers` the unusable answers by category, the defects
    by kind and the edit lines without effect; `measured` what the methods counted, each group with its table, and
    `shares` what they made shares of;
    `figures` what they draw; `published` are means of papers beside ours.
    `incomplete` says how many of the cells that were asked for were played, if not all were; `damage` what could not be
    read.
    """

    sources: tuple[str, ...]
    results: tuple[Summary, ...]
    rows: tuple[Row, ...]
    failures: tuple[CountRow, ...]
    answers: tuple[CountRow, ...]
    measured: tuple[tuple[CountTable, tuple[CountRow, ...]], ...]
    shares: tuple[tuple[ShareTable, tuple[ShareRow, ...]], ...]
    comparisons: tuple[Comparison, ...]
    figures: tuple[DrawnFigure, ...] = ()
    published: tuple[PaperFigure, ...] = ()
    incomplete: str = ""
    damage: tuple[str, ...] = ()

    @property
    def played(self) -> tuple[Summary, ...]:
        """The results with an outcome of their own."""
        return tuple(result for result in self.results if result.played)

    @property
    def notes(self) -> tuple[str, ...]:
        """What must be said beside the numbers."""
        return (*([f"{self.incomplete}."] if self.incomplete else []), *notes(self.models), *self.damage)

    @property
    def games(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(row.setting for row in self.rows))

    @property
    def methods(self) -> tuple[tuple[str, str], ...]:
        """Every mode with its model: the columns of Table 1."""
        return tuple(sorted({(row.model, row.mode) for row in self.rows}, key=_method_order))

    @property
    def models(self) -> tuple[str, ...]:
        """Every model, in the order of the methods."""
        return tuple(dict.fromkeys(model for model, _ in self.methods))

    @property
    def ablated(self) -> bool:
        """Whether modes were played without some of their parts."""
        return any(mode != base_mode(mode) for _, mode in self.methods)

    @property
    def sections(self) -> tuple[tuple[str, str, tuple[CountRow, ...]], ...]:
        """What was counted, as (title, what is counted, counts); what never happened is left out."""
        tables = (
            ("Why episodes were not won", "outcome", self.failures),
            ("What was wrong with answers", "trouble", self.answers),
            *((table.title, table.what, rows) for table, rows in self.measured),
        )
        return tuple(pair for pair in tables if pair[2])

    def row(self, game: str, method: tuple[str, str]) -> Row | None:
        """The row of a game and a (model, mode)."""
        return next((row for row in self.rows if (row.setting, row.model, row.mode) == (game, *method)), None)


def _method_order(method: tuple[str, str]) -> tuple[bool, str, int, str]:
    """As in the paper: what asks no model, then for each model its modes, the simplest first, each before its
    ablations."""
    model, mode = method
    names = [mode.name for mode in reversed(modes())]
    base = base_mode(mode)
    return model != NO_MODEL, model, names.index(base) if base in names else len(names), mode


def load_results(paths: Sequence[Path]) -> list[Summary]:
    """The last attempt at each cell of all run folders; of a cell that stands in several, that of the last folder.

    Raises `UsageError` for a folder that holds no evaluation, and for folders in which a game or a method is not the
    same one: their episodes must not be counted together.
    """
    return _last(attempts for attempts, _ in _load(paths))


def _last(folders: Iterable[Sequence[Summary]]) -> list[Summary]:
    """The last attempt at each cell, sorted by cell."""
    last: dict[Cell, Summary] = {}
    for attempts in folders:
        last |= {attempt.cell: attempt for attempt in sorted(attempts, key=lambda attempt: attempt.attempt)}
    return [last[cell] for cell in sorted(last)]


def _load(paths: Sequence[Path]) -> list[tuple[list[Summary], tuple[str, ...]]]:
    """All attempts of each folder, and warnings on its damaged lines."""
    known: dict[str, tuple[Path, Any]] = {}
    for path in paths:
        if sum(path.resolve() == other.resolve() for other in paths) > 1:
            raise UsageError(f"{path} is named twice", "Its episodes would be counted twice.", "Name it once.")
        if not (path / RESULTS).exists():
            begun = (path / EPISODES).is_dir()
            reason = f"It has no {RESULTS}" + (": no episode in it is finished." if begun else ".")
            advice = "See it with 'pddlego show', or play on with 'pddlego eval --run'."
            raise UsageError(
                f"{path} is not an evaluation", reason, advice if begun else "Name a folder that 'pddlego eval' made."
            )
        manifest = read_manifest(path)
        for name, reason in _NO_RESULT.items():
            if name in manifest:
                raise UsageError(
                    f"{path} is not an evaluation", reason, "Leave it out, and see it with 'pddlego show'."
                )
        for name, value in _configuration(path).items():
            other, before = known.setdefault(name, (path, value))
            if before != value:
                reason = f"{name} differs between them, so their episodes cannot be combined."
                raise UsageError(f"{other} and {path} cannot be reported together", reason, "Report them one by one.")
    return [read_results(path) for path in paths]


def is_reportable(path: Path) -> bool:
    """Whether a run folder has results that a report counts. Raises `UsageError` for a damaged manifest."""
    return (path / RESULTS).exists() and not _NO_RESULT.keys() & read_manifest(path).keys()


def _configuration(path: Path) -> dict[str, Any]:
    """What determines an episode: each game, and everything else together."""
    configuration = read_configuration(path)
    games = configuration.pop("settings", {})
    # Resuming checks versions; unset options are left out.
    configuration = {name: value for name, value in configuration.items() if name != "versions" and value is not None}
    return {**games, "the configuration": configuration}


def build_report(paths: Sequence[Path], prices: Mapping[str, Price] | None = None) -> Report:
    """The report of one or several run folders; without `prices` with those that the evaluations were given.

    Raises `UsageError`.
    """
    folders = _load(paths)
    results = _last(attempts for attempts, _ in folders)
    if not results:
        names = ", ".join(map(str, paths))
        damaged = next((warning for _, warnings in folders for warning in warnings), "")
        if damaged:
            raise UsageError("There is nothing to report", damaged, f"Remove damaged lines: {RESULTS} is made anew.")
        raise UsageError("There is nothing to report", f"{names}: no episode is finished.", "Continue the evaluation.")
    ledgers = [_requests(path) for path in paths]
    entries = [entry for entries_of_run, _ in ledgers for entry in entries_of_run]
    recorded = {name: price for path in paths for name, price in read_recorded_prices(path).items()}
    # Of other prices than the recorded ones only the costs of the answers are known.
    own = not prices or all(prices.get(name) == price for name, price in recorded.items())
    attempts = [summary for summaries_of_run, _ in folders for summary in summaries_of_run]
    found_rows = rows(results, prices or recorded, attempts, entries if own and recorded else ())
    elsewhere = "" if prices else spent_elsewhere(found_rows, entries)
    damage = [elsewhere] if elsewhere else []
    for path, (summaries, damaged_lines), (_, damaged_ledger) in zip(paths, folders, ledgers, strict=True):
        damage += [*damaged_lines, *changed_journals(path, summaries), *damaged_ledger]
    grouped = by_configuration(summary for summary in results if summary.played)
    settings = _settings(paths)
    return Report(
        sources=tuple(map(str, paths)),
        results=tuple(results),
        rows=tuple(found_rows),
        failures=_counts(grouped, lambda summary: {} if summary.won else {summary.outcome.value: 1}),
        answers=_counts(grouped, _trouble),
        measured=tuple(_measured(grouped)),
        shares=tuple(shares_of(grouped)),
        comparisons=_comparisons(results),
        figures=draw_figures([result for result in results if result.counts]),
        published=paper_figures([row for row in found_rows if row.setting in settings], settings),
        incomplete=played_of(results, {cell for path in paths for cell in read_cells(path)}),
        damage=tuple(damage),
    )


def _settings(paths: Sequence[Path]) -> dict[str, Any]:
    """How each setting was played, by its name; without those that runs played in different ways."""
    played: dict[str, list[Any]] = {}
    for path in paths:
        for name, value in read_configuration(path).get("settings", {}).items():
            played.setdefault(name, []).append(value)
    return {name: values[0] for name, values in played.items() if all(value == values[0] for value in values)}


def _requests(path: Path) -> tuple[list[LedgerEntry], tuple[str, ...]]:
    """The requests of a folder, and warnings on its ledger. None is refused: answers say the costs then."""
    try:
        entries, warnings = read_ledger(path / LEDGER)
    except JournalError as error:
        return [], (f"{error.what}: {error.reason} The costs are those of the answers.",)
    return list(entries.values()), warnings


def _trouble(summary: Summary) -> Mapping[str, int]:
    rejected = {f"answer: {category}": number for category, number in summary.counts_of(REJECTED).items()}
    rejected |= {f"not measured: {reason}": number for reason, number in summary.counts_of(UNMEASURED).items()}
    rejected |= {f"defect: {kind}": number for kind, number in summary.counts_of(DEFECTS).items()}
    return rejected | {f"line: {kind}": number for kind, number in summary.counts_of(LINES).items() if kind in _TROUBLE}


def _measured(grouped: Mapping[Configuration, list[Summary]]) -> Iterator[tuple[CountTable, tuple[CountRow, ...]]]:
    """What each method counted besides, a table for each group."""
    tables = dict.fromkeys(table for setting, mode, _ in grouped for table in measuring_of(setting, mode).counts)
    for table in tables:
        yield table, _counts(grouped, lambda summary, group=table.group: summary.counts_of(group))  # type: ignore[misc]


def shares_of(grouped: Mapping[Configuration, list[Summary]]) -> Iterator[tuple[ShareTable, tuple[ShareRow, ...]]]:
    """Shares of what each method counted, with a last row of everything for each configuration."""
    for table in dict.fromkeys(table for setting, mode, _ in grouped for table in measuring_of(setting, mode).shares):
        rows = []
        for configuration, summaries in grouped.items():
            totals: dict[str, Counter[str]] = {name: Counter() for name in table.groups}
            for summary in summaries:
                for name, total in totals.items():
                    total.update(summary.counts_of(name))
            counted = sorted(set().union(*totals.values()))
            for what in (*counted, *([ALL] if counted else ())):
                rows.append(ShareRow(configuration, what, dict(_share(table, totals, what))))
        yield table, tuple(rows)


ALL = "(all)"


def _share(table: ShareTable, totals: Mapping[str, Counter[str]], what: str) -> Iterator[tuple[str, tuple[int, int]]]:
    """For each column the part and the whole."""

    def number(groups: Iterable[str]) -> int:
        return sum(totals[name].total() if what == ALL else totals[name][what] for name in groups)

    return ((share.name, (number(share.part), number(share.whole))) for share in table.columns)


def _counts(grouped: Mapping[Configuration, Iterable[Summary]], count: _Counter) -> tuple[CountRow, ...]:
    counts = []
    for configuration, summaries in grouped.items():
        total: Counter[str] = Counter()
        for summary in summaries:
            total.update(count(summary))
        counts += [CountRow(configuration, what, number) for what, number in total.most_common()]
    return tuple(counts)


def _comparisons(results: Sequence[Summary]) -> tuple[Comparison, ...]:
    """Every two methods that have seeds in common, game by game; an ablation only with what it was taken from."""
    methods: dict[tuple[str, str], list[Summary]] = {}
    for result in results:
        methods.setdefault((result.cell.model, result.cell.mode), []).append(result)
    ordered = sorted(methods, key=_method_order)
    several = len({model for model, _ in methods} - {NO_MODEL}) > 1
    sides = {key: Side(_name(key) if several else key[1], results) for key, results in methods.items()}
    games = sorted({summary.cell.setting for summary in results})
    compared = (
        compare(sides[first], sides[second], game, _compared(game, first, second))
        for game in games
        for first, second in itertools.combinations(ordered, 2)
        if _are_compared(first, second)
    )
    return corrected([comparison for comparison in compared if comparison.pairs])


def _compared(game: str, first: tuple[str, str], second: tuple[str, str]) -> str:
    """The number that both methods are compared by; empty without one."""
    names = [
        {column.name for column in measuring_of(game, mode).columns if column.compared} for _, mode in (first, second)
    ]
    return next(iter(names[0] & names[1]), "")


def _are_compared(first: tuple[str, str], second: tuple[str, str]) -> bool:
    (one, mode), (other, another) = first, second
    whole_ones = [mode_name for mode_name in (mode, another) if mode_name == base_mode(mode_name)]
    return len(whole_ones) == 2 or (one == other and whole_ones == [base_mode(mode)] == [base_mode(another)])


def _name(method: tuple[str, str]) -> str:
    model, mode = method
    return mode if model == NO_MODEL else f"{mode} with {model}"
