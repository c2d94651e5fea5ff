"""`pddlego replay`: plays recorded episodes again, and compares the events with the recorded ones."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import typer

from pddlego.cli import exits
from pddlego.cli.exits import handle_sigterm
from pddlego.cli.options import OfGame, OfMode, OfModel, OfSeed, RunArgument
from pddlego.display.console import Console
from pddlego.evaluation.config import given_options
from pddlego.evaluation.replay import Recorded, Replayed, load_recorded, replay
from pddlego.runs.folders import EpisodeFilter, find_journals, find_run
from pddlego.util.text import clean


def command(
    run: RunArgument,
    game: OfGame = None,
    mode: OfMode = None,
    model: OfModel = None,
    seed: OfSeed = None,
) -> None:
    """Play recorded episodes again without any model call, and check that everything comes out the same.

    Exit code: 0 the same, 1 a difference, 2 wrong usage, 3 the engine failed.
    """
    handle_sigterm()
    console = Console()
    changes = given_options({}, ("java",))
    for journal in find_journals(find_run(run), EpisodeFilter(game, mode, model, seed)):
        recorded = load_recorded(journal, changes)
        with recorded.config.planner.make() as planner:
            replayed = replay(recorded, planner)
        for line, style in _lines(journal, recorded, replayed):
            console.print(clean(line), style=style, soft_wrap=True)
        if replayed.difference is not None:
            raise typer.Exit(exits.NOT_WON)
    raise typer.Exit(exits.WON)


def _lines(journal: Path, recorded: Recorded, replayed: Replayed) -> Iterator[tuple[str, str]]:
    """The lines, with their styles, about the comparison of an episode."""
    difference = replayed.difference
    if difference is None and recorded.trace.ended is None:
        why = "the episode was stopped or runs, or the file was cut"
        yield f"{journal.name}: identical, {replayed.same} events, without an end: {why}", "yellow"
        return
    if difference is None:
        yield f"{journal.name}: identical, {replayed.same} events", "green"
        return
    yield f"{journal.name}: differs at step {difference.step}, after {replayed.same} identical events", "red"
    yield f"  {difference.kind}: {difference.field}", ""
    yield f"  recorded: {difference.recorded[:400]}", "red"
    yield f"  now:      {difference.now[:400]}", "green"
    if recorded.changed:
        yield f"  These files have changed since: {', '.join(recorded.changed)}", "yellow"
