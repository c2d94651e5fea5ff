"""The console, on which text is never markup, and the characters that screens are drawn with."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import IO

import rich.console
from rich.console import ConsoleOptions, RenderableType
from rich.segment import Segment

from pddlego.util.text import clean

_WIDE_ENOUGH = 1000
"""Columns of a pipe or a file: nothing is cut or broken into lines there, unless COLUMNS says so."""


class Console(rich.console.Console):
    """A console on which text is data: nothing in it is markup or a control sequence.

    Brackets are not markup, and control characters are removed from what is drawn. The caller decides what a broken
    pipe means; rich would end the process.
    """

    def __init__(self, stderr: bool = False, file: IO[str] | None = None) -> None:
        super().__init__(stderr=stderr, file=file, markup=False, highlight=False, emoji=False)
        if not self.is_terminal and not os.environ.get("COLUMNS"):
            self.width = _WIDE_ENOUGH

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """The segments of what is drawn, cleaned."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(clean(segment.text), segment.style)

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


@dataclass(frozen=True)
class Glyphs:
    """Characters of the display."""

    here: str = "●"
    unknown: str = "?"
    thing: str = "◆"
    across: str = "─"
    across_door: str = "╫"
    down: str = "│"
    down_door: str = "╪"
    used: str = "▶"
    failed: str = "✗"
    done: str = "✓"
    dot: str = "·"
    added: str = "+"
    removed: str = "−"
    arrow: str = "→"


UNICODE = Glyphs()
ASCII = Glyphs(
    here="@",
    unknown="?",
    thing="*",
    across="-",
    across_door="#",
    down="|",
    down_door="#",
    used=">",
    failed="x",
    done="v",
    dot="-",
    added="+",
    removed="-",
    arrow="->",
)


def glyphs_for(encoding: str) -> Glyphs:
    """The signs that an output of this encoding can show."""
    return UNICODE if encoding.lower().replace("-", "").startswith("utf") else ASCII
