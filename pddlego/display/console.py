"""The console, and the characters with which screens are drawn."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import IO

import rich.console
from rich.console import ConsoleDimensions, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.style import Style

from pddlego.util.text import clean

_PIPE_WIDTH = 1000
"""The width for pipes, files and plain lines, so that no line is cut or wrapped; COLUMNS overrides it."""


PLAIN = "PDDLEGO_PLAIN"
"""The environment variable that `--plain` sets: lines without colours in place of screens."""


class Console(rich.console.Console):
    """A console that prints text as data: brackets are not markup, and control characters are removed.

    A broken pipe raises `BrokenPipeError`; the console of rich would end the process. Colours are replaced by shades
    that can be read on black and on white: each has a contrast of at least 4.5 to 1 with both.
    """

    def __init__(self, stderr: bool = False, file: IO[str] | None = None) -> None:
        super().__init__(stderr=stderr, file=file, markup=False, highlight=False, emoji=False)
        if not self.is_terminal or self.is_dumb_terminal:  # without a height, rich ignores the width of a dumb terminal
            self.size = ConsoleDimensions(self._width or _PIPE_WIDTH, self._height or 25)

    @property
    def is_dumb_terminal(self) -> bool:
        """Whether lines are printed in place of screens: the terminal is dumb, or the user wants plain lines."""
        return super().is_dumb_terminal or bool(os.environ.get(PLAIN))

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """The segments of a renderable, with their texts cleaned."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(clean(segment.text), segment.style)

    def get_style(self, name: str | Style, *, default: Style | str | None = None) -> Style:
        """The style of this name, with readable shades of the basic colours and of dim text."""
        style = super().get_style(name, default=default)
        shade = SHADES.get("dim" if style.dim else style.color.name if style.color else "")
        return style + Style(color=shade, dim=False) if shade else style

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


SHADES = {
    "red": "#ee0000",
    "green": "#008a00",
    "yellow": "#a06a00",
    "cyan": "#008484",
    "magenta": "#d000d0",
    "dim": "#767676",
}
"""Shades of the basic colours, which terminals show too light or too dark, and of dim text."""


@dataclass(frozen=True)
class Glyphs:
    """The characters with which screens mark states and changes, and draw maps and bars."""

    here: str = "●"  # the room of the player on the map
    unknown: str = "?"  # a room that the player has not visited
    thing: str = "◆"  # a room that contains things
    across: str = "─"  # a way to the east or west on the map; a unit of a bar
    across_door: str = "╫"  # a closed door in such a way
    down: str = "│"  # a way to the north or south
    down_door: str = "╪"  # a closed door in such a way
    current: str = "▶"  # the goal that the plan reaches; the next action of the plan
    failed: str = "✗"
    done: str = "✓"
    dot: str = "·"  # a separator; something that is not done yet
    added: str = "+"
    removed: str = "−"
    arrow: str = "→"  # from an old name to a new one, or from a command to its response


UNICODE = Glyphs()
ASCII = Glyphs(
    here="@",
    thing="*",
    across="-",
    across_door="#",
    down="|",
    down_door="#",
    current=">",
    failed="x",
    done="v",
    dot="-",
    removed="-",
    arrow="->",
)


def glyphs_for(encoding: str) -> Glyphs:
    """The glyphs that an output with this encoding can show."""
    return UNICODE if encoding.lower().replace("-", "").startswith("utf") else ASCII
