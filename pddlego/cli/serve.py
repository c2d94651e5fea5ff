"""`pddlego serve`: a game as an OpenEnv server, for trainers."""

from __future__ import annotations

import os
from importlib.util import find_spec
from typing import Annotated, Literal

import typer

from pddlego.cli.options import COMPLETIONS
from pddlego.errors import UsageError

_LOOPBACK = ("127.0.0.1", "localhost", "::1")

_TOKEN = "PDDLEGO_SERVE_TOKEN"
"""The environment variable with the token that clients of a public server send."""

_Game = Annotated[str, typer.Argument(help="A game or setting.", autocompletion=COMPLETIONS["games"])]
_Mode = Annotated[str | None, typer.Option(help="What the model answers. Default: the game's first mode.")]
_Split = Annotated[Literal["train", "dev", "test"], typer.Option("--seeds", help="Split whose seeds may be played.")]
_Set = Annotated[list[str] | None, typer.Option("--set", help="An option of the game, as for play. Repeatable.")]
_Host = Annotated[str, typer.Option(help=f"Address to listen on; public ones need a token in {_TOKEN}.")]
_Port = Annotated[int, typer.Option(min=0, max=65535, help="Port; 0: any free one.")]
_Sessions = Annotated[int, typer.Option(min=1, max=10_000, help="Maximum number of sessions at once.")]
_Names = Annotated[
    list[str] | None, typer.Option("--name", help="Another host name of the server or its pages. Repeatable.")
]
_Idle = Annotated[float, typer.Option(min=1, help="Seconds without a message after which a session is closed.")]


def command(
    game: _Game,
    mode: _Mode = None,
    split: _Split = "train",
    options: _Set = None,
    host: _Host = "127.0.0.1",
    port: _Port = 8000,
    sessions: _Sessions = 128,
    idle: _Idle = 3600.0,
    names: _Names = None,
) -> None:
    """Serve a game as an OpenEnv environment, for TRL, verifiers and other trainers. Needs the extra openenv.

    A session plays one episode after another. Test seeds are refused without --seeds test.
    """
    if find_spec("openenv") is None:
        advice = "Install it: pip install '.[openenv]'."
        raise UsageError("The environment server is not installed", "Missing: openenv.", advice)
    token = os.environ.get(_TOKEN, "").strip()
    if host not in _LOOPBACK and not token:
        reason = f"On {host}, anyone who reaches this machine could play."
        raise UsageError("A public server needs a token", reason, f"Set {_TOKEN}, or listen on 127.0.0.1.")
    from pddlego.api.environment import Environment
    from pddlego.display.console import Console
    from pddlego.trainers.openenv import Served, ServerAccess, listen, make_app, serve_application

    game_options = tuple(options or ())
    with Environment(game, mode, split=split, set=game_options) as template, listen(host, port) as listening:
        access = ServerAccess((*_LOOPBACK, host, *map(str.lower, names or ())), token, public=host not in _LOOPBACK)
        app = make_app(Served(template, {"set": game_options}), sessions, idle, access)
        where = f"http://{host}:{listening.getsockname()[1]}"
        Console(stderr=True).print(f"{game} in mode {template.mode} at {where} (stop with Ctrl-C)")
        serve_application(app, listening)
