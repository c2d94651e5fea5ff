"""A program that fills the terminal: it draws a picture, reads keys, and leaves everything as it was."""

from __future__ import annotations

from typing import Protocol

import rich.console
from rich.console import RenderableType
from rich.live import Live
from rich.text import Text

from pddlego.display.keys import Keyboard
from pddlego.display.screens import MIN_HEIGHT, MIN_WIDTH, is_large

INTERVAL = 0.25
"""Seconds between two looks at what is shown."""


class App(Protocol):
    """What fills the terminal."""

    def picture(self, width: int, height: int) -> RenderableType:
        """The whole screen, from the state and nothing else."""

    def press(self, key: str) -> bool:
        """Take in a key. Whether to go on."""

    def tick(self) -> bool:
        """Look whether something has happened. Whether to draw again."""


TOO_SMALL = f"At least {MIN_WIDTH}x{MIN_HEIGHT} are needed. q: quit"


def run_app(app: App, console: rich.console.Console) -> None:
    """Run until it says that it is enough, or Ctrl-C. Draws only what has changed."""
    with Keyboard() as keyboard, Live(console=console, screen=True, auto_refresh=False) as live:
        drawn: tuple[int, int] | None = None
        changed = True
        while True:
            size = console.size
            if changed or size != drawn:
                live.update(app.picture(*size) if is_large(*size) else Text(TOO_SMALL), refresh=True)
                drawn = size
            try:
                pressed = keyboard.read(INTERVAL)
            except EOFError:
                return
            for key in pressed:
                if key == "c-c" or not app.press(key):
                    return
            changed = app.tick() or bool(pressed)
