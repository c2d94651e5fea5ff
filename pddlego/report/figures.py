"""The data of figures: lines through the measured points of episodes."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pddlego.evaluation.table import by_configuration
from pddlego.methods.base import Figure
from pddlego.methods.registry import measuring_of
from pddlego.runs.cells import NO_MODEL
from pddlego.runs.summary import Summary

IN_ORDER = Figure("requests by episode", "Requests by episode, in order", "episode", "requests", most_points=50)
"""The figure of evaluations in which an episode begins with what the ones before it have left (`--carry`)."""


@dataclass(frozen=True)
class LinePoint:
    """A point of a line. `error` is the standard error of the mean (0 for a median), `number` the number of values."""

    x: float
    y: float
    error: float
    number: int


@dataclass(frozen=True)
class FigureLine:
    """The line of a configuration."""

    label: str
    points: tuple[LinePoint, ...]


@dataclass(frozen=True)
class DrawnFigure:
    """A figure with its lines."""

    figure: Figure
    lines: tuple[FigureLine, ...]


def draw_figures(results: Sequence[Summary], in_order: Sequence[Summary] = ()) -> tuple[DrawnFigure, ...]:
    """Every figure that has points. Means are over all settings, medians for each of them.

    `in_order` are the results of carried episodes in playing order.
    """
    points: dict[Figure, dict[str, list[tuple[float, float]]]] = {}
    for (setting, mode, model), group in by_configuration(results).items():
        for figure in measuring_of(setting, mode).figures:
            label = method_label(mode, model) if figure.combined == "mean" else f"{setting} {method_label(mode, model)}"
            own = points.setdefault(figure, {}).setdefault(label, [])
            own += [point for summary in group for point in summary.measures.series.get(figure.series, ())]
    for (_, mode, model), group in by_configuration(in_order).items():
        own = points.setdefault(IN_ORDER, {}).setdefault(method_label(mode, model), [])
        own += [(float(place), float(summary.usage.calls)) for place, summary in enumerate(group, start=1)]
    drawn = (
        DrawnFigure(figure, tuple(FigureLine(label, tuple(_line(own, figure))) for label, own in lines.items() if own))
        for figure, lines in points.items()
    )
    return tuple(figure for figure in drawn if figure.lines)


def method_label(mode: str, model: str) -> str:
    """A method as text: its mode, and its model if it has one."""
    return mode if model == NO_MODEL else f"{mode} {model}"


def _line(points: Sequence[tuple[float, float]], figure: Figure) -> Iterator[LinePoint]:
    places = sorted({x for x, _ in points})
    size = -(-len(places) // figure.most_points)
    for first in range(0, len(places), max(1, size)):
        together = set(places[first : first + size])
        group = [point for point in points if point[0] in together]
        xs, ys = [x for x, _ in group], [y for _, y in group]
        if figure.combined == "median":
            yield LinePoint(statistics.median(xs), statistics.median(ys), 0.0, len(group))
        else:
            error = statistics.stdev(ys) / len(ys) ** 0.5 if len(ys) > 1 else 0.0
            yield LinePoint(statistics.mean(xs), statistics.mean(ys), error, len(group))
