"""Shows an episode while it runs: plain lines on a pipe, JSON lines for programs; and which display suits an output."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO

import rich.console
from rich.console import RenderableType

from pddlego.display.description import Describer
from pddlego.display.glyphs import Glyphs, glyphs_for
from pddlego.display.heading import meter, result_line
from pddlego.display.live import Display, LiveDisplay
from pddlego.display.screens import Screen, is_large
from pddlego.display.view import View, cleaned, fold_common
from pddlego.events import Ended, Event
from pddlego.runs.codec import dump_line
from pddlego.util.text import clean

SILENCE = 10.0
"""Seconds without a line after which the next event gets one, also if it usually has none."""


class LineDisplay(Display):
    """One line or a few for each event, for pipes, logs and narrow terminals. Colour only where the console has it."""

    def __init__(self, console: rich.console.Console, describe: Describer) -> None:
        self._console, self._describe = console, describe
        self._glyphs = glyphs_for(console.encoding)
        self._view = View()
        self._previewed: tuple[Event, ...] = ()
        self._printed = 0.0

    def ask(self, question: RenderableType | None, preview: tuple[Event, ...] = ()) -> None:
        """Print what will be when it is accepted, and the question."""
        for event in preview if preview != self._previewed else ():
            self._print(event, fold_common(self._view, cleaned(event), self._view.seconds))
        self._previewed = preview or self._previewed
        if question is not None:
            self._console.print(question)

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Nothing is drawn here that could be in the way."""
        yield

    def show(self, event: Event, seconds: float) -> None:
        self._view = fold_common(self._view, cleaned(event), seconds)
        if event not in self._previewed:  # else it was told with the question
            self._print(event, self._view)

    def _print(self, event: Event, view: View) -> None:
        lines = list(event_lines(event, view, self._describe, self._glyphs))
        if not lines and view.seconds - self._printed >= SILENCE:
            title = self._describe(cleaned(event), self._glyphs).title
            lines = [(clean(title.text), title.style)] if title.text else []
        self._printed = view.seconds if lines else self._printed
        for line, style in lines:
            self._console.print(
                line, style=style, markup=False, highlight=False, soft_wrap=not self._console.is_terminal
            )


class JsonDisplay(Display):
    """Every event as one line of JSON, as in the journal."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stdout

    def show(self, event: Event, seconds: float) -> None:
        self._stream.write(dump_line(event, seconds))
        self._stream.flush()


def event_lines(event: Event, view: View, describe: Describer, glyphs: Glyphs) -> Iterator[tuple[str, str]]:
    """An event as lines of text, each with its style."""
    if isinstance(event, Ended):
        yield result_line(view).plain, "bold"
        yield f"     {meter(view, event.tally.seconds, glyphs)}", "dim"
    for line in describe(cleaned(event), glyphs).brief:
        yield clean(line.text), line.style


def make_display(
    console: rich.console.Console,
    pace: float,
    screen: Screen[Any] | None,
    describe: Describer,
    json_lines: bool = False,
    lines: bool = False,
) -> Display:
    """The display that suits the output: `json_lines` wins, then panels if the terminal is large enough, else lines.

    There are no panels without a `screen`, nor with `lines`: whoever types needs the place.
    """
    if json_lines:
        return JsonDisplay()
    if console.is_terminal and not console.is_dumb_terminal and not lines and is_large(*console.size) and screen:
        return LiveDisplay(console, pace, screen)
    return LineDisplay(console, describe)
