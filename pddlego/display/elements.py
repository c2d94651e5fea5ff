"""Panes and lines as elements of an HTML page."""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

import rich.console
from rich.text import Text

from pddlego.display.screens import Drawing
from pddlego.util.text import clean

Element = dict[str, Any]
"""A pane as a JSON value: its title, and the numbers of the texts of its picture (`drawing`) and of its `lines`."""

_CONSOLE = rich.console.Console(file=io.StringIO(), color_system=None)


class Texts:
    """The HTML texts of a page. Each distinct text is stored once."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    @property
    def all(self) -> list[str]:
        return [*self._numbers]

    def element(self, title: str, drawing: Drawing, **more: object) -> Element:
        """A pane with these further values, of which those that are None are left out."""
        value = {"title": clean(title), "lines": self._numbered(map(_line_html, drawing.lines))}
        if drawing.parts:
            value["drawing"] = self._numbered(drawing.parts)
        return value | {name: item for name, item in more.items() if item is not None}

    def _numbered(self, texts: Iterable[str]) -> list[int]:
        return [self._numbers.setdefault(text, len(self._numbers)) for text in texts]


def _line_html(line: Text) -> str:
    """A line as HTML, with the names of its styles as classes."""
    if not line.spans:
        return _styled(line.plain, str(line.style))
    return "".join(_styled(segment.text, str(segment.style or "")) for segment in line.render(_CONSOLE, end=""))


def _styled(text: str, style: str) -> str:
    shown = escape(clean(text), quote=False)
    return f'<span class="{escape(style)}">{shown}</span>' if style and style != "none" else shown


def static_html(tabs: Iterable[Sequence[Element]], texts: Sequence[str]) -> str:
    """The panes of tabs as HTML that needs no script."""
    parts = list[str]()
    for pane in (pane for panes in tabs for pane in panes if pane["lines"] or pane.get("drawing")):
        body = "".join(f"<div>{texts[number]}</div>" for number in pane["lines"])
        picture = "".join(texts[number] for number in pane.get("drawing", ()))
        picture = picture and f'<div class="drawing">{picture}</div>'
        title = f"<h3>{escape(pane['title'])}</h3>" if pane["title"] else ""
        parts.append(f'<div class="pane">{title}{picture}<div class="lines">{body}</div></div>')
    return f'<div class="stacks">{"".join(parts)}</div>'
