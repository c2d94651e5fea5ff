"""`pddlego resume`: goes back to a step of an episode of a text game, and plays on as a new episode."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pddlego.cli.options import Confirm, OfGame, OfMode, OfSeed, Pace, RunArgument, with_options
from pddlego.errors import UsageError
from pddlego.evaluation.config import Run, given_options
from pddlego.methods.registry import parse_mode
from pddlego.methods.textgames.options import TextGameOptions
from pddlego.models.endpoint import Access, Endpoint
from pddlego.runs.folders import RESUMED, EpisodeFilter, find_journal, find_run, runs_folder
from pddlego.util.files import read_text
from pddlego.util.text import clean

if TYPE_CHECKING:
    from pddlego.display.console import Console
    from pddlego.evaluation.replay import Recorded
    from pddlego.evaluation.setup import Continuation
    from pddlego.methods.textgames.resume import RecordedGame
    from pddlego.methods.textgames.world import Restart
    from pddlego.pddl import Problem

_OPTIONS = ("base_url", "max_steps", "java")
"""The options that may differ from those of the recorded episode."""


@with_options((Endpoint, TextGameOptions), only=_OPTIONS)
def command(
    flags: dict[str, Any],
    run: RunArgument,
    from_step: Annotated[int | None, typer.Option(min=0, help="The step to go back to.")] = None,
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
    from pddlego.cli.watching import prepare
    from pddlego.display.console import Console
    from pddlego.evaluation.prepare import make_continuing_setup
    from pddlego.evaluation.replay import load_recorded
    from pddlego.methods.textgames.resume import check_not_over, recorded_game, restart_at, with_correction

    handle_sigterm()
    if from_step is None:
        what = "--from-step is missing: resume goes back to a step of one episode"
        raise UsageError(what, "It has no default.", "Name the step. To go on with an evaluation, run eval again.")
    if edit and problem is not None:
        raise UsageError("--edit and --problem exclude each other", "Both give the problem.", "Use one of them.")
    explicit = given_options(flags, _OPTIONS)
    journal = find_journal(find_run(run), EpisodeFilter(game, mode, None, seed), ("game", "mode", "seed"))
    console = Console()
    recorded = load_recorded(journal, {name: explicit[name] for name in ("java", "max_steps") if name in explicit})
    played = recorded_game(journal, recorded.trace, recorded.played.setting)
    restart = restart_at(played, from_step)
    check_not_over(played, from_step)
    steps = explicit.get("max_steps", recorded.trace.begun.limits.steps)
    continuation = _continuation(recorded, restart, steps)
    asks = parse_mode(recorded.cell.mode).mode.asks_model
    cell = replace(recorded.cell, model=model) if model and asks else recorded.cell
    endpoint, access = endpoint_again(console, recorded, model, explicit.get("base_url"))
    config = recorded.config.model_copy(update={"endpoint": endpoint, "run": Run(workers=1)})
    setup = make_continuing_setup({cell: continuation}, config, access)
    live = prepare(console, setup, confirm or "", pace)
    corrected = with_correction(restart, _corrected(played, restart, problem, edit))
    setup = replace(setup, continued={cell: replace(continuation, restart=corrected)})
    about = {RESUMED: {"source": corrected.source, "step": corrected.step}}
    raise typer.Exit(live.play(setup, runs_folder(), f"{cell.label}-resumed", about))


def _continuation(recorded: Recorded, restart: Restart, steps: int | None) -> Continuation:
    """The episode after a restart, with at most `steps` in all. Raises `UsageError` if no step is left."""
    from pddlego.evaluation.setup import Continuation

    if steps is not None and restart.step >= steps:
        reason = f"The episode may take {steps} steps."
        raise UsageError(f"After step {restart.step} nothing is left", reason, "Raise --max-steps.")
    return Continuation(recorded.played, restart, replace(recorded.trace.begun.limits, steps=steps))


def endpoint_again(
    console: Console, recorded: Recorded, model: str | None, named: str | None
) -> tuple[Endpoint, Access]:
    """The recorded endpoint, or the one with the URL that the user `named`, and the key for it.

    With another `model`, the recorded URL is not used. The key is not sent to a URL that only the run folder names.
    """
    endpoint = recorded.config.endpoint
    base_url = named or (None if model else endpoint.base_url)
    key = os.environ.get("OPENAI_API_KEY")
    if key and base_url is not None and base_url != named:
        warning = (
            f"Your key is not sent to {base_url}, which only the run folder names: --base-url says that you mean it"
        )
        console.print(clean(warning), style="yellow", soft_wrap=True)
        key = None
    return endpoint.model_copy(update={"base_url": base_url}), Access(key)


def _corrected(played: RecordedGame, restart: Restart, file: str | None, edit: bool) -> Problem | None:
    """The user's problem; None without `file` and `edit`. Raises `UsageError` if it is invalid or unchanged."""
    from pddlego.display.person import edit_text
    from pddlego.methods.textgames.resume import read_correction

    if not edit and file is None:
        return None
    if not played.plans:
        reason = f"It was played in mode {played.trace.begun.mode}."
        raise UsageError("The episode has no problem to correct", reason, "Leave --problem and --edit out.")

    read = partial(read_correction, played, restart)
    if file is not None:
        text: str | None = read_text(Path(file))
    else:
        text = edit_text(str(restart.latest), lambda edited: read(edited).faults, _about(played, restart))
    unchanged_reason = "The file was left as it was, or emptied."
    if text is not None:
        corrected = read(text)
        unchanged_reason = "The problem means what it did before." if corrected.problem == restart.latest else ""
    if text is None or unchanged_reason:
        raise UsageError("Nothing was corrected", unchanged_reason, "Leave --edit and --problem out to go on.")
    if corrected.faults:
        more = f" (and {len(corrected.faults) - 1} more)" if len(corrected.faults) > 1 else ""
        reason = f"{corrected.faults[0]}{more}"
        raise UsageError(f"{file} cannot be planned with", reason, "Fix it and try again.")
    return corrected.problem


def _about(played: RecordedGame, restart: Restart) -> Iterator[str]:
    """The comments above a problem that the user edits."""
    from pddlego.methods.textgames.events import Observed
    from pddlego.methods.textgames.resume import knowledge_at
    from pddlego.pddl import check

    knowledge, step = knowledge_at(played, restart), restart.step
    yield f"{played.setting.title}, seed {played.seed}: the problem after step {step}."
    yield "Correct it, save, and leave the editor; the agent plans with it at once. Empty the file to give up."
    last = next((observed for observed in reversed(played.trace.all(Observed)) if observed.step <= step), None)
    if last is not None:
        yield f"The game's last answer{f' to {last.command}' if last.command else ''}:"
        yield last.read or last.text
    predicates = " ".join(str(predicate) for predicate in knowledge.domain.predicates)
    yield f"Predicates: {predicates}"
    for defect in check(knowledge.domain, restart.latest):
        yield f"Check: {defect.message}"
