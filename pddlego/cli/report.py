"""`pddlego report`."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from pddlego.cli.options import Runs, place_named, with_options
from pddlego.display.console import Console
from pddlego.errors import UsageError
from pddlego.evaluation.config import LimitOptions
from pddlego.evaluation.progress import result_line
from pddlego.evaluation.setup import read_prices
from pddlego.evaluation.table import results_table
from pddlego.report.build import Report, build_report, is_reportable
from pddlego.report.formats import as_csv, as_json, counts, extra_tables, latex, markdown, success
from pddlego.report.html import html
from pddlego.report.optima import Optima, find_optima
from pddlego.report.plots import draw
from pddlego.runs.store import check_output
from pddlego.util.files import cannot_write, write_whole
from pddlego.util.text import clean, count, one_line, suggestion


@with_options((LimitOptions,), only=("prices",))
def command(
    flags: dict[str, Any],
    runs: Annotated[
        list[str],
        typer.Argument(help="Run folders, their names or unique prefixes, or latest."),
    ],
    to: Annotated[
        str | None,
        typer.Option("--format", help="text, markdown, csv, json, html or latex. [default: by --output]"),
    ] = None,
    output: Annotated[str | None, typer.Option("--output", "-o", help="A file. Default: standard output.")] = None,
    pages: Annotated[int, typer.Option(min=0, help="html: maximum number of episode pages.")] = 200,
    optimum: Annotated[
        bool, typer.Option("--optimum", help="html, figures: plot steps against the optimum (coin, mapreader).")
    ] = False,
    figures: Annotated[str | None, typer.Option(help="A folder for the figures as PDF files.")] = None,
    folder: Runs = None,
) -> None:
    """Say what one or several evaluations found: Table 1, intervals, costs, failures, paired comparisons."""
    chosen = _format(to, output)
    folders = [place_named(run, folder, is_reportable) for run in runs]
    report = build_report(folders, read_prices(Path(flags["prices"]) if flags.get("prices") else None))
    optima = find_optima(report, folders) if optimum else {}
    if chosen == "csv" and report.incomplete:  # the other formats say it themselves
        Console(stderr=True).print(f"{report.incomplete}.", style="yellow", highlight=False, soft_wrap=True)
    if figures is not None:
        _write_figures(report, Path(figures), optima)
    formats: dict[str, Callable[[Report], str]] = {
        "text": _text,
        "markdown": markdown,
        "csv": as_csv,
        "json": as_json,
        "html": lambda report: html(report, folders, pages, optima),
        "latex": latex,
    }
    if output is not None:
        write_whole(check_output(Path(output)), formats[chosen](report))
        Console().print(f"The report is in {output}", style="dim", highlight=False, soft_wrap=True)
    elif chosen != "text":
        Console().out(formats[chosen](report), end="", highlight=False)
    elif figures is None:
        _show(Console(), report)


def _write_figures(report: Report, folder: Path, optima: Optima) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        written = [plot.write(folder) for plot in draw(report, set(), optima)]
    except OSError as error:
        raise cannot_write(folder, error) from error
    text = f"{count(len(written), 'figure')} in {folder}"
    Console().print(text, style="dim", highlight=False, soft_wrap=True)


_SUFFIXES = {
    ".txt": "text",
    ".md": "markdown",
    ".csv": "csv",
    ".json": "json",
    ".html": "html",
    ".tex": "latex",
}


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
