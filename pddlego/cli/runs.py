"""`pddlego runs`: browses all run folders."""

from __future__ import annotations

from pddlego.cli.options import Runs
from pddlego.runs.folders import runs_folder


def command(runs: Runs = None) -> None:
    """Browse run folders: sort, filter, open one, look at its episodes step by step. On a pipe the list is printed."""
    from pddlego.cli.browsing import browse, is_terminal, sources
    from pddlego.display.browser.app import at_runs
    from pddlego.display.columns import RUN_COLUMNS, plain_table, run_summary
    from pddlego.display.console import Console
    from pddlego.runs.listing import list_runs

    root, console = runs_folder(runs), Console()
    if is_terminal(console):
        browse(at_runs(root, sources(console)))
        return
    rows = list(list_runs(root))
    console.print(f"{root}: {run_summary(rows)}")
    console.print(plain_table(RUN_COLUMNS, rows))
