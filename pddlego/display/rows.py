"""Turns lines of text into the rows of a pane."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from itertools import accumulate
from typing import Any, TypeVar, cast

from rich.cells import cell_len, chop_cells
from rich.text import Text

from pddlego.display.console import Glyphs
from pddlego.util.text import clean

T = TypeVar("T")


def cleaned(value: T) -> T:
    """A copy of an event without control characters in its texts, so that no event can control the terminal."""
    clean_value: Any = value
    if isinstance(value, str) and not isinstance(value, Enum):
        clean_value = clean(value)
    elif isinstance(value, (tuple, list)):
        clean_value = type(value)(map(cleaned, value))
    elif isinstance(value, Mapping):
        clean_value = {cleaned(key): cleaned(item) for key, item in value.items()}
    elif is_dataclass(value) and not isinstance(value, type):
        clean_value = replace(value, **{field.name: cleaned(getattr(value, field.name)) for field in fields(value)})
    return cast("T", clean_value)


def fitted(lines: Sequence[Text], width: int, height: int) -> list[Text]:
    """At most `height` rows for lines. Long lines are wrapped while there are free rows.

    If there are more lines than rows, the last row says how many lines are hidden.
    """
    if len(lines) > height > 1:
        return [*lines[: height - 1], Text(f"… {len(lines) - height + 1} more", "dim")]
    rows: list[Text] = []
    spare = height - len(lines)
    for line in lines[:height]:
        own = wrapped([line], width)
        rows += own if len(own) - 1 <= spare else [*own[:spare], line[sum(len(row) for row in own[:spare]) :]]
        spare -= min(spare, len(own) - 1)
    return rows


def outcome_marks(label: str, outcomes: Sequence[bool], total: int, width: int, glyphs: Glyphs) -> list[Text]:
    """A label and one mark for each of `total` trials, in rows: success, failure, or a dot for a trial to come."""
    line = Text(label, "bold", no_wrap=True)
    for number in range(total):
        if number >= len(outcomes):
            line.append(glyphs.dot, "dim")
        elif outcomes[number]:
            line.append(glyphs.done, "green")
        else:
            line.append(glyphs.failed, "red")
    return wrapped([line], max(len(label) + 1, width))


def wrapped(lines: list[Text], width: int) -> list[Text]:
    """Rows of at most `width` cells for lines. A line is broken after a space, or within a word that is too long."""
    rows: list[Text] = []
    for line in lines:
        unwrapped = line.copy()
        unwrapped.no_wrap = True
        pieces = list(_pieces(unwrapped.plain, width))
        rows += unwrapped.divide(accumulate(map(len, pieces[:-1])))
    return rows


def _pieces(line: str, width: int) -> Iterator[str]:
    """The consecutive parts of a line, one for each row."""
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


def code_lines(text: str, prefix: int, old_lines: Collection[str], glyphs: Glyphs) -> list[Text]:
    """The numbered lines of a program: the first `prefix` lines dim, and lines that are not in `old_lines` green."""
    lines = []
    for number, line in enumerate(text.splitlines()):
        is_new = number >= prefix and line.strip() and line not in old_lines
        style = "green" if is_new else "dim" if number < prefix else "default"
        sign = glyphs.added if is_new else " "
        lines.append(Text(f"{number + 1:>4} {sign} {clean(line)}", style, no_wrap=True))
    return lines


def outcome_line(succeeded: bool, text: str, glyphs: Glyphs) -> Text:
    """A line about a trial, with the mark of its success or failure."""
    return Text(clean(f"{glyphs.done if succeeded else glyphs.failed} {text}"), "green" if succeeded else "red")


def numbered(actions: Sequence[str]) -> list[Text]:
    """The numbered steps of a plan."""
    return [Text(f"{number:>3}  {action}") for number, action in enumerate(actions, start=1)]


def truncated(rows: Sequence[Text], height: int) -> list[Text]:
    """The first rows. If there are more than `height`, the last row says how many rows are hidden."""
    if height <= 0 or len(rows) <= height:
        return list(rows[: max(0, height)])
    return [*rows[: height - 1], Text(f"{len(rows) - height + 1} more", "dim")]
