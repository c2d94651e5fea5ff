"""`pddlego replay` and `pddlego resume`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from pddlego.cli.interrupts import polite_kills
from pddlego.cli.main import EXIT_NOT_WON, EXIT_WON
from pddlego.cli.play import exit_code, make_overseer, make_person, parse_whats, watched
from pddlego.display.editor import edit_text
from pddlego.display.live import Console, make_display
from pddlego.display.text import clean
from pddlego.episode import Episode
from pddlego.episodes import check_reader, episode_events, make_game, make_planner, open_run
from pddlego.errors import UsageError
from pddlego.models import Model
from pddlego.models.make import make_model
from pddlego.models.reader import ReaderModel
from pddlego.pddl import Problem, check
from pddlego.recorded import Recorded, load_recorded
from pddlego.replay import Replayed, replay
from pddlego.resume import Moment, check_not_over, moment_at, read_correction, restart_at
from pddlego.run_folders import find_journal, find_journals, place_of


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


def run_replay(run: str, seed: int | None, java: str | None) -> int:
    """Play every episode again. Exit code 1 at the first difference."""
    polite_kills()
    console = Console()
    for journal in find_journals(place_of(run), seed):
        recorded = load_recorded(journal)
        with make_planner(*recorded.planner) as planner:
            replayed = replay(recorded, make_game(recorded.episode.setting, recorded.episode.seed, java), planner)
        for line, style in _replayed(journal, recorded, replayed):
            console.print(clean(line), style=style, markup=False, highlight=False, soft_wrap=True)
        if replayed.difference is not None:
            return EXIT_NOT_WON
    return EXIT_WON


def _replayed(journal: Path, recorded: Recorded, replayed: Replayed) -> Iterator[tuple[str, str]]:
    """What came of playing an episode again, in lines with their style."""
    different = replayed.difference
    if different is None:
        yield f"{journal.name}: the same, {replayed.same} events", "green"
        return
    yield f"{journal.name}: another one at step {different.step}, after {replayed.same} events that are the same", "red"
    yield f"  {different.kind}: {different.field}", ""
    yield f"  recorded: {different.recorded[:400]}", "red"
    yield f"  now:      {different.now[:400]}", "green"
    if recorded.changed:
        yield f"  These files have changed since: {', '.join(recorded.changed)}", "yellow"


def run_resume(options: ResumeOptions) -> int:
    """Play on from a step, as a new episode."""
    polite_kills()
    console = Console()
    if options.edit and options.problem is not None:
        raise UsageError("--edit and --problem exclude each other", "Both give the problem.", "Use one of them.")
    recorded = load_recorded(find_journal(place_of(options.run), options.seed))
    whats = parse_whats(options.confirm)
    moment = moment_at(recorded, options.from_step)
    # Whatever can be refused is refused before the person has edited anything.
    check_not_over(recorded, options.from_step)
    episode, model = _episode_and_model(console, recorded, options)
    display = make_display(console, options.pace, False, lines=episode.mode == "human")
    overseer = make_overseer(console, display, whats, episode.mode)
    restart = restart_at(recorded, options.from_step, moment, _corrected(recorded, moment, options))
    with make_planner(*recorded.planner) as planner:
        game = make_game(episode.setting, episode.seed, options.java)
        events = episode_events(episode, game, model, planner, overseer, restart, make_person(episode.mode))
        run, journal = open_run(Path(options.runs), episode, model, planner, restart)
        ended = watched(events, journal, display)
    console.print(f"The run is kept in {run.path}", style="dim", highlight=False, soft_wrap=True)
    return exit_code(ended)


def _episode_and_model(console: Console, recorded: Recorded, options: ResumeOptions) -> tuple[Episode, Model]:
    """The episode as it was, but for what the user wants to be another."""
    episode = recorded.episode
    setting, limits = episode.setting, episode.limits
    if options.max_steps is not None:
        setting, limits = replace(setting, max_steps=options.max_steps), replace(limits, steps=options.max_steps)
    if options.from_step >= limits.steps:
        why = f"The episode may take {limits.steps} steps."
        raise UsageError(f"After step {options.from_step} nothing is left", why, "Raise --max-steps.")
    model = _model(console, recorded, options)
    if isinstance(model, ReaderModel):
        check_reader(setting, episode.mode)
    return replace(episode, setting=setting, limits=limits), model


def _model(console: Console, recorded: Recorded, options: ResumeOptions) -> Model:
    """The model, as recorded or as named now. The key goes to no endpoint that only a run folder names."""
    given = recorded.model
    base_url = options.base_url or (None if options.model else given.base_url)
    key = os.environ.get("OPENAI_API_KEY")
    if key and base_url is not None and base_url != options.base_url:
        said = f"Your key is not sent to {base_url}, which only the run folder names: --base-url says that you mean it"
        console.print(clean(said), style="yellow", highlight=False, soft_wrap=True)
        key = None
    return make_model(replace(given, name=options.model or given.name, base_url=base_url, api_key=key))


def _corrected(recorded: Recorded, moment: Moment, options: ResumeOptions) -> Problem | None:
    """The problem as a person corrected it; None if they did not. Raises `UsageError` for one with faults."""
    if not options.edit and options.problem is None:
        return None
    if not recorded.episode.plans:
        why = f"It was played in mode {recorded.episode.mode}."
        raise UsageError("The episode has no problem to correct", why, "Leave --problem and --edit out.")

    def faults(text: str) -> tuple[str, ...]:
        return read_correction(recorded, moment, text).faults

    if options.problem is not None:
        try:
            text: str | None = Path(options.problem).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            why = f"{getattr(error, 'strerror', None) or 'It is no text'}."
            raise UsageError(f"{options.problem} cannot be read", why, "Check --problem.") from error
    else:
        text = edit_text(str(moment.latest), faults, _about(recorded, moment, options.from_step))
    if text is None:
        raise UsageError(
            "Nothing was corrected", "The file was left as it was, or emptied.", "Leave --edit out to go on."
        )
    corrected = read_correction(recorded, moment, text)
    if corrected.faults:
        more = f" (and {len(corrected.faults) - 1} more)" if len(corrected.faults) > 1 else ""
        why = f"{corrected.faults[0]}{more}"
        raise UsageError(f"{options.problem} cannot be planned with", why, "Mend it and try again.")
    return corrected.problem


def _about(recorded: Recorded, moment: Moment, step: int) -> Iterator[str]:
    """What whoever edits the problem should see above it."""
    setting = recorded.episode.setting
    yield f"{setting.title}, seed {recorded.episode.seed}: the problem after step {step}."
    yield "Correct it, save, and leave the editor; the agent plans with it at once. Empty the file to give up."
    last = next((each for each in reversed(recorded.observed) if each.step <= step), None)
    if last is not None:
        yield f"The game's last answer{f' to {last.command}' if last.command else ''}:"
        yield last.read or last.text
    predicates = " ".join(str(each) for each in setting.domain.predicates)
    yield f"Predicates: {predicates}"
    for defect in check(setting.domain, moment.latest):
        yield f"Check: {defect.message}"
