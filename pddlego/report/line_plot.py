"""A line plot as SVG, in the manner of `svg`: lines with a band of one standard error, on plain or logarithmic axes."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pddlego.report.figures import DrawnFigure, FigureLine, LinePoint
from pddlego.report.svg import Axis, Plot, colours_of, escape


def line_plot(drawn: DrawnFigure, colours: Mapping[str, str] | None = None) -> str:
    """The figure. Lines get their colour from `colours`, or one of their own."""
    figure, lines = drawn.figure, drawn.lines
    used = colours_of(line.label for line in lines)
    used |= {name: colour for name, colour in (colours or {}).items() if name in used}
    points = [point for line in lines for point in line.points]
    across = Axis(min(each.x for each in points), max(each.x for each in points), figure.logarithmic)
    least, most = min(each.y for each in points), max(each.y + each.error for each in points)
    up = Axis(least, most, True) if figure.logarithmic else Axis(0.0, max(most, 1.0))
    plot = Plot(used, across, up)
    plot.parts += [_drawn(line, used[line.label], plot.place) for line in lines]
    ticks = {value: f"{value:.3g}" for value in (across.low, across.middle, across.high)}
    scale = " (logarithmic)" if figure.logarithmic else ""
    how = "median" if figure.combined == "median" else "mean, with its standard error"
    return plot.drawing(ticks, 2, (f"across: {figure.x}{scale}", f"up: {figure.y}, {how}"))


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
