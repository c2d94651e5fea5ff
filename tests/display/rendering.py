"""Draws what the display makes of events."""

from __future__ import annotations

import io

from rich.console import Console, RenderableType

from pddlego.display.console import UNICODE, Glyphs
from pddlego.display.rows import cleaned
from pddlego.display.screens import Canvas
from pddlego.episode.events import Event
from pddlego.episode.trace import Trace
from pddlego.methods.registry import screen_of

SCREEN = screen_of("textgames")


def shown(events: list[Event]) -> Trace:
    """The trace of these events as the display has it: a tenth of a second apart, with clean texts."""
    return Trace((cleaned(event), number / 10) for number, event in enumerate(events))


def rendered(trace: Trace, width: int, height: int, color: bool = False, now: float = 1.0) -> str:
    return drawn(SCREEN.draw(trace, Canvas(width, height, now, UNICODE)), width, height, color)


def screen_lines(method: str, trace: Trace, width: int, height: int, glyphs: Glyphs = UNICODE) -> list[str]:
    """The lines of the screen of a method, without colours."""
    picture = screen_of(method).draw(trace, Canvas(width, height, trace.seconds, glyphs))
    console = Console(file=io.StringIO(), width=width, height=height, force_terminal=False)
    console.print(picture)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue().splitlines()


def prefixes(events: list[Event]) -> list[Trace]:
    """The episode at each of its moments."""
    trace = shown(events)
    return [trace.until(end) for end in range(len(events) + 1)]


def assert_fits(method: str, events: list[Event]) -> None:
    """The screen of a method fits into every size of a terminal at each moment, and holds no control sequence."""
    for trace in prefixes(events):
        for width, height in ((72, 18), (80, 22), (109, 30), (110, 30), (200, 42)):
            lines = screen_lines(method, trace, width, height)
            assert len(lines) <= height and max(map(len, lines)) <= width, (width, height)
            assert "\x1b[2J" not in "".join(lines)


def drawn(picture: RenderableType, width: int, height: int, color: bool = False) -> str:
    stream = io.StringIO()
    console = Console(
        file=stream, width=width, height=height, force_terminal=color, color_system="truecolor" if color else None
    )
    console.print(picture)
    return "\n".join(line.rstrip() for line in stream.getvalue().rstrip().split("\n"))
