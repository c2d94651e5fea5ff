"""`pddlego play`: plays one episode with a live display."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from pddlego.cli.exits import handle_sigterm
from pddlego.cli.options import (
    COMPLETIONS,
    MODEL,
    OUTPUT,
    WHAT,
    ConfigFile,
    Confirm,
    HelpAll,
    Pace,
    options_typed,
    refuse_unread,
    with_options,
)
from pddlego.errors import UsageError
from pddlego.evaluation.config import DEFAULT, FLAG, groups, resolve
from pddlego.methods.registry import chosen_mode, parse_mode

if TYPE_CHECKING:
    from pddlego.evaluation.setup import Setup

_GameOption = Annotated[
    str, typer.Argument(help="A game or setting (see 'pddlego games').", autocompletion=COMPLETIONS["games"])
]
_PlayMode = Annotated[
    str | None,
    typer.Option(
        "--mode",
        help="What the model writes (default: the game's first mode).",
        rich_help_panel=WHAT,
        autocompletion=COMPLETIONS["modes"],
    ),
]
_Seed = Annotated[int, typer.Option(help="Seed of the game.", rich_help_panel=WHAT)]
_ModelName = Annotated[
    str | None,
    typer.Option(
        "--model",
        help="Model name, reader, reader+noise:P, local:FILE.gguf or transcript:FILE.",
        rich_help_panel=MODEL,
        autocompletion=COMPLETIONS["models"],
    ),
]
_Format = Annotated[
    Literal["text", "json"],
    typer.Option("--format", help="text, or json: each event as a line.", rich_help_panel=OUTPUT),
]

_NO_MODEL = "No model configured: playing with the built-in reader (rules, no language model)"

_FIXED = ("games", "modes", "ablate", "models", "seeds", "repeats", "workers", "llm_jobs", "executor", "address")
"""Options of an evaluation that one episode sets itself or does not need."""


@with_options(groups().values(), without=(*_FIXED, "carry", "run", "max_cost", "prices"))
def command(
    flags: dict[str, Any],
    context: typer.Context,
    game: _GameOption,
    mode: _PlayMode = None,
    seed: _Seed = 0,
    model: _ModelName = None,
    config: ConfigFile = None,
    pace: Pace = 0.4,
    confirm: Confirm = None,
    form: _Format = "text",
    help_all: HelpAll = False,
) -> None:
    """Play one episode and watch it.

    Exit code: 0 won, 1 not won, 2 wrong usage, 3 the model or the engine failed, 130 interrupted.
    """
    from pddlego.cli.watching import prepare
    from pddlego.display.console import Console
    from pddlego.evaluation.prepare import make_setup

    handle_sigterm()
    refuse_unread(options_typed(context), form, {"--pace": ("text",), "--confirm": ("text",)})
    if mode:
        chosen_mode(mode, game)
    flags |= {"games": (game,), "seeds": str(seed), "repeats": 1, "ablate": ()} | ({"modes": (mode,)} if mode else {})
    flags |= {"executor": "threads", "workers": 1, "carry": False}
    if model is not None:
        flags["models"] = (model,)
    resolved = resolve(flags, os.environ, Path(config) if config else None)
    if resolved.origin("base_url") == FLAG and resolved.origin("models") == DEFAULT:
        raise UsageError("--base-url needs a model", "None was named.", "Name one that the endpoint serves: --model.")
    setup = _one_episode(make_setup(resolved, has_person=True))
    live = prepare(Console(), setup, confirm or "", pace, form == "json")
    if resolved.origin("models") == DEFAULT and parse_mode(live.cell.mode).mode.asks_model:
        Console(stderr=form == "json").print(_NO_MODEL, style="dim", soft_wrap=True)
    raise typer.Exit(live.play(setup, Path(setup.config.run.runs), live.cell.label, {}))


def _one_episode(setup: Setup) -> Setup:
    """A setup whose limits of calls, tokens and seconds apply to the episode, also if its model has no endpoint."""
    from pddlego.episode.events import Limits
    from pddlego.models.limiter import Spending

    limits = setup.config.limits
    return replace(
        setup,
        limits=Limits(None, limits.max_calls, limits.max_tokens, limits.max_seconds),
        budget=Spending(cost=limits.max_cost),
        planners=1,
    )
