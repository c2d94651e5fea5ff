"""The screen of an episode: panes that its method makes from the trace, and the title, usage and result around them."""

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
from pddlego.display.description import describe, with_words
from pddlego.display.rows import wrapped
from pddlego.episode.events import Accepted, Outcome
from pddlego.episode.trace import OpenRequest, Step, Trace
from pddlego.models.base import label
from pddlego.runs.cells import NO_MODEL
from pddlego.util.text import clean, count, one_line

_MIN_MODEL_NAME, _MODEL_NAME = 8, 16
"""The minimum number of characters of a model name on the title line, and that for which numbers are left out."""

OUTCOME_STYLE = {Outcome.WON: "green", Outcome.INTERRUPTED: "yellow"}
"""The style of an outcome. All other outcomes are red."""

MIN_WIDTH, MIN_HEIGHT = 72, 20
"""The smallest terminal on which panes are drawn; a smaller one gets lines."""

WIDE = 110
"""The terminal width from which panes are drawn side by side."""

_PAGE_WIDTH = 200
"""The width of a terminal that has all panes of a method: those of a page."""

_MAX_HEIGHT, _RESULT_ROWS = 44, 3


def is_large(width: int, height: int) -> bool:
    """Whether a terminal of this size has room for panes."""
    return width >= MIN_WIDTH and height >= MIN_HEIGHT


@dataclass(frozen=True)
class Canvas:
    """The size in columns and lines, the seconds since the start of the episode, and the glyphs for drawing panes."""

    width: int
    height: int
    now: float
    glyphs: Glyphs

    @property
    def is_wide(self) -> bool:
        return self.width >= WIDE

    def share(self, percent: int) -> int:
        """The width of a pane that takes a percentage of the canvas."""
        return self.width * percent // 100


Fit = Callable[[int, int], Sequence[Text]]
"""A function that makes the rows of a pane for the width and height inside its border."""


@dataclass(frozen=True)
class Drawing:
    """The content of a pane on a page: the parts of an SVG picture, which may be empty, and the lines below it."""

    parts: Sequence[str]
    lines: Sequence[Text]


_UNWRAPPED = 10_000
"""The columns of a pane on a page, which wraps the lines itself."""


@dataclass(frozen=True)
class Pane:
    """A titled part of a screen, which is drawn as text in a terminal and as an element of a page.

    `height` counts lines with the border; None takes the lines that the other panes of the column leave. If the rows do
    not fit, the pane is scrolled to just before `first_row`. A pane that `shows_latest` events is the only one on a
    terminal with room for one pane. A title may depend on the width and height inside the border. A page shows the
    `drawing`, or else at most `page_rows` rows of `page_columns`, which it does not wrap if they are set.
    """

    title: str | Callable[[int, int], str]
    fit: Fit
    height: int | None = None
    first_row: int | None = None
    subtitle: Text | None = None
    shows_latest: bool = False
    drawing: Callable[[], Drawing] | None = None
    page_rows: int = 500
    page_columns: int | None = None

    def draw(self, width: int, height: int) -> Panel:
        """The pane in exactly this size."""
        room, subtitle = max(1, height - 2), self.subtitle
        rows = self.fit(width - 4, room)
        if self.first_row is not None and len(rows) > room:
            start = max(0, min(self.first_row - 1, len(rows) - room))
            subtitle = Text(f"{start + 1}-{start + room} of {len(rows)}")
            rows = rows[start:]
        body = Text("\n", no_wrap=True, overflow="ellipsis").join(rows[:room])
        title = self.title if isinstance(self.title, str) else self.title(width - 4, room)
        return Panel(body, title=title, subtitle=subtitle, width=width, height=height, border_style="dim")

    def on_page(self) -> tuple[str, Drawing]:
        """The title and the content on a page."""
        columns = self.page_columns or _UNWRAPPED
        title = self.title if isinstance(self.title, str) else self.title(columns, self.page_rows)
        return title, self.drawing() if self.drawing else Drawing((), self.fit(columns, self.page_rows))


ColumnPart = Pane | tuple[Pane, Pane]
"""A pane, or two panes of the same height side by side."""


@dataclass(frozen=True)
class PaneColumn:
    """Panes one above the other. `width` counts terminal columns; None takes those that the other columns leave."""

    parts: Sequence[ColumnPart]
    width: int | None = None

    def draw(self, width: int, height: int) -> RenderableType:
        """The column in exactly this size."""
        fixed = [(part[0] if isinstance(part, tuple) else part).height for part in self.parts]
        free = height - sum(lines for lines in fixed if lines is not None)
        drawn: list[RenderableType] = []
        for part, fixed_lines in zip(self.parts, fixed, strict=True):
            lines = free if fixed_lines is None else fixed_lines
            if isinstance(part, tuple):
                drawn.append(_beside(part[0].draw(width // 2, lines), part[1].draw(width - width // 2, lines)))
            else:
                drawn.append(part.draw(width, lines))
        return Group(*drawn)

    @property
    def panes(self) -> list[Pane]:
        return [pane for part in self.parts for pane in (part if isinstance(part, tuple) else (part,))]


def _beside(*parts: RenderableType) -> Table:
    grid = Table.grid(padding=0)
    grid.add_row(*parts)
    return grid


@dataclass(frozen=True)
class Tab:
    """A list of lines about a step. `fits` selects the episodes with this tab.

    `picture` makes the lines for a given number of columns, where these are known: lines of a picture are not wrapped.
    A page shows the `drawing` in place of the lines.
    """

    name: str
    lines: Callable[[Step, Glyphs], Sequence[Text]]
    fits: Callable[[Trace], bool] = lambda trace: True
    picture: Callable[[Step, Glyphs, int], Sequence[Text]] | None = None
    drawing: Callable[[Step, Glyphs], Drawing] | None = None


@dataclass(frozen=True)
class Screen:
    """The panes for a trace, and the tabs for its steps. The trace must not contain control characters.

    `checks_running` are episodes that are shown with the method's checks also while they run. `phase` names what the
    episode is at, such as the goal of the plan: a time line has a colour for each.
    """

    panes: Callable[[Trace, Canvas], Sequence[PaneColumn]]
    tabs: Sequence[Tab] = field(default=())
    checks_running: Callable[[Trace], bool] = lambda trace: False
    phase: Callable[[Trace], str] = lambda trace: ""

    def draw(self, trace: Trace, canvas: Canvas) -> RenderableType:
        """The title line, the panes and the result, at most as high as the canvas."""
        result = result_rows(trace, canvas.width)
        height = min(canvas.height, _MAX_HEIGHT) - 1 - len(result)
        columns = self.panes(trace, Canvas(canvas.width, height, canvas.now, canvas.glyphs))
        free = canvas.width - sum(column.width or 0 for column in columns)
        drawn = [column.draw(column.width or free, height) for column in columns]
        return Group(title_line(trace, canvas), drawn[0] if len(drawn) == 1 else _beside(*drawn), *result)

    def on_page(self, trace: Trace, glyphs: Glyphs) -> Sequence[Sequence[Pane]]:
        """The columns of panes for a page, which puts them side by side where there is room."""
        canvas = Canvas(_PAGE_WIDTH, _MAX_HEIGHT, trace.seconds, glyphs)
        return [column.panes for column in self.panes(trace, canvas)]

    def draw_latest(self, trace: Trace, canvas: Canvas) -> RenderableType:
        """The title line and the pane with the latest events."""
        panes = [pane for column in self.panes(trace, canvas) for pane in column.panes]
        latest = next((pane for pane in panes if pane.shows_latest), panes[-1])
        return Group(title_line(trace, canvas), latest.draw(canvas.width, max(3, canvas.height - 2)))


ScreenOf = Callable[[str], Screen]
"""A function from the name of a method to its screen: `LINES` if the method has none or is not installed."""


def title_line(trace: Trace, canvas: Canvas) -> Text:
    """The title, seed, mode, model and usage of an episode, on one line.

    On a narrow canvas a long model name is shortened, and the least important numbers and then the title are left out.
    """
    started, separator = trace.started, f" {canvas.glyphs.dot} "
    if started is None:
        return Text()
    title, model, usage = clean(started.title), label(started.model), _usage(trace, canvas.now)
    about = separator.join([*([] if started.seed is None else [f"seed {started.seed}"]), started.mode, ""])
    if cell_len(title + separator + about) + min(cell_len(model), _MIN_MODEL_NAME) <= canvas.width:
        about = separator + about
    else:
        title = ""
    room = canvas.width - cell_len(title + about)
    for name in _LEFT_OUT:
        if room - cell_len("".join(separator + part for part in usage.values())) < min(cell_len(model), _MODEL_NAME):
            usage.pop(name, None)
    shown = "".join(separator + part for part in usage.values())
    line = Text(no_wrap=True, overflow="ellipsis")
    line.append(title, style="bold")
    line.append(about + one_line(model, max(_MIN_MODEL_NAME, room - cell_len(shown))))
    line.append(shown, style="cyan")
    return line


def usage_line(trace: Trace, now: float, glyphs: Glyphs) -> str:
    """The steps, final score, refused commands, calls, tokens and seconds; numbers that do not apply are left out."""
    return f" {glyphs.dot} ".join(_usage(trace, now).values())


def _usage(trace: Trace, now: float) -> dict[str, str]:
    """The parts of the usage line by their names."""
    started, usage, ended = trace.started, trace.usage, trace.ended
    limit = started.limits.steps if started is not None else 0
    cached = f" ({usage.from_cache} from the cache)" if usage.from_cache else ""
    parts = {
        "step": "" if limit is None else f"step {usage.steps}/{limit}",
        "score": "" if ended is None else f"score {ended.score:.2f}",
        "refused": f"{usage.refused} refused" if usage.refused else "",
        "calls": f"{count(usage.calls, 'call')}{cached}" if started is None or started.model != NO_MODEL else "",
        "tokens": f"{'~' if trace.is_estimated else ''}{usage.tokens:,} tokens" if usage.tokens else "",
        "time": f"{now:.1f} s played",
    }
    return {name: part for name, part in parts.items() if part}


_LEFT_OUT = ("time", "tokens", "calls", "refused", "score", "step")
"""The numbers that are left out of a narrow title line, the least important first."""


def result_line(trace: Trace) -> Text:
    """The outcome, the number of steps if steps are limited, and the message; empty before the episode has ended."""
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
    """The result line, wrapped to at most `_RESULT_ROWS` rows."""
    rows = wrapped([result_line(trace)], width)
    if len(rows) > _RESULT_ROWS:
        rows = rows[:_RESULT_ROWS]
        rows[-1].truncate(width - 2)
        rows[-1].append(" …")
    return rows


def progress_of(request: OpenRequest) -> str:
    """What has arrived of an answer, and how long earlier ones took: `, 120 tokens so far (earlier answers: 12 s)`."""
    tokens = count(request.tokens, "token") + " so far" if request.text or request.reasoning else "no answer yet"
    return f", {tokens}" + ("" if request.usual is None else f" (earlier answers: {request.usual:.0f} s)")


def request_lines(trace: Trace, now: float) -> list[Text]:
    """The open request: the model, its purpose, the seconds since it was sent, and the last failed attempt."""
    request, started = trace.request, trace.started
    if request is None:
        return []
    waited, model = max(0.0, now - request.sent_at), started.model if started is not None else ""
    lines = [Text(f"   asking {clean(model)} ({request.purpose}) … {waited:.0f} s{progress_of(request)}", "cyan")]
    trouble = request.trouble
    if trouble is not None:
        left = max(0.0, trouble.seconds - (now - request.tried_at))
        retry = f"next try in {left:.0f} s" if left else "trying again"
        line = f"   {one_line(trouble.reason, 300)} (attempt {trouble.tries} of {trouble.most}; {retry})"
        lines.insert(0, Text(line, "yellow"))
    return lines


def streamed_lines(trace: Trace, width: int, height: int) -> list[Text]:
    """The end of the reasoning and of the text that are being received, on at most `height` lines."""
    request, rows = trace.request, list[Text]()
    for text, style in ((request.reasoning, "italic"), (request.text, "")) if request is not None else ():
        end = clean(text[-2 * width * max(1, height) :])
        rows += [Text(row, style) for line in end.splitlines() for row in textwrap.wrap(line, max(1, width))]
    return rows[-max(0, height) :] if height > 0 else []


def conversation(
    trace: Trace,
    now: float,
    title: str,
    lines: Sequence[Text],
    pane_height: int | None = None,
    *,
    keep_end: bool = False,
) -> Pane:
    """The pane with the answer that is being received, or else with `lines`, of which `keep_end` shows the end."""
    open_request = request_lines(trace, now)
    if streamed_lines(trace, 80, 1):

        def answer(width: int, height: int) -> list[Text]:
            return [*wrapped(open_request, width), *streamed_lines(trace, width, height - 1)][-height:]

        return Pane("answer", answer, pane_height, shows_latest=True)

    def talk(width: int, height: int) -> list[Text]:
        all_rows, request_rows = wrapped(list(lines), width), wrapped(open_request, width)
        room = max(0, height - len(request_rows))
        return [*(all_rows[max(0, len(all_rows) - room) :] if keep_end else all_rows[:room]), *request_rows]

    return Pane(title, talk, pane_height, shows_latest=True)


def _line_panes(trace: Trace, canvas: Canvas, is_page: bool = False) -> list[PaneColumn]:
    """One pane with the lines of the latest events, on a page with a line for each change."""
    described = ((event, describe(with_words(event, trace), canvas.glyphs)) for event in trace.events[-_LOG_EVENTS:])
    parts = (about.body if is_page and isinstance(event, Accepted) else about.brief for event, about in described)
    lines = [Text(clean(line.text), line.style) for part in parts for line in part][-_LOG_LINES:]

    def fit(width: int, height: int) -> list[Text]:
        streamed = streamed_lines(trace, width, (height + 2) // 3)
        return wrapped([*lines, *request_lines(trace, canvas.now), *streamed], width)[-height:]

    return [PaneColumn([Pane("episode", fit, page_rows=_LOG_LINES)])]


class _LineScreen(Screen):
    def on_page(self, trace: Trace, glyphs: Glyphs) -> Sequence[Sequence[Pane]]:
        """The texts that were accepted last, beside the events."""
        texts = {event.kind: event.text for event in trace.all(Accepted)}
        log = _line_panes(trace, Canvas(_PAGE_WIDTH, _MAX_HEIGHT, trace.seconds, glyphs), True)[0].panes
        return [[_text_pane(kind, text) for kind, text in texts.items()], log] if texts else [log]


def _text_pane(title: str, text: str) -> Pane:
    rows = [*map(Text, clean(text).splitlines())]
    return Pane(title, lambda width, height: rows[:height])


LINES = _LineScreen(_line_panes)
"""The screen of a method that has no panes of its own."""

_LOG_LINES, _LOG_EVENTS = 200, 2_000
