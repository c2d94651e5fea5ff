"""The arguments of `pddlego report`."""

from __future__ import annotations

from typing import Annotated

import typer


def report(
    runs: Annotated[
        list[str],
        typer.Argument(help="Run folders that 'pddlego eval' made, their names in runs/, or latest (with results)."),
    ],
    to: Annotated[
        str, typer.Option("--format", help="terminal, markdown, csv, json or html (one file, nothing else needed).")
    ] = "terminal",
    output: Annotated[str | None, typer.Option("--output", "-o", help="A file. Default: standard output.")] = None,
    prices: Annotated[str | None, typer.Option(help="A TOML file with prices for a million tokens.")] = None,
    pages: Annotated[int, typer.Option(min=0, help="html: most episodes that get a page of their own.")] = 200,
    optimum: Annotated[
        bool, typer.Option("--optimum", help="html: plot steps against the full-information optimum (coin, mapreader).")
    ] = False,
) -> None:
    """Say what one or several evaluations found: Table 1, intervals, costs, failures, paired comparisons."""
    from pddlego.cli.run_report import run_report

    raise typer.Exit(run_report(runs, to, output, prices, pages, optimum))
