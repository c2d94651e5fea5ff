"""The arguments of `pddlego show`."""

from __future__ import annotations

from typing import Annotated

import typer

from pddlego.cli.shared import Run


def show(
    run: Run,
    seed: Annotated[int | None, typer.Argument(help="Which episode, where there are several.")] = None,
    step: Annotated[int | None, typer.Option(min=0, help="Where to begin; what to print.")] = None,
    problem: Annotated[bool, typer.Option("--problem", help="Print the problem at that step as PDDL.")] = False,
    svg: Annotated[str | None, typer.Option(help="Write what is on screen at that step to an SVG file.")] = None,
    gif: Annotated[str | None, typer.Option(help="Write the whole episode to a GIF file (extra gif).")] = None,
    size: Annotated[str, typer.Option(help="Columns and lines of the pictures.")] = "120x36",
) -> None:
    """Step through an episode forwards and backwards: map, problem, goal ladder, plan, requests and answers."""
    from pddlego.cli.run_show import ShowOptions, run_show

    raise typer.Exit(run_show(ShowOptions(run=run, seed=seed, step=step, problem=problem, svg=svg, gif=gif, size=size)))
