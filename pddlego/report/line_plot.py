"""A line plot as SVG, in the manner of `svg`: lines with a band of one standard error, on plain or logarithmic axes."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from pddlego.report.figures import DrawnFigure, FigureLine, LinePoint
from pddlego.report.svg import GREY, WIDTH, brief, colours_of, drawing, escape, label

LEFT, RIGHT, HIGH, BOTTOM = 52, 16, 240, 50
LEAST = 1e-4
"""What stands for zero on a logarithmic axis."""


class _Axis:
    """Maps the values of an axis to places between 0 and 1."""

    def __init__(self, low: float, high: float, logarithmic: bool) -> None:
        self.logarithmic = logarithmic
        self.low, self.high = (max(low, LEAST), max(high, LEAST)) if logarithmic else (low, high)
        if self.high <= self.low:
            self.high = self.low * 10 if logarithmic else self.low + 1

    def __call__(self, value: float) -> float:
        if not self.logarithmic:
            return (value - self.low) / (self.high - self.low)
        low, high = math.log(self.low), math.log(self.high)
        return (math.log(max(value, LEAST)) - low) / (high - low)

    def ticks(self) -> list[float]:
        if not self.logarithmic:
            return [self.low + share * (self.high - self.low) for share in (0.0, 0.5, 1.0)]
        middle = math.exp((math.log(self.low) + math.log(self.high)) / 2)
        return [self.low, middle, self.high]


def line_plot(drawn: DrawnFigure, colours: Mapping[str, str] | None = None) -> str:
    """The figure. Lines get their colour from `colours`, or one of their own."""
    figure, lines = drawn.figure, drawn.lines
    own = colours_of(line.label for line in lines)
    used = {line.label: (colours or {}).get(line.label, own.get(line.label, GREY)) for line in lines}
    points = [point for line in lines for point in line.points]
    across = _Axis(min(each.x for each in points), max(each.x for each in points), figure.logarithmic)
    most = max(each.y + each.error for each in points)
    least = min(each.y for each in points) if figure.logarithmic else 0.0
    up = _Axis(least, most if figure.logarithmic else max(most, 1.0), figure.logarithmic)
    top = 12 + 18 * len(lines)
    height = top + HIGH + BOTTOM

    def at(x: float, y: float) -> tuple[float, float]:
        return LEFT + across(x) * (WIDTH - LEFT - RIGHT), top + HIGH * (1 - min(1.0, max(0.0, up(y))))

    parts = []
    for number, line in enumerate(lines):
        y = 14 + 18 * number
        parts.append(f'<circle cx="{LEFT}" cy="{y - 4}" r="5" fill="{used[line.label]}"/>')
        parts.append(label(LEFT + 10, y, line.label, "start"))
    for tick in up.ticks():
        _, y_place = at(across.low, tick)
        parts.append(f'<line class="grid" x1="{LEFT}" y1="{y_place:.1f}" x2="{WIDTH - RIGHT}" y2="{y_place:.1f}"/>')
        parts.append(label(LEFT - 6, y_place + 4, brief(tick, 2), "end"))
    for tick, anchor in zip(across.ticks(), ("middle", "middle", "end"), strict=True):
        parts.append(label(at(tick, up.low)[0], height - 34, f"{tick:.3g}", anchor))
    scale = " (logarithmic)" if figure.logarithmic else ""
    parts.append(label(WIDTH / 2, height - 18, f"across: {figure.x}{scale}", "middle"))
    how = "median" if figure.combined == "median" else "mean, with its standard error"
    parts.append(label(WIDTH / 2, height - 4, f"up: {figure.y}, {how}", "middle"))
    for line in lines:
        parts.append(_drawn(line, used[line.label], at))
    return drawing(height, parts)


def _drawn(line: FigureLine, colour: str, at: Callable[[float, float], tuple[float, float]]) -> str:
    def places(points: list[tuple[float, float]]) -> str:
        return " ".join(f"{x:.1f},{y:.1f}" for x, y in points)

    centre = [at(point.x, point.y) for point in line.points]
    found = []
    if any(point.error for point in line.points):
        above = [at(point.x, point.y + point.error) for point in line.points]
        below = [at(point.x, point.y - point.error) for point in reversed(line.points)]
        found.append(f'<polygon points="{places([*above, *below])}" fill="{colour}" opacity="0.15"/>')
    found.append(f'<polyline points="{places(centre)}" fill="none" stroke="{colour}" stroke-width="2"/>')
    for point, (x, y) in zip(line.points, centre, strict=True):
        title = f"<title>{escape(_note(line, point))}</title>"
        found.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{colour}">{title}</circle>')
    return "".join(found)


def _note(line: FigureLine, point: LinePoint) -> str:
    return f"{line.label}: {point.x:g}, {point.y:.3g} (of {point.number})"
