"""The screen of an episode: what a method draws, and the frame around it that all methods share."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any, Protocol, TypeVar

from rich.cells import cell_len, chop_cells
from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from pddlego.display.console import UNICODE, Glyphs
from pddlego.display.description import Describer, Line
from pddlego.display.frames import Frame, Timeline
from pddlego.display.view import View, cleaned, fold_common
from pddlego.episode.events import Event, Outcome
from pddlego.models.base import label
from pddlego.runs.cells import NO_MODEL
from pddlego.util.text import clean, count, one_line

_SHORTEST = 8
"""Characters of a model's name that are shown, whatever else has to go."""

OUTCOME_STYLE = {Outcome.WON: "green", Outcome.INTERRUPTED: "yellow"}
"""How an outcome is shown; any other is red."""


def header(view: View, now: float, glyphs: Glyphs, width: int) -> Text:
    """The title line, with usage: steps, calls, tokens, seconds. A long model name is shortened."""
    separator = f" {glyphs.dot} "
    seed = "" if view.seed is None else f"{separator}seed {view.seed}"
    about, used = f"{seed}{separator}{view.mode}{separator}", separator + budget(view, now, glyphs)
    room = width - cell_len(clean(view.title) + about + used)
    line = Text(no_wrap=True, overflow="ellipsis")
    line.append(clean(view.title), style="bold")
    line.append(about + one_line(label(view.model), max(_SHORTEST, room)))
    line.append(used, style="cyan")
    return line


def budget(view: View, now: float, glyphs: Glyphs) -> str:
    """Steps, the score at the end, refused commands, calls, tokens (each if there are any) and seconds."""
    parts = [] if view.limits.steps is None else [f"step {view.step}/{view.limits.steps}"]
    if view.ended is not None:
        parts.append(f"score {view.ended.score:.2f}")
    if view.refused:
        parts.append(f"{view.refused} refused")
    if view.model != NO_MODEL:
        kept = f" ({view.from_cache} from the cache)" if view.from_cache else ""
        parts.append(f"{count(view.calls, 'call')}{kept}")
    if view.tokens:
        parts.append(f"{'~' if view.estimated else ''}{view.tokens:,} tokens")
    parts.append(f"{now:.1f} s played")
    return f" {glyphs.dot} ".join(parts)


def result_line(view: View) -> Text:
    """How the episode ended, on one line, after how many steps if they are limited; empty while it runs."""
    if view.ended is None:
        return Text("")
    ended = view.ended
    style = f"bold {OUTCOME_STYLE.get(ended.outcome, 'red')}"
    steps = "" if view.limits.steps is None else f" after {count(ended.usage.steps, 'step')}"
    line = Text(f"{ended.outcome.value}{steps}", style=style)
    if ended.message:
        line.append(f": {clean(' '.join(ended.message.split()))}", style="")
    return line


def result_rows(view: View, width: int) -> list[Text]:
    """How the episode ended, on one to three rows."""
    rows = wrapped([result_line(view)], width)
    if len(rows) > _RESULT_ROWS:
        rows = rows[:_RESULT_ROWS]
        rows[-1].truncate(width - 2)
        rows[-1].append(" …")
    return rows


_RESULT_ROWS = 3


def panel(lines: Sequence[Text], title: str, width: int, height: int) -> Panel:
    """Lines that fit, in a panel of exactly this size."""
    return Panel(Group(*lines), title=title, width=width, height=height, border_style="dim")


def fitted(lines: Sequence[Text], width: int, height: int) -> list[Text]:
    """Lines as at most `height` rows: long ones are wrapped while rows are free; what does not fit is counted."""
    if len(lines) > height > 1:
        return [*lines[: height - 1], Text(f"… {len(lines) - height + 1} more", "dim")]
    rows: list[Text] = []
    spare = height - len(lines)
    for line in lines[:height]:
        own = wrapped([line], width)
        rows += own if len(own) - 1 <= spare else [*own[:spare], line[sum(len(row) for row in own[:spare]) :]]
        spare -= min(spare, len(own) - 1)
    return rows


def beside(*parts: RenderableType) -> Table:
    """Things of one height, side by side."""
    grid = Table.grid(padding=0)
    grid.add_row(*parts)
    return grid


def marks(label: str, good: Sequence[bool], total: int, width: int, glyphs: Glyphs) -> list[Text]:
    """A mark for each of `total` things: good, bad, or not tried yet; wrapped, with a label before them."""
    line = Text(label, "bold", no_wrap=True)
    for number in range(total):
        if number >= len(good):
            line.append(glyphs.dot, "dim")
        elif good[number]:
            line.append(glyphs.done, "green")
        else:
            line.append(glyphs.failed, "red")
    return wrapped([line], max(len(label) + 1, width))


def wrapped(lines: list[Text], width: int) -> list[Text]:
    """Lines as rows of at most `width` cells. Long ones are broken after a space, or in a word that is longer."""
    rows: list[Text] = []
    for line in lines:
        whole = line.copy()
        whole.no_wrap = True
        pieces = list(_pieces(whole.plain, width))
        rows += whole.divide(accumulate(map(len, pieces[:-1])))
    return rows


def _pieces(line: str, width: int) -> Iterator[str]:
    """The parts of a line that take a row each: together they are the line."""
    indent = len(line) - len(line.lstrip())
    start = 0
    while cell_len(line[start : start + 2 * width]) > width:
        piece = chop_cells(line[start : start + 2 * width], width)[0]
        after_space = piece.rfind(" ") + 1
        if after_space > max(0, indent - start) and line[start + len(piece)] != " ":
            piece = piece[:after_space]
        piece = piece or line[start]  # a wide character in a column of one cell
        yield piece
        start += len(piece)
    yield line[start:]


MIN_WIDTH, MIN_HEIGHT = 72, 20
"""A smaller terminal gets plain lines."""


def is_large(width: int, height: int) -> bool:
    """Whether there is room for panels."""
    return width >= MIN_WIDTH and height >= MIN_HEIGHT


_MAX_HEIGHT = 44

V = TypeVar("V", bound=View)


@dataclass(frozen=True)
class Tab:
    """A view of one step that lists something: its name, its lines, and for which episodes it is.

    The lines of one that is `drawn` form a picture: they must not be wrapped.
    """

    name: str
    lines: Callable[[Frame, Glyphs], Sequence[Text]]
    fits: Callable[[Any], bool] = lambda view: True
    drawn: bool = False


class Screen(Protocol[V]):
    """Draws the episodes of a method: pure functions of a view, which is folded from events."""

    @property
    def start(self) -> V:
        """The view before anything happened."""

    @property
    def tabs(self) -> Sequence[Tab]:
        """What there is to see of a step besides the picture and the requests."""

    def fold(self, view: V, event: Event, seconds: float) -> V:
        """The view after an event, which happened `seconds` after the start."""

    def body(self, view: V, width: int, height: int, now: float, glyphs: Glyphs) -> RenderableType:
        """Everything, exactly `width` wide and at most `height` lines high."""

    def latest(self, view: V, width: int, height: int, now: float, glyphs: Glyphs) -> RenderableType:
        """What happened last, where a question leaves no room for more."""


@dataclass(frozen=True)
class Renderer:
    """How the episodes of a method are shown: its screen, and what is said of its events."""

    screen: Screen[Any]
    describe: Describer

    def film(self) -> Timeline:
        """An episode of which nothing is known yet, to be cut into steps."""
        return Timeline(self.screen.start, self.screen.fold)


RendererOf = Callable[[str], Renderer]
"""How episodes of a method are shown, by its name; of one that is not installed in lines."""


def whole(screen: Screen[Any], view: View, width: int, height: int, now: float, glyphs: Glyphs) -> RenderableType:
    """The picture with its header and result line, exactly `width` wide and at most `height` lines high."""
    result = result_rows(view, width)
    body = screen.body(view, width, min(height, _MAX_HEIGHT) - 1 - len(result), now, glyphs)
    return Group(header(view, now, glyphs, width), body, *result)


LOG_LENGTH = 200


@dataclass(frozen=True)
class LinesView(View):
    """What happened, in lines."""

    lines: tuple[Line, ...] = ()


class LinesScreen:
    """The picture of a method that has none of its own: what happened, in lines."""

    start = LinesView()
    tabs: tuple[Tab, ...] = ()

    def __init__(self, describe: Describer) -> None:
        self._describe = describe

    def fold(self, view: LinesView, event: Event, seconds: float) -> LinesView:
        event = cleaned(event)
        view = fold_common(view, event, seconds)
        return replace(view, lines=(*view.lines, *self._describe(event, UNICODE).brief)[-LOG_LENGTH:])

    def body(self, view: LinesView, width: int, height: int, now: float, glyphs: Glyphs) -> RenderableType:
        last = [*asking_lines(view, now), *word_lines(view, width - 4, height // 3)]
        return self._panel(view, width, height, last)

    def latest(self, view: LinesView, width: int, height: int, now: float, glyphs: Glyphs) -> RenderableType:
        return self.body(view, width, height, now, glyphs)

    def _panel(self, view: LinesView, width: int, height: int, last: list[Text]) -> Panel:
        lines = [Text(clean(line.text), line.style) for line in view.lines]
        rows = wrapped([*lines, *last], width - 4)
        return panel(rows[-max(1, height - 2) :], "episode", width, height)


def asking_lines(view: View, now: float) -> list[Text]:
    """That a model is asked, for how long already, and what went wrong on the way."""
    request = view.request
    if request is None:
        return []
    waited = max(0.0, now - request.sent_at)
    lines = [Text(f"   asking {clean(view.model)} ({request.purpose}) … {waited:.0f} s", "cyan")]
    trouble = request.trouble
    if trouble is not None:
        left = max(0.0, trouble.seconds - (now - request.tried_at))
        then = f"next try in {left:.0f} s" if left else "trying again"
        line = f"   {one_line(trouble.reason, 300)} (attempt {trouble.tries} of {trouble.most}; {then})"
        lines.insert(0, Text(line, "yellow"))
    return lines


def word_lines(view: View, width: int, height: int) -> list[Text]:
    """The last of what a model has thought and said of an answer that is under way, on at most `height` lines."""
    if view.request is None:
        return []
    rows: list[Text] = []
    for text, style in ((view.request.thought, "dim italic"), (view.request.text, "")):
        last = clean(text[-2 * width * max(1, height) :])
        rows += [Text(row, style) for line in last.splitlines() for row in textwrap.wrap(line, max(1, width))]
    return rows[-max(0, height) :] if height > 0 else []
