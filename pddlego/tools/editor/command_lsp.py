"""`pddlego lsp`: a language server for editors over standard input and output."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Annotated

import typer

from pddlego.cli.exits import is_typed_at
from pddlego.errors import UsageError

_Seconds = Annotated[float, typer.Option("--timeout", min=0.1, max=3600, help="Most seconds for each plan.")]
_Memory = Annotated[int, typer.Option("--memory", min=256, help="Memory for each process in MiB.")]


def command(timeout: _Seconds = 60.0, memory: _Memory = 4096) -> None:
    """Serve check, repair and solve to editors as you type, over standard input and output.

    Editors start this command themselves: see the documentation for their configuration. Needs the extra lsp.
    """
    if find_spec("pygls") is None:
        what = "The language server is not installed"
        raise UsageError(what, "Missing: pygls.", "Install it: pip install '.[lsp]'.")
    if is_typed_at():
        what = "The language server cannot start: its input is a terminal"
        raise UsageError(what, "An editor starts it.", "Enter 'pddlego lsp' in your editor's settings.")
    from pddlego.tools.editor.server import serve_editor

    serve_editor(timeout, memory)
