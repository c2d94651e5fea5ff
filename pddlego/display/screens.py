"""The screen of an episode: panes that a method makes of a trace, and everything around them that all methods share."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from rich.cells import cell_len
from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from pddlego.display.console import Glyphs
from pddlego.display.description import describe
from pddlego.display.rows import wrapped
from pddlego.episode.events import Outcome
from pddlego.episode.trace import Step, Trace
from pddlego.models.base import label
from pddlego.runs.cells import NO_MODEL
from pddlego.util.text import clean, count, one_line

_SHORTEST = 8
"""Characters of a model's name that are shown, whatever else has to go."""

OUTCOME_STYLE = {Outcome.WON: "green", Outcome.INTERRUPTED: "yellow"}
"""How an outcome is shown; any other is red."""

MIN_WIDTH, MIN_HEIGHT = 72, 20
"""A smaller terminal gets plain lines."""

WIDE = 110
"""Columns from which panes have room side by side."""

_MAX_HEIGHT, _RESULT_ROWS = 44, 3


def is_large(width: int, height: int) -> bool:
    """Whether there is room for panes."""
    return width >= MIN_WIDTH and height >= MIN_HEIGHT


@dataclass(frozen=True)
class Canvas:
    """What panes are drawn on: columns and lines of the terminal, the time in seconds since the start, and glyphs."""

    width: int
    height: int
    now: float
    glyphs: Glyphs

    @property
    def is_wide(self) -> bool:
        return self.width >= WIDE

    def share(self, percent: int) -> int:
        """The columns of a pane that takes a share of the width."""
        return self.width * percent // 100


Fit = Callable[[int, int], Sequence[Text]]
"""The rows of a pane, given the columns and lines inside of its border."""


@dataclass(frozen=True)
class Pane:
    """A titled part of a screen.

    `rows` is its height in lines with the border; None takes what the other panes leave. `first` is the row with which
    a long text begins to be shown. The `latest` pane shows what happened last, where there is room for only one. A
    title may depend on the columns and lines inside of the border.
    """

    title: str | Callable[[int, int], str]
    fit: Fit
    rows: int | None = None
    first: int | None = None
    subtitle: Text | None = None
    latest: bool = False

    def draw(self, width: int, height: int) -> Panel:
        """The pane in exactly this size."""
        room, subtitle = max(1, height - 2), self.subtitle
        rows = self.fit(width - 4, room)
        if self.first is not None and len(rows) > room:
            start = max(0, min(self.first - 1, len(rows) - room))
            subtitle = Text(f"{start + 1}-{start + room} of {len(rows)}")
            rows = rows[start:]
        body = Text("\n", no_wrap=True, overflow="ellipsis").join(rows[:room])
        title = self.title if isinstance(self.title, str) else self.title(width - 4, room)
        return Panel(body, title=title, subtitle=subtitle, width=width, height=height, border_style="dim")


Row = Pane | tuple[Pane, Pane]
"""A pane, or two panes of one height side by side."""


@dataclass(frozen=True)
class Column:
    """Panes one above the other. `width` is in terminal columns; None takes what the other columns leave."""

    rows: Sequence[Row]
    width: int | None = None

    def draw(self, width: int, height: int) -> RenderableType:
        """The column in exactly this size."""
        heights = [(row[0] if isinstance(row, tuple) else row).rows for row in self.rows]
        free = height - sum(own for own in heights if own is not None)
        drawn: list[RenderableType] = []
        for row, own in zip(self.rows, heights, strict=True):
            lines = free if own is None else own
            if isinstance(row, tuple):
                drawn.append(_beside(row[0].draw(width // 2, lines), row[1].draw(width - width // 2, lines)))
            else:
                drawn.append(row.draw(width, lines))
        return Group(*drawn)

    @property
    def panes(self) -> list[Pane]:
        return [pane for row in self.rows for pane in (row if isinstance(row, tuple) else (row,))]


def _beside(*parts: RenderableType) -> Table:
    grid = Table.grid(padding=0)
    grid.add_row(*parts)
    return grid


@dataclass(frozen=True)
class Tab:
    """A view of one step that lists something: its name, its lines, and the episodes it is for (`fits`).

    The lines of one that is `drawn` form a picture: they must not be wrapped.
    """

    name: str
    lines: Callable[[Step, Glyphs], Sequence[Text]]
    fits: Callable[[Trace], bool] = lambda trace: True
    drawn: bool = False


@dataclass(frozen=True)
class Screen:
    """How a method shows an episode: the panes for a trace, and tabs for its steps. All text in the trace is clean."""

    panes: Callable[[Trace, Canvas], Sequence[Column]]
    tabs: Sequence[Tab] = field(default=())

    def draw(self, trace: Trace, canvas: Canvas) -> RenderableType:
        """The panes with a title line and the result, at most as high as the canvas."""
        result = result_rows(trace, canvas.width)
        height = min(canvas.height, _MAX_HEIGHT) - 1 - len(result)
        columns = self.panes(trace, Canvas(canvas.width, height, canvas.now, canvas.glyphs))
        free = canvas.width - sum(column.width or 0 for column in columns)
        drawn = [column.draw(column.width or free, height) for column in columns]
        return Group(title_line(trace, canvas), drawn[0] if len(drawn) == 1 else _beside(*drawn), *result)

    def latest(self, trace: Trace, canvas: Canvas) -> RenderableType:
        """The title line and the one pane that shows what happened last."""
        panes = [pane for column in self.panes(trace, canvas) for pane in column.panes]
        latest = next((pane for pane in panes if pane.latest), panes[-1])
        return Group(title_line(trace, canvas), latest.draw(canvas.width, max(3, canvas.height - 2)))


ScreenOf = Callable[[str], Screen]
"""The screen of a method, by its name. A method without a screen, or that is not installed, is shown as lines."""


def title_line(trace: Trace, canvas: Canvas) -> Text:
    """What is played, and what it has used so far. A long model name is shortened."""
    started, separator = trace.started, f" {canvas.glyphs.dot} "
    if started is None:
        return Text()
    seed = "" if started.seed is None else f"{separator}seed {started.seed}"
    about, used = (
        f"{seed}{separator}{started.mode}{separator}",
        separator + usage_line(trace, canvas.now, canvas.glyphs),
    )
    room = canvas.width - cell_len(clean(started.title) + about + used)
    line = Text(no_wrap=True, overflow="ellipsis")
    line.append(clean(started.title), style="bold")
    line.append(about + one_line(label(started.model), max(_SHORTEST, room)))
    line.append(used, style="cyan")
    return line


def usage_line(trace: Trace, now: float, glyphs: Glyphs) -> str:
    """Steps, the score at the end, refused commands, calls, tokens (each if there are any) and seconds."""
    started, used = trace.started, trace.usage
    limit = started.limits.steps if started is not None else 0
    parts = [] if limit is None else [f"step {used.steps}/{limit}"]
    if trace.ended is not None:
        parts.append(f"score {trace.ended.score:.2f}")
    if used.refused:
        parts.append(f"{used.refused} refused")
    if started is None or started.model != NO_MODEL:
        cached = f" ({used.from_cache} from the cache)" if used.from_cache else ""
        parts.append(f"{count(used.calls, 'call')}{cached}")
    if used.tokens_in + used.tokens_out:
        parts.append(f"{'~' if trace.is_estimated else ''}{used.tokens_in + used.tokens_out:,} tokens")
    parts.append(f"{now:.1f} s played")
    return f" {glyphs.dot} ".join(parts)


def result_line(trace: Trace) -> Text:
    """How the episode ended, on one line, after how many steps if they are limited; empty while it runs."""
    ended, started = trace.ended, trace.started
    if ended is None:
        return Text("")
    is_limited = started is None or started.limits.steps is not None
    steps = f" after {count(ended.usage.steps, 'step')}" if is_limited else ""
    line = Text(f"{ended.outcome.value}{steps}", style=f"bold {OUTCOME_STYLE.get(ended.outcome, 'red')}")
    if ended.message:
        line.append(f": {clean(' '.join(ended.message.split()))}", style="")
    return line


def result_rows(trace: Trace, width: int) -> list[Text]:
    """How the episode ended, on one to three rows."""
    rows = wrapped([result_line(trace)], width)
    if len(rows) > _RESULT_ROWS:
        rows = rows[:_RESULT_ROWS]
        rows[-1].truncate(width - 2)
        rows[-1].append(" …")
    return rows


def request_lines(trace: Trace, now: float) -> list[Text]:
    """The open request: the model, its purpose, the seconds since it was sent, and the last failed attempt."""
    request, started = trace.request, trace.started
    if request is None:
        return []
    waited, model = max(0.0, now - request.sent_at), started.model if started is not None else ""
    lines = [Text(f"   asking {clean(model)} ({request.purpose}) … {waited:.0f} s", "cyan")]
    trouble = request.trouble
    if trouble is not None:
        left = max(0.0, trouble.seconds - (now - request.tried_at))
        then = f"next try in {left:.0f} s" if left else "trying again"
        line = f"   {one_line(trouble.reason, 300)} (attempt {trouble.tries} of {trouble.most}; {then})"
        lines.insert(0, Text(line, "yellow"))
    return lines


def streamed_lines(trace: Trace, width: int, height: int) -> list[Text]:
    """The end of the answer that is being received, on at most `height` lines; reasoning comes first."""
    request, rows = trace.request, list[Text]()
    for text, style in ((request.reasoning, "dim italic"), (request.text, "")) if request is not None else ():
        last = clean(text[-2 * width * max(1, height) :])
        rows += [Text(row, style) for line in last.splitlines() for row in textwrap.wrap(line, max(1, width))]
    return rows[-max(0, height) :] if height > 0 else []


def conversation(
    trace: Trace, now: float, title: str, lines: Sequence[Text], rows: int | None = None, *, keep_end: bool = False
) -> Pane:
    """The pane of what the model is writing, or else of `lines`. With `keep_end` it shows their end."""
    asking = request_lines(trace, now)
    if streamed_lines(trace, 80, 1):

        def answer(width: int, height: int) -> list[Text]:
            return [*wrapped(asking, width), *streamed_lines(trace, width, height - 1)][-height:]

        return Pane("answer", answer, rows, latest=True)

    def talk(width: int, height: int) -> list[Text]:
        all_rows, last = wrapped(list(lines), width), wrapped(asking, width)
        room = max(0, height - len(last))
        return [*(all_rows[max(0, len(all_rows) - room) :] if keep_end else all_rows[:room]), *last]

    return Pane(title, talk, rows, latest=True)


def _line_panes(trace: Trace, canvas: Canvas) -> list[Column]:
    """A pane with a line for each event."""
    described = (line for event in trace.events[-_LOG_EVENTS:] for line in describe(event, canvas.glyphs).brief)
    lines = [Text(clean(line.text), line.style) for line in described][-_LOG_LENGTH:]

    def fit(width: int, height: int) -> list[Text]:
        streamed = streamed_lines(trace, width, (height + 2) // 3)
        return wrapped([*lines, *request_lines(trace, canvas.now), *streamed], width)[-height:]

    return [Column([Pane("episode", fit)])]


LINES = Screen(_line_panes)
"""The screen of a method that has no panes of its own."""

_LOG_LENGTH, _LOG_EVENTS = 200, 2_000
