"""A table that can be sorted and filtered. Only visible rows are drawn, so it may have many rows."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import ClassVar, Generic

from rich.cells import cell_len, set_cell_size
from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.events import Click
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widgets import Input, Static

from pddlego.display.columns import ListColumn, R, widths_of
from pddlego.util.text import both_ends, clean, natural

_GAP = 2
"""The number of spaces between two columns."""

_MARGIN = 3
"""The columns of the terminal for the space at the left and for the scroll bar."""


class Rows(ScrollView, can_focus=True):
    """A widget with a head and rows of cells; the cursor is on one row."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", "Up", show=False),
        Binding("down,j", "move(1)", "Down", show=False),
        Binding("pageup", "page(-1)", "Page up", show=False),
        Binding("pagedown", "page(1)", "Page down", show=False),
        Binding("home", "move(-1000000000)", "First", show=False),
        Binding("end", "move(1000000000)", "Last", show=False),
        Binding("enter", "open", "Open"),
    ]

    @dataclass
    class Opened(Message):
        """The user opened the row with this key."""

        key: str

    class Moved(Message):
        """The cursor is perhaps on another row."""

    @dataclass
    class HeadClicked(Message):
        """The user clicked the head of the column with this index."""

        column: int

    def __init__(self) -> None:
        super().__init__()
        self.cursor = 0
        self._head: list[str] = []
        self._widths: list[int] = []
        self._order: list[str] = []
        self._draw: Callable[[str], list[tuple[str, str, bool]]] = lambda key: []

    @property
    def current_key(self) -> str | None:
        """The key of the row under the cursor; None without rows."""
        return self._order[self.cursor] if self._order else None

    def show(
        self, head: list[str], widths: list[int], order: list[str], draw: Callable[[str], list[tuple[str, str, bool]]]
    ) -> None:
        """Show the rows with the keys of `order`. `draw` returns the text, style and right alignment of each cell.

        The cursor stays on the row with its key, unless it is on the first row: then it stays at the top.
        """
        before = self.current_key if self.cursor else None
        self._head, self._widths, self._order, self._draw = head, widths, order, draw
        self.virtual_size = Size(sum(widths) + _GAP * len(widths), len(order) + 1)
        self._move_to(order.index(before) if before in order else self.cursor)
        self.refresh()

    def render_line(self, y: int) -> Strip:
        left, top = self.scroll_offset
        number = y - 1 + top
        line = Text(" ", no_wrap=True)
        if y == 0:
            cells = [(name, "bold", False) for name in self._head]
        else:
            cells = self._draw(self._order[number]) if number < len(self._order) else []
        for (text, style, right), width in zip(cells, self._widths, strict=False):
            edges = left, left + self.size.width
            if right and any(line.cell_len < edge < line.cell_len + width for edge in edges):
                text, right = "…", False  # a part of a number would be another number
            if cell_len(text) > width:
                text = set_cell_size(both_ends(text, width), width)
            blank = " " * (width - cell_len(text))
            line.append(blank + text if right else text + blank, style).append(" " * _GAP)
        if y and number == self.cursor and self._order:
            line.append(" " * max(0, self.size.width + left - line.cell_len))
            line.stylize("reverse")
        strip = Strip(line.render(self.app.console)).crop_extend(left, left + self.size.width, self.rich_style)
        return strip.apply_style(self.rich_style)

    def _move_to(self, number: int) -> None:
        self.cursor = max(0, min(number, len(self._order) - 1))
        # The head takes the first line, so a row is visible if the line above it is.
        self.scroll_to_region(Region(0, self.cursor, 1, 2), animate=False, x_axis=False)
        self.post_message(self.Moved())
        self.refresh()

    def action_move(self, by: int) -> None:
        """Move the cursor by a number of rows."""
        self._move_to(self.cursor + by)

    def action_page(self, by: int) -> None:
        """Move the cursor by a number of screens."""
        self._move_to(self.cursor + by * max(1, self.size.height - 2))

    def action_open(self) -> None:
        """Open the row under the cursor."""
        if self.current_key is not None:
            self.post_message(self.Opened(self.current_key))

    def on_click(self, event: Click) -> None:
        """Sort by the clicked column, or move to the clicked row; a double click opens the row."""
        if event.y == 0:
            end = 1 - self.scroll_offset.x
            for column, width in enumerate(self._widths):
                end += width + _GAP
                if event.x < end:
                    self.post_message(self.HeadClicked(column))
                    return
            return
        number = event.y - 1 + self.scroll_offset.y
        if number < len(self._order):
            self._move_to(number)
            if event.chain > 1:
                self.action_open()


class FilteredTable(Vertical, Generic[R]):
    """A table of rows, which have keys, with a summary and a filter.

    A row passes the filter if each word is in one of its cells. `NAME:WORD` means that the word is in the cell of that
    column, and `NAME=WORD` that the cell equals the word.
    """

    DEFAULT_CSS = """
    FilteredTable { height: 1fr; }
    FilteredTable Input, FilteredTable Input:focus { display: none; height: 1; border: none; padding: 0 1; }
    FilteredTable.filtering Input, FilteredTable.filtering Input:focus { display: block; }
    FilteredTable Static { height: 1; padding: 0 1; color: $text-muted; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "filter", "Filter"),
        Binding("s", "sort(1)", "Sort"),
        Binding("S", "sort(-1)", "Sort by the column before", show=False),
        Binding("r", "reverse", "Reverse"),
    ]

    def __init__(
        self,
        columns: Iterable[ListColumn[R]],
        sort: str,
        *,
        descending: bool = False,
        changes: Callable[[R], bool] = lambda row: False,
        name_of: Callable[[R], str] = lambda row: "",
    ) -> None:
        """`sort` names a column. `changes` is true of rows whose texts depend on the time.

        `name_of` makes the text about the row under the cursor that follows the summary.
        """
        super().__init__()
        self.columns = list(columns)
        self.sort, self.descending, self.words = sort, descending, ""
        self._changes, self._name_of = changes, name_of
        self._rows: Mapping[str, R] = {}
        self._texts: dict[str, tuple[str, ...]] = {}
        self._widths: list[int] = []
        self._summary = ""

    def compose(self) -> ComposeResult:
        yield Static(id="summary")
        yield Input(placeholder="words that a row must have, COLUMN:WORD, COLUMN=WORD", id="filter")
        yield Rows()

    @property
    def rows_widget(self) -> Rows:
        return self.query_one(Rows)

    def show(self, rows: Mapping[str, R], summary: str) -> None:
        """Show these rows. The texts of a row are kept if the row is the same object as before and does not change."""
        before, old_texts = self._rows, self._texts
        self._texts = {
            key: old_texts[key] if before.get(key) is row and not self._changes(row) else self._texts_of(row)
            for key, row in rows.items()
        }
        self._rows, self._summary = rows, summary
        self._update()
        self._summarize()

    @on(Rows.Moved)
    def _summarize(self) -> None:
        key = self.rows_widget.current_key
        message = "no row matches" if key is None and self._rows else ""
        name = self._name_of(self._rows[key]) if key is not None else ""
        shown = Text(clean("  ".join(filter(None, (message, self._summary, name)))), no_wrap=True, overflow="ellipsis")
        self.query_one("#summary", Static).update(shown)

    def _texts_of(self, row: R) -> tuple[str, ...]:
        return tuple([clean(column.text(row)) for column in self.columns])

    def _update(self) -> None:
        sort_index = [column.name for column in self.columns].index(self.sort)
        shown = [key for key, texts in self._texts.items() if self._fits(texts)]
        shown.sort(key=lambda key: natural(self._texts[key][sort_index]), reverse=self.descending)
        head = [self._head(column) for column in self.columns]
        widths = [max(map(cell_len, column)) for column in zip(head, *(self._texts[key] for key in shown), strict=True)]
        self._widths = widths_of(self.columns, widths, self.size.width - _MARGIN, _GAP)
        self.rows_widget.show(head, self._widths, shown, self._cells)

    def on_resize(self) -> None:
        self._update()

    def _fits(self, texts: tuple[str, ...]) -> bool:
        if not self.words:
            return True
        lower = [text.lower() for text in texts]
        named = {column.name: text for column, text in zip(self.columns, lower, strict=True)}
        for word in self.words.lower().split():
            name, sign, wanted = re.match(r"([^:=]*)([:=]?)(.*)", word).groups()  # type: ignore[union-attr]
            text = named.get(name.replace("_", " "))
            if sign and text is not None:
                if (text != wanted) if sign == "=" else (wanted not in text):
                    return False
            elif not any(word in text for text in lower):
                return False
        return True

    def _cells(self, key: str) -> list[tuple[str, str, bool]]:
        row, texts = self._rows[key], self._texts[key]
        cells = zip(self.columns, texts, self._widths, strict=True)
        return [(column.cut(text, width), column.style(row), column.right) for column, text, width in cells]

    def _head(self, column: ListColumn[R]) -> str:
        return column.name + ((" ▾" if self.descending else " ▴") if column.name == self.sort else "")

    def _sort_by(self, name: str) -> None:
        self.descending = not self.descending if name == self.sort else False
        self.sort = name
        self._update()

    def action_sort(self, step: int) -> None:
        """Sort by the column that is `step` columns further right."""
        names = [column.name for column in self.columns]
        self._sort_by(names[(names.index(self.sort) + step) % len(names)])

    def action_reverse(self) -> None:
        """Reverse the order."""
        self._sort_by(self.sort)

    def action_filter(self) -> None:
        """Open the input field of the filter."""
        self.add_class("filtering")
        self.query_one(Input).focus()

    def clear_filter(self) -> bool:
        """Remove the filter, and close its input field. Returns whether the field was open."""
        filtering = self.has_class("filtering")
        self.remove_class("filtering")
        self.query_one(Input).value = ""
        self.rows_widget.focus()
        return filtering

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        self.words = event.value
        self._update()

    @on(Input.Submitted)
    def _entered(self) -> None:
        self.rows_widget.focus()

    @on(Rows.HeadClicked)
    def _clicked(self, event: Rows.HeadClicked) -> None:
        self._sort_by(self.columns[event.column].name)
