"""Draws what the display makes of events."""

from __future__ import annotations

import io

from rich.console import Console, RenderableType

from pddlego.display.console import UNICODE
from pddlego.display.frames import Timeline
from pddlego.display.screens import whole
from pddlego.episode.events import Event
from pddlego.methods.registry import renderer_of
from pddlego.methods.textgames.screen.view import GameView, fold

PICTURE = renderer_of("textgames")


def view_of(events: list[Event]) -> GameView:
    view = GameView()
    for number, event in enumerate(events):
        view = fold(view, event, number / 10)
    return view


def film_of(events: list[Event]) -> Timeline:
    film = PICTURE.film()
    film.add((event, number / 10) for number, event in enumerate(events))
    return film


def rendered(view: GameView, width: int, height: int, color: bool = False, now: float = 1.0) -> str:
    return drawn(whole(PICTURE.screen, view, width, height, now, UNICODE), width, height, color)


def drawn(picture: RenderableType, width: int, height: int, color: bool = False) -> str:
    stream = io.StringIO()
    console = Console(
        file=stream, width=width, height=height, force_terminal=color, color_system="truecolor" if color else None
    )
    console.print(picture)
    return "\n".join(line.rstrip() for line in stream.getvalue().rstrip().split("\n"))
