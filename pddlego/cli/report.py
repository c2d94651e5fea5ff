"""`pddlego report`: reports the results of evaluations in several formats."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pddlego.cli.options import Runs, place_named, with_options
from pddlego.errors import UsageError
from pddlego.evaluation.config import LimitOptions
from pddlego.util.files import cannot_write, write_whole
from pddlego.util.text import count, suggestion

if TYPE_CHECKING:
    from pddlego.report.build import Report
    from pddlego.report.figures import Optima


@with_options((LimitOptions,), only=("prices",))
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
    pages: Annotated[int, typer.Option(min=0, help="html: maximum number of episode pages.")] = 200,
    optimum: Annotated[
        bool, typer.Option("--optimum", help="html, figures: plot steps against the optimum (coin, mapreader).")
    ] = False,
    figures: Annotated[str | None, typer.Option(help="A folder for the figures as PDF files.")] = None,
    runs_root: Runs = None,
) -> None:
    """Say what one or several evaluations found: Table 1, intervals, costs, failures, paired comparisons."""
    from pddlego.display.console import Console
    from pddlego.evaluation.setup import read_prices
    from pddlego.report.build import build_report, is_reportable
    from pddlego.report.figures import find_optima
    from pddlego.report.formats import as_csv, as_json, as_text, html, latex, markdown, print_report
    from pddlego.runs.store import check_output

    chosen = _choose_format(format_name, output)
    folders = [place_named(run, runs_root, is_reportable) for run in runs]
    report = build_report(folders, read_prices(Path(flags["prices"]) if flags.get("prices") else None))
    optima = find_optima(report.results, report.settings) if optimum else {}
    if chosen == "csv" and report.incomplete:  # the other formats contain this note
        Console(stderr=True).print(f"{report.incomplete}.", style="yellow", soft_wrap=True)
    if figures is not None:
        _write_figures(report, Path(figures), optima)
    formats: dict[str, Callable[[Report], str]] = {
        "text": as_text,
        "markdown": markdown,
        "csv": as_csv,
        "json": as_json,
        "html": lambda report: html(report, pages, optima),
        "latex": latex,
    }
    if output is not None:
        write_whole(check_output(Path(output)), formats[chosen](report))
        Console().print(f"The report is in {output}", style="dim", soft_wrap=True)
    elif chosen != "text":
        Console().out(formats[chosen](report), end="")
    elif figures is None:
        print_report(Console(), report)


def _write_figures(report: Report, folder: Path, optima: Optima) -> None:
    from pddlego.display.console import Console
    from pddlego.report.plots import draw

    try:
        folder.mkdir(parents=True, exist_ok=True)
        paths = [plot.write(folder) for plot in draw(report, set(), optima)]
    except OSError as error:
        raise cannot_write(folder, error) from error
    text = f"{count(len(paths), 'figure')} in {folder}"
    Console().print(text, style="dim", soft_wrap=True)


_SUFFIXES = {
    ".txt": "text",
    ".md": "markdown",
    ".csv": "csv",
    ".json": "json",
    ".html": "html",
    ".tex": "latex",
}


def _choose_format(name: str | None, output: str | None) -> str:
    """The named format, else the format for the suffix of `output`, else text. Raises `UsageError` if it is unknown."""
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
