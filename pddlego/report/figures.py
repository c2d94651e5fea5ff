"""Figures of methods: the points that episodes measured, as lines that a plot or a table can show."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pddlego.errors import UsageError
from pddlego.evaluation.table import Row
from pddlego.methods.base import Figure
from pddlego.methods.registry import measuring_of
from pddlego.runs.cells import NO_MODEL, Cell
from pddlego.runs.summary import Summary

MOST_POINTS = 12
"""Points of a line: neighbours are put together where there are more."""


@dataclass(frozen=True)
class LinePoint:
    """A point of a line: `error` is the standard error of the mean (0 for a median), `number` of how many values."""

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

    def table(self) -> tuple[list[str], list[list[str]]]:
        """The same as a table: a row for each point."""
        head = ["line", self.figure.x, self.figure.y, "standard error", "of"]
        body = [
            [
                line.label,
                f"{point.x:g}",
                f"{point.y:.3g}",
                f"{point.error:.2g}" if point.error else "",
                str(point.number),
            ]
            for line in self.lines
            for point in line.points
        ]
        return head, body


def draw_figures(results: Sequence[Summary]) -> tuple[DrawnFigure, ...]:
    """Every figure that has points. Means are over all settings, medians for each of them."""
    points: dict[Figure, dict[str, list[tuple[float, float]]]] = {}
    for summary in results:
        for figure in _figures(summary.cell):
            found = summary.measures.series.get(figure.series, ())
            points.setdefault(figure, {}).setdefault(_label(summary.cell, figure), []).extend(found)
    drawn = (
        DrawnFigure(figure, tuple(FigureLine(label, tuple(_line(own, figure))) for label, own in lines.items() if own))
        for figure, lines in points.items()
    )
    return tuple(each for each in drawn if each.lines)


def published_scores(rows: Sequence[Row]) -> tuple[list[str], list[list[str]]]:
    """The mean scores beside those of the paper, where a paper has one of the setting and the mode."""
    found = []
    for row in rows:
        score = _published(row.setting, row.mode).get(row.mode)
        if score is not None:
            found.append([row.setting, row.mode, row.model, f"{row.score:.2f}", f"{score:.2f}"])
    return ["game", "mode", "model", "score", "paper (GPT-4)"], found


def _figures(cell: Cell) -> tuple[Figure, ...]:
    try:
        return measuring_of(cell.setting, cell.mode).figures
    except UsageError:  # a method that is not installed any more
        return ()


def _published(setting: str, mode: str) -> Mapping[str, float]:
    try:
        published = measuring_of(setting, mode).published
    except UsageError:
        return {}
    return published(setting) if published else {}


def _label(cell: Cell, figure: Figure) -> str:
    who = cell.mode if cell.model == NO_MODEL else f"{cell.mode} {cell.model}"
    return who if figure.combined == "mean" else f"{cell.setting} {who}"


def _line(points: Sequence[tuple[float, float]], figure: Figure) -> Iterator[LinePoint]:
    places = sorted({x for x, _ in points})
    size = -(-len(places) // MOST_POINTS)
    for first in range(0, len(places), max(1, size)):
        together = set(places[first : first + size])
        group = [point for point in points if point[0] in together]
        xs, ys = [x for x, _ in group], [y for _, y in group]
        if figure.combined == "median":
            yield LinePoint(statistics.median(xs), statistics.median(ys), 0.0, len(group))
        else:
            error = statistics.stdev(ys) / len(ys) ** 0.5 if len(ys) > 1 else 0.0
            yield LinePoint(statistics.mean(xs), statistics.mean(ys), error, len(group))
