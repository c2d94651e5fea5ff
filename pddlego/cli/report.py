"""`pddlego report`."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from pddlego.cli import exits
from pddlego.cli.options import Runs, place_named, with_options
from pddlego.display.console import Console
from pddlego.errors import UsageError
from pddlego.evaluation.config import LimitOptions
from pddlego.evaluation.progress import result_line
from pddlego.evaluation.setup import read_prices
from pddlego.evaluation.table import results_table
from pddlego.report.build import Report, build_report, is_reportable
from pddlego.report.formats import as_csv, as_json, counts, extra_tables, markdown, success
from pddlego.report.html import html
from pddlego.report.optima import find_optima
from pddlego.util.files import write_whole
from pddlego.util.text import clean, one_line, suggestion


@with_options((LimitOptions,), only=("prices",))
def command(
    flags: dict[str, Any],
    runs: Annotated[
        list[str],
        typer.Argument(help="Run folders, their names or unique prefixes, or latest."),
    ],
    to: Annotated[
        str | None,
        typer.Option("--format", help="text, markdown, csv, json or html. [default: by --output]"),
    ] = None,
    output: Annotated[str | None, typer.Option("--output", "-o", help="A file. Default: standard output.")] = None,
    pages: Annotated[int, typer.Option(min=0, help="html: maximum number of episode pages.")] = 200,
    optimum: Annotated[
        bool, typer.Option("--optimum", help="html: plot steps against the optimum (coin, mapreader).")
    ] = False,
    folder: Runs = None,
) -> None:
    """Say what one or several evaluations found: Table 1, intervals, costs, failures, paired comparisons."""
    chosen = _format(to, output)
    folders = [place_named(run, folder, is_reportable) for run in runs]
    raise typer.Exit(_report(folders, chosen, output, flags.get("prices"), pages, optimum))


_SUFFIXES = {".txt": "text", ".md": "markdown", ".csv": "csv", ".json": "json", ".html": "html"}


def _format(to: str | None, output: str | None) -> str:
    """The format: as named, or by the suffix of the file. Raises `UsageError` for an unknown one."""
    names = tuple(_SUFFIXES.values())
    if to is None and output is not None:
        suffix = Path(output).suffix.lower()
        if suffix and suffix not in _SUFFIXES:
            reason = f"The suffixes are: {', '.join(_SUFFIXES)}."
            raise UsageError(
                f"Unknown report suffix '{suffix}' (--output)", reason, "Use one of them, or add --format."
            )
        return _SUFFIXES.get(suffix, "text")
    if to is None:
        return "text"
    if to not in names:
        advice = suggestion(to, names, "Choose one with --format.")
        raise UsageError(f"Unknown format '{to}'", f"The formats are: {', '.join(names)}.", advice)
    return to


def _report(folders: list[Path], to: str, output: str | None, prices: str | None, pages: int, optimum: bool) -> int:
    """Make the report and write it to a file or standard output."""
    formats: dict[str, Callable[[Report], str]] = {
        "text": _text,
        "markdown": markdown,
        "csv": as_csv,
        "json": as_json,
        "html": lambda report: html(report, folders, pages, find_optima(report, folders) if optimum else None),
    }
    report = build_report(folders, read_prices(Path(prices) if prices else None))
    if output is not None:
        write_whole(Path(output), formats[to](report))
        Console().print(f"The report is in {output}", style="dim", highlight=False, soft_wrap=True)
    elif to == "text":
        _show(Console(), report)
    else:
        Console().out(formats[to](report), end="", highlight=False)
    return exits.WON


def _text(report: Report) -> str:
    """The report as on a terminal, without colours."""
    file = io.StringIO()
    _show(Console(file=file), report)
    return file.getvalue()


def _show(console: Console, report: Report) -> None:
    """The report on a terminal."""
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
    for comparison in report.comparisons:
        console.print(
            f"{comparison.game}, {comparison.first} and {comparison.second}: {comparison.conclusion}", highlight=False
        )


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
