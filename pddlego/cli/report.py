"""`pddlego report`: reports the results of evaluations in several formats."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from pddlego.cli import options
from pddlego.errors import UsageError
from pddlego.evaluation.config import LimitOptions
from pddlego.runs.folders import find_run
from pddlego.util.files import cannot_write, write_whole
from pddlego.util.text import count, suggestion

if TYPE_CHECKING:
    from pddlego.report.build import Report

_REPORT = "report.tex"
"""The name of the report in a folder."""

_PaperTable = Literal["success", "steps", "cost", "comparison", "errors"]


@options.with_options((LimitOptions,), only=("prices",))
def command(
    flags: dict[str, Any],
    runs: Annotated[list[str], typer.Argument(help="Run folders, their names or unique prefixes, or latest.")],
    format_name: Annotated[
        str | None,
        typer.Option("--format", help="text, markdown, csv, json, html or latex. [default: by -o]"),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", help="A file, or FOLDER/ for LaTeX with its figures. Default: standard output."),
    ] = None,
    table: Annotated[
        _PaperTable | None,
        typer.Option(help="Only this table: success, steps, cost, comparison or errors.", metavar="NAME"),
    ] = None,
    game: options.OfGames = None,
    mode: options.OfModes = None,
    model: options.OfModels = None,
    only: options.Only = None,
) -> None:
    """Say what one or several evaluations found: Table 1, intervals, costs, failures, paired comparisons."""
    from pddlego.cli.explaining import check_progress
    from pddlego.display.console import Console
    from pddlego.evaluation.resources import read_prices
    from pddlego.report.build import build_report, is_reportable
    from pddlego.report.formats import FORMATS, html, latex, one_table, print_report

    folder = Path(output) if output is not None and (output.endswith("/") or Path(output).is_dir()) else None
    if folder is not None:
        _make_folder(folder, format_name)
        output = str(folder / _REPORT)
    form = _choose_format(format_name, output)
    selection = options.result_filter(only, game, mode, model)
    folders = [find_run(run, is_preferred=is_reportable) for run in runs]
    report = build_report(
        folders,
        read_prices(Path(flags["prices"]) if flags.get("prices") else None),
        wanted=selection,
        progress=check_progress() if selection.cause or (table == "errors" if table else form != "csv") else None,
    )
    if form == "csv":  # the other formats contain the notes
        for note in report.notes:
            Console(stderr=True).print(note, style="yellow", soft_wrap=True)
    paths = _write_figures(report, folder) if folder is not None else {}
    if table is not None:
        _write(one_table(report.table(table), form, report.notes, report.options), output)
        return
    if form == "html":
        _write(html(report, check_progress("Writing the pages of", "")), output)
    elif form == "latex":
        _write(latex(report, {path.name: title for path, title in paths.items()}), output)
    elif output is not None or form != "text":
        _write(FORMATS[form](report), output)
    else:
        print_report(Console(), report)


def _write(text: str, output: str | None) -> None:
    """Write a report to a file, or to standard output."""
    from pddlego.display.console import Console

    if output is None:
        Console().out(text, end="")
        return
    write_whole(Path(output), text)
    Console().print(f"The report is in {output}", style="dim", soft_wrap=True)


def _make_folder(folder: Path, format_name: str | None) -> None:
    """Make the folder of a report with figures. Raises `UsageError` for another format, and without matplotlib."""
    from pddlego.report.plots import INSTALL_MATPLOTLIB, can_draw

    if format_name not in (None, "latex"):
        reason = "A folder gets the report as LaTeX, with its figures as PDF files."
        raise UsageError(f"--format {format_name} is not possible for {folder}/", reason, "Name a file.")
    if not can_draw():
        raise UsageError("Figures cannot be drawn", "matplotlib is not installed.", INSTALL_MATPLOTLIB)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise cannot_write(folder, error) from error


def _write_figures(report: Report, folder: Path) -> dict[Path, str]:
    """Write the figures to a folder, and return their paths with their titles."""
    from pddlego.display.console import Console
    from pddlego.report.plots import draw

    try:
        paths = {plot.write(folder): plot.title for plot in draw(report, set())}
    except OSError as error:
        raise cannot_write(folder, error) from error
    text = f"{count(len(paths), 'figure')} in {folder}"
    Console(stderr=True).print(text, style="dim", soft_wrap=True)
    return paths


_SUFFIXES = {".txt": "text", ".md": "markdown", ".csv": "csv", ".json": "json", ".html": "html", ".tex": "latex"}


def _choose_format(name: str | None, output: str | None) -> str:
    """The named format, else the format for the suffix of `output`, else text.

    Raises `UsageError` if it is unknown, and `JournalError` if `output` cannot be written.
    """
    from pddlego.runs.store import check_output

    if output is not None:
        check_output(Path(output))
    names = tuple(_SUFFIXES.values())
    if name is None and output is not None:
        suffix = Path(output).suffix.lower()
        if suffix and suffix not in _SUFFIXES:
            reason = f"The suffixes are: {', '.join(_SUFFIXES)}."
            raise UsageError(f"Unknown report suffix '{suffix}' (-o)", reason, "Use one of them, or add --format.")
        return _SUFFIXES.get(suffix, "text")
    if name is None:
        return "text"
    if name not in names:
        advice = suggestion(name, names, "Choose one with --format.")
        raise UsageError(f"Unknown format '{name}'", f"The formats are: {', '.join(names)}.", advice)
    return name
