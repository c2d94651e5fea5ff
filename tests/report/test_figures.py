"""Figures that methods measure: their lines, as a plot and as a table, and the scores of a paper beside ours."""

from __future__ import annotations

from xml.etree import ElementTree

from pddlego.evaluation.table import rows
from pddlego.events import Outcome
from pddlego.report.figures import draw_figures, published_scores
from pddlego.report.line_plot import line_plot
from pddlego.runs.cells import Cell
from pddlego.runs.measures import Measures
from pddlego.runs.summary import Summary


def summary(seed: int, score: float, times: tuple[tuple[float, float], ...] = ()) -> Summary:
    curve = ((0.0, 0.0), (1.0, score))
    measures = Measures({"answers": 2}, {}, {"run time": times, "debug rounds": curve})
    return Summary(Cell("ferry", "program", "m", seed), 1, Outcome.LOST, score=score, measures=measures)


def test_a_mean_has_its_error_and_a_median_has_none() -> None:
    results = [summary(0, 1.0, ((10.0, 0.1), (20.0, 0.4))), summary(1, 0.0, ((10.0, 0.3), (10.0, 5.0)))]
    times, curve = sorted(draw_figures(results), key=lambda each: each.figure.combined, reverse=True)
    assert [line.label for line in times.lines] == ["ferry program m"]
    assert [(point.x, point.y, point.error) for point in times.lines[0].points] == [(10.0, 0.3, 0.0), (20.0, 0.4, 0.0)]
    assert [(point.x, point.y) for point in curve.lines[0].points] == [(0.0, 0.0), (1.0, 0.5)]
    assert abs(curve.lines[0].points[1].error - 0.5) < 1e-9
    assert curve.table()[1][1] == ["program m", "1", "0.5", "0.5", "2"]


def test_many_points_are_put_together() -> None:
    (times,) = [
        each
        for each in draw_figures([summary(0, 1.0, tuple((float(x), x / 100) for x in range(100)))])
        if each.figure.logarithmic
    ]
    assert len(times.lines[0].points) <= 12
    assert sum(point.number for point in times.lines[0].points) == 100


def test_a_plot_is_sound_also_of_one_point_and_of_zero() -> None:
    for drawn in draw_figures([summary(0, 0.0, ((5.0, 0.0),))]):
        ElementTree.fromstring(line_plot(drawn))
    assert draw_figures([]) == ()


def test_the_papers_score_stands_beside_ours_where_there_is_one() -> None:
    results = [summary(0, 1.0), Summary(Cell("coin", "edit", "m", 0), 1, Outcome.WON, score=1.0)]
    head, body = published_scores(rows(results, {}, results, ()))
    assert head == ["game", "mode", "model", "score", "paper (GPT-4)"]
    assert body == [["ferry", "program", "m", "1.00", "0.80"]]
