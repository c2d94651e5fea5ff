"""`pddlego watch`: follows running episodes by their journals."""

from __future__ import annotations

import time
from functools import partial
from typing import Annotated, Any

import typer

from pddlego.cli.options import with_options
from pddlego.cli.terminal import fill, is_terminal
from pddlego.display.console import Console, glyphs_for
from pddlego.display.screens import Size
from pddlego.display.watch import Watch, list_picture
from pddlego.errors import UsageError
from pddlego.evaluation.config import Run as RunOptions
from pddlego.methods.registry import make_codec, renderer_of
from pddlego.runs.folders import EPISODES, newest_run, place_of, runs_folder
from pddlego.runs.tail import FolderTail


@with_options((RunOptions,), only=("runs",))
def command(
    flags: dict[str, Any],
    run: Annotated[
        str | None, typer.Argument(help="A run folder, its name or a unique prefix. Default: the newest run.")
    ] = None,
    grid: Annotated[int, typer.Option(min=0, max=64, help="Number of small maps to show at once.")] = 0,
) -> None:
    """Follow running episodes from another terminal, by their journals: a list, one of them, or many maps.

    On a pipe the list is printed once.
    """
    runs = runs_folder(flags.get("runs"))
    folder = newest_run(runs) if run is None else place_of(run, runs)
    if not (folder / EPISODES).is_dir():
        reason = f"It has no folder {EPISODES}/." if folder.is_dir() else "There is no such folder."
        raise UsageError(f"{folder} is not a run folder", reason, "Name one that 'pddlego play' or 'eval' made.")
    console = Console()
    tail = FolderTail(folder, partial(newest_run, runs) if run is None else None)
    watch = Watch(tail, make_codec(), renderer_of, glyphs_for(console.encoding), grid=grid)
    if is_terminal(console):
        fill(watch, console)
    else:
        peeks = watch.peeks
        size = Size(100, len(peeks) + 4)
        console.print(list_picture(peeks, -1, str(folder), time.time(), size, watch.glyphs, keys=False))
