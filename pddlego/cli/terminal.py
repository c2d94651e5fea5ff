"""Programs that fill the terminal, as commands start them."""

from __future__ import annotations

from pddlego.cli.exits import handle_sigterm, is_typed_at
from pddlego.display.app import App, run_app
from pddlego.display.console import Console
from pddlego.display.screens import MIN_HEIGHT, MIN_WIDTH
from pddlego.errors import UsageError


def is_terminal(console: Console) -> bool:
    """Whether input and output are a terminal."""
    return console.is_terminal and not console.is_dumb_terminal and is_typed_at()


def fill(app: App, console: Console) -> None:
    """Fill the terminal."""
    handle_sigterm()
    if console.width < MIN_WIDTH or console.height < MIN_HEIGHT:
        reason = f"It has {console.width} columns and {console.height} lines, and {MIN_WIDTH}x{MIN_HEIGHT} are needed."
        raise UsageError("The terminal is too small", reason, "Make it larger.")
    run_app(app, console)
