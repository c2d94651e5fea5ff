"""The one way to the terminal: text is data on it."""

from __future__ import annotations

import os
from collections.abc import Iterable

import rich.console
from rich.console import ConsoleOptions, RenderableType
from rich.segment import Segment

from pddlego.util.text import clean

WIDE_ENOUGH = 1000
"""Columns of a pipe or a file: nothing is cut or broken into lines there, unless COLUMNS says so."""


class Console(rich.console.Console):
    """The one way to the terminal: text is data on it, and nothing that it says can steer it.

    Brackets are no markup, and control characters are cleaned from whatever is drawn. It leaves it to us what a broken
    pipe means; rich would end the process.
    """

    def __init__(self, stderr: bool = False) -> None:
        super().__init__(stderr=stderr, markup=False, highlight=False, emoji=False)
        if not self.is_terminal and not os.environ.get("COLUMNS"):
            self.width = WIDE_ENOUGH

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """The segments of what is drawn, cleaned."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(clean(segment.text), segment.style)

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError
