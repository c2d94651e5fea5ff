"""`pddlego resume`: goes back to a step of a text game, and plays on as a new episode."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pddlego.cli.exits import handle_sigterm
from pddlego.cli.options import (
    Confirm,
    OfGame,
    OfMode,
    OfSeed,
    Pace,
    RunArgument,
    choose_journal,
    place_named,
    with_options,
)
from pddlego.errors import UsageError
from pddlego.evaluation.config import Run, given_options
from pddlego.methods.base import Tools
from pddlego.methods.registry import parse_mode
from pddlego.methods.textgames.options import TextGameOptions
from pddlego.models.endpoint import Access, Endpoint
from pddlego.runs.folders import CONFIRMED, RESUMED, EpisodeFilter, find_journal, fresh_folder, runs_folder
from pddlego.util.text import clean

if TYPE_CHECKING:
    from pddlego.display.console import Console
    from pddlego.episode.events import Event
    from pddlego.evaluation.replay import Recorded
    from pddlego.evaluation.setup import Setup
    from pddlego.methods.textgames.resume import RecordedGame
    from pddlego.methods.textgames.world import Restart
    from pddlego.pddl import Problem

OPTIONS = ("base_url", "max_steps", "java", "runs")
"""What may be another than in the episode, and where the new one is kept."""


@with_options((Endpoint, Run, TextGameOptions), only=OPTIONS)
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
    from pddlego.cli.watching import exit_code, make_approver, make_person, parse_whats, play_watched
    from pddlego.display.console import Console
    from pddlego.display.lines import make_display
    from pddlego.evaluation.replay import load_recorded
    from pddlego.methods.textgames.play import play
    from pddlego.methods.textgames.resume import check_not_over, moment_at, with_correction

    handle_sigterm()
    console = Console()
    if edit and problem is not None:
        raise UsageError("--edit and --problem exclude each other", "Both give the problem.", "Use one of them.")
    explicit = given_options(flags, OPTIONS)
    journal = find_journal(place_named(run, flags.get("runs")), EpisodeFilter(game, mode, None, seed), choose_journal)
    java = {"java": explicit["java"]} if "java" in explicit else {}
    recorded = load_recorded(journal, java)
    kinds = parse_whats(confirm or "")
    played = recorded_game(recorded)
    moment = moment_at(played, from_step)
    # Whatever can be refused is refused before the person has edited anything.
    check_not_over(played, from_step)
    setup = _again(console, recorded, from_step, model, explicit)
    (cell,) = setup.cells()
    own_mode = parse_mode(cell.mode).mode
    display = make_display(console, pace, recorded.played.method.screen, lines=own_mode.needs_person)
    approver = make_approver(console, display, kinds, own_mode)
    restart = with_correction(moment, _corrected(played, moment, from_step, problem, edit))
    path = fresh_folder(runs_folder(flags.get("runs")), f"{cell.label}-resumed")
    about: dict[str, Any] = {RESUMED: {"source": restart.source, "step": restart.step}}
    about |= {CONFIRMED: kinds} if kinds else {}
    again = setup.played_in(cell)
    options = again.options
    assert isinstance(options, TextGameOptions)

    def begin(tools: Tools) -> Iterator[Event]:
        return play(cell, again.setting, options, tools, restart=restart)

    ended = play_watched(setup, path, about, display, approver=approver, person=make_person(own_mode), begin=begin)
    console.print(f"Saved in {path}", style="dim", highlight=False, soft_wrap=True)
    raise typer.Exit(exit_code(ended))


def _again(console: Console, recorded: Recorded, step: int, model: str | None, explicit: dict[str, Any]) -> Setup:
    """The episode as it was, but for what the user wants to be another: an evaluation of one cell."""
    from pddlego.evaluation.setup import Setup, make_cell_model
    from pddlego.runs.cells import Matrix

    started, played = recorded.started, recorded.played
    if "max_steps" in explicit:
        changed = played.options.model_copy(update={"max_steps": explicit["max_steps"]})
        played = replace(played, options=changed, setting=played.method.load(started.setting, changed))
    steps = explicit.get("max_steps", started.limits.steps)
    if steps is not None and step >= steps:
        reason = f"The episode may take {steps} steps."
        raise UsageError(f"After step {step} nothing is left", reason, "Raise --max-steps.")
    asks = parse_mode(started.mode).mode.asks_model
    matrix = Matrix(
        seeds={started.setting: (started.seed or 0,)},
        modes=(started.mode,),
        models=(model or started.model,),
        without_model=() if asks else (started.mode,),
    )
    endpoint, access = endpoint_again(console, recorded, model, explicit)
    setup = Setup(
        recorded.config.model_copy(update={"endpoint": endpoint}),
        matrix,
        {(started.setting, started.mode): played},
        limits=replace(started.limits, steps=steps),
        access=access,
    )
    make_cell_model(setup.cells()[0], setup)
    return setup


def endpoint_again(
    console: Console, recorded: Recorded, model: str | None, explicit: dict[str, Any]
) -> tuple[Endpoint, Access]:
    """The endpoint, as recorded or as named now. The key goes to no endpoint that only a run folder names."""
    there = recorded.config.endpoint
    base_url = explicit.get("base_url") or (None if model else there.base_url)
    key = os.environ.get("OPENAI_API_KEY")
    if key and base_url is not None and base_url != explicit.get("base_url"):
        problem = (
            f"Your key is not sent to {base_url}, which only the run folder names: --base-url says that you mean it"
        )
        console.print(clean(problem), style="yellow", highlight=False, soft_wrap=True)
        key = None
    return there.model_copy(update={"base_url": base_url}), Access(key)


def _corrected(played: RecordedGame, moment: Restart, step: int, file: str | None, edit: bool) -> Problem | None:
    """The problem as a person corrected it; None if they did not. Raises `UsageError` for one with faults."""
    from pddlego.display.person import edit_text
    from pddlego.methods.textgames.resume import read_correction

    if not edit and file is None:
        return None
    if not played.episode.plans:
        reason = f"It was played in mode {played.episode.mode}."
        raise UsageError("The episode has no problem to correct", reason, "Leave --problem and --edit out.")

    def faults(text: str) -> tuple[str, ...]:
        return read_correction(played, moment, text).faults

    if file is not None:
        try:
            text: str | None = Path(file).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            reason = f"{getattr(error, 'strerror', None) or 'It is not a text file'}."
            raise UsageError(f"{file} cannot be read", reason, "Check --problem.") from error
    else:
        text = edit_text(str(moment.latest), faults, _about(played, moment, step))
    unchanged = "The file was left as it was, or emptied."
    if text is not None:
        corrected = read_correction(played, moment, text)
        unchanged = "The problem means what it did before." if corrected.problem == moment.latest else ""
    if text is None or unchanged:
        raise UsageError("Nothing was corrected", unchanged, "Leave --edit and --problem out to go on.")
    if corrected.faults:
        more = f" (and {len(corrected.faults) - 1} more)" if len(corrected.faults) > 1 else ""
        reason = f"{corrected.faults[0]}{more}"
        raise UsageError(f"{file} cannot be planned with", reason, "Fix it and try again.")
    return corrected.problem


def _about(played: RecordedGame, moment: Restart, step: int) -> Iterator[str]:
    """The comment above a problem that a person edits."""
    from pddlego.methods.textgames.events import Observed
    from pddlego.methods.textgames.resume import known_at
    from pddlego.pddl import check

    known = known_at(played, moment)
    yield f"{played.episode.setting.title}, seed {played.episode.seed}: the problem after step {step}."
    yield "Correct it, save, and leave the editor; the agent plans with it at once. Empty the file to give up."
    last = next((observed for observed in reversed(played.trace.all(Observed)) if observed.step <= step), None)
    if last is not None:
        yield f"The game's last answer{f' to {last.command}' if last.command else ''}:"
        yield last.read or last.text
    predicates = " ".join(str(predicate) for predicate in known.domain.predicates)
    yield f"Predicates: {predicates}"
    for defect in check(known.domain, moment.latest):
        yield f"Check: {defect.message}"


def recorded_game(recorded: Recorded) -> RecordedGame:
    """The episode. Raises `UsageError` if it is not an episode of a text game."""
    from pddlego.methods.textgames.play import episode_of, first_domain
    from pddlego.methods.textgames.resume import RecordedGame
    from pddlego.methods.textgames.settings import GameSetting

    setting, options = recorded.played.setting, recorded.played.options
    if not isinstance(setting, GameSetting) or not isinstance(options, TextGameOptions):
        reason = f"It was played by the method {recorded.played.method_name}."
        raise UsageError(f"{recorded.path.name} is not a text game", reason, "Name an episode of a text game.")
    limits, retries = recorded.started.limits, recorded.config.limits.retries
    episode = episode_of(
        recorded.cell, setting, options, limits, retries=retries, domain=first_domain(recorded.trace.events)
    )
    return RecordedGame(recorded.path, episode, recorded.trace)
