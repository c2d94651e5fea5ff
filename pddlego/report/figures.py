"""The data of figures: lines through the measured points of episodes, and the optimum of each seed."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from pddlego.errors import UsageError
from pddlego.evaluation.table import by_configuration
from pddlego.methods.base import Figure, Method, Setting
from pddlego.methods.registry import measuring_of, method, method_of
from pddlego.planning import ProcessPlanner
from pddlego.runs.cells import NO_MODEL, Cell
from pddlego.runs.store import recorded_setting
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


Optima = dict[tuple[str, int], int]
"""The optimum of the number by which methods are compared, by game and seed."""


def find_optima(results: Iterable[Summary], settings: Mapping[str, Any]) -> Optima:
    """Compute the optimum of each game and seed, in some tenths of a second each. Raises `UsageError`, `EngineError`.

    `settings` are the recorded configurations of the games, by name.
    """
    wanted = {(_player(summary.cell), summary.cell.setting, summary.cell.seed) for summary in results}
    optima: Optima = {}
    with ProcessPlanner() as planner:
        for owner, name, seed in sorted(wanted):
            kept = recorded_setting(settings, name, owner)
            best = method(owner).measuring.best if owner else None
            if kept is None or best is None or kept["method"] != owner:
                continue
            least = best(_setting(method(owner), name, kept), seed, planner)
            if least is not None:
                optima[name, seed] = least
    return optima


def _player(cell: Cell) -> str:
    """The name of the method that plays a cell; empty if the method is not installed any more."""
    try:
        return method_of(cell.setting, cell.mode).name
    except UsageError:
        return ""


def _setting(player: Method, name: str, kept: Mapping[str, Any]) -> Setting:
    """The setting with its recorded options. Raises `UsageError` if the method does not accept them."""
    try:
        return player.load(name, player.options.model_validate(kept["options"]))
    except ValidationError as error:
        reason = f"Its options of {name} are invalid for the method {player.name}: {error.errors()[0]['msg']}."
        raise UsageError(
            "The optimum cannot be found", reason, "Restore manifest.json, or leave --optimum out."
        ) from error
