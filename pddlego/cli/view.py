"""`pddlego view`: runs and running episodes in a web browser."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from pddlego.cli.exits import ignores_keys
from pddlego.errors import UsageError
from pddlego.runs.folders import find_run, runs_folder


def command(
    runs: Annotated[
        str | None,
        typer.Argument(help="A folder with run folders, or a run (see show). Default: $PDDLEGO_RUNS or runs/."),
    ] = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port of 127.0.0.1; 0: any free one.")] = 0,
) -> None:
    """Show runs and running episodes in a web browser, on this machine only. Nothing is changed.

    The address holds a new secret each time. On another machine, forward the port: ssh -L 8000:127.0.0.1:8000.
    """
    root = find_run(runs) if runs else runs_folder()
    if not root.is_dir():
        reason = "It is a file." if root.exists() else "There is no such folder."
        raise UsageError(f"{root} is not a folder with runs", reason, "Name one, or play: pddlego play coin.")
    # Imported here, because `--help` needs neither.
    import asyncio
    from dataclasses import replace

    from pddlego.cli.browsing import sources
    from pddlego.display.console import UNICODE, Console
    from pddlego.display.live import LivePages
    from pddlego.util.private_server import PrivateServer

    console = Console()
    server = PrivateServer(port, LivePages(root, replace(sources(console), glyphs=UNICODE)).answer)
    stop = f"'kill {os.getpid()}': Ctrl-C (SIGINT) is ignored here" if ignores_keys() else "Ctrl-C"
    console.print(f"Runs in {root}: {server.address} (stop with {stop})", soft_wrap=True, highlight=False)
    asyncio.run(server.serve())
