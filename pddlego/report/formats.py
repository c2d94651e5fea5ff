"""A report as text, Markdown, CSV, JSON and LaTeX."""

from __future__ import annotations

import io
import json
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict

from pydantic_core import to_jsonable_python
from rich.table import Table
from rich.text import Text

from pddlego.display.console import Console
from pddlego.evaluation.models import answered_by
from pddlego.evaluation.progress import result_line
from pddlego.evaluation.statistics import Comparison
from pddlego.evaluation.table import NAMES, Row, result_table, results_table, row_columns
from pddlego.methods.base import ShareTable
from pddlego.report.build import CountRow, Report, ShareRow
from pddlego.runs.cells import NO_MODEL
from pddlego.util.text import clean, markdown_cell, one_line

NOTE = (
    "Success, as the game reports it, over all episodes, with Wilson's interval (95 %). The score, from 0 to 1, "
    "is the game's too, and its mean is over all episodes. Steps, or what else methods are compared by, are the mean "
    "over the episodes that were won; every command that was sent counts, refused ones too."
)


def table_1(report: Report) -> tuple[list[str], list[list[str]]]:
    """The layout of the paper's Table 1: a row for each game, a column for each model and mode."""
    head = ["", *(mode if model == NO_MODEL else f"{model} {mode}" for model, mode in report.methods)]
    body = [[game, *(_success([report.row(game, method)]) for method in report.methods)] for game in report.games]
    return head, body + _all_games(report, [[method] for method in report.methods], [ALL_GAMES])


def success(report: Report) -> tuple[list[str], list[list[str]]]:
    """Who won how often: Table 1, or with ablations a row for each mode and a column for each model."""
    if not report.ablated:
        return table_1(report)
    modes = tuple(dict.fromkeys(mode for _, mode in report.methods))
    body = [
        [game, mode, *(_success([report.row(game, (model, mode))]) for model in report.models)]
        for game in report.games
        for mode in modes
    ]
    for mode in modes:
        body += _all_games(report, [[(model, mode)] for model in report.models], [ALL_GAMES, mode])
    return ["game", "mode", *report.models], body


ALL_GAMES = "all games"
"""The mean over games, each of which counts the same."""


def _all_games(report: Report, columns: list[list[tuple[str, str]]], names: list[str]) -> list[list[str]]:
    """A row for all games, if there are several; a method that did not play all of them has none."""
    if len(report.games) < 2:
        return []
    cells = [_success([report.row(game, method) for game in report.games for method in methods]) for methods in columns]
    return [[*names, *cells]] if any(cells) else []


def _success(rows: Sequence[Row | None]) -> str:
    """Success with the score, from 0 to 1, as means over rows; empty if one is missing."""
    known = [row for row in rows if row is not None]
    if len(known) < len(rows):
        return ""
    success, score = (sum(numbers) / len(known) for numbers in zip(*((r.success, r.score) for r in known), strict=True))
    return f"{100 * success:.0f}% ({score:.2f})"


def details(report: Report) -> tuple[list[str], list[list[str]]]:
    """A row for each configuration with all of its numbers; a column without values is left out."""
    columns = {name: cells for name, cells in row_columns(report.rows).items() if any(cells)}
    body = [
        [row.setting, row.mode, row.model, *(cells[number] for cells in columns.values())]
        for number, row in enumerate(report.rows)
    ]
    return [*NAMES, *columns], body


def tables(report: Report) -> list[tuple[str, list[str], list[list[str]]]]:
    """Every table of the report: its title, its head and its rows."""
    tables = [("Success", *success(report)), ("All numbers", *details(report)), *extra_tables(report)]
    return tables + [(title, *counts(counted, what)) for title, what, counted in report.sections]


def extra_tables(report: Report) -> list[tuple[str, list[str], list[list[str]]]]:
    """What only some methods have: a paper's figures beside ours, and plots as tables."""
    head, body = _published_means(report)
    tables = [("Means, and those of the paper", head, body)] if body else []
    head, body = published_shares(report)
    tables += [("Shares of errors, and those of the paper", head, body)] if body else []
    tables += [(table.title, *share_rows(table, rows)) for table, rows in report.shares if rows]
    tables += [("Comparisons", *comparison_rows(report.comparisons))] if report.comparisons else []
    return tables + [(figure.figure.title, *figure.table()) for figure in report.figures]


def comparison_rows(comparisons: Iterable[Comparison]) -> tuple[list[str], list[list[str]]]:
    """Every two methods that share seeds: who won more of them, and who needed less where both won.

    The last column is empty where too few seeds were won by both.
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
    return head, body


def share_rows(table: ShareTable, rows: Iterable[ShareRow]) -> tuple[list[str], list[list[str]]]:
    """Shares in per cent, each with the numbers that it was made of."""
    body = [
        [*row.configuration, row.what, *(f"{100 * n / m:.1f}% ({n}/{m})" if m else "" for n, m in row.shares.values())]
        for row in rows
    ]
    return [*NAMES, table.what, *(share.name for share in table.columns)], body


def _published_means(report: Report) -> tuple[list[str], list[list[str]]]:
    """Means beside those that a paper printed of the same game, mode and model."""
    head = ["game", "mode", "model", "mean of", "ours", "paper"]
    body = [
        [figure.setting, figure.mode, figure.model, figure.number, f"{figure.ours:.2f}", f"{figure.paper:.2f}"]
        for figure in report.published
    ]
    return head, body


def published_shares(report: Report) -> tuple[list[str], list[list[str]]]:
    """The shares of what was counted beside those of a paper of the same model and mode, over the same games."""
    rows = []
    for table, counted in report.measured:
        paper = table.published
        for model, mode in report.methods if paper is not None else ():
            played = {row.setting for row in report.rows if (row.model, row.mode) == (model, mode)}
            if paper is None or (answered_by(model), mode, played) != (paper.model, paper.mode, {*paper.settings}):
                continue
            numbers: Counter[str] = Counter()
            for count in counted:
                if count.configuration[1:] == (mode, model):
                    numbers[count.what] += count.number
            printed = dict(paper.shares)
            for what in dict.fromkeys((*printed, *numbers)) if numbers else ():
                ours = f"{100 * numbers[what] / numbers.total():.1f}%"
                theirs = f"{printed[what]:.1f}%" if what in printed else ""
                rows.append([table.title, mode, model, what, ours, theirs])
    return ["of", "mode", "model", "error", "share", "paper"], rows


def counts(counts_given: Iterable[CountRow], what: str) -> tuple[list[str], list[list[str]]]:
    """A table of counts."""
    return ["game", "mode", "model", what, "times"], [
        [*count.configuration, count.what, str(count.number)] for count in counts_given
    ]


def markdown(report: Report) -> str:
    """The whole report as Markdown."""
    parts = ["# Report", NOTE, *map(markdown_cell, report.notes)]
    for title, head, body in tables(report):
        parts += [f"## {title}", markdown_table(head, body)]
    return "\n\n".join(parts) + "\n"


def as_csv(report: Report) -> str:
    """The result table: a line for each episode."""
    return result_table(report.results)


def as_json(report: Report) -> str:
    """Everything, for programs."""
    value = {
        "sources": report.sources,
        "notes": report.notes,
        "rows": [_row(row) for row in report.rows],
        "comparisons": [asdict(comparison) for comparison in report.comparisons],
        "figures": report.figures,
        "episodes": report.results,
    }
    # JSON has no infinity: an interval without bounds becomes null.
    return json.dumps(to_jsonable_python(value, inf_nan_mode="null"), indent=1) + "\n"


def _row(row: Row) -> dict[str, object]:
    """A row for programs: the method's numbers beside those that every row has."""
    values = {name: value for name, value in vars(row).items() if name != "measured"}
    for value in row.measured:
        values[value.column.name] = value.mean
        if value.column.median:
            values[f"median_{value.column.name}"] = value.median
    return values | {"success": row.success}


def markdown_table(head: Sequence[str], body: Sequence[Sequence[str]]) -> str:
    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(map(markdown_cell, cells)) + " |"

    return "\n".join([line(head), "|" + " --- |" * len(head), *(line(row) for row in body)])


def latex(report: Report) -> str:
    """Every table for LaTeX, with booktabs."""
    parts = ["% \\usepackage{booktabs}", *(f"% {note}" for note in (NOTE, *report.notes))]
    for title, head, body in tables(report):
        columns = "".join("l" if _is_text(number, body) else "r" for number in range(len(head)))
        lines = [r"\begin{table}", r"\centering", rf"\caption{{{_tex(title)}}}", rf"\begin{{tabular}}{{{columns}}}"]
        lines += [r"\toprule", _tex_row(head), r"\midrule", *map(_tex_row, body)]
        parts.append("\n".join([*lines, r"\bottomrule", r"\end{tabular}", r"\end{table}"]))
    return "\n\n".join(parts) + "\n"


def _is_text(column: int, body: Sequence[Sequence[str]]) -> bool:
    return not all(row[column][:1] in "0123456789+-.$" for row in body)


def _tex_row(cells: Iterable[str]) -> str:
    return " & ".join(map(_tex, cells)) + r" \\"


_TEX = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
_TEX |= {sign: f"\\{sign}" for sign in "&%$#_{}"}


def _tex(text: str) -> str:
    return "".join(_TEX.get(letter, letter) for letter in clean(text))


def as_text(report: Report) -> str:
    """The report as it is printed on a terminal, without colours."""
    file = io.StringIO()
    print_report(Console(file=file), report)
    return file.getvalue()


def print_report(console: Console, report: Report) -> None:
    """Print the report on a terminal."""
    console.print(f"From {', '.join(report.sources)}", style="dim", highlight=False, soft_wrap=True)
    if report.rows:
        print_table(console, "Success", *success(report))
        console.print(Text("All numbers", "bold"))
        console.print(results_table(report.rows, console.width), highlight=False)
    for note in report.notes:
        console.print(note, style="dim", highlight=False)
    console.print()
    for title, head, body in extra_tables(report):
        print_table(console, title, head, body)
    _lost(console, report)
    for title, what, rows in report.sections:
        print_table(console, title, *counts(rows, what))


def _lost(console: Console, report: Report) -> None:
    """The first episodes that were not won, each with its reason."""
    lost = [summary for summary in report.played if not summary.won]
    if lost:
        console.print(Text("Episodes that were not won", "bold"))
        for summary in lost[:_LOST]:
            console.print(one_line(result_line(summary), console.width), highlight=False, markup=False)
        if len(lost) > _LOST:
            console.print(f"… {len(lost) - _LOST} more", style="dim", highlight=False)
        console.print()


_LOST = 10


def print_table(console: Console, title: str, head: list[str], body: list[list[str]]) -> None:
    """Print a table with its title; numbers are aligned to the right."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for number, name in enumerate(head):
        numeric = all(row[number][:1].isdigit() or not row[number] for row in body)
        table.add_column(name, justify="right" if numeric else "left")
    for row in body:
        table.add_row(*(Text(clean(cell)) for cell in row))
    console.print(Text(title, "bold"))
    console.print(table, highlight=False)
    console.print()
