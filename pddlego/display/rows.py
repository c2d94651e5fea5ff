"""Lines of text as rows of a pane: wrapped, fitted, numbered, marked."""

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
    """Remove control characters from all texts of an event, so that nothing that is drawn can steer the terminal."""
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


def code_lines(text: str, kept: int, known: Collection[str], glyphs: Glyphs) -> list[Text]:
    """The lines of a program with numbers: the first `kept` dim, of the others those that are not `known` green."""
    lines = []
    for number, line in enumerate(text.splitlines()):
        fresh = number >= kept and line.strip() and line not in known
        style = "green" if fresh else "dim" if number < kept else "default"
        sign = glyphs.added if fresh else " "
        lines.append(Text(f"{number + 1:>4} {sign} {clean(line)}", style, no_wrap=True))
    return lines


def marked(good: bool, text: str, glyphs: Glyphs) -> Text:
    """A line about something that was tried: good or bad."""
    return Text(clean(f"{glyphs.done if good else glyphs.failed} {text}"), "green" if good else "red")


def numbered(actions: Sequence[str]) -> list[Text]:
    """A plan with the numbers of its steps."""
    return [Text(f"{number:>3}  {action}") for number, action in enumerate(actions, start=1)]


def cut(rows: Sequence[Text], room: int) -> list[Text]:
    """The rows that fit; if some do not, the last one says how many."""
    if len(rows) <= room:
        return list(rows)
    return [*rows[: room - 1], Text(f"{len(rows) - room + 1} more", "dim")]
