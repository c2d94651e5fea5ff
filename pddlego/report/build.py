"""From run folders to a report: rows, tables, comparisons and figures."""

from __future__ import annotations

import hashlib
import itertools
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pddlego.errors import JournalError, UsageError
from pddlego.evaluation.changed_options import options_line
from pddlego.evaluation.models import is_free
from pddlego.evaluation.statistics import PairedComparison, Side, compare_paired, holm_corrected
from pddlego.evaluation.table import Row, by_configuration, played_of, rows, spent_elsewhere
from pddlego.evaluation.truth import (
    EVERY_RESULT,
    Causes,
    Progress,
    ResultFilter,
    last_attempts,
    unchecked_cells,
    with_truth,
)
from pddlego.methods.base import WITHOUT, base_mode
from pddlego.methods.registry import measuring_of
from pddlego.models.base import notes
from pddlego.models.limiter import LedgerEntry, Price, read_ledger
from pddlego.report.figures import IN_ORDER, DrawnFigure, draw_figures
from pddlego.report.tables import (
    Table,
    all_numbers,
    bar_tables,
    cause_table,
    compared_numbers,
    comparison_table,
    configuration_order,
    cost_table,
    count_tables,
    efficiency_table,
    figure_table,
    method_order,
    methods_of,
    order_table,
    published_means,
    published_shares,
    restart_table,
    share_tables,
    success,
    with_episodes,
)
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
from pddlego.runs.summary import Measures, Summary
from pddlego.util.text import count, one_line

_NO_RESULT = {
    RESUMED: "Its episodes were resumed from the middle of others.",
    CONFIRMED: "A person was asked in its episode, and could decide otherwise than the model.",
}
"""Keys in the manifest of an episode that a person influenced, so that its numbers do not assess the method alone."""


@dataclass(frozen=True)
class Report:
    """The results of evaluations. `results` holds the last attempt at each cell, sorted by cell.

    `settings` says how each game was played, as the run folders record it. `compared` are values of a paper beside
    ours, and the comparisons of methods; `analyses` are tables for some methods only (shares of counts), and the points
    of the `figures`; `bars` are tables that are drawn as bars. `causes` says why episodes were lost. `counts` are
    tables of why episodes were not won, what was wrong with answers, and what methods counted. `incomplete` says how
    many of the planned cells were played, if not all were. `options` are those that are not the default.
    `damage` has warnings about files that could not be read.
    """

    sources: tuple[str, ...]
    results: tuple[Summary, ...]
    rows: tuple[Row, ...]
    settings: Mapping[str, Any] = field(default_factory=dict)
    comparisons: tuple[PairedComparison, ...] = ()
    figures: tuple[DrawnFigure, ...] = ()
    bars: tuple[Table, ...] = ()
    compared: tuple[Table, ...] = ()
    analyses: tuple[Table, ...] = ()
    causes: Causes = field(default_factory=lambda: Causes(()))
    counts: tuple[Table, ...] = ()
    incomplete: str = ""
    options: str = ""
    damage: tuple[str, ...] = ()

    @property
    def played(self) -> tuple[Summary, ...]:
        """The results of episodes that were neither interrupted nor stopped by the budget of the evaluation."""
        return tuple(result for result in self.results if result.played)

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes that every format prints with the tables."""
        models = dict.fromkeys(model for model, _ in methods_of(self.rows))
        incomplete = [f"{text}." for text in (self.options, self.incomplete) if text]
        if errors := [row for row in self.rows if row.counted < row.episodes]:
            of = count(len(self.played), "episode")
            missing = sum(row.episodes - row.counted for row in errors)
            where = (f"{r.setting}, {r.mode}, {r.model}: {r.episodes - r.counted} of {r.episodes}" for r in errors)
            ended = f"{missing} of {of} ended with an error, not by the game: {'; '.join(where)}."
            rule = "They count as not won; comparisons and causes leave them out."
            incomplete.append(f"{ended} {rule}")
        if again := sum(result.attempt > 1 for result in self.results):
            incomplete.append(
                f"Tried again: {count(again, 'episode')}. The last attempt counts; the cost is that of all."
            )
        return (*incomplete, *self.games, *notes(models), *self.damage)

    @property
    def games(self) -> tuple[str, ...]:
        """A note on each game for every table: the engine with its version, and a digest of the game's files.

        Equal digests are the same files. It is the SHA-256 of the sorted digests of the files, one per line.
        """
        known = {result.cell.setting: True for result in self.results if result.engine or result.game_file}
        return tuple(_played_by(game, [one for one in self.results if one.cell.setting == game]) for game in known)

    def table(self, name: str) -> Table:
        """The table of this name for a paper: success, steps, cost, comparison or errors."""
        if name == "comparison":
            return comparison_table(self.comparisons)
        if name == "errors":
            return cause_table(self.causes)
        if name == "cost":
            return cost_table(self.rows)
        return success(self.rows) if name == "success" else compared_numbers(self.rows, self.played)

    @property
    def tables(self) -> tuple[Table, ...]:
        """Every table of the report."""
        causes = [table for table in [cause_table(self.causes)] if table.body]
        return success(self.rows), *self.compared, *causes, all_numbers(self.rows), *self.analyses, *self.counts


def _played_by(game: str, results: Sequence[Summary]) -> str:
    """What ran the games of these results: `alfworld: alfworld 0.4.2, textworld 1.7.1; 134 game files, …`."""
    engines = sorted({result.engine for result in results if result.engine})
    files = sorted({str(result.game_file.get("sha256", "")) for result in results if result.game_file})
    whole = hashlib.sha256("".join(f"{file}\n" for file in files).encode()).hexdigest()
    digest = f"{count(len(files), 'game file')}, SHA-256 of their digests {whole[:16]}" if files else ""
    return one_line(f"{game}: {'; '.join(filter(None, (' or '.join(engines), digest)))}.", 300)


def load_results(paths: Sequence[Path]) -> list[Summary]:
    """The last attempt at each cell of the run folders. If a cell is in several folders, the last folder counts.

    Raises `UsageError` for a folder without an evaluation, and for folders that differ in a game or in the
    configuration: their episodes must not be counted together.
    """
    _recorded_settings(paths)
    return last_attempts(read_results(path)[0] for path in paths)


def _recorded_settings(paths: Sequence[Path]) -> dict[str, Any]:
    """How each game was played, by its name. Raises `UsageError` for folders that cannot be reported together."""
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
                different = list(_differences(before, value))
                more = f" and {len(different) - _MOST_NAMED} more" if len(different) > _MOST_NAMED else ""
                listed = f"{'; '.join(different[:_MOST_NAMED])}{more}"
                reason = f"In {name} they differ ({listed}), so their episodes cannot be combined."
                raise UsageError(f"{other} and {path} cannot be reported together", reason, "Report them one by one.")
    return {name: value for name, (_, value) in known.items() if name != _CONFIGURATION and not name.startswith(_MODEL)}


_MOST_NAMED = 5
"""The number of different options that an error names."""


def _differences(one: Any, other: Any, name: str = "") -> Iterator[str]:
    """The options that differ between two configurations, each with both values: `retries: 5 and 0`."""
    if isinstance(one, dict) and isinstance(other, dict):
        for key in sorted(one.keys() | other.keys()):
            yield from _differences(one.get(key), other.get(key), f"{name}.{key}" if name else key)
    elif one != other:
        values = ("unset" if value is None else one_line(json.dumps(value), 40) for value in (one, other))
        yield f"{name}: {' and '.join(values)}"


def is_reportable(path: Path) -> bool:
    """Whether a run folder has results that a report counts. Raises `UsageError` for a damaged manifest."""
    return (path / RESULTS).exists() and not _NO_RESULT.keys() & read_manifest(path).keys()


_CONFIGURATION, _MODEL = "the configuration", "the model "


def _configuration(path: Path) -> dict[str, Any]:
    """The configuration that determines an episode: the settings by name, and everything else as one value."""
    configuration = read_configuration(path)
    games = configuration.pop("settings", {})
    # Resuming checks versions; unset options are left out.
    configuration = {name: value for name, value in configuration.items() if name != "versions" and value is not None}
    addresses: dict[str, Any] = {}
    if isinstance(endpoint := configuration.get("endpoint"), dict):
        configuration["endpoint"] = {name: value for name, value in endpoint.items() if name != "base_url"}
        if url := endpoint.get("base_url"):  # each model may have its own, but one name is one model
            asked = {cell.configuration: cell for cell in read_cells(path)}.values()
            addresses = {f"{_MODEL}{cell.model}": {"base_url": url} for cell in asked if not is_free(cell)}
    return {**games, **addresses, _CONFIGURATION: configuration}


def build_report(
    paths: Sequence[Path],
    prices: Mapping[str, Price] | None = None,
    *,
    wanted: ResultFilter = EVERY_RESULT,
    progress: Progress | None = None,
) -> Report:
    """The report of the `wanted` results in run folders. Without `prices`, the costs are those of the recorded prices.

    With `progress`, the claims of models are checked where they have not been checked yet (`with_truth`).
    Raises `UsageError` as `load_results`, and if no episode is finished.
    """
    settings = _recorded_settings(paths)
    folders = [_attempts(path, progress) for path in paths]
    finished = last_attempts(last for last, _, _ in folders)
    cells = {cell for path in paths for cell in read_cells(path)}
    wanted.check_names(cells.union(result.cell for result in finished))
    unchecked = unchecked_cells((path, last) for path, (last, _, _) in zip(paths, folders, strict=True))
    causes = Causes((one for one in finished if wanted.has(one.cell)), unchecked if progress is None else ())
    results = [result for result in finished if wanted.matches(result, causes)]
    if not results:
        damaged = next((warning for _, _, warnings in folders for warning in warnings), "")
        raise _nothing_to_report(paths, finished, damaged, wanted.hint(causes))
    ledgers = [_requests(path) for path in paths]
    entries = [entry for entries_of_run, _ in ledgers for entry in entries_of_run]
    recorded = {name: price for path in paths for name, price in read_recorded_prices(path).items()}
    # Of other prices than the recorded ones only the costs of the answers are known.
    own = not prices or all(prices.get(name) == price for name, price in recorded.items())
    attempts = [summary for _, summaries, _ in folders for summary in summaries if wanted.has(summary.cell)]
    all_rows = rows(results, prices or recorded, attempts, entries if own and recorded else ())
    all_rows.sort(key=lambda row: (row.setting, method_order((row.model, row.mode))))
    damage = [] if prices or wanted != EVERY_RESULT else list(filter(None, [spent_elsewhere(all_rows, entries)]))
    damage += _doubles(result.cell for last, _, _ in folders for result in last if wanted.has(result.cell))
    for path, (_, summaries, damaged_lines), (_, damaged_ledger) in zip(paths, folders, ledgers, strict=True):
        damage += [*damaged_lines, *changed_journals(path, summaries), *damaged_ledger]
    ordered = sorted(results, key=lambda result: (configuration_order((result.cell.configuration, 0)), result.cell))
    grouped = by_configuration(summary for summary in ordered if summary.played)
    comparisons = _comparisons(results)
    in_order = [] if wanted.needs_results else _in_order(ordered, paths)
    figures = draw_figures([result for result in ordered if result.counts], in_order)
    recorded_rows = [row for row in all_rows if row.setting in settings]
    compared = [published_means(recorded_rows, settings), published_shares(grouped), comparison_table(comparisons)]
    analyses = [*share_tables(grouped), restart_table(grouped), efficiency_table(grouped), order_table(in_order)]
    analyses += [figure_table(one) for one in figures if one.figure != IN_ORDER]
    return Report(
        sources=tuple(map(str, paths)),
        results=tuple(results),
        rows=tuple(all_rows),
        settings=settings,
        comparisons=comparisons,
        figures=figures,
        bars=tuple(table for table in bar_tables(grouped) if table.body),
        compared=tuple(with_episodes(table, all_rows) for table in compared if table.body),
        analyses=tuple(table for table in analyses if table.body),
        causes=causes,
        counts=tuple(with_episodes(table, all_rows) for table in count_tables(grouped) if table.body),
        incomplete="" if wanted.needs_results else played_of(results, list(filter(wanted.has, cells))),
        options=options_line(paths, dict.fromkeys(row.mode for row in all_rows)),
        damage=tuple(damage),
    )


def _doubles(cells: Iterable[Cell]) -> Iterator[str]:
    """A note on the cells that are in several runs, if there are any."""
    if several := sum(number > 1 for number in Counter(cells).values()):
        yield f"In several runs: {count(several, 'episode')}. The result of the last run counts."


def _attempts(path: Path, progress: Progress | None) -> tuple[list[Summary], list[Summary], tuple[str, ...]]:
    """The last attempt at each cell, with its lasting errors; all attempts, without measures; and warnings."""
    every, damaged = read_results(path)
    nothing = Measures()  # of all attempts only the usage counts: measures are most of the memory
    return (
        with_truth(path, last_attempts([every]), progress),
        [replace(attempt, measures=nothing) for attempt in every],
        damaged,
    )


def _in_order(results: Iterable[Summary], paths: Iterable[Path]) -> list[Summary]:
    """The results that count of runs with `--carry`; those of each configuration are in playing order."""
    options = [(path, read_configuration(path).get("run")) for path in paths]
    carrying = [path for path, run in options if isinstance(run, dict) and run.get("carry")]
    places = {cell: place for place, cell in enumerate(cell for path in carrying for cell in read_cells(path))}
    played = [result for result in results if result.counts and result.cell in places]
    configurations = list(by_configuration(played))
    return sorted(played, key=lambda result: (configurations.index(result.cell.configuration), places[result.cell]))


def _nothing_to_report(paths: Sequence[Path], finished: Sequence[Summary], damaged: str, hint: str) -> UsageError:
    """The error for run folders of which no episode is reported. `hint` lists the causes of losses."""
    what, names = "There is nothing to report", ", ".join(map(str, paths))
    if finished:
        games = {result.cell.setting for result in finished}
        modes, models = ({getattr(result.cell, name) for result in finished} for name in ("mode", "model"))
        reason = f"No episode has all of the chosen values; the games are: {', '.join(sorted(games))}.{hint}"
        others = f"The modes are: {', '.join(sorted(modes))}. The models are: {', '.join(sorted(models))}."
        return UsageError(what, reason, f"Choose other values. {others}")
    if damaged:
        return UsageError(what, damaged, f"Remove damaged lines: {RESULTS} is made anew.")
    return UsageError(what, f"{names}: no episode is finished.", "Continue the evaluation.")


def _requests(path: Path) -> tuple[list[LedgerEntry], tuple[str, ...]]:
    """The requests of a folder, and warnings about its ledger. For a damaged ledger there are no requests."""
    try:
        entries, warnings = read_ledger(path / LEDGER)
    except JournalError as error:
        return [], (f"{error.what}: {error.reason} The costs are those of the answers.",)
    return list(entries.values()), warnings


def _comparisons(results: Sequence[Summary]) -> tuple[PairedComparison, ...]:
    """Compare two modes of a model, or two models in a mode, on each game that both played.

    What plays without a model is compared with all others, and an ablation with its whole mode only.
    """
    methods: dict[tuple[str, str], list[Summary]] = {}
    for result in results:
        methods.setdefault((result.cell.model, result.cell.mode), []).append(result)
    ordered = sorted(methods, key=method_order)
    several = len({model for model, _ in methods} - {NO_MODEL}) > 1
    sides = {
        (model, mode): Side(f"{mode} {model}" if several and model != NO_MODEL else mode, results)
        for (model, mode), results in methods.items()
    }
    games = sorted({summary.cell.setting for summary in results})
    compared = (
        compare_paired(sides[first], sides[second], game, _compared(game, first, second))
        for game in games
        for first, second in itertools.combinations(ordered, 2)
        if _are_compared(first, second)
    )
    return holm_corrected([comparison for comparison in compared if comparison.pairs])


def _compared(game: str, first: tuple[str, str], second: tuple[str, str]) -> str:
    """The number that both methods are compared by; empty without one."""
    names = {measuring_of(game, mode).compared for _, mode in (first, second)}
    return names.pop() if len(names) == 1 else ""


def _are_compared(first: tuple[str, str], second: tuple[str, str]) -> bool:
    (one, mode), (other, another) = first, second
    if one != other and mode != another and NO_MODEL not in (one, other):
        return False
    ablations = [name for name in (mode, another) if WITHOUT in name]
    return not ablations or (len(ablations) == 1 and one == other and base_mode(mode) == base_mode(another))
