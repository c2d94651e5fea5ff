"""Plots as SVG, drawn for reports: no script, no font, nothing to load; they grow and shrink with the page.

Own code because plotting libraries bring fonts, caches and megabytes for what is a few circles and lines, and tooltips
and links into the page are what makes these plots useful.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape as escaped

from pddlego.report.figures import DrawnFigure, FigureLine, LinePoint
from pddlego.util.text import clean

COLOURS = ("#1f77b4", "#d95f02", "#1b9e77", "#7570b3", "#e7298a", "#66a61e", "#a6761d", "#666666")

_GREY = "#888888"

WIDTH = 400
"""Width of every plot in its own units: as many as a phone has pixels, so that its letters can be read there."""

_LEFT, RIGHT, _HIGH, _BOTTOM = 52, 16, 240, 50
"""Room around the axes of a plot, and their height."""

LEAST = 1e-4
"""What stands for zero on a logarithmic axis."""

MOST = 52
"""Characters that fit across a plot."""

_ROW = 40
"""Height of a row: its name, and below it what is drawn."""


@dataclass(frozen=True)
class Bar:
    """A value with an interval: a row of a plot. All between 0 and 1."""

    label: str
    value: float
    low: float
    high: float
    note: str
    colour: str = COLOURS[0]


@dataclass(frozen=True)
class Point:
    """A point of a scatter plot. `filled` ones are successes; `link` is an anchor of the page, or empty."""

    series: str
    x: float
    y: float
    filled: bool
    note: str
    link: str = ""


def escape(text: str) -> str:
    """The text as it may stand in SVG: no markup, and no characters that XML does not have."""
    return escaped(clean(text))


def intervals(bars: Sequence[Bar]) -> str:
    """Values with their intervals, a row for each, on an axis from 0 to 100 %."""
    left, top = 16, 8
    height = top + _ROW * len(bars) + 24

    def place(value: float) -> float:
        return left + value * (WIDTH - left - 20)

    parts = []
    for tick in (0.0, 0.25, 0.5, 0.75, 1.0):
        x = place(tick)
        parts.append(f'<line class="grid" x1="{x:.1f}" y1="{top}" x2="{x:.1f}" y2="{height - 20}"/>')
        parts.append(label(x, height - 6, f"{100 * tick:.0f}%", "middle"))
    for number, bar in enumerate(bars):
        y = top + _ROW * (number + 0.75)
        parts.append(label(left, y - 12, bar.label, "start"))
        ends = f'x1="{place(bar.low):.1f}" y1="{y:.1f}" x2="{place(bar.high):.1f}" y2="{y:.1f}"'
        middle = f'cx="{place(bar.value):.1f}" cy="{y:.1f}" r="5"'
        drawn = f'<line class="interval" {ends}/><circle class="value" {middle}/>'
        colour = f'stroke="{bar.colour}" fill="{bar.colour}"'
        parts.append(f"<g {colour}><title>{escape(bar.note)}</title>{drawn}</g>")
    return drawing(height, parts)


def colours_of(series: Iterable[str]) -> dict[str, str]:
    """A colour for each series, the same wherever it is drawn with these."""
    return {name: COLOURS[number % len(COLOURS)] for number, name in enumerate(dict.fromkeys(series))}


class Axis:
    """Maps the values of an axis to places between 0 and 1."""

    def __init__(self, low: float, high: float, logarithmic: bool = False) -> None:
        self._scale = (lambda value: math.log(max(value, LEAST))) if logarithmic else float
        self.low, self.high = (max(low, LEAST), max(high, LEAST)) if logarithmic else (low, high)
        if self.high <= self.low:
            self.high = self.low * 10 if logarithmic else self.low + 1
        self.middle = math.sqrt(self.low * self.high) if logarithmic else (self.low + self.high) / 2

    def __call__(self, value: float) -> float:
        low, high = self._scale(self.low), self._scale(self.high)
        return (self._scale(value) - low) / (high - low)


class Plot:
    """Two axes below a legend: a name and a colour for each series. `parts` are drawn on them, at their `place`."""

    def __init__(self, series: Mapping[str, str], across: Axis, up: Axis) -> None:
        self._series, self._across, self._up = series, across, up
        self._top = 12 + 18 * len(series)
        self.parts: list[str] = []

    def place(self, x: float, y: float) -> tuple[float, float]:
        """Where a point is drawn."""
        share = min(1.0, max(0.0, self._up(y)))
        return _LEFT + self._across(x) * (WIDTH - _LEFT - RIGHT), self._top + _HIGH * (1 - share)

    def drawing(self, ticks: Mapping[float, str], digits: int, captions: tuple[str, str]) -> str:
        """The whole plot. `ticks` of the axis across, the last of them at its end; `digits` of small numbers on the
        other one; `captions` of both."""
        height = self._top + _HIGH + _BOTTOM
        parts = []
        for number, (name, colour) in enumerate(self._series.items()):
            y = 14 + 18 * number
            parts.append(f'<circle cx="{_LEFT}" cy="{y - 4}" r="5" fill="{colour}"/>')
            parts.append(label(_LEFT + 10, y, name, "start"))
        for tick in (self._up.low, self._up.middle, self._up.high):
            _, y_place = self.place(self._across.low, tick)
            parts.append(
                f'<line class="grid" x1="{_LEFT}" y1="{y_place:.1f}" x2="{WIDTH - RIGHT}" y2="{y_place:.1f}"/>'
            )
            parts.append(label(_LEFT - 6, y_place + 4, brief(tick, digits), "end"))
        for tick, text in ticks.items():
            anchor = "end" if tick == self._across.high else "middle"
            parts.append(label(self.place(tick, self._up.low)[0], height - 34, text, anchor))
        for text, y in zip(captions, (height - 18, height - 4), strict=True):
            parts.append(label(WIDTH / 2, y, text, "middle"))
        return drawing(height, [*parts, *self.parts])


def scatter(points: Sequence[Point], x_name: str, y_name: str, colours: Mapping[str, str]) -> str:
    """Points by series, each with a colour of its own; failures are crosses.

    A series that has none among the `colours` is grey: it is something to compare with.
    """
    series = {point.series: colours.get(point.series, _GREY) for point in points}
    xs = [point.x for point in points]
    across = Axis(min(xs), max(xs))
    plot = Plot(series, across, Axis(0, max(1.0, *(point.y for point in points))))
    for point in points:
        # Methods often take the same steps: what is drawn later is smaller, so that what lies below is seen.
        size = max(2.0, 5.5 - list(series).index(point.series))
        plot.parts.append(_mark(point, *plot.place(point.x, point.y), series[point.series], size))
    ticks = {value: f"{value:g}" for value in (across.low, across.high)}
    return plot.drawing(ticks, 6, (f"x: {x_name}", f"y: {y_name}; ×: not won"))


def _mark(point: Point, x: float, y: float, colour: str, size: float) -> str:
    title = f"<title>{escape(point.note)}</title>"
    if point.filled:
        drawn = f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{size:g}" fill="{colour}">{title}</circle>'
    else:
        side = 2 * size
        path = f"M{x - size:.1f} {y - size:.1f}l{side:g} {side:g}m0 -{side:g}l-{side:g} {side:g}"
        drawn = f'<path d="{path}" stroke="{colour}" stroke-width="2" fill="none">{title}</path>'
    return f'<a href="#{escape(point.link)}">{drawn}</a>' if point.link else drawn


def brief(number: float, digits: int = 6) -> str:
    """A number in few letters: `390k`, `1.3M`; small ones with so many digits."""
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(number) >= 10 * size or (abs(number) >= size and size > 1e3):
            return f"{number / size:.3g}{letter}"
    return f"{number:.{digits}g}"


def label(x: float, y: float, text: str, anchor: str) -> str:
    """A text at a place, cut where it is too long."""
    shown = text if len(text) <= MOST else text[: MOST - 1] + "…"
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(shown)}</text>'


def drawing(height: float, parts: Sequence[str]) -> str:
    """The whole plot."""
    return f'<svg viewBox="0 0 {WIDTH} {height:.0f}" role="img">{"".join(parts)}</svg>'


def line_plot(drawn: DrawnFigure, colours: Mapping[str, str] | None = None) -> str:
    """The figure. Lines get their colour from `colours`, or one of their own."""
    figure, lines = drawn.figure, drawn.lines
    used = colours_of(line.label for line in lines)
    used |= {name: colour for name, colour in (colours or {}).items() if name in used}
    points = [point for line in lines for point in line.points]
    across = Axis(min(point.x for point in points), max(point.x for point in points), figure.logarithmic)
    least, most = min(point.y for point in points), max(point.y + point.error for point in points)
    up = Axis(least, most, True) if figure.logarithmic else Axis(0.0, max(most, 1.0))
    plot = Plot(used, across, up)
    plot.parts += [_drawn(line, used[line.label], plot.place) for line in lines]
    ticks = {value: f"{value:.3g}" for value in (across.low, across.middle, across.high)}
    scale = " (logarithmic)" if figure.logarithmic else ""
    how = "median" if figure.combined == "median" else "mean, with its standard error"
    return plot.drawing(ticks, 2, (f"x: {figure.x}{scale}", f"y: {figure.y}, {how}"))


def _drawn(line: FigureLine, colour: str, at: Callable[[float, float], tuple[float, float]]) -> str:
    def places(points: list[tuple[float, float]]) -> str:
        return " ".join(f"{x:.1f},{y:.1f}" for x, y in points)

    centre = [at(point.x, point.y) for point in line.points]
    positions = []
    if any(point.error for point in line.points):
        above = [at(point.x, point.y + point.error) for point in line.points]
        below = [at(point.x, point.y - point.error) for point in reversed(line.points)]
        positions.append(f'<polygon points="{places([*above, *below])}" fill="{colour}" opacity="0.15"/>')
    positions.append(f'<polyline points="{places(centre)}" fill="none" stroke="{colour}" stroke-width="2"/>')
    for point, (x, y) in zip(line.points, centre, strict=True):
        title = f"<title>{escape(_note(line, point))}</title>"
        positions.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{colour}">{title}</circle>')
    return "".join(positions)


def _note(line: FigureLine, point: LinePoint) -> str:
    return f"{line.label}: {point.x:g}, {point.y:.3g} (of {point.number})"
