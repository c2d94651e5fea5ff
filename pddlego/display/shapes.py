"""Boxes, groups and texts of SVG pictures on pages. All texts are escaped."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from html import escape

from pddlego.util.text import both_ends, clean

Place = tuple[int, int]  # the middle of a box, in pixels

BOX, PITCH, LETTERS = (94, 50), (116, 78), 13
"""The width and height of a box and the distance from box to box in pixels, and the letters of a line in a box."""

_EDGE, _LINE = 8, 14
"""Pixels: the margin of a picture, and the height of a line."""


def opening(middles: Collection[Place], label: str, attributes: str = "") -> str:
    """The start tag of a picture with boxes at these places, and with further attributes."""
    xs, ys = zip(*middles, strict=True)
    left, top = min(xs) - BOX[0] // 2 - _EDGE, min(ys) - BOX[1] // 2 - _EDGE
    width, height = max(xs) - min(xs) + BOX[0] + 2 * _EDGE, max(ys) - min(ys) + BOX[1] + 2 * _EDGE
    size = f'viewBox="{left} {top} {width} {height}" width="{width}" height="{height}"'
    return f'<svg {size} role="group" aria-label="{escape(clean(label))}"{attributes}>'


def group(kind: str, title: str, inner: str) -> str:
    """Elements with their text alternative."""
    return f'<g class="{kind}"><title>{escape(clean(title))}</title>{inner}</g>'


def text(shown: str, x: int, y: int, kind: str) -> str:
    """One line of text."""
    return f'<text class="{kind}" x="{x}" y="{y}">{escape(clean(shown))}</text>'


def box(kinds: Iterable[str], title: str, rows: Sequence[tuple[str, str]], middle: Place, marks: str = "") -> str:
    """A box with rows of text, each with its class. The title is the text alternative, which the focus shows."""
    x, y = middle
    first = y - (len(rows) - 1) * _LINE // 2 + 4
    shown = [(both_ends(row, LETTERS - (len(row) > LETTERS)), kind) for row, kind in rows]
    texts = "".join(text(row, x, first + number * _LINE, kind) for number, (row, kind) in enumerate(shown))
    rect = f'<rect x="{x - BOX[0] // 2}" y="{y - BOX[1] // 2}" width="{BOX[0]}" height="{BOX[1]}" rx="6"/>'
    about = f"<title>{escape(clean(title))}</title>"
    return f'<g class="{" ".join(("room", *kinds))}" role="img" tabindex="0">{about}{rect}{texts}{marks}</g>'
