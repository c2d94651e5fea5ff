"""`pddlego play`: an evaluation of one cell, shown live."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pddlego.cli.exits import handle_sigterm
from pddlego.cli.options import COMPLETIONS, MODEL, OUTPUT, WHAT, ConfigFile, Confirm, Pace, with_options
from pddlego.errors import UsageError
from pddlego.evaluation.config import DEFAULT, FLAG, Resolved, groups, resolve
from pddlego.methods.registry import parse_mode
from pddlego.runs.folders import CONFIRMED, fresh_folder

if TYPE_CHECKING:
    from pddlego.evaluation.setup import Setup

GameOption = Annotated[
    str, typer.Argument(help="A game or setting (see 'pddlego games').", autocompletion=COMPLETIONS["games"])
]
PlayMode = Annotated[
    str | None,
    typer.Option(
        "--mode",
        help="What the model writes (default: the game's first mode).",
        rich_help_panel=WHAT,
        autocompletion=COMPLETIONS["modes"],
    ),
]
Seed = Annotated[int, typer.Option(help="Seed of the game.", rich_help_panel=WHAT)]
ModelName = Annotated[
    str | None,
    typer.Option(
        "--model",
        help="Model name, reader, reader+noise:P or transcript:FILE.",
        rich_help_panel=MODEL,
        autocompletion=COMPLETIONS["models"],
    ),
]
JsonLines = Annotated[bool, typer.Option("--json", help="Print events as JSON lines.", rich_help_panel=OUTPUT)]

NO_MODEL = "No model configured: playing with the built-in reader (rules, no language model)"

_FIXED = ("games", "modes", "ablate", "models", "seeds", "repeats", "workers", "llm_jobs", "executor", "address")
"""Options of an evaluation that one episode does not have."""


@with_options(groups().values(), without=(*_FIXED, "carry", "run", "max_cost", "prices"))
def command(
    flags: dict[str, Any],
    game: GameOption,
    mode: PlayMode = None,
    seed: Seed = 0,
    model: ModelName = None,
    config: ConfigFile = None,
    pace: Pace = 0.4,
    confirm: Confirm = None,
    json_lines: JsonLines = False,
) -> None:
    """Play one episode and watch it.

    Exit code: 0 won, 1 not won, 2 wrong usage, 3 the model or the engine failed, 130 interrupted.
    """
    from pddlego.cli.watching import exit_code, make_approver, make_person, parse_whats, play_watched
    from pddlego.display.console import Console
    from pddlego.display.lines import make_display
    from pddlego.evaluation.setup import make_setup, one_cell

    handle_sigterm()
    if mode:
        parse_mode(mode)
    flags |= {"games": (game,), "seeds": str(seed), "repeats": 1, "ablate": ()} | ({"modes": (mode,)} if mode else {})
    flags |= {"executor": "threads", "workers": 1, "carry": False}
    if model is not None:
        flags["models"] = (model,)
    resolved = resolve(flags, os.environ, Path(config) if config else None)
    _check_model(resolved)
    kinds = parse_whats(confirm or "")
    setup = _one_episode(make_setup(resolved, somebody_types=True))
    cell = one_cell(setup)
    chosen = parse_mode(cell.mode).mode
    console = Console()
    if resolved.origin("models") == DEFAULT and chosen.asks_model:
        Console(stderr=json_lines).print(NO_MODEL, style="dim", highlight=False, soft_wrap=True)
    played = setup.played_in(cell)
    display = make_display(console, pace, played.method.screen, json_lines=json_lines, lines=chosen.needs_person)
    approver = make_approver(console, display, kinds, chosen)
    path = fresh_folder(Path(setup.config.run.runs), cell.label)
    about = {CONFIRMED: kinds} if kinds else {}
    ended = play_watched(setup, path, about, display, approver=approver, person=make_person(chosen))
    if not json_lines:
        console.print(f"Saved in {path}", style="dim", highlight=False, soft_wrap=True)
    raise typer.Exit(exit_code(ended))


def _check_model(resolved: Resolved) -> None:
    """Raises `UsageError` for an endpoint without a model."""
    if resolved.origin("base_url") == FLAG and resolved.origin("models") == DEFAULT:
        raise UsageError("--base-url needs a model", "None was named.", "Name one that the endpoint serves: --model.")


def _one_episode(setup: Setup) -> Setup:
    """The limits of calls and tokens are those of the episode: a model without an endpoint counts, too."""
    from pddlego.episode.events import Limits
    from pddlego.models.limiter import Spending

    limits = setup.config.limits
    return replace(
        setup,
        limits=Limits(None, limits.max_calls, limits.max_tokens, limits.max_seconds),
        budget=Spending(cost=limits.max_cost),
        planners=1,
    )
