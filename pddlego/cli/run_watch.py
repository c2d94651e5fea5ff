"""`pddlego watch`: follows running episodes by their journals."""

from __future__ import annotations

import time
from pathlib import Path

from pddlego.cli import exits
from pddlego.cli.terminal import fill, is_terminal
from pddlego.display.console import Console
from pddlego.display.glyphs import glyphs_for
from pddlego.display.screens import Size
from pddlego.display.watch import Watch, list_picture
from pddlego.errors import UsageError
from pddlego.methods.registry import make_codec, picture_of
from pddlego.runs.folders import EPISODES, newest_run, place_of
from pddlego.runs.tail import FolderTail


def run_watch(run: str | None, runs: str, grid: int) -> int:
    """Follow until somebody has seen enough; on a pipe the list is printed once."""
    folder = newest_run(Path(runs)) if run is None else place_of(run, Path(runs))
    if not (folder / EPISODES).is_dir():
        why = f"It has no folder {EPISODES}/." if folder.is_dir() else "There is no such folder."
        raise UsageError(f"{folder} is no run folder", why, "Name one that 'pddlego play' or 'eval' made.")
    console = Console()
    watch = Watch(FolderTail(folder), make_codec(), picture_of, glyphs_for(console.encoding), grid=grid)
    if is_terminal(console):
        fill(watch, console)
    else:
        peeks = watch.peeks()
        size = Size(100, len(peeks) + 4)
        console.print(list_picture(peeks, -1, str(folder), time.time(), size, watch.glyphs, keys=False))
    return exits.WON
