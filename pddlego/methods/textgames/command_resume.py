"""`pddlego resume`: goes back to a step of an episode of a text game, and plays on as a new episode."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from pddlego.cli.options import (
    Confirm,
    OfGame,
    OfMode,
    OfSeed,
    Pace,
    RunArgument,
    place_named,
    with_options,
)
from pddlego.errors import UsageError
from pddlego.evaluation.config import Run, given_options
from pddlego.methods.textgames.options import TextGameOptions
from pddlego.models.endpoint import Endpoint
from pddlego.runs.folders import EpisodeFilter, find_journal

_OPTIONS = ("base_url", "max_steps", "java", "runs")
"""The options that may differ from those of the recorded episode, and the folder for the new run."""


@with_options((Endpoint, Run, TextGameOptions), only=_OPTIONS)
def command(
    flags: dict[str, Any],
    run: RunArgument,
    from_step: Annotated[int, typer.Option(min=0, help="The step to go back to.")],
    game: OfGame = None,
    mode: OfMode = None,
    seed: OfSeed = None,
    problem: Annotated[str | None, typer.Option(help="A corrected problem file.")] = None,
    edit: Annotated[bool, typer.Option("--edit", help="Edit the problem in $EDITOR first.")] = False,
    model: Annotated[str | None, typer.Option(help="Another model. Default: the episode's.")] = None,
    confirm: Confirm = None,
    pace: Pace = 0.4,
) -> None:
    """Go back to a step of an episode, correct the problem there, and let the agent play on as a new episode.

    What is not given is as in the episode.
    Exit code as for play: 0 won, 1 not won, 2 wrong usage, 3 the model or the engine failed, 130 interrupted.
    """
    from pddlego.cli.exits import handle_sigterm
    from pddlego.methods.textgames.command_resuming import resume

    handle_sigterm()
    if edit and problem is not None:
        raise UsageError("--edit and --problem exclude each other", "Both give the problem.", "Use one of them.")
    explicit = given_options(flags, _OPTIONS)
    journal = find_journal(place_named(run, flags.get("runs")), EpisodeFilter(game, mode, None, seed))
    changes: dict[str, Any] = {"model": model, "problem_file": problem, "edit": edit}
    raise typer.Exit(resume(journal, from_step, explicit, **changes, confirm=confirm or "", pace=pace))
