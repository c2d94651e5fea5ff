"""The tables of a report: text in cells, the same in every format."""

from __future__ import annotations

import csv
import io
import itertools
import math
import re
import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from html import escape
from itertools import takewhile
from typing import Any, NamedTuple

import rich.table
from rich.console import Console
from rich.text import Text

from pddlego.errors import UsageError
from pddlego.evaluation.models import answered_by
from pddlego.evaluation.statistics import PairedComparison, bootstrap_mean
from pddlego.evaluation.table import ALL_GAMES, NAMES, Configuration, Row, by_configuration, name_widths, shown_columns
from pddlego.evaluation.truth import Causes
from pddlego.methods.base import WITHOUT, CountTable, ShareTable, base_mode
from pddlego.methods.registry import measuring_of, method_of, modes
from pddlego.pddl import EntryKind
from pddlego.report.figures import DrawnFigure
from pddlego.runs.cells import NO_MODEL
from pddlego.runs.store import recorded_setting
from pddlego.runs.summary import DEFECTS, LINES, REJECTED, UNMEASURED, Summary
from pddlego.util.text import both_ends, clean, count, csv_cell, is_alike, left_out, markdown_cell, money

Method = tuple[str, str]
"""Model and mode."""

Grouped = Mapping[Configuration, Sequence[Summary]]
"""The results of each configuration."""

_NUMBER = re.compile(r"[+-]?\$?\d|$|n/a$")
"""The beginning of a cell with a number; an empty cell has none."""

_ALL = "(all)"
"""The last row of a table of shares: all kinds together."""


class Table(NamedTuple):
    """A table with its title. `bold` are the row and column numbers of the best values."""

    title: str
    head: list[str]
    body: list[list[str]]
    bold: frozenset[tuple[int, int]] = frozenset()

    @property
    def is_numeric(self) -> list[bool]:
        """Whether all cells of each column begin with a number, so that they are aligned to the right."""
        return [all(_NUMBER.match(row[place]) for row in self.body) for place in range(len(self.head))]

    def only(self, places: Sequence[int], rows: slice = slice(None), title: str = "") -> Table:
        """The table with some of its columns and rows."""
        start, end, _ = rows.indices(len(self.body))
        return Table(
            title or self.title,
            [self.head[place] for place in places],
            [[row[place] for place in places] for row in self.body[rows]],
            frozenset(
                (row - start, places.index(place)) for row, place in self.bold if place in places and start <= row < end
            ),
        )

    def short(self) -> Table:
        """The table without those columns of game, mode and model in which all rows are equal: the title names them."""
        places, several = range(len(self.head)), len(self.body) > 1
        same = [place for place in places if several and self.head[place] in NAMES and is_alike(self.column(place))]
        about = ", ".join(self.body[0][place] for place in same)
        return self.only([place for place in places if place not in same], title=with_note(self.title, about))

    def column(self, place: int) -> list[str]:
        """The cells of a column."""
        return [row[place] for row in self.body]

    def parts(self, width: int, height: int, widths: Sequence[int] = ()) -> list[Table]:
        """The table in parts of at most `width` characters, if possible, and `height` rows; their titles count them.

        Each part has the columns before the first one with numbers, and a seed. Columns of `_STAYS` are in the part of
        the one before, unless that has no room on a terminal, which can narrow the columns to the `widths`.
        """
        own = widths or [max(map(len, (name, *self.column(place)))) + 2 for place, name in enumerate(self.head)]
        keys = zip(self.head, self.is_numeric, strict=True)
        names = list(range(len([*takewhile(lambda key: not key[1] or key[0] == "seed", keys)]))) or [0]
        units: list[list[int]] = []
        for place in range(len(names), len(own)):
            units[-1:] = [[*units[-1], place]] if units and self.head[place] in _STAYS else [*units[-1:], [place]]
        columns = [list(names)]
        for unit in units:
            is_wide = widths and sum(own[place] for place in (*names, *unit)) > width
            for piece in [[place] for place in unit] if is_wide else [unit]:
                if len(columns[-1]) > len(names) and sum(own[place] for place in (*columns[-1], *piece)) > width:
                    columns.append(list(names))
                columns[-1] += piece
        starts = range(0, max(1, len(self.body)), height)
        total = len(columns) * len(starts)
        return [
            self.only(
                places,
                slice(start, start + height),
                self.title if total == 1 else with_note(self.title, f"part {number} of {total}"),
            )
            for number, (start, places) in enumerate(itertools.product(starts, columns), start=1)
        ]

    @property
    def least_widths(self) -> list[int]:
        """The widths to which a terminal can narrow the columns, with two for the space between them."""
        widths = []
        for place, (name, numeric) in enumerate(zip(self.head, self.is_numeric, strict=True)):
            longest = max(map(len, self.column(place)), default=0)
            least = _SHORT if name in (*NAMES, *_SIDES) else longest if numeric else _LEAST_TEXT
            widths.append(max(*map(len, name.split()), min(longest, least)) + 2)
        return widths

    def markdown(self) -> str:
        """The table in Markdown, without its title."""

        def line(cells: Iterable[str]) -> str:
            return "| " + " | ".join(cells) + " |"

        body = [
            [
                f"**{markdown_cell(cell)}**" if (number, place) in self.bold else markdown_cell(cell)
                for place, cell in enumerate(row)
            ]
            for number, row in enumerate(self.body)
        ]
        return "\n".join([line(map(markdown_cell, self.head)), "|" + " --- |" * len(self.head), *map(line, body)])

    def html(self) -> str:
        """The table in HTML, without its title."""
        names = "".join(f"<th>{escape(clean(name))}</th>" for name in self.head)
        rows = ["".join(f"<td>{escape(clean(cell))}</td>" for cell in row) for row in self.body]
        return f"<table><tr>{names}</tr>{''.join(f'<tr>{row}</tr>' for row in rows)}</table>"

    def csv(self) -> str:
        """The table as CSV."""
        file = io.StringIO()
        csv.writer(file, lineterminator="\n").writerows([list(map(csv_cell, row)) for row in (self.head, *self.body)])
        return file.getvalue()

    def with_column(self, name: str, cells: Iterable[str]) -> Table:
        """The table with one more column, the last one."""
        body = [[*row, cell] for row, cell in zip(self.body, cells, strict=True)]
        return self._replace(head=[*self.head, name], body=body)

    def noted(self, note: str) -> Table:
        """The table with a note in its title."""
        return self._replace(title=with_note(self.title, note))


def with_note(title: str, note: str) -> str:
    """The title with a note in parentheses, after the one that it may have."""
    if not note:
        return title
    return f"{title[:-1]}; {note})" if title.endswith(")") else f"{title} ({note})"


def method_order(method: Method) -> tuple[bool, str, int, str]:
    """The sort key of methods, as in the paper: modes without a model, then the modes of each model, the simplest
    first, each before its ablations."""
    model, mode = method
    names = [mode.name for mode in reversed(modes())]
    base = base_mode(mode)
    return model != NO_MODEL, model, names.index(base) if base in names else len(names), mode


def short_labels(methods: Sequence[Method]) -> dict[Method, str]:
    """The label of each method: its mode, and its model if there are several. Models are named by what differs."""
    names = short_names([model for model, _ in methods if model != NO_MODEL])
    return {
        (model, mode): clean(mode if model == NO_MODEL or len(names) < 2 else f"{mode} {names[model]}")
        for model, mode in methods
    }


def short_names(models: Sequence[str]) -> dict[str, str]:
    """Names of models; long ones without the words that all of them begin and end with."""
    known = list(dict.fromkeys(models))
    if max(map(len, known), default=0) <= _SHORT:
        return {model: model for model in known}
    split = [re.split(r"(?<=[/:,_@=-])", model) for model in known]
    first = _shared(split)
    last = _shared([words[first:][::-1] for words in split])
    short = ["".join(words[first : len(words) - last]) for words in split]
    if last:  # what was cut off began after a separator
        short = [name[:-1] for name in short]
    names = [name if all(short) else model for name, model in zip(short, known, strict=True)]
    return {model: both_ends(name, _LABEL) for model, name in zip(known, names, strict=True)}


def _shared(lists: Sequence[Sequence[str]]) -> int:
    """The number of equal items at the beginning of several lists; 0 for a single list."""
    return len(list(takewhile(lambda items: len(set(items)) == 1, zip(*lists, strict=False)))) if len(lists) > 1 else 0


_SHORT, _LABEL = 16, 32
"""The length up to which a name is not shortened, and the maximum length of a shown name."""


def methods_of(rows: Iterable[Row]) -> list[Method]:
    """Every model with its modes: the columns of Table 1."""
    return sorted({(row.model, row.mode) for row in rows}, key=method_order)


Scored = tuple[float | None, str]
"""The value of a cell, of which the greatest of a row is the best, and its text."""


def success(rows: Sequence[Row]) -> Table:
    """The success in per cent with Wilson's interval, in the layout of the paper's Table 1.

    Numbers of episodes that differ are in the cells, and so are those that ended with an error.
    """
    episodes = {row.episodes for row in rows}

    def cell(known: Sequence[Row]) -> Scored:
        share = statistics.mean(row.success for row in known)
        text = f"{100 * share:.0f}" + (f" ({known[0].interval.percent})" if len(known) == 1 else "")
        return share, text + _episodes_of(known, len(episodes) > 1)

    number = f", {count(max(episodes), 'episode')} each" if len(episodes) == 1 else ""
    errors = "; errors count as not won" if any(row.counted < row.episodes for row in rows) else ""
    return _grid(f"Success in %{number} (95 % Wilson interval{errors})", rows, cell)


def _episodes_of(rows: Sequence[Row], all_of_them: bool) -> str:
    """` n=6, 2 errors`: the number of episodes, if `all_of_them` are wanted, and of those that ended with errors."""
    episodes = sum(row.episodes for row in rows)
    errors = episodes - sum(row.counted for row in rows)
    return "".join([f" n={episodes}"] * all_of_them + [f", {count(errors, 'error')}"] * (errors > 0))


def with_episodes(table: Table, rows: Sequence[Row]) -> Table:
    """The table of configurations with their numbers of episodes, if these differ or some ended with an error."""
    texts = {(row.setting, row.mode, row.model): _episodes_of([row], True)[3:] for row in rows}
    cells = [texts.get((row[0], row[1], row[2]), "") for row in table.body] if table.head[:3] == [*NAMES] else []
    differ = len(set(cells)) > 1 or any(not cell.isdecimal() for cell in cells)
    return table.with_column("episodes", cells) if differ else table


def compared_numbers(rows: Sequence[Row], results: Iterable[Summary]) -> Table:
    """The number by which methods are compared: the mean over n won episodes, with a bootstrap interval.

    No value is the best: each method won other episodes.
    """
    won = by_configuration(result for result in results if result.won)
    compared = {(row.setting, row.mode): measuring_of(row.setting, row.mode).compared for row in rows}

    def cell(known: Sequence[Row]) -> Scored:
        names = [compared[row.setting, row.mode] for row in known]
        groups = [won.get((row.setting, row.mode, row.model), ()) for row in known]
        if not all(names) or not all(groups):
            return None, ""
        numbers = [
            [float(result.measures.numbers.get(name, 0)) for result in group]
            for name, group in zip(names, groups, strict=True)
        ]
        mean = statistics.mean(map(statistics.mean, numbers))
        interval = bootstrap_mean(numbers[0] if len(numbers) == 1 else ())
        bounds = f" ({interval.low:.1f}-{interval.high:.1f})" if math.isfinite(interval.low) else ""
        return None, f"{mean:.1f}{bounds} n={sum(map(len, numbers))}"

    names = " or ".join(dict.fromkeys(filter(None, compared.values())))
    return _grid(f"Mean {names or 'steps'} of won episodes (95 % bootstrap interval)", rows, cell)


def _grid(title: str, rows: Sequence[Row], cell_of: Callable[[Sequence[Row]], Scored]) -> Table:
    """A row for each game, and a column for each model and mode; the best of each row is bold if all played the same.

    With ablations it has a row for each game and mode, and a column for each model. The last rows are the means over
    games, each of which counts the same. Without ablations, many methods are the rows, and the games the columns.
    """
    methods = methods_of(rows)
    games = list(dict.fromkeys(row.setting for row in rows))
    known = {(row.setting, row.model, row.mode): row for row in rows}
    if any(WITHOUT in mode for _, mode in methods):
        models, played = (list(dict.fromkeys(names)) for names in zip(*methods, strict=True))
        head = ["game", "mode", *models]
        lines = [([mode], [(model, mode) for model in models]) for mode in played]
    else:
        labels = short_labels(methods)
        head = ["game", *(labels[method] for method in methods)]
        lines = [([], methods)]
    body: list[list[str]] = []
    bold = set[tuple[int, int]]()
    for name, over in [*((game, [game]) for game in games), *([(ALL_GAMES, games)] if len(games) > 1 else [])]:
        for names, columns in lines:
            of_methods = [[known.get((game, *method)) for game in over] for method in columns]
            cells = [cell_of([row for row in own if row]) if all(own) else (None, "") for own in of_methods]
            values = [value for value, _ in cells if value is not None]
            same = {
                tuple((row.episodes, row.counted, row.seeds) for row in own if row)
                for own, (value, _) in zip(of_methods, cells, strict=True)
                if value is not None
            }
            for place, (value, _) in enumerate(cells) if len(set(values)) > 1 == len(same) else ():
                bold |= {(len(body), place + 1 + len(names))} if value == max(values) else set()
            if name != ALL_GAMES or any(text for _, text in cells):
                body.append([name, *names, *(text for _, text in cells)])
    named = {model for model, _ in methods} - {NO_MODEL}
    table = Table(with_note(title, named.pop() if len(named) == 1 else ""), head, body, frozenset(bold))
    if len(lines[0][0]) or len(methods) <= max(_MOST_METHODS, len(body)):
        return table
    turned = [list(column) for column in zip(head, *body, strict=True)]
    first = ["method", *turned[0][1:]]
    return Table(table.title, first, turned[1:], frozenset((place - 1, row + 1) for row, place in bold))


_MOST_METHODS = 4
"""The number of methods up to which these are columns."""


def cost_table(rows: Sequence[Row]) -> Table:
    """The requests, tokens and cost of each configuration."""
    body = [
        [
            *(row.setting, row.mode, row.model, f"{row.mean('calls') or 0:.1f}"),
            *(f"{row.mean(name) or 0:,.0f}" for name in ("tokens_in", "tokens_out")),
            money(row.cost),
            f"${row.cost / row.paid:.5f}" if row.cost and row.paid else "",
        ]
        for row in rows
    ]
    head = [*NAMES, "calls", "input tokens", "output tokens", "cost in total", "cost per call"]
    return with_episodes(Table("Requests and tokens of an episode (means), and cost", head, body), rows)


def all_numbers(rows: Sequence[Row]) -> Table:
    """A row for each configuration with all of its numbers."""
    columns = shown_columns(rows)
    names = [[row.setting, row.mode, row.model] for row in rows]
    body = [[*name, *cells] for name, *cells in zip(names, *(column.cells for column in columns), strict=True)]
    return Table("All numbers", [*NAMES, *(column.name for column in columns)], body)


def cause_table(causes: Causes, wanted: Callable[[Configuration], bool] = lambda configuration: True) -> Table:
    """The lasting errors of each configuration that is `wanted`, those that explain most losses first."""
    body = [
        [
            *name,
            share.kind,
            f"{share.lost} of {share.all_lost}",
            f"{share.won} of {share.all_won}",
            points(share.difference),
            str(causes.caused[name][share.kind]),
        ]
        for name, shares in sorted(causes.shares.items(), key=configuration_order)
        if wanted(name)
        for share in shares
    ]
    return Table(
        "Errors that lasted, in lost and in won episodes",
        [*NAMES, "error", "lost", "won", "difference", "cause of"],
        body,
    )


def configuration_order(entry: tuple[Configuration, object]) -> tuple[object, ...]:
    """The sort key of configurations: all games, then each game, with its methods in the order of all tables."""
    game, mode, model = entry[0]
    return game != ALL_GAMES, game, method_order((model, mode))


def points(difference: float) -> str:
    """A difference of shares in percentage points, with its sign."""
    return f"{100 * difference:+.0f}"


def count_tables(grouped: Grouped) -> Iterator[Table]:
    """Tables of counts: reasons why episodes were not won, faults of answers, and the counts of the methods."""
    failures = _totals(grouped, lambda summary: {} if summary.won else {summary.outcome.value: 1})
    yield _counts("Why episodes were not won", "outcome", failures)
    yield _counts("What was wrong with answers", "trouble", _totals(grouped, _trouble))
    for table in declared_counts(grouped):
        yield _counts(table.title, table.what, _totals_of(grouped, table.group))


def _counts(title: str, what: str, totals: Mapping[Configuration, Counter[str]]) -> Table:
    body = [
        [*configuration, kind, str(number)]
        for configuration, total in totals.items()
        for kind, number in total.most_common()
    ]
    return Table(title, [*NAMES, what, "times"], body)


def bar_tables(grouped: Grouped) -> Iterator[Table]:
    """The tables of counts that figures show as bars."""
    drawn = (table for setting, mode, _ in grouped for table in measuring_of(setting, mode).bars)
    for table in dict.fromkeys(drawn):
        own = {key: results for key, results in grouped.items() if table in measuring_of(key[0], key[1]).bars}
        yield _counts(table.title, table.what, _totals_of(own, table.group))


def declared_counts(grouped: Grouped) -> list[CountTable]:
    """The tables of counts that the methods declare."""
    return list(dict.fromkeys(table for setting, mode, _ in grouped for table in measuring_of(setting, mode).counts))


_WITHOUT_EFFECT = frozenset({EntryKind.UNMATCHED.value, EntryKind.REFUSED.value})
"""Kinds of edit lines that had no effect; the other kinds were applied."""


def _trouble(summary: Summary) -> Mapping[str, int]:
    """The unusable answers by category, the defects by kind, and the edit lines without effect."""
    lines = {kind: number for kind, number in summary.counts_of(LINES).items() if kind in _WITHOUT_EFFECT}
    counted = {
        "answer": summary.counts_of(REJECTED),
        "not measured": summary.counts_of(UNMEASURED),
        "defect": summary.counts_of(DEFECTS),
        "line": lines,
    }
    return {f"{name}: {kind}": number for name, counts in counted.items() for kind, number in counts.items()}


def _totals(grouped: Grouped, count: Callable[[Summary], Mapping[str, int]]) -> dict[Configuration, Counter[str]]:
    """The sums of counts over the episodes of each configuration."""
    totals = {configuration: Counter[str]() for configuration in grouped}
    for configuration, summaries in grouped.items():
        for summary in summaries:
            totals[configuration].update(count(summary))
    return totals


def _totals_of(grouped: Grouped, group: str) -> dict[Configuration, Counter[str]]:
    return _totals(grouped, lambda summary: summary.counts_of(group))


def share_tables(grouped: Grouped) -> Iterator[Table]:
    """Tables of shares of counts: each share in per cent, with the counts of the part and the whole."""
    for table in dict.fromkeys(table for setting, mode, _ in grouped for table in measuring_of(setting, mode).shares):
        groups = dict.fromkeys((table.part, *(name for _, others in table.columns for name in others)))
        totals = {name: _totals_of(grouped, name) for name in groups}
        body = []
        for configuration in grouped:
            counted = {name: total[configuration] for name, total in totals.items()}
            for total in counted.values():
                total[_ALL] = total.total()
            kinds = sorted(set().union(*counted.values()) - {_ALL})
            for kind in (*kinds, _ALL) if kinds else ():
                body.append([*configuration, kind, *_shares(table, counted, kind)])
        yield Table(table.title, [*NAMES, table.what, *(name for name, _ in table.columns)], body)


def _shares(table: ShareTable, counted: Mapping[str, Counter[str]], kind: str) -> Iterator[str]:
    part = counted[table.part][kind]
    for _, others in table.columns:
        total = part + sum(counted[name][kind] for name in others)
        yield f"{100 * part / total:.1f}% ({part}/{total})" if total else ""


def published_means(rows: Iterable[Row], settings: Mapping[str, Any]) -> Table:
    """Our means beside a paper's means for the same setting, mode and model.

    `settings` are the recorded configurations of the settings, by name.
    """
    body = []
    for row in rows:
        try:
            method = method_of(row.setting, row.mode)
        except UsageError:  # a setting or a method that is not there any more
            continue
        played = recorded_setting(settings, row.setting, method.name) or {}
        options = played.get("options", {})
        for number, models in method.measuring.published_for(row.setting, options, row.seeds).items():
            own = models.get(answered_by(row.model), {})
            paper = own.get(row.mode, models.get(NO_MODEL, {}).get(row.mode))  # a mode may use its model in parts only
            ours = row.success if number == "success" else row.mean(number)
            if paper is not None and ours is not None:
                measured = row.common.get(number) or row.measured.get(number)
                digits = measured.column.digits if measured is not None else 2
                means = (f"{mean:,.{digits}f}" for mean in (ours, paper))
                body.append([row.setting, row.mode, row.model, number, *means])
    return Table("Means, and those of the paper", [*NAMES, "mean of", "ours", "paper"], body)


def published_shares(grouped: Grouped) -> Table:
    """Our shares of counts beside a paper's shares for the same model, mode and games."""
    body = []
    played: dict[Method, set[str]] = {}
    for setting, mode, model in grouped:
        played.setdefault((model, mode), set()).add(setting)
    for table in declared_counts(grouped):
        paper = table.published
        for model, mode in sorted(played, key=method_order) if paper is not None else ():
            same = (answered_by(model), mode, played[model, mode])
            if paper is None or same != (paper.model, paper.mode, {*paper.settings}):
                continue
            numbers: Counter[str] = Counter()
            for configuration, total in _totals_of(grouped, table.group).items():
                if configuration[1:] == (mode, model):
                    numbers.update(dict(total.most_common()))
            for kind in dict.fromkeys((*paper.shares, *numbers)) if numbers else ():
                printed = f"{paper.shares[kind]:.1f}%" if kind in paper.shares else ""
                body.append([table.title, mode, model, kind, f"{100 * numbers[kind] / numbers.total():.1f}%", printed])
    head = ["of", "mode", "model", "error", "share", "paper"]
    return Table("Shares of errors, and those of the paper", head, body)


def comparison_table(comparisons: Iterable[PairedComparison]) -> Table:
    """The comparisons of two methods on their common seeds: the wins, and the difference where both won.

    The last column is empty if both methods won too few common seeds.
    """
    head = ["game", "first", "second", "seeds", "only first", "only second", "p", "p (Holm)"]
    head += ["both won", "difference", "95 %"]
    body = []
    for pair in comparisons:
        # Of a few shared wins the interval has no bounds.
        interval = pair.interval if pair.interval is not None and math.isfinite(pair.interval.low) else None
        body.append(
            [
                *(pair.game, pair.first, pair.second, str(pair.pairs), str(pair.only_first), str(pair.only_second)),
                *(f"{pair.p_value:.3g}", f"{pair.adjusted:.3g}{'*' if pair.adjusted < 0.05 else ''}"),
                str(pair.both_won),
                f"{pair.difference:+.2f} {pair.compared}" if pair.difference is not None else "",
                f"{interval.low:+.2f} to {interval.high:+.2f}" if interval is not None else "",
            ]
        )
    tests = count(len(body), "comparison")
    tested = f"p: McNemar's exact test, paired by seed; *: p < 0.05 after Holm's correction for {tests}"
    return Table(f"Comparisons ({tested})", head, body)


def restart_table(grouped: Grouped) -> Table:
    """The expected score of the best of k seeds: what restarting a conversation and keeping the best result gives.

    The last column is the maximum over all seeds.
    """
    body = []
    for (setting, mode, model), results in grouped.items():
        scores = sorted(result.score for result in results if result.counts)
        if measuring_of(setting, mode).restarts and len(scores) > 1:
            best = [f"{_best_of(scores, k):.2f}" if k <= len(scores) else "" for k in _RESTARTS]
            body.append([setting, mode, model, str(len(scores)), *best, f"{scores[-1]:.2f}"])
    head = [*NAMES, "seeds", *(f"best of {k}" for k in _RESTARTS), "maximum"]
    return Table("Scores of the best of several seeds", head, body)


_RESTARTS = (1, 2, 3, 5)


def _best_of(scores: Sequence[float], k: int) -> float:
    """The expected maximum of `k` of the sorted scores, drawn without replacement."""
    total = math.comb(len(scores), k)
    return sum(score * math.comb(place, k - 1) for place, score in enumerate(scores)) / total


_INVALID = "refused"
"""The number of invalid commands."""


def efficiency_table(grouped: Grouped) -> Table:
    """The compared number over won episodes, relative to the baseline of the same game and model (PDDLEGO, section 4).

    `invalid` is the mean number of invalid commands among them. `spread` is the standard deviation over the repeats of
    a seed, as a mean over seeds with two won episodes or more.
    """
    body = []
    for (setting, mode, model), results in grouped.items():
        measuring = measuring_of(setting, mode)
        won = [result for result in results if result.won]
        if not (measuring.baseline and won):
            continue
        number, before = measuring.compared, grouped.get((setting, measuring.baseline, model), ())
        steps, baseline = _mean(number, won), _mean(number, [result for result in before if result.won])
        saved = f"{100 * (1 - steps / baseline):.0f}%" if baseline and mode != measuring.baseline else ""
        seeds: dict[int, list[float]] = {}
        for result in won:
            seeds.setdefault(result.cell.seed, []).append(result.measures.numbers.get(number, 0))
        spreads = [statistics.stdev(numbers) for numbers in seeds.values() if len(numbers) > 1]
        spread = f"{statistics.mean(spreads):.2f}" if spreads else ""
        invalid = _mean(_INVALID, won)
        body.append([setting, mode, model, str(len(won)), f"{steps:.2f}", f"{invalid:.2f}", saved, spread])
    baselines = dict.fromkeys(measuring_of(setting, mode).baseline for setting, mode, *_ in body)
    head = [*NAMES, "won", "steps", "invalid", f"fewer than {' or '.join(baselines)}", "spread"]
    return Table("Efficiency in won episodes", head, body)


def _mean(number: str, results: Sequence[Summary]) -> float:
    """The mean of a number; 0 without results."""
    return statistics.mean(result.measures.numbers.get(number, 0) for result in results) if results else 0.0


def order_table(in_order: Iterable[Summary]) -> Table:
    """The requests and characters of carried episodes in playing order, and their means in the last ones."""
    body = []
    for configuration, group in by_configuration(in_order).items():
        calls = [summary.usage.calls for summary in group]
        characters = [summary.usage.characters / 1000 for summary in group]
        for name, numbers in (("requests", calls), ("characters / 1000", characters)):
            late = statistics.mean(numbers[-_LATE:])
            body.append([*configuration, name, _sequence(numbers), f"{sum(numbers):,.0f}", f"{late:,.1f}"])
    head = [*NAMES, "number of", "by episode, in order", "in all", f"mean of the last {_LATE}"]
    return Table("Requests and characters by episode (--carry)", head, body)


_LATE = 5
"""The number of episodes at the end whose mean says what an episode needs after the others."""


def _sequence(numbers: Iterable[float]) -> str:
    """The rounded numbers in order; more than two equal ones at the end are one: `3 1 0 …`."""
    shown = [f"{number:.0f}" for number in numbers]
    same = len(list(takewhile(shown[-1].__eq__, reversed(shown))))
    return " ".join(shown if same < 3 else [*shown[: 1 - same], "…"])


def figure_table(drawn: DrawnFigure) -> Table:
    """The points of a figure, each with the label of its line."""
    body = [
        [
            line.label,
            f"{round(point.x, 2):g}",
            _short(point.y),
            _short(point.error) if point.error else "",
            str(point.number),
        ]
        for line in drawn.lines
        for point in line.points
    ]
    return Table(drawn.figure.title, ["line", drawn.figure.x, drawn.figure.y, "standard error", "of"], body)


def _short(number: float) -> str:
    """Three digits, or a whole number if it is larger."""
    return f"{number:,.0f}" if abs(number) >= 100 else f"{number:.3g}"


_SIDES = ("method", "first", "second")
"""The columns with names of methods."""

_STAYS = ("only first", "only second", "p", "p (Holm)", "difference", "95 %", "standard error", "of")
"""Columns that mean nothing without the one before: a difference has its n, and an interval its difference."""

_LEAST_TEXT = 10
"""The width to which a column of texts may be narrowed, so that they are wrapped."""


def print_table(console: Console, table: Table) -> None:
    """Print a table with its title; numbers are aligned to the right.

    If it has no room, columns that are alike in all rows are left out, with their value; the others are in parts.
    """
    table, alike = table.short(), list[tuple[str, str]]()
    differ = len(set(map(tuple, table.body))) != 1 or len(table.body) == 1
    for place in reversed(range(len(table.head))) if differ else ():
        if sum(table.least_widths) - 2 <= console.width:
            break
        if table.head[place] not in (*NAMES, *_SIDES) and is_alike(cells := table.column(place)):
            alike.insert(0, (table.head[place], cells[0]))
            table = table.only([other for other in range(len(table.head)) if other != place])
    is_wide = sum(table.least_widths) - 2 > console.width
    parts = table.parts(console.width + 2, len(table.body) + 1, table.least_widths) if is_wide else [table]
    for part in parts:
        _print_part(console, part, left_out(alike, ()) if part is parts[-1] else [])


def _print_part(console: Console, table: Table, notes: Sequence[str]) -> None:
    """Print what has room, or what cannot be narrowed any more."""
    widths = {
        name: max(map(len, (*name.split(), *table.column(place))), default=0) for place, name in enumerate(table.head)
    }
    is_narrow = sum(max(widths[name], len(name)) + 2 for name in widths) - 2 > console.width
    named = {name: width for name, width in widths.items() if name in (*NAMES, *_SIDES)}
    least = dict(zip(table.head, table.least_widths, strict=True))
    room = name_widths(named, console.width + 2 - sum(least[name] for name in widths if name not in named))
    grid = rich.table.Table(box=None, pad_edge=False, header_style="bold")
    for name, numeric in zip(table.head, table.is_numeric, strict=True):
        width = room.get(name, widths[name] if numeric else None)
        grid.add_column(name, justify="right" if numeric else "left", width=width if is_narrow else None)
    for row in table.body:
        cells = ((name, clean(cell)) for name, cell in zip(table.head, row, strict=True))
        grid.add_row(*(Text(both_ends(cell, room.get(name, len(cell)))) for name, cell in cells))
    console.print(Text(table.title, "bold"))
    console.print(grid, highlight=False)
    for note in notes:
        console.print(Text(note, "dim"))
    console.print()
