"""`pddlego resume`: goes back to a step of a text game, and plays on as a new episode."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pddlego.cli.interrupts import polite_kills
from pddlego.cli.resuming import recorded_game
from pddlego.cli.watching import People, exit_code, make_overseer, make_person, parse_whats, play_watched
from pddlego.display.console import Console
from pddlego.display.editor import edit_text
from pddlego.display.lines import make_display
from pddlego.errors import UsageError
from pddlego.evaluation.models import make_model
from pddlego.evaluation.options import EvaluationOptions
from pddlego.evaluation.recorded import Recorded, load_recorded
from pddlego.methods.registry import parse_mode, picture_of
from pddlego.methods.textgames.resume import (
    Moment,
    RecordedGame,
    check_not_over,
    moment_at,
    read_correction,
    restart_at,
    setting_at,
)
from pddlego.models.endpoint import ModelOptions
from pddlego.pddl import Problem, check
from pddlego.runs.cells import Matrix
from pddlego.runs.folders import find_journal, fresh_folder, place_of
from pddlego.runs.manifest import CONFIRMED, RESUMED
from pddlego.util.text import clean


@dataclass(frozen=True)
class ResumeOptions:
    """The arguments of `pddlego resume`, as typed."""

    run: str
    from_step: int
    seed: int | None
    problem: str | None
    edit: bool
    model: str | None
    base_url: str | None
    max_steps: int | None
    confirm: str | None
    runs: str
    pace: float
    java: str | None


def run_resume(options: ResumeOptions) -> int:
    """Play on from a step, as a new episode."""
    polite_kills()
    console = Console()
    if options.edit and options.problem is not None:
        raise UsageError("--edit and --problem exclude each other", "Both give the problem.", "Use one of them.")
    recorded = load_recorded(find_journal(place_of(options.run), options.seed), options.java)
    whats = parse_whats(options.confirm or "")
    played = recorded_game(recorded)
    moment = moment_at(played, options.from_step)
    # Whatever can be refused is refused before the person has edited anything.
    check_not_over(played, options.from_step)
    again = _again(console, recorded, options)
    (cell,) = again.cells()
    mode = parse_mode(cell.mode).mode
    picture = picture_of(recorded.played.method_name)
    panels = recorded.played.method.screen()
    display = make_display(console, options.pace, panels, picture.describe, lines=mode.needs_person)
    overseer = make_overseer(console, display, whats, mode)
    restart = restart_at(played, options.from_step, moment, _corrected(played, moment, options))
    path = fresh_folder(Path(options.runs), f"{cell.label}-resumed")
    about: dict[str, Any] = {RESUMED: {"source": restart.source, "step": restart.step}}
    about |= {CONFIRMED: whats} if whats else {}
    ended = play_watched(again, path, about, display, People(overseer, make_person(mode), restart))
    console.print(f"The run is kept in {path}", style="dim", highlight=False, soft_wrap=True)
    return exit_code(ended)


def _again(console: Console, recorded: Recorded, options: ResumeOptions) -> EvaluationOptions:
    """The episode as it was, but for what the user wants to be another: an evaluation of one cell."""
    started, played = recorded.started, recorded.played
    if options.max_steps is not None:
        changed = played.options.model_copy(update={"max_steps": options.max_steps})
        played = replace(played, options=changed, setting=played.method.load(started.setting, changed))
    steps = options.max_steps or started.limits.steps
    if steps is not None and options.from_step >= steps:
        why = f"The episode may take {steps} steps."
        raise UsageError(f"After step {options.from_step} nothing is left", why, "Raise --max-steps.")
    asks = parse_mode(started.mode).mode.asks_model
    matrix = Matrix(
        seeds={started.setting: (started.seed,)},
        modes=(started.mode,),
        models=(options.model or started.model,),
        without_model=() if asks else (started.mode,),
    )
    model = _model(console, recorded, options)
    (cell,) = matrix.cells()
    make_model(cell, played.method, played.setting, model)
    return EvaluationOptions(
        matrix=matrix,
        played={(started.setting, started.mode): played},
        model=model,
        planner=recorded.planner,
        limits=replace(started.limits, steps=steps),
        retries=recorded.retries,
        workers=1,
        planners=1,
    )


def _model(console: Console, recorded: Recorded, options: ResumeOptions) -> ModelOptions:
    """The model, as recorded or as named now. The key goes to no endpoint that only a run folder names."""
    given = recorded.model
    base_url = options.base_url or (None if options.model else given.base_url)
    key = os.environ.get("OPENAI_API_KEY")
    if key and base_url is not None and base_url != options.base_url:
        said = f"Your key is not sent to {base_url}, which only the run folder names: --base-url says that you mean it"
        console.print(clean(said), style="yellow", highlight=False, soft_wrap=True)
        key = None
    return replace(given, base_url=base_url, api_key=key)


def _corrected(played: RecordedGame, moment: Moment, options: ResumeOptions) -> Problem | None:
    """The problem as a person corrected it; None if they did not. Raises `UsageError` for one with faults."""
    if not options.edit and options.problem is None:
        return None
    if not played.episode.plans:
        why = f"It was played in mode {played.episode.mode}."
        raise UsageError("The episode has no problem to correct", why, "Leave --problem and --edit out.")

    def faults(text: str) -> tuple[str, ...]:
        return read_correction(played, moment, text).faults

    if options.problem is not None:
        try:
            text: str | None = Path(options.problem).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            why = f"{getattr(error, 'strerror', None) or 'It is no text'}."
            raise UsageError(f"{options.problem} cannot be read", why, "Check --problem.") from error
    else:
        text = edit_text(str(moment.latest), faults, _about(played, moment, options.from_step))
    unchanged = "The file was left as it was, or emptied."
    if text is not None:
        corrected = read_correction(played, moment, text)
        unchanged = "The problem means what it did before." if corrected.problem == moment.latest else ""
    if text is None or unchanged:
        raise UsageError("Nothing was corrected", unchanged, "Leave --edit and --problem out to go on.")
    if corrected.faults:
        more = f" (and {len(corrected.faults) - 1} more)" if len(corrected.faults) > 1 else ""
        why = f"{corrected.faults[0]}{more}"
        raise UsageError(f"{options.problem} cannot be planned with", why, "Mend it and try again.")
    return corrected.problem


def _about(played: RecordedGame, moment: Moment, step: int) -> Iterator[str]:
    """What whoever edits the problem should see above it."""
    setting = setting_at(played, moment)
    yield f"{setting.title}, seed {played.episode.seed}: the problem after step {step}."
    yield "Correct it, save, and leave the editor; the agent plans with it at once. Empty the file to give up."
    last = next((each for each in reversed(played.observed) if each.step <= step), None)
    if last is not None:
        yield f"The game's last answer{f' to {last.command}' if last.command else ''}:"
        yield last.read or last.text
    predicates = " ".join(str(each) for each in setting.domain.predicates)
    yield f"Predicates: {predicates}"
    for defect in check(setting.domain, moment.latest):
        yield f"Check: {defect.message}"
