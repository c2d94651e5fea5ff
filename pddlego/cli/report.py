"""`pddlego report`: reports the results of evaluations in several formats."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from pddlego.cli import options
from pddlego.errors import UsageError
from pddlego.evaluation.config import LimitOptions
from pddlego.util.files import cannot_write, check_writable, write_whole
from pddlego.util.text import count, suggestion

if TYPE_CHECKING:
    from pddlego.report.build import Report
    from pddlego.report.figures import Optima

_PaperTable = Literal["success", "steps", "cost", "comparison", "errors"]


@options.with_options((LimitOptions,), only=("prices",))
def command(
    flags: dict[str, Any],
    runs: Annotated[
        list[str],
        typer.Argument(help="Run folders, their names or unique prefixes, or latest."),
    ],
    format_name: Annotated[
        str | None,
        typer.Option("--format", help="text, markdown, csv, json, html or latex. [default: by --output]"),
    ] = None,
    output: Annotated[str | None, typer.Option("--output", "-o", help="A file. Default: standard output.")] = None,
    table: Annotated[
        _PaperTable | None,
        typer.Option(help="Only this table: success, steps, cost, comparison or errors.", metavar="NAME"),
    ] = None,
    pages: Annotated[int, typer.Option(min=0, help="html: maximum number of episode pages.")] = 200,
    optimum: Annotated[
        bool, typer.Option("--optimum", help="html, figures: plot steps against the optimum (coin, mapreader).")
    ] = False,
    figures: Annotated[str | None, typer.Option(help="A folder for the figures as PDF files.")] = None,
    game: options.OfGames = None,
    mode: options.OfModes = None,
    model: options.OfModels = None,
    lost: options.OnlyLost = False,
    outcome: options.OfOutcome = None,
    cause: options.OfCause = None,
    runs_root: options.Runs = None,
) -> None:
    """Say what one or several evaluations found: Table 1, intervals, costs, failures, paired comparisons."""
    from pddlego.cli.explaining import check_progress
    from pddlego.display.console import Console
    from pddlego.evaluation.setup import read_prices
    from pddlego.report.build import build_report, is_reportable
    from pddlego.report.figures import find_optima
    from pddlego.report.formats import FORMATS, html, latex, one_table, print_report

    chosen = _choose_format(format_name, output)
    folders = [options.place_named(run, runs_root, is_reportable) for run in runs]
    report = build_report(
        folders,
        read_prices(Path(flags["prices"]) if flags.get("prices") else None),
        wanted=options.result_filter(lost, outcome, cause, game, mode, model),
        progress=check_progress() if cause or (table == "errors" if table else chosen != "csv") else None,
    )
    optima = find_optima(report.results, report.settings) if optimum else {}
    if chosen == "csv":  # the other formats contain the notes
        for note in report.notes:
            Console(stderr=True).print(note, style="yellow", soft_wrap=True)
    paths = _write_figures(report, figures, optima) if figures is not None else {}
    if table is not None:
        _write(one_table(report.table(table), chosen, report.notes, report.options), output)
        return
    if chosen == "html":
        _write(html(report, pages, optima, check_progress("Writing the pages of", "")), output)
    elif chosen == "latex":
        _write(latex(report, _seen_from(output, paths)), output)
    elif output is not None or chosen != "text":
        _write(FORMATS[chosen](report), output)
    elif figures is None:
        print_report(Console(), report)


def _seen_from(output: str | None, paths: Mapping[Path, str]) -> dict[str, str]:
    """The titles of figures by the paths of their files, relative to the folder of the report."""
    start = Path(output).parent if output is not None else Path()
    return {Path(os.path.relpath(path, start)).as_posix(): title for path, title in paths.items()}


def _write(text: str, output: str | None) -> None:
    """Write a report to a file, or to standard output."""
    from pddlego.display.console import Console

    if output is None:
        Console().out(text, end="")
        return
    write_whole(Path(output), text)
    Console().print(f"The report is in {output}", style="dim", soft_wrap=True)


def _write_figures(report: Report, name: str, optima: Optima) -> dict[Path, str]:
    """Write the figures to a folder of this name, and return their paths with their titles."""
    from pddlego.display.console import Console
    from pddlego.report.plots import INSTALL_MATPLOTLIB, can_draw, draw

    if not name:
        raise UsageError("--figures is empty", "The figures need a folder.", "Name one, such as --figures figures.")
    if not can_draw():
        raise UsageError("Figures cannot be drawn", "matplotlib is not installed.", INSTALL_MATPLOTLIB)
    folder = Path(name)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        paths = {plot.write(folder): plot.title for plot in draw(report, set(), optima)}
    except OSError as error:
        raise cannot_write(folder, error) from error
    text = f"{count(len(paths), 'figure')} in {folder}"
    Console(stderr=True).print(text, style="dim", soft_wrap=True)
    return paths


_SUFFIXES = {
    ".txt": "text",
    ".md": "markdown",
    ".csv": "csv",
    ".json": "json",
    ".html": "html",
    ".tex": "latex",
}


def _choose_format(name: str | None, output: str | None) -> str:
    """The named format, else the format for the suffix of `output`, else text.

    Raises `UsageError` if it is unknown, and `JournalError` if `output` cannot be written.
    """
    from pddlego.runs.store import check_output

    if output is not None:
        check_writable(check_output(Path(output)))
    names = tuple(_SUFFIXES.values())
    if name is None and output is not None:
        suffix = Path(output).suffix.lower()
        if suffix and suffix not in _SUFFIXES:
            reason = f"The suffixes are: {', '.join(_SUFFIXES)}."
            raise UsageError(
                f"Unknown report suffix '{suffix}' (--output)", reason, "Use one of them, or add --format."
            )
        return _SUFFIXES.get(suffix, "text")
    if name is None:
        return "text"
    if name not in names:
        advice = suggestion(name, names, "Choose one with --format.")
        raise UsageError(f"Unknown format '{name}'", f"The formats are: {', '.join(names)}.", advice)
    return name
