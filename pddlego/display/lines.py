"""The live displays of an episode: panes on a terminal, lines on a pipe, or JSON."""

from __future__ import annotations

import sys
import threading
import time
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from typing import TextIO

import rich.console
from rich.console import ConsoleOptions, RenderableType, RenderResult
from rich.live import Live
from rich.text import Text

from pddlego.display.console import Glyphs, glyphs_for
from pddlego.display.description import describe, with_words
from pddlego.display.keyboard import KeyListener, keys_line
from pddlego.display.rows import cleaned
from pddlego.display.screens import Canvas, Screen, is_large, progress_of, result_line, usage_line
from pddlego.episode.events import Ended, Event, Rejected, Started
from pddlego.episode.trace import Trace
from pddlego.errors import PddlegoError
from pddlego.runs.journal import dump_line
from pddlego.util.limits import Clock, Heartbeat
from pddlego.util.text import clean

Checks = Callable[[Event], Iterable[Event]]
"""Returns the checks of an event."""

Checker = Callable[[Trace], Checks]

_MIN_PANES_HEIGHT = 15
"""Lines that all panes together need. If a question leaves fewer, only the pane with the latest events is drawn."""


class Display(AbstractContextManager["Display"]):
    """A context manager that shows the events of an episode."""

    def __exit__(self, *_: object) -> None:
        """Do nothing; a display that must be closed overrides this."""

    def reading_keys(self) -> AbstractContextManager[object]:
        """Read keys from now on until the display is left, if it has any. They wait for the first event."""
        return nullcontext()

    @abstractmethod
    def show(self, event: Event, seconds: float) -> None:
        """Show an event, which happened `seconds` after the start of the episode."""


class LiveDisplay(Display):
    """Panes that are redrawn after each event. Events of the method and rejected answers stay for `pace` seconds.

    With `reads_keys`, the key `t` adds the checks of the `checker` to the episode, or removes them, and the space key
    holds the episode at its next event.
    """

    def __init__(
        self,
        console: rich.console.Console,
        pace: float,
        screen: Screen,
        checker: Checker | None = None,
        *,
        reads_keys: bool = False,
    ) -> None:
        self._console, self._checker = console, checker
        self._checks: Checks | None = None
        self._keys = KeyListener(self._press) if reads_keys else None
        self._message = ""  # why the last key had no effect
        self._changing = threading.Lock()  # held while the trace is changed
        self._begun = threading.Event()  # set at the first event: earlier keys wait for it
        self._going_on = threading.Event()  # not set in a pause
        self._going_on.set()
        self._pace = pace
        self._screen = screen
        self._trace = self._preview_trace = Trace()
        self._question: RenderableType | None = None
        self._glyphs = glyphs_for(console.encoding)
        self._clock_started_at, self._clock_paused = time.monotonic(), True
        # The alternate screen is redrawn as a whole, so that resizing leaves no fragments.
        self._live = Live(self, console=console, refresh_per_second=8, screen=True)

    @contextmanager
    def reading_keys(self) -> Iterator[None]:
        with ExitStack() as reading:
            reading.callback(self._stop_keys)
            if self._keys is not None:
                self._keys.__enter__()
            yield

    def __enter__(self) -> LiveDisplay:
        with ExitStack() as interrupted:
            interrupted.callback(self._stop)
            self._live.start()
            interrupted.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        """Leave the last screen in the terminal."""
        self._stop()
        self._console.print(self)

    def _stop(self) -> None:
        """Restore the terminal."""
        self._stop_keys()
        self._live.stop()

    def _stop_keys(self) -> None:
        self._begun.set()
        self._going_on.set()
        if self._keys is not None:
            self._keys.__exit__()

    def show_question(self, question: RenderableType | None, preview: tuple[Event, ...] = ()) -> None:
        """Show a question below the panes, drawn as if `preview` had happened. None removes the question."""
        self._question = question
        self._preview_trace = self._trace.with_events(map(cleaned, preview))
        self._clock_started_at = time.monotonic()
        self._live.refresh()

    @contextmanager
    def suspended(self) -> Iterator[None]:
        """Stop drawing while another program uses the terminal. An open question stays visible."""
        self._live.stop()
        if self._question is not None:  # the user types a hint about it
            self._console.print(self._question)
        try:
            yield
        finally:
            self._live.start(refresh=True)

    def show(self, event: Event, seconds: float) -> None:
        with self._changing:
            self._trace.add(cleaned(event), seconds)
            self._check(event, seconds)
        self._begun.set()
        self._clock_paused = True
        self._live.refresh()
        if event.method or isinstance(event, Rejected):
            time.sleep(self._pace)
        if self._trace.ended is None:
            self._going_on.wait()
        self._clock_started_at, self._clock_paused = time.monotonic(), False

    def _check(self, event: Event, seconds: float) -> None:
        """Add the checks of an event, in an episode that the screen of its method checks while it runs."""
        with suppress(PddlegoError):  # the episode does not need them
            if isinstance(event, Started) and self._checker is not None and self._screen.checks_running(self._trace):
                self._checks = self._checker(self._trace)
            for check in self._checks(event) if self._checks is not None else ():
                self._trace.add(cleaned(check), seconds)

    def _press(self, key: str) -> None:
        """Add checks to the episode, or remove them, if the key is `t`. Pause or go on if it is the space key."""
        self._begun.wait()
        if key == "space":
            change = self._going_on.clear if self._going_on.is_set() else self._going_on.set
            change()
        with self._changing:
            self._message = self._switch_checks() if key == "t" and self._trace.started is not None else ""
        self._live.refresh()

    def _switch_checks(self) -> str:
        """Add checks to the trace, or remove them. Returns why that is impossible, or an empty text."""
        if self._checks is not None:
            self._checks = None
            self._trace = Trace((event, seconds) for event, seconds in self._trace.timed if not event.derived)
            return ""
        if self._checker is None:
            return "There are no facts to check."
        try:
            checks = self._checker(self._trace)
            self._trace = self._trace.with_checks(lambda event: map(cleaned, checks(event)))
        except PddlegoError as error:
            return clean(error.sentence)
        self._checks = checks
        return ""

    def _now(self) -> float:
        """The seconds since the start. The clock pauses after each event, and while the user is asked."""
        if self._clock_paused or self._question is not None or self._trace.ended is not None:
            return self._trace.seconds
        return self._trace.seconds + time.monotonic() - self._clock_started_at

    def __rich_console__(self, console: rich.console.Console, options: ConsoleOptions) -> RenderResult:
        trace = self._trace if self._question is None else self._preview_trace
        # Lines are left free at the bottom: text that is printed at the end must not scroll the title line away.
        height = console.height - (3 if trace.ended is not None else 1)
        if self._question is not None:
            height -= len(console.render_lines(self._question, options, pad=False))
        canvas = Canvas(options.max_width, height, self._now(), self._glyphs)
        is_high = height >= _MIN_PANES_HEIGHT
        yield self._screen.draw(trace, canvas) if is_high else self._screen.draw_latest(trace, canvas)
        if self._question is not None:
            yield self._question
        elif self._keys is not None and self._keys.is_listening and trace.ended is None:
            is_map = trace.started is not None and self._screen.checks_running(trace)  # the checks only draw a map
            names = ("draw map", "hide map") if is_map else ("check facts", "hide checks")
            pause = "space", "pause" if self._going_on.is_set() else "go on"
            keys = pause, ("t", names[self._checks is not None]), ("ctrl-c", "stop")
            message = Text(self._message, "yellow", no_wrap=True, overflow="ellipsis")
            yield message if self._message else keys_line(keys, self._glyphs)


class LineDisplay(Display):
    """Prints lines for each event. After `SILENCE` seconds without a line, one says what the episode waits for."""

    def __init__(self, console: rich.console.Console, clock: Clock = time.monotonic) -> None:
        self._console = console
        self._glyphs = glyphs_for(console.encoding)
        self._trace = Trace()
        self._preview: tuple[Event, ...] = ()  # the events that were printed with the last question
        self._heartbeat = Heartbeat(self._report, clock)
        self._is_asking_user = False  # then no progress is reported
        self._unprinted = ""  # the title of the last event, if it was not printed

    def __enter__(self) -> LineDisplay:
        self._heartbeat.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._heartbeat.__exit__()

    def _report(self, seconds: float) -> None:
        """Print the seconds without an event, and the activity that takes them."""
        if not self._is_asking_user:
            started, request, what = self._trace.started, self._trace.request, self._unprinted or "working"
            if started is not None and request is not None:
                what = f"waiting for {started.model}{progress_of(request)}"
            self._console.print(f"     … {seconds:.0f} s, {what}", style="dim", markup=False, highlight=False)

    def show_question(self, question: RenderableType | None, preview: tuple[Event, ...] = ()) -> None:
        """Print the events that follow if the user accepts, and the question. None ends the question."""
        for event in preview if preview != self._preview else ():
            self._print(event, self._trace)
        self._preview = preview or self._preview
        self._is_asking_user = question is not None
        if question is not None:
            self._console.print(question)

    @contextmanager
    def suspended(self) -> Iterator[None]:
        """Report no progress while another program uses the terminal."""
        before, self._is_asking_user = self._is_asking_user, True
        try:
            yield
        finally:
            self._is_asking_user = before

    def show(self, event: Event, seconds: float) -> None:
        self._trace.add(cleaned(event), seconds)
        if event not in self._preview:  # the preview was printed already
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
    """Prints every event as one line of JSON, as in the journal."""

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
    for line in describe(with_words(cleaned(event), trace), glyphs).brief:
        yield clean(line.text), line.style


def make_display(
    console: rich.console.Console,
    pace: float,
    screen: Screen | None,
    json_lines: bool = False,
    lines: bool = False,
    checker: Checker | None = None,
    reads_keys: bool = False,
) -> Display:
    """The display for the options and the output: JSON with `json_lines`, else panes, else lines.

    `checker` returns the checks of an episode that has begun; with `reads_keys`, a key switches them. Panes need a
    `screen` and a large terminal. They are not drawn with `lines`, for a user who types commands.
    """
    if json_lines:
        return JsonDisplay()
    if console.is_terminal and not console.is_dumb_terminal and not lines and is_large(*console.size) and screen:
        return LiveDisplay(console, pace, screen, checker, reads_keys=reads_keys)
    return LineDisplay(console)
