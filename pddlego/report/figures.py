"""Figures of methods: the points that episodes measured, as lines that a plot or a table can show."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pddlego.errors import UsageError
from pddlego.evaluation.models import answered_by
from pddlego.evaluation.table import Row
from pddlego.methods.base import Figure
from pddlego.methods.registry import measuring_of, method_of
from pddlego.runs.cells import NO_MODEL, Cell
from pddlego.runs.store import recorded_setting
from pddlego.runs.summary import Summary

_MOST_POINTS = 12
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
class PaperFigure:
    """A mean of ours beside that of a paper. `number` names what the mean is of."""

    setting: str
    mode: str
    model: str
    number: str
    ours: float
    paper: float


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
        for figure in measuring_of(summary.cell.setting, summary.cell.mode).figures:
            series = summary.measures.series.get(figure.series, ())
            points.setdefault(figure, {}).setdefault(_label(summary.cell, figure), []).extend(series)
    drawn = (
        DrawnFigure(figure, tuple(FigureLine(label, tuple(_line(own, figure))) for label, own in lines.items() if own))
        for figure, lines in points.items()
    )
    return tuple(figure for figure in drawn if figure.lines)


def paper_figures(rows: Sequence[Row], settings: Mapping[str, Any]) -> tuple[PaperFigure, ...]:
    """Our means beside those of a paper, where it has one of the same setting, mode and model.

    `settings` says how each was played, as a run folder records it.
    """
    figures = []
    for row in rows:
        try:
            method = method_of(row.setting, row.mode)
        except UsageError:  # a setting or a method that is not there any more
            continue
        played = recorded_setting(settings, row.setting, method.name) or {}
        number, published = method.measuring.printed, method.measuring.published
        models = published(row.setting, played.get("options", {})) if published else {}
        paper = models.get(answered_by(row.model), {}).get(row.mode)
        measured = row.number(number)
        ours = row.score if number == "score" else measured.mean if measured else None
        if paper is not None and ours is not None:
            figures.append(PaperFigure(row.setting, row.mode, row.model, number, ours, paper))
    return tuple(figures)


def _label(cell: Cell, figure: Figure) -> str:
    who = cell.mode if cell.model == NO_MODEL else f"{cell.mode} {cell.model}"
    return who if figure.combined == "mean" else f"{cell.setting} {who}"


def _line(points: Sequence[tuple[float, float]], figure: Figure) -> Iterator[LinePoint]:
    places = sorted({x for x, _ in points})
    size = -(-len(places) // _MOST_POINTS)
    for first in range(0, len(places), max(1, size)):
        together = set(places[first : first + size])
        group = [point for point in points if point[0] in together]
        xs, ys = [x for x, _ in group], [y for _, y in group]
        if figure.combined == "median":
            yield LinePoint(statistics.median(xs), statistics.median(ys), 0.0, len(group))
        else:
            error = statistics.stdev(ys) / len(ys) ** 0.5 if len(ys) > 1 else 0.0
            yield LinePoint(statistics.mean(xs), statistics.mean(ys), error, len(group))
