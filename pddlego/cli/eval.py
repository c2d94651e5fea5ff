"""`pddlego eval`: plays the episodes of an evaluation."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from pddlego.cli.options import COMPLETIONS, ConfigFile, HelpAll, with_options
from pddlego.evaluation.config import groups, resolve

_Games = Annotated[
    list[str] | None,
    typer.Argument(help="Games or settings (see 'pddlego games'). Default: coin.", autocompletion=COMPLETIONS["games"]),
]
_DryRun = Annotated[bool, typer.Option("--dry-run", help="Print the episodes and an upper bound of calls and cost.")]

_Tracker = Annotated[
    Literal["wandb", "mlflow", "trackio"] | None,
    typer.Option(help="Send results to a tracker, too: wandb, mlflow or trackio (extras)."),
]


@with_options(groups().values(), without=("games",))
def command(
    flags: dict[str, Any],
    games: _Games = None,
    config: ConfigFile = None,
    dry_run: _DryRun = False,
    tracker: _Tracker = None,
    help_all: HelpAll = False,
) -> None:
    """Play many episodes: games x modes x models x seeds. Run the same command again to resume.

    Exit code: 0 every episode has a result, 2 wrong usage, 3 some are lost to errors or the budget, 130 interrupted.
    """
    from pddlego.cli.evaluating import play_missing

    flags |= {"games": ",".join(games)} if games else {}
    raise typer.Exit(play_missing(resolve(flags, os.environ, Path(config) if config else None), dry_run, tracker))
