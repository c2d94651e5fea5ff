"""`pddlego mcp`: a tool server for agents over standard input and output (Model Context Protocol)."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Annotated

import typer

from pddlego.errors import UsageError

_Seconds = Annotated[float, typer.Option("--timeout", min=0.1, max=3600, help="Most seconds for each call.")]
_Memory = Annotated[int, typer.Option("--memory", min=256, help="Memory for each call in MiB.")]


def command(timeout: _Seconds = 60.0, memory: _Memory = 4096) -> None:
    """Serve check, repair, solve, validate, compare and simulate to agents, over standard input and output.

    Agents start this command themselves: see the documentation for their configuration. Needs the extra mcp.
    """
    if find_spec("mcp") is None:
        raise UsageError("The tool server is not installed", "Missing: mcp.", "Install it: pip install '.[mcp]'.")
    from pddlego.tools.mcp.server import serve_tools

    serve_tools(timeout, memory)
