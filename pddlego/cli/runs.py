"""`pddlego runs`: browses all run folders, and keeps notes on them."""

from __future__ import annotations

from typing import Annotated

import typer

from pddlego.errors import UsageError
from pddlego.runs.folders import EPISODES, MANIFEST, find_run, runs_folder

command = typer.Typer(invoke_without_command=True, add_completion=False, rich_markup_mode=None)


@command.callback()
def browse_runs(context: typer.Context) -> None:
    """Browse run folders: sort, filter, open one, look at its episodes step by step. On a pipe the list is printed."""
    if context.invoked_subcommand is not None:
        return
    from pddlego.cli.browsing import browse, is_terminal, sources
    from pddlego.display.browser.app import at_runs
    from pddlego.display.columns import RUN_COLUMNS, plain_table, run_summary
    from pddlego.display.console import Console
    from pddlego.runs.listing import list_runs

    root, console = runs_folder(), Console()
    if is_terminal(console):
        browse(at_runs(root, sources(console)))
        return
    rows = sorted(list_runs(root), key=lambda run: run.when.timestamp() if run.when else 0.0, reverse=True)
    console.print(f"{root}: {run_summary(rows)}")
    console.print(plain_table(RUN_COLUMNS, rows, console.width))


@command.command("note")
def note(
    run: Annotated[str, typer.Argument(help="A run folder, its name or a unique prefix, a journal, or latest.")],
    text: Annotated[str, typer.Argument(help="The note. Empty: remove it.")],
) -> None:
    """Keep a note on a run, which the list of runs shows."""
    from pddlego.display.console import Console
    from pddlego.runs.listing import NOTE_FILE, is_run
    from pddlego.util.files import write_whole

    place = find_run(run)
    folder = place if place.is_dir() else place.parent.parent
    if not is_run(folder):
        reason = f"{folder} has neither {MANIFEST} nor {EPISODES}."
        raise UsageError(f"{run} is not a run", reason, "List the runs with 'pddlego runs'.")
    file = folder / NOTE_FILE
    if text.strip():
        write_whole(file, " ".join(text.split()) + "\n")
    else:
        file.unlink(missing_ok=True)
    Console().print(f"The note {'is in' if text.strip() else 'was removed:'} {file}", style="dim", soft_wrap=True)
