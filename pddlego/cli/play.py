"""`pddlego play`: builds what is played from the arguments and shows it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from pddlego.cli.interrupts import ignore_interrupts, is_typed_at, polite_kills
from pddlego.cli.main import EXIT_BROKEN, EXIT_INTERRUPTED, EXIT_NOT_WON, EXIT_WON, silence_output
from pddlego.display.live import Console, Display, LineDisplay, LiveDisplay, make_display
from pddlego.display.text import glyphs_for
from pddlego.episode import Episode
from pddlego.episodes import (
    Listener,
    check_ladder,
    check_reader,
    episode_events,
    follow,
    make_game,
    make_planner,
    open_run,
)
from pddlego.errors import UsageError
from pddlego.events import EpisodeEnded, Event, Limits, Outcome
from pddlego.formalize.human import Person
from pddlego.journal import JournalWriter
from pddlego.models import Model
from pddlego.models.base import CacheUse
from pddlego.models.make import ModelOptions, make_model, prepare_cache
from pddlego.models.reader import ReaderModel
from pddlego.modes import parse_mode
from pddlego.oversight import WHATS, Overseer, What
from pddlego.setting_files import load_setting, parse_overrides

WITHOUT_MODEL = ("random", "human")
"""Modes that ask no model."""

NO_MODEL = "No model configured: playing with the built-in reader (rules, no language model)"


@dataclass(frozen=True)
class PlayOptions:
    """The arguments of `pddlego play`, as typed."""

    game: str
    mode: str
    seed: int
    model: str | None
    base_url: str | None
    temperature: float
    cache: CacheUse
    model_timeout: float
    overrides: tuple[str, ...]
    fold: str | None
    max_steps: int | None
    max_calls: int | None
    max_tokens: int | None
    max_seconds: float | None
    max_answer_tokens: int | None
    retries: int
    replan: str
    search: str | None
    planner: str
    planner_timeout: float
    planner_memory: int
    runs: str
    pace: float
    java: str | None
    json_lines: bool
    confirm: tuple[What, ...] = ()


def run_play(options: PlayOptions) -> int:
    """Play, show, record. Returns the exit code; raises `PddlegoError` for what goes wrong before the first event."""
    polite_kills()
    console = Console()
    if options.model is None and options.mode not in WITHOUT_MODEL:
        Console(stderr=options.json_lines).print(NO_MODEL, style="dim", highlight=False, soft_wrap=True)
    episode = _episode(options)
    model = _model(options)
    if isinstance(model, ReaderModel):
        check_reader(episode.setting, options.mode)
    with make_planner(options.planner, options.planner_timeout, options.planner_memory) as planner:
        game = make_game(episode.setting, episode.seed, options.java)
        check_ladder(episode.setting, planner)
        display = make_display(console, options.pace, options.json_lines, lines=options.mode == "human")
        overseer = make_overseer(console, display, options.confirm, options.mode)
        person = make_person(options.mode)
        events = episode_events(episode, game, model, planner, overseer, person=person)
        run, journal = open_run(Path(options.runs), episode, model, planner)
        ended = watched(events, journal, display)
    if not options.json_lines:
        console.print(f"The run is kept in {run.path}", style="dim", highlight=False, soft_wrap=True)
    return exit_code(ended)


def watched(events: Iterator[Event], journal: JournalWriter, display: Display) -> EpisodeEnded:
    """Play to the end, with a journal and somebody who looks."""
    try:
        with display:
            return follow(events, [_calm_at_the_end, journal.write, _until_nobody_looks(display)])
    finally:
        journal.close()


def make_overseer(console: Console, display: Display, whats: tuple[What, ...], mode: str) -> Overseer | None:
    """Who is asked before things take effect. Raises `UsageError` where nobody can be asked."""
    if not whats:
        return None
    if mode == "human":
        raise UsageError("There is nothing to confirm", "You type the commands yourself.", "Leave --confirm out.")
    if not parse_mode(mode).plans and set(whats) - {"commands"}:
        why = f"Mode {mode} has only commands."
        raise UsageError(f"There is nothing to confirm: {', '.join(whats)}", why, "Use --confirm commands.")
    if not isinstance(display, (LiveDisplay, LineDisplay)) or not (console.is_terminal and is_typed_at()):
        why = "Input and output are no terminal, or --json was given."
        raise UsageError("--confirm needs a terminal", why, "Leave it out, or play in a terminal.")
    from pddlego.display.person import AskingOverseer

    return AskingOverseer(display, whats, glyphs_for(console.encoding), lambda: console.width)


def make_person(mode: str) -> Person | None:
    """Who types in mode human."""
    if mode != "human":
        return None
    from pddlego.display.person import TypingPerson

    return TypingPerson()


def parse_whats(text: str | None) -> tuple[What, ...]:
    """`edits,plans` as what to confirm. Raises `UsageError`."""
    asked = [each.strip() for each in (text or "").split(",") if each.strip()]
    unknown = [each for each in asked if each not in WHATS]
    if unknown:
        why = f"It may be: {', '.join(WHATS)}, several with commas."
        raise UsageError(f"--confirm {unknown[0]} is not possible", why, "Choose one.")
    return tuple(each for each in WHATS if each in asked)


def parse_cache(text: str) -> CacheUse:
    """How the cache is used. Raises `UsageError`."""
    for each in get_args(CacheUse):
        if each == text:
            found: CacheUse = each
            return found
    raise UsageError(f"--cache {text} is not possible", "It is off, use or refresh.", "Choose one.")


def _calm_at_the_end(event: Event, seconds: float) -> None:
    """After the end a further interrupt has nothing to interrupt, and closing must not be cut short."""
    if isinstance(event, EpisodeEnded):
        ignore_interrupts()


def _until_nobody_looks(display: Display) -> Listener:
    """Shows events; when the reader of our pipe is gone, that is an interrupt, and nothing more is shown."""
    gone = False

    def show(event: Event, seconds: float) -> None:
        nonlocal gone
        if gone:
            return
        try:
            display.show(event, seconds)
        except BrokenPipeError:
            gone = True
            silence_output()
            raise KeyboardInterrupt from None

    return show


def exit_code(ended: EpisodeEnded) -> int:
    """0 won, 1 played and not won, 3 model or engine error, 130 interrupted."""
    if ended.outcome is Outcome.WON:
        return EXIT_WON
    if ended.outcome in (Outcome.MODEL_ERROR, Outcome.CRASHED):
        return EXIT_BROKEN
    return EXIT_INTERRUPTED if ended.outcome is Outcome.INTERRUPTED else EXIT_NOT_WON


def _model(options: PlayOptions) -> Model:
    key = os.environ.get("OPENAI_API_KEY")
    name = "none" if options.mode in WITHOUT_MODEL else options.model or "reader"
    prepare_cache(options.cache)
    return make_model(
        ModelOptions(
            name=name,
            base_url=options.base_url,
            api_key=key,
            temperature=options.temperature,
            seed=options.seed,
            timeout=options.model_timeout,
            max_tokens=options.max_answer_tokens,
            cache=options.cache,
        )
    )


def _episode(options: PlayOptions) -> Episode:
    if options.replan not in ("on-surprise", "every-step"):
        raise UsageError(
            f"--replan {options.replan} is not possible", "It is on-surprise or every-step.", "Choose one."
        )
    overrides = parse_overrides(options.overrides)
    setting = load_setting(options.game, overrides, options.max_steps, options.fold, options.search)
    setting.check_seed(options.seed)
    limits = Limits(setting.max_steps, options.max_calls, options.max_tokens, options.max_seconds)
    mode = str(parse_mode(options.mode))
    return Episode(setting, options.seed, mode, limits, options.retries, options.replan == "every-step")
