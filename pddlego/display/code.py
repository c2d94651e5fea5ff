"""A program that a model writes, line by line."""

from __future__ import annotations

from collections.abc import Collection

from rich.text import Text

from pddlego.display.glyphs import Glyphs
from pddlego.util.text import clean


def code_lines(text: str, kept: int, known: Collection[str], glyphs: Glyphs) -> list[Text]:
    """The lines of a program with numbers: the first `kept` dim, of the others those that are not `known` green."""
    found = []
    for number, line in enumerate(text.splitlines()):
        fresh = number >= kept and line.strip() and line not in known
        style = "green" if fresh else "dim" if number < kept else "default"
        sign = glyphs.added if fresh else " "
        found.append(Text(f"{number + 1:>4} {sign} {clean(line)}", style, no_wrap=True))
    return found


def cut(line: Text, width: int) -> Text:
    """A line that ends in dots where it is too long."""
    found = line.copy()
    found.truncate(max(1, width), overflow="ellipsis")
    found.no_wrap = True
    return found
