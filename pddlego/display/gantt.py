"""Gantt charts of timed plans: an SVG file, and lines of text for a terminal."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from html import escape

from rich.cells import cell_len, set_cell_size

from pddlego.util.text import both_ends, clean, count, one_line

NARROWEST, WIDEST = 80, 2000
"""Bounds of the width of a picture in pixels."""

MOST_ROWS, MOST_BARS = 200, 2000

_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#b0508a", "#7a6a00", "#3b8fc4", "#a86a00", "#5f5fc4")
"""Colours of actions with a contrast of 3:1 or more on white and on black."""

_STYLE = (
    "svg{max-width:100%;height:auto}rect.page{fill:#fff}text{fill:#222;font:11px monospace}path{stroke:#ccc}"
    "@media (prefers-color-scheme:dark){rect.page{fill:#161616}text{fill:#ddd}path{stroke:#444}}"
)
_LETTER, _ROW, _EDGE = 6.7, 20, 8
"""Pixels: the width of a letter, the height of a row, the margin."""


@dataclass(frozen=True, order=True)
class Bar:
    """A step, such as `(load a)`, from `start` to `end`. If these are equal, it is drawn as a mark."""

    start: Fraction
    end: Fraction
    step: str

    @property
    def sentence(self) -> str:
        return f"{self.step}: {_short(self.start)}" + (f" to {_short(self.end)}" if self.end > self.start else "")


def chart_svg(bars: Sequence[Bar], title: str, width: int = 800) -> str:
    """A picture of a plan as an SVG file that loads no other files, for light and dark pages.

    A step that occurs several times has one row. `width` is in pixels, between `NARROWEST` and `WIDEST`.
    """
    width = min(WIDEST, max(NARROWEST, width))
    rows, end, note = _rows(bars)
    letters = min(int(0.4 * width / _LETTER), max(map(len, rows), default=0))
    left, bottom = _EDGE + (letters + 1) * _LETTER, _EDGE + len(rows) * _ROW
    pixels = (width - left - 2 * _EDGE) / float(end)
    colours: dict[str, str] = {}
    parts = [f'<text x="{_EDGE}" y="{bottom + 34}">{note}</text>'] if note else []
    for tick in _ticks(end, (width - left) / 60):
        x, text = left + float(tick) * pixels, _short(tick)
        middle = min(x, width - len(text) * _LETTER / 2)
        parts.append(f'<path d="M{x:.1f} {_EDGE}V{bottom + 4}"/>')
        parts.append(f'<text x="{middle:.1f}" y="{bottom + 16}" text-anchor="middle">{text}</text>')
    for number, (step, occurrences) in enumerate(rows.items()):
        y, label = _EDGE + number * _ROW, escape(both_ends(one_line(step, len(step)), letters))
        parts.append(f'<text x="{_EDGE}" y="{y + 14}">{label}<title>{escape(clean(step))}</title></text>')
        colour = colours.setdefault(step.strip("()").partition(" ")[0], _COLOURS[len(colours) % len(_COLOURS)])
        for bar in occurrences:
            x, length = left + float(bar.start) * pixels, max(3.0, float(bar.end - bar.start) * pixels)
            shape = f'x="{x:.1f}" y="{y + 3}" width="{length:.1f}" height="14" rx="2" fill="{colour}"'
            parts.append(f"<rect {shape}><title>{escape(clean(bar.sentence))}</title></rect>")
    name, height = escape(clean(title)), bottom + 22 + 18 * bool(note)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f'role="img" aria-label="{name}"><title>{name}</title><style>{_STYLE}</style>'
        f'<rect class="page" width="{width}" height="{height}"/>{"".join(parts)}</svg>\n'
    )


def chart_lines(bars: Sequence[Bar], width: int) -> list[str]:
    """A plan as lines of at most `width` cells, which are at least 20: a row for each step, and an axis."""
    rows, end, note = _rows(bars)
    width = max(20, width)
    left = min(width * 2 // 5, max(map(cell_len, rows), default=0))
    cells = width - left - 1
    texts = []
    for step, occurrences in rows.items():
        marks = [" "] * cells
        for bar in occurrences:
            first = min(cells - 1, int(bar.start * cells / end))
            last = min(cells, max(first + 1, math.ceil(bar.end * cells / end)))
            marks[first:last] = "◆" if bar.end == bar.start else "█" * (last - first)
        texts.append(f"{set_cell_size(one_line(step, left), left)} {''.join(marks)}".rstrip())
    axis = ""
    for tick in _ticks(end, cells / 8):
        text = _short(tick)
        place = min(int(tick * cells / end), cells - len(text))
        axis = axis.ljust(place) + text if place > len(axis) or not axis else axis
    return [*texts, f"{' ' * left} {axis}", *([one_line(note, width)] if note else [])]


def _rows(bars: Sequence[Bar]) -> tuple[dict[str, list[Bar]], Fraction, str]:
    """The bars of each step in the order of their starts, the end of the axis, and a note if there is no room."""
    rows: dict[str, list[Bar]] = {}
    hidden = max(0, len(bars) - MOST_BARS)
    for bar in sorted(bars)[:MOST_BARS]:
        if bar.step in rows or len(rows) < MOST_ROWS:
            rows.setdefault(bar.step, []).append(bar)
        else:
            hidden += 1
    end = max((bar.end for bar in bars), default=Fraction(0)) or Fraction(1)
    return rows, end, f"and {count(hidden, 'further step')}" if hidden else ""


def _ticks(end: Fraction, most: float) -> list[Fraction]:
    """Round numbers from 0 to the end; 0 and the end if there is little room."""
    least = end / max(1, int(most))
    power = Fraction(10) ** math.floor(math.log10(least))
    step = next(factor * power for factor in (1, 2, 5, 10, 20) if factor * power >= least)
    return [number * step for number in range(int(end / step) + 1)] if step <= end else [Fraction(0), end]


def _short(value: Fraction) -> str:
    return f"{float(value):.6g}"
