"""`pddlego watch`: shows running episodes, read from their journals."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer

from pddlego.errors import UsageError
from pddlego.runs.folders import EPISODES, find_run, newest_run, runs_folder


def command(
    run: Annotated[
        str | None, typer.Argument(help="A run folder, its name or a unique prefix. Default: the newest run.")
    ] = None,
) -> None:
    """Follow running episodes from another terminal, by their journals: a list, and each of them step by step.

    The only episode of a run is opened at once. On a pipe the list is printed once.
    """
    from pddlego.cli.browsing import browse, is_terminal, print_list, sources
    from pddlego.display.browser.app import at_run
    from pddlego.display.console import Console
    from pddlego.runs.listing import modified_at

    root = runs_folder()
    folder = newest_run(root) if run is None else find_run(run, root)
    if not (folder / EPISODES).is_dir():
        reason = f"It has no folder {EPISODES}/." if folder.is_dir() else "There is no such folder."
        raise UsageError(f"{folder} is not a run folder", reason, "Name one that 'pddlego play' or 'eval' made.")
    console = Console()
    if is_terminal(console):
        browse(at_run(folder, sources(console), partial(newest_run, root) if run is None else None, watches=True))
        return
    journals = sorted((folder / EPISODES).glob("*.jsonl"), key=modified_at, reverse=True)
    print_list(console, folder, journals)
