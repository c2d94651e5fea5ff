"""Draws what the display makes of events."""

from __future__ import annotations

import io

from rich.console import Console, RenderableType

from pddlego.display.screen import screen
from pddlego.display.text import UNICODE
from pddlego.display.view import View, fold
from pddlego.events import Event


def view_of(events: list[Event]) -> View:
    view = View()
    for number, event in enumerate(events):
        view = fold(view, event, number / 10)
    return view


def rendered(view: View, width: int, height: int, color: bool = False) -> str:
    return drawn(screen(view, width, height, 1.0, UNICODE), width, height, color)


def drawn(picture: RenderableType, width: int, height: int, color: bool = False) -> str:
    stream = io.StringIO()
    console = Console(
        file=stream, width=width, height=height, force_terminal=color, color_system="truecolor" if color else None
    )
    console.print(picture)
    return "\n".join(line.rstrip() for line in stream.getvalue().rstrip().split("\n"))
