"""`pddlego play`: an evaluation of one cell, with somebody who looks."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pddlego.cli.interrupts import polite_kills
from pddlego.cli.watching import People, exit_code, make_overseer, make_person, parse_whats, play_watched
from pddlego.display.console import Console
from pddlego.display.lines import make_display
from pddlego.errors import UsageError
from pddlego.evaluation.config import resolve
from pddlego.evaluation.make import make_options
from pddlego.events import Limits
from pddlego.methods.registry import parse_mode, picture_of
from pddlego.runs.folders import fresh_folder
from pddlego.runs.manifest import CONFIRMED

NO_MODEL = "No model configured: playing with the built-in reader (rules, no language model)"


@dataclass(frozen=True)
class PlayOptions:
    """The arguments of `pddlego play` that an evaluation does not have, as typed.

    `max_calls` and `max_tokens` are limits of the episode: what has no endpoint counts, too. Where they are not typed,
    those of the configuration take their place, and stand as the budget of all that is sent, too.
    """

    config: str | None = None
    max_calls: int | None = None
    max_tokens: int | None = None
    pace: float = 0.4
    confirm: str = ""
    json_lines: bool = False


def run_play(flags: dict[str, Any], own: PlayOptions) -> int:
    """Play, show, record. Returns the exit code; raises `PddlegoError` for what goes wrong before the first event."""
    polite_kills()
    console = Console()
    resolved = resolve(flags, os.environ, Path(own.config) if own.config else None)
    config, origins = resolved.config, resolved.origins
    if len(config.models) > 1:
        why = f"Models are {', '.join(config.models)} (from: {origins['models']})."
        raise UsageError("One episode has one model", why, "Name one with --model, or use 'pddlego eval'.")
    if origins["base_url"] == "flag" and origins["models"] == "default":
        raise UsageError("--base-url needs a model", "None was named.", "Name one that the endpoint serves: --model.")
    mode = parse_mode(config.modes[0]).mode
    whats = parse_whats(own.confirm)
    options = make_options(resolved, somebody_types=True)
    if origins["models"] == "default" and mode.asks_model:
        Console(stderr=own.json_lines).print(NO_MODEL, style="dim", highlight=False, soft_wrap=True)
    calls = config.max_calls if own.max_calls is None else own.max_calls
    tokens = config.max_tokens if own.max_tokens is None else own.max_tokens
    limits = Limits(None, calls, tokens, config.max_seconds)
    options = replace(options, limits=limits, planners=1, workers=1)
    (cell,) = options.cells()
    picture = picture_of(options.played_in(cell).method_name)
    panels = options.played_in(cell).method.screen()
    display = make_display(
        console, own.pace, panels, picture.describe, json_lines=own.json_lines, lines=mode.needs_person
    )
    people = People(make_overseer(console, display, whats, mode), make_person(mode))
    path = fresh_folder(Path(config.runs), cell.label)
    ended = play_watched(options, path, {CONFIRMED: whats} if whats else {}, display, people)
    if not own.json_lines:
        console.print(f"The run is kept in {path}", style="dim", highlight=False, soft_wrap=True)
    return exit_code(ended)
