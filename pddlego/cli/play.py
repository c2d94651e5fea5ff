"""`pddlego play`: builds what is played from the arguments and shows it."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from pddlego.cli.main import EXIT_BROKEN, EXIT_INTERRUPTED, EXIT_NOT_WON, EXIT_WON
from pddlego.display.live import make_display
from pddlego.errors import UsageError
from pddlego.events import EpisodeEnded, Limits, Outcome
from pddlego.journal import find_episode, read_episode
from pddlego.models import Model
from pddlego.planning import ENGINES, Planner, ProcessPlanner
from pddlego.play import MODES, Episode, episode_events, follow, make_game, open_run
from pddlego.setting_files import load_setting, parse_overrides

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
    model_timeout: float
    overrides: tuple[str, ...]
    fold: str | None
    max_steps: int | None
    max_calls: int | None
    max_tokens: int | None
    max_seconds: float | None
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


def run_play(options: PlayOptions) -> int:
    """Play, show, record. Returns the exit code; raises `PddlegoError` for what goes wrong before the first event."""
    # A polite kill is an interrupt: the episode ends properly and the terminal is left as it was.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    console = Console()
    if options.model is None and options.mode != "random":
        Console(stderr=options.json_lines).print(NO_MODEL, style="dim", highlight=False, soft_wrap=True)
    episode = _episode(options)
    model = make_model(options)
    with _planner(options) as planner:
        game = make_game(episode.setting, episode.seed, options.java)
        run, journal = open_run(Path(options.runs), episode, model, planner)
        events = episode_events(episode, game, model, planner)
        try:
            with make_display(console, options.pace, options.json_lines) as display:
                ended = follow(events, [journal.write, display.show])
        finally:
            journal.close()
    if not options.json_lines:
        console.print(f"The run is kept in {run.path}", style="dim", highlight=False, soft_wrap=True)
    return exit_code(ended)


def exit_code(ended: EpisodeEnded) -> int:
    """0 won, 1 played and not won, 3 model or engine error, 130 interrupted."""
    if ended.outcome is Outcome.WON:
        return EXIT_WON
    if ended.outcome in (Outcome.MODEL_ERROR, Outcome.CRASHED):
        return EXIT_BROKEN
    return EXIT_INTERRUPTED if ended.outcome is Outcome.INTERRUPTED else EXIT_NOT_WON


def make_model(options: PlayOptions) -> Model:
    """The model that the arguments and the environment name; the built-in reader if they name none."""
    name = options.model or "reader"
    if name == "reader":
        from pddlego.models.reader import ReaderModel

        return ReaderModel()
    if name.startswith("transcript:"):
        from pddlego.models.transcript import TranscriptModel

        path = find_episode(Path(name.partition(":")[2]))
        return TranscriptModel(read_episode(path).calls(), str(path))
    key = os.environ.get("OPENAI_API_KEY")
    if not key and not options.base_url:
        raise UsageError(
            f"There is no key for the model {name}",
            "OPENAI_API_KEY is not set, and no --base-url names another endpoint.",
            "Set OPENAI_API_KEY, give --base-url, or play with --model reader.",
        )
    from pddlego.models.openai import OpenAIModel

    return OpenAIModel(name, key, options.base_url, options.temperature, options.seed, options.model_timeout)


def _episode(options: PlayOptions) -> Episode:
    if options.mode not in MODES:
        listed = ", ".join(MODES)
        raise UsageError(f"There is no mode '{options.mode}'", f"The modes are: {listed}.", "Choose one with --mode.")
    if options.replan not in ("on-surprise", "every-step"):
        raise UsageError(
            f"--replan {options.replan} is not possible", "It is on-surprise or every-step.", "Choose one."
        )
    overrides = parse_overrides(options.overrides)
    setting = load_setting(options.game, overrides, options.max_steps, options.fold, options.search)
    setting.check_seed(options.seed)
    limits = Limits(setting.max_steps, options.max_calls, options.max_tokens, options.max_seconds)
    return Episode(setting, options.seed, options.mode, limits, options.retries, options.replan == "every-step")


@contextmanager
def _planner(options: PlayOptions) -> Iterator[Planner]:
    if options.planner not in ENGINES:
        listed = ", ".join(ENGINES)
        raise UsageError(f"There is no planner '{options.planner}'", f"The planners are: {listed}.", "Choose one.")
    if options.planner == "fast-downward":
        _need_unified_planning()
    planner = ProcessPlanner(options.planner, options.planner_timeout, options.planner_memory)
    try:
        yield planner
    finally:
        planner.close()


def _need_unified_planning() -> None:
    from importlib.util import find_spec

    missing = [name for name in ("unified_planning", "up_fast_downward") if find_spec(name) is None]
    if missing:
        raise UsageError(
            "The planner fast-downward is not installed",
            f"Missing: {', '.join(missing)}.",
            "Run: pip install 'pddlego[fast-downward]'.",
        )
