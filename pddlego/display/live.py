"""Shows an episode while it runs: panels on a terminal, plain lines on a pipe, JSON lines for programs."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import reduce
from types import TracebackType
from typing import Protocol, TextIO, TypeVar

import rich.console
from rich.console import ConsoleOptions, RenderableType, RenderResult
from rich.live import Live
from rich.segment import Segment

from pddlego.display import panels
from pddlego.display.screen import MIN_HEIGHT, MIN_WIDTH, screen
from pddlego.display.text import Glyphs, clean, glyphs_for, one_line
from pddlego.display.view import MARKED, View, cleaned, fold
from pddlego.events import (
    Answered,
    Asked,
    EpisodeEnded,
    EpisodeStarted,
    Event,
    Formalized,
    Judged,
    Observed,
    Planned,
    Rejected,
    Resumed,
    Retrying,
    dump_line,
)
from pddlego.remarks import label

T = TypeVar("T")

ASIDE = 15
"""Lines that the panels need beside a question."""


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


class Display(Protocol):
    """Takes events and shows them, between `__enter__` and `__exit__`."""

    def __enter__(self) -> Display: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def show(self, event: Event, seconds: float) -> None: ...


class LiveDisplay:
    """Panels that are drawn anew when something happens. `pace` is the least time, in seconds, that a moment stays."""

    def __init__(self, console: rich.console.Console, pace: float) -> None:
        self._console = console
        self._pace = pace
        self._view = View()
        self._question: RenderableType | None = None
        self._previewed = self._view
        self._glyphs = glyphs_for(console.encoding)
        self._looked, self._showing = time.monotonic(), True
        self._live = Live(self, console=console, refresh_per_second=8, transient=False, vertical_overflow="crop")

    def __enter__(self) -> LiveDisplay:
        self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._live.stop()

    def ask(self, question: RenderableType | None, preview: tuple[Event, ...] = ()) -> None:
        """Show a question below the panels, which show what will be when it is accepted; None takes it away."""
        self._question = question
        self._previewed = reduce(lambda view, event: fold(view, event, view.seconds), preview, self._view)
        self._looked = time.monotonic()
        self._live.refresh()

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Leave the terminal to somebody else, below what is drawn."""
        self._live.transient = True  # what is drawn now would stay above as a ruin
        self._live.stop()
        self._live.transient = False
        if self._question is not None:  # whoever types a hint wants to see what it is about
            self._console.print(self._question)
        try:
            yield
        finally:
            self._live.start(refresh=True)

    def show(self, event: Event, seconds: float) -> None:
        self._view, self._showing = fold(self._view, event, seconds), True
        self._live.refresh()
        if isinstance(event, (Observed, Planned, Rejected)):
            time.sleep(self._pace)
        self._looked, self._showing = time.monotonic(), False

    def _now(self) -> float:
        """The episode's time: it stands still while a moment is looked at, and while a person is asked."""
        if self._showing or self._question is not None or self._view.ended is not None:
            return self._view.seconds
        return self._view.seconds + time.monotonic() - self._looked

    def __rich_console__(self, console: rich.console.Console, options: ConsoleOptions) -> RenderResult:
        view = self._view if self._question is None else self._previewed
        now = self._now()
        # Less than the terminal has: what is printed below must not push the header out of sight.
        height = console.height - 3
        if self._question is not None:
            height -= len(console.render_lines(self._question, options, pad=False))
        if height >= ASIDE:
            yield screen(view, options.max_width, height, now, self._glyphs)
        else:  # a question leaves no room for panels, but for what the game said last
            yield panels.header(view, now, self._glyphs, options.max_width)
            yield panels.log_panel(view, options.max_width, max(3, height - 2), now, self._glyphs)
        if self._question is not None:
            yield self._question


class _StreamDisplay:
    """A display that needs no beginning and no end."""

    def __enter__(self: T) -> T:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return None


class LineDisplay(_StreamDisplay):
    """One line or a few for each event, for pipes, logs and narrow terminals. Colour only where the console has it."""

    _previewed: tuple[Event, ...] = ()

    def ask(self, question: RenderableType | None, preview: tuple[Event, ...] = ()) -> None:
        """Print what will be when it is accepted, and the question."""
        for event in preview if preview != self._previewed else ():
            self._print(event, fold(self._view, event, self._view.seconds))
        self._previewed = preview or self._previewed
        if question is not None:
            self._console.print(question)

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Nothing is drawn here that could be in the way."""
        yield

    def __init__(self, console: rich.console.Console) -> None:
        self._console = console
        self._glyphs = glyphs_for(console.encoding)
        self._view = View()

    def show(self, event: Event, seconds: float) -> None:
        self._view = fold(self._view, event, seconds)
        if event not in self._previewed:  # else it was told with the question
            self._print(event, self._view)

    def _print(self, event: Event, view: View) -> None:
        for line, style in event_lines(event, view, self._glyphs):
            self._console.print(
                line, style=style, markup=False, highlight=False, soft_wrap=not self._console.is_terminal
            )


class JsonDisplay(_StreamDisplay):
    """Every event as one line of JSON, as in the journal."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stdout

    def show(self, event: Event, seconds: float) -> None:
        self._stream.write(dump_line(event, seconds))
        self._stream.flush()


def event_lines(event: Event, view: View, glyphs: Glyphs) -> Iterator[tuple[str, str]]:
    """An event as lines of text, each with its style."""
    event = cleaned(event)
    if isinstance(event, EpisodeStarted):
        parts = (
            f"seed {event.seed}",
            event.mode,
            clean(label(event.model)),
            f"at most {event.limits.steps} step{'' if event.limits.steps == 1 else 's'}",
        )
        yield f"{clean(event.title)}: {', '.join(parts)}", "bold"
    elif isinstance(event, Observed):
        style = "yellow" if event.refused else ""
        said = one_line(event.read or event.text, 2000)
        command = f"{clean(event.command)} {glyphs.arrow} " if event.command is not None else ""
        yield f"{event.step:>3}  {command}{said}", style
        if event.surprise:
            yield f"     ! {clean(event.surprise)}", "yellow"
    elif isinstance(event, Formalized):
        changes = [f"{old} {glyphs.arrow} {new}" for old, new in event.renamed]
        changes += [f"{glyphs.added} {each}" for each in event.added]
        changes += [f"{glyphs.removed} {each}" for each in event.removed]
        yield f"     {clean('  '.join(changes)) or 'no change'}", "dim"
        for line in event.lines:
            if line.kind in MARKED:
                yield f"     ! {clean(f'{line.where} {line.line}: {line.kind}')}", "yellow"
    elif isinstance(event, Rejected):
        yield f"     {glyphs.failed} answer {event.attempt + 1} rejected: {clean(event.message)}", "red"
        for each in event.evidence:
            yield f"       {clean(each)}", "red"
    elif isinstance(event, Planned) and event.rung is not None:
        yield (
            f"     plan for '{event.rung}': {', '.join(clean(each.command or each.action) for each in event.plan)}",
            "green",
        )
    elif isinstance(event, Resumed):
        yield f"     goes on after step {event.step} of {clean(event.source)}", "cyan"
        if event.corrected is not None:
            changes = [f"{glyphs.added} {each}" for each in event.added]
            changes += [f"{glyphs.removed} {each}" for each in event.removed]
            yield f"     corrected by a person: {clean('  '.join(changes)) or 'nothing'}", "cyan"
    elif isinstance(event, Judged):
        said = one_line("; ".join(event.text.splitlines()), 200)
        yield f"     {event.what} {event.verdict} by a person{': ' if said else ''}{said}", "cyan"
    elif isinstance(event, Retrying):
        yield (
            f"     ! {one_line(event.why, 200)}: try {event.tries} of {event.most}, the next in {event.wait:.0f} s",
            "yellow",
        )
    elif isinstance(event, EpisodeEnded):
        yield panels.result_line(view).plain, "bold"
        yield f"     {panels.meter(view, event.tally.seconds, glyphs)}", "dim"
    elif isinstance(event, (Asked, Answered)):
        return


def make_display(console: rich.console.Console, pace: float, json_lines: bool, lines: bool = False) -> Display:
    """The display that suits the output: `json_lines` wins, then panels if the terminal is large enough, else lines.

    With `lines` there are no panels: whoever types needs the place.
    """
    if json_lines:
        return JsonDisplay()
    if console.is_terminal and not console.is_dumb_terminal and not lines and _is_large(console):
        return LiveDisplay(console, pace)
    return LineDisplay(console)


def _is_large(console: rich.console.Console) -> bool:
    return console.width >= MIN_WIDTH and console.height >= MIN_HEIGHT
