"""The live display of an episode: lines on a pipe, a screen on a terminal."""

from __future__ import annotations

import sys
import time
from abc import abstractmethod
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TextIO

import rich.console
from rich.console import ConsoleOptions, RenderableType, RenderResult
from rich.live import Live

from pddlego.display.console import Glyphs, glyphs_for
from pddlego.display.description import describe
from pddlego.display.rows import cleaned
from pddlego.display.screens import Canvas, Screen, is_large, result_line, usage_line
from pddlego.episode.events import Ended, Event, Rejected
from pddlego.episode.trace import Trace
from pddlego.runs.journal import dump_line
from pddlego.util.limits import SILENCE, Heartbeat
from pddlego.util.text import clean

_ASIDE = 15
"""Lines that the panes need beside a question."""


class Display(AbstractContextManager["Display"]):
    """Takes events and shows them, between `__enter__` and `__exit__`."""

    def __exit__(self, *_: object) -> None:
        """Leave the output as it is."""

    @abstractmethod
    def show(self, event: Event, seconds: float) -> None:
        """Show an event, which happened so many seconds after the start."""


class LiveDisplay(Display):
    """Panels that are drawn anew when something happens. `pace` is the least time, in seconds, that a moment stays."""

    def __init__(self, console: rich.console.Console, pace: float, screen: Screen) -> None:
        self._console = console
        self._pace = pace
        self._screen = screen
        self._trace = self._previewed = Trace()
        self._question: RenderableType | None = None
        self._glyphs = glyphs_for(console.encoding)
        self._looked, self._showing = time.monotonic(), True
        # The alternate screen is redrawn as a whole, so that resizing leaves no fragments.
        self._live = Live(self, console=console, refresh_per_second=8, screen=True)

    def __enter__(self) -> LiveDisplay:
        self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Leave the last screen in the terminal."""
        self._live.stop()
        self._console.print(self)

    def ask(self, question: RenderableType | None, preview: tuple[Event, ...] = ()) -> None:
        """Show a question below the panes, which show what will be when it is accepted; None takes it away."""
        self._question = question
        self._previewed = self._trace.with_events(map(cleaned, preview))
        self._looked = time.monotonic()
        self._live.refresh()

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Leave the terminal to another program, below what is drawn."""
        self._live.stop()
        if self._question is not None:  # a hint is easier to type with its subject in view
            self._console.print(self._question)
        try:
            yield
        finally:
            self._live.start(refresh=True)

    def show(self, event: Event, seconds: float) -> None:
        self._trace.add(cleaned(event), seconds)
        self._showing = True
        self._live.refresh()
        if event.method or isinstance(event, Rejected):  # what the method does, and what went wrong
            time.sleep(self._pace)
        self._looked, self._showing = time.monotonic(), False

    def _now(self) -> float:
        """The episode's time. It is paused while a step is shown, and while a person is asked."""
        if self._showing or self._question is not None or self._trace.ended is not None:
            return self._trace.seconds
        return self._trace.seconds + time.monotonic() - self._looked

    def __rich_console__(self, console: rich.console.Console, options: ConsoleOptions) -> RenderResult:
        trace = self._trace if self._question is None else self._previewed
        # Less than the terminal has: what is printed below at the end must not push the header out of sight.
        height = console.height - (3 if trace.ended is not None else 1)
        if self._question is not None:
            height -= len(console.render_lines(self._question, options, pad=False))
        canvas = Canvas(options.max_width, height, self._now(), self._glyphs)
        # A question may leave no room for panes, but for what the game said last.
        yield self._screen.draw(trace, canvas) if height >= _ASIDE else self._screen.latest(trace, canvas)
        if self._question is not None:
            yield self._question


class LineDisplay(Display):
    """One line or a few for each event, for pipes, logs and narrow terminals. Colour only where the console has it."""

    def __init__(self, console: rich.console.Console, silence: float = SILENCE) -> None:
        self._console = console
        self._glyphs = glyphs_for(console.encoding)
        self._trace = Trace()
        self._previewed: tuple[Event, ...] = ()
        self._heartbeat = Heartbeat(self._report, silence)
        self._asks = False
        self._unprinted = ""  # the last event, if it has no line of its own

    def __enter__(self) -> LineDisplay:
        self._heartbeat.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._heartbeat.__exit__()

    def _report(self, seconds: float) -> None:
        """Say what takes so long."""
        if not self._asks:
            started, is_asking = self._trace.started, self._trace.request is not None
            what = f"waiting for {started.model}" if started is not None and is_asking else self._unprinted or "working"
            self._console.print(f"     … {seconds:.0f} s, {what}", style="dim", markup=False, highlight=False)

    def ask(self, question: RenderableType | None, preview: tuple[Event, ...] = ()) -> None:
        """Print what will be when it is accepted, and the question."""
        for event in preview if preview != self._previewed else ():
            self._print(event, self._trace)
        self._previewed = preview or self._previewed
        self._asks = question is not None
        if question is not None:
            self._console.print(question)

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Print nothing while another program has the terminal."""
        asks, self._asks = self._asks, True
        try:
            yield
        finally:
            self._asks = asks

    def show(self, event: Event, seconds: float) -> None:
        self._trace.add(cleaned(event), seconds)
        if event not in self._previewed:  # otherwise the question has shown it
            self._print(event, self._trace)

    def _print(self, event: Event, trace: Trace) -> None:
        lines = list(event_lines(event, trace, self._glyphs))
        self._unprinted = "" if lines else clean(describe(cleaned(event), self._glyphs).title.text).strip()
        for line, style in lines:
            self._heartbeat.beat()
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


def event_lines(event: Event, trace: Trace, glyphs: Glyphs) -> Iterator[tuple[str, str]]:
    """An event as lines of text, each with its style."""
    if isinstance(event, Ended):
        yield result_line(trace).plain, "bold"
        yield f"     {usage_line(trace, event.usage.seconds, glyphs)}", "dim"
    for line in describe(cleaned(event), glyphs).brief:
        yield clean(line.text), line.style


def make_display(
    console: rich.console.Console,
    pace: float,
    screen: Screen | None,
    json_lines: bool = False,
    lines: bool = False,
) -> Display:
    """The display that suits the output: `json_lines` wins, then panes if the terminal is large enough, else lines.

    Panels need a `screen`, and are left out with `lines`, because a person who types needs the space.
    """
    if json_lines:
        return JsonDisplay()
    if console.is_terminal and not console.is_dumb_terminal and not lines and is_large(*console.size) and screen:
        return LiveDisplay(console, pace, screen)
    return LineDisplay(console)
