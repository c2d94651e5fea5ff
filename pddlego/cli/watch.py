"""The arguments of `pddlego watch`."""

from __future__ import annotations

from typing import Annotated

import typer

from pddlego.cli.shared import Runs


def watch(
    run: Annotated[str | None, typer.Argument(help="A run folder, or its name in --runs. Default: the newest.")] = None,
    runs: Runs = "runs",
    grid: Annotated[int, typer.Option(min=0, max=64, help="Show so many small maps at once.")] = 0,
) -> None:
    """Follow running episodes from another terminal, by their journals: a list, one of them, or many maps."""
    from pddlego.cli.run_watch import run_watch

    raise typer.Exit(run_watch(run, runs, grid))
