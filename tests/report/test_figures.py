"""Figures that methods measure: their lines, as a plot and as a table, and the scores of a paper beside ours."""

from __future__ import annotations

import sys
from dataclasses import replace
from itertools import combinations, pairwise
from pathlib import Path
from xml.etree import ElementTree

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pddlego.episode.events import Outcome, Usage
from pddlego.evaluation.table import NAMES, by_configuration, rows
from pddlego.methods.programs.measure import DOMAINS
from pddlego.models.limiter import Price
from pddlego.report.build import Report
from pddlego.report.figures import draw_figures
from pddlego.report.plots import Style, draw, styles_of
from pddlego.report.tables import (
    Table,
    cost_table,
    efficiency_table,
    figure_table,
    published_means,
    published_shares,
    restart_table,
    short_names,
)
from pddlego.runs.cells import Cell
from pddlego.runs.summary import Measures, Summary
from tests.cli.command import run


def summary(seed: int, score: float, times: tuple[tuple[float, float], ...] = ()) -> Summary:
    curve = ((0.0, 0.0), (1.0, score))
    measures = Measures({"answers": 2}, {}, {"run time": times, "debug rounds": curve})
    return Summary(Cell("ferry", "program", "m", seed), 1, Outcome.LOST, score=score, measures=measures)


def test_a_mean_has_its_error_and_a_median_has_none() -> None:
    results = [summary(0, 1.0, ((10.0, 0.1), (20.0, 0.4))), summary(1, 0.0, ((10.0, 0.3), (10.0, 5.0)))]
    times, curve = sorted(draw_figures(results), key=lambda item: item.figure.combined, reverse=True)
    assert [line.label for line in times.lines] == ["ferry program m"]
    assert [(point.x, point.y, point.error) for point in times.lines[0].points] == [(10.0, 0.3, 0.0), (20.0, 0.4, 0.0)]
    assert [(point.x, point.y) for point in curve.lines[0].points] == [(0.0, 0.0), (1.0, 0.5)]
    assert abs(curve.lines[0].points[1].error - 0.5) < 1e-9
    assert figure_table(curve).body[1] == ["program m", "1", "0.5", "0.5", "2"]


def test_many_points_are_put_together() -> None:
    (times,) = [
        figure
        for figure in draw_figures([summary(0, 1.0, tuple((float(x), x / 100) for x in range(100)))])
        if figure.figure.logarithmic
    ]
    assert len(times.lines[0].points) <= 12
    assert sum(point.number for point in times.lines[0].points) == 100


def unsaved(*results: Summary) -> Report:
    return Report(("r",), results, tuple(rows(results)), figures=draw_figures(results))


@pytest.mark.slow
def test_plots_are_sound_also_of_one_point_and_of_zero(tmp_path: Path) -> None:
    plots = list(draw(unsaved(summary(0, 0.0, ((5.0, 0.0),))), set()))
    assert {"success", "debug-rounds", "run-time"} <= {plot.name for plot in plots}
    for plot in plots:
        ElementTree.fromstring(plot.svg().replace("xlink:", ""))
        assert plot.write(tmp_path).read_bytes().startswith(b"%PDF")
    assert draw_figures([]) == ()


def test_models_are_named_by_what_differs() -> None:
    names = short_names(["org/llama-3-8b-instruct", "org/llama-3-70b-instruct"])
    assert list(names.values()) == ["8b", "70b"]
    assert short_names(["gpt-4", "gpt-4-turbo"]) == {"gpt-4": "gpt-4", "gpt-4-turbo": "gpt-4-turbo"}
    assert short_names(["one"]) == {"one": "one"}


@pytest.mark.parametrize("sign", ["=", "-", "@", "_", "/", ":", ","])
def test_a_sign_at_either_end_of_a_name_is_part_of_it(sign: str) -> None:
    """A name is cut at separators, and only what all models have in common goes."""
    first, second = f"{sign}one-very-long-model", f"another-long-name{sign}"
    assert short_names([first, second]) == {first: first, second: second}
    models = [f"{sign}org/model-{name}-instruct-2026" for name in (f"{sign}8b", "70b")]
    assert set(short_names(models).values()) == {f"{sign}8b", "70b"}


@pytest.mark.slow
def test_names_that_the_font_lacks_are_drawn_without_a_warning(
    tmp_path: Path, recwarn: pytest.WarningsRecorder
) -> None:
    plot = next(draw(unsaved(played("ferry", "program", "模型"), played("ferry", "program", "m")), set()))
    assert "模型" in plot.svg()
    plot.write(tmp_path)
    assert not [str(warning.message) for warning in recwarn if "Glyph" in str(warning.message)]


@pytest.mark.parametrize("games", [1, 6])
@pytest.mark.parametrize("number", [1, 2, 9, 24])
def test_methods_of_any_number_are_side_by_side_within_the_slot_of_their_game(number: int, games: int) -> None:
    """Between games there is more room than between methods, and no marker touches the next one."""
    results = [played(f"game{game}", f"mode{method}", "m") for game in range(games) for method in range(number)]
    figure = next(draw(Report((), (), tuple(rows(results))), set())).figure
    figure.draw_without_rendering()
    (axes,) = figure.axes
    lines = [line for line in axes.lines if line.get_marker() in {style.marker for style in styles(number)}]
    columns = numpy.sort([numpy.asarray(line.get_xdata(), float) for line in lines], axis=0).T.tolist()
    assert [len(places) for places in columns] == [number] * games
    assert figure.get_tightbbox().width <= figure.get_figwidth()
    assert axes.get_xlim() == (-0.5, games - 0.5)
    unit = axes.transData.transform((1, 0))[0] - axes.transData.transform((0, 0))[0]
    marker = lines[0].get_markersize() * figure.dpi / 72
    for game, places in enumerate(columns):
        steps = [right - left for left, right in pairwise(places)]
        assert all(step * unit > marker for step in steps)
        assert places[0] - (game - 0.5) == pytest.approx(game + 0.5 - places[-1])
        assert 2 * (places[0] - (game - 0.5)) > max(steps, default=0)


def styles(number: int) -> list[Style]:
    """The styles of some methods of one model."""
    return list(styles_of([("m", f"mode{mode}") for mode in range(number)]).values())


def test_some_tens_of_methods_differ_with_and_without_colours() -> None:
    drawn = styles(44)
    assert len({(style.marker, style.dashes) for style in drawn}) == 44
    assert len({(style.marker, style.colour) for style in drawn}) == 44
    assert len({style.marker for style in drawn[:11]}) == 11


def played(setting: str, mode: str, model: str, answers: int = 2, **errors: int) -> Summary:
    counts = {"errors": {name.replace("_", " "): number for name, number in errors.items()}}
    cell = Cell(setting, mode, model, 0)
    return Summary(cell, 1, Outcome.WON, score=1.0, measures=Measures({"answers": answers}, counts))


RECORDED = "transcript:a.jsonl.gz,model="


@pytest.mark.parametrize(
    ("setting", "mode", "model", "expected"),
    [
        ("ferry", "program", "gpt-4", (1.0, 0.8)),
        ("ferry", "program", f"{RECORDED}gpt-4", (1.0, 0.8)),
        ("ferry", "program", f"{RECORDED}gpt-3.5", (1.0, 0.0)),
        ("ferry", "program", "gpt-4o", None),
        ("ferry", "program", "reader", None),
        ("ferry", "program-no-cot", "gpt-4", (1.0, 0.2)),
        ("ferry", "program-no-cot", "gpt-3.5", None),
        ("ferry", "random", "none", (1.0, 0.0)),
        ("ferry", "tos", "gpt-4", None),
        pytest.param("logistics", "graphplan", "gpt-4", (1.0, 1.0), marks=pytest.mark.method("graphplan")),
        ("coin", "edit", "gpt-4", None),
        ("gone", "program", "gpt-4", None),
    ],
)
def test_a_papers_figure_stands_beside_ours_where_model_mode_and_domain_are_the_same(
    setting: str, mode: str, model: str, expected: tuple[float, float] | None
) -> None:
    results = [played(setting, mode, model)]
    body = published_means(rows(results), {}).body
    row = ["score", *(f"{number:.2f}" for number in expected)] if expected else []
    assert body == ([[setting, mode, model, *row]] if expected else [])


@pytest.mark.method("thought_of_search")
def test_of_thought_of_search_the_answers_are_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "envs").mkdir()
    text = 'extends = "24game"\n\n[paper]\n"llama3.1-405b" = { tos = 3.4 }\n'
    (tmp_path / "envs" / "cards.toml").write_text(text)
    monkeypatch.chdir(tmp_path)
    results = [played("cards", mode, "llama3.1-405b", answers=3) for mode in ("tos", "tos-no-check")]
    assert published_means(rows(results), {}).body == [["cards", "tos", "llama3.1-405b", "answers", "3.00", "3.40"]]


@pytest.mark.method("graphplan")
def test_the_paper_s_column_of_graphplan_alone_is_compared_whatever_the_model() -> None:
    """The damage of the paper's domains is not known, so its figures are printed with any damage."""
    results = [played("logistics", "graphplan-no-prune-no-sort", "relaxed")]
    for share in (0.0, 0.2):
        settings = {"logistics (graphplan)": {"method": "graphplan", "options": {"corrupt": share}}}
        (row,) = published_means(rows(results), settings).body
        assert row[-1] == "0.60"


@pytest.mark.method("graphplan")
def test_nodes_of_the_paper_stand_beside_those_of_a_plain_search() -> None:
    """Tables 2 and 4 of LLMs4Plan: those of GPT-4 for its own runs, and those of GP for every run without a model."""
    cell = Cell("movie", "graphplan-no-sort", "gpt-4", 0)
    measures = Measures({"nodes": 1e6, "expanded": 300, "mutexes": 8})
    results = [
        Summary(cell, 1, Outcome.WON, score=1.0, measures=measures),
        Summary(replace(cell, mode="graphplan-no-prune-no-sort"), 1, Outcome.WON, score=1.0, measures=measures),
        Summary(replace(cell, mode="graphplan-no-prune", model="relaxed"), 1, Outcome.WON, measures=measures),
    ]
    settings = {"movie (graphplan)": {"method": "graphplan", "options": {"extraction": "plain"}}}
    body = [row[1:] for row in published_means(rows(results), settings).body if row[3] != "score"]
    alone = "graphplan-no-prune-no-sort"
    assert body == [
        [alone, "gpt-4", "nodes", "1,000,000", "10,869,160"],
        [alone, "gpt-4", "expanded", "300", "401"],
        [alone, "gpt-4", "mutexes", "8", "7"],
        ["graphplan-no-sort", "gpt-4", "nodes", "1,000,000", "1,211,830"],
    ]
    assert not [row for row in published_means(rows(results), {}).body if row[3] == "nodes"]


def test_table_1_of_pddlego_is_compared_by_success() -> None:
    results = [played("paper-coin", "edit", "gpt-4-1106-preview"), played("coin", "edit", "gpt-4-1106-preview")]
    body = published_means(rows(results), {}).body
    assert body == [["paper-coin", "edit", "gpt-4-1106-preview", "success", "1.00", "0.78"]]


@pytest.mark.parametrize(
    ("seeds", "expected"),
    [(range(10), ["0.80", "0.20"]), (range(10, 60), ["0.78", "0.04"]), (range(9), ["0.78", "0.04"])],
)
def test_on_the_development_seeds_pddlegos_appendix_f_is_compared(seeds: range, expected: list[str]) -> None:
    methods = (("edit", "gpt-4-1106-preview"), ("random", "none"))
    results = [
        replace(played("paper-coin", mode, model), cell=Cell("paper-coin", mode, model, seed))
        for mode, model in methods
        for seed in seeds
    ]
    body = published_means(rows(results), {}).body
    assert [row[-1] for row in body] == expected


@given(st.lists(st.sampled_from((0.0, 0.25, 1.0)), min_size=1, max_size=7), st.integers(1, 7))
def test_the_best_of_k_seeds_is_the_mean_maximum_over_all_choices(scores: list[float], k: int) -> None:
    results = [
        replace(played("ferry", "program", "m"), cell=Cell("ferry", "program", "m", seed), score=score)
        for seed, score in enumerate(scores)
    ]
    table = restart_table(by_configuration(results))
    if len(scores) == 1:
        assert table.body == []
        return
    cells = dict(zip(table.head, table.body[0], strict=True))
    assert cells["maximum"] == f"{max(scores):.2f}"
    if f"best of {k}" in cells and k <= len(scores):
        maxima = [max(chosen) for chosen in combinations(scores, k)]
        assert cells[f"best of {k}"] == f"{sum(maxima) / len(maxima):.2f}"


def test_efficiency_is_that_of_won_episodes_beside_the_baseline() -> None:
    def game(mode: str, seed: int, repeat: int, steps: int, refused: int, won: bool = True) -> Summary:
        cell, outcome = Cell("coin", mode, "m", seed, repeat), Outcome.WON if won else Outcome.STEP_LIMIT
        return Summary(cell, 1, outcome, measures=Measures({"steps": steps, "refused": refused}))

    results = [game("act", 0, 1, 10, 3), game("act", 1, 1, 10, 3), game("act", 2, 1, 50, 40, won=False)]
    results += [game("edit", 0, 1, 4, 0), game("edit", 0, 2, 6, 1), game("edit", 1, 1, 8, 0)]
    _, _, body, _ = efficiency_table(by_configuration(results))
    assert ["coin", "act", "m", "2", "10.00", "3.00", "", ""] in body
    assert ["coin", "edit", "m", "3", "6.00", "0.33", "40%", "1.41"] in body


def test_the_cost_of_a_call_counts_no_answers_of_the_cache() -> None:
    """One answer is one heuristic in mode heuristic: 25 of them for $0.7650, as DeepSeek R1 in the paper."""
    usage = Usage(calls=30, from_cache=5, tokens_in=0, tokens_out=765_000)
    result = replace(played("blocks", "heuristic", "m"), usage=usage)
    table = cost_table(rows([result], {"m": Price(1.0, 1.0)}))
    row = dict(zip(table.head, table.body[0], strict=True))
    assert (row["cost per call"], row["input tokens"], row["output tokens"]) == ("$0.03060", "0", "765,000")
    assert cost_table(rows([result], {})).body[0][-1] == ""


@pytest.mark.method("thought_of_search")
def test_counts_are_drawn_as_bars(tmp_path: Path) -> None:
    table = Table("Errors by category", [*NAMES, "error", "times"], [["24game", "tos", "m", "no function", "2"]])
    rows_of = rows([played("24game", "tos", "m")])
    report = Report((), (), tuple(rows_of), bars=(table,))
    plot = next(plot for plot in draw(report, set()) if plot.name == "errors-by-category")
    assert "24game tos" in plot.svg()
    assert plot.write(tmp_path).stat().st_size > 1000


def test_shares_over_all_domains_stand_beside_nothing_else() -> None:
    every = [played(name, "program", "gpt-4", timeout=1, plan_semantics=3) for name in DOMAINS]
    _, head, body, _ = published_shares(by_configuration(every))
    assert head == ["of", "mode", "model", "error", "share", "paper"]
    assert ["Errors in training", "program", "gpt-4", "plan semantics", "75.0%", "34.0%"] in body
    others = [played(name, "program-no-cot", "gpt-4", timeout=1) for name in DOMAINS]
    others += [played(name, "program", "gpt-3.5", timeout=1) for name in DOMAINS]
    for results in (every[:1], others):
        assert published_shares(by_configuration(results)).body == []


def test_without_matplotlib_a_report_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    run("play", "coin", "--seed", "1", "--mode", "random", "--max-steps", "1", cwd=tmp_path)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    page = run("report", "latest", "--format", "html", cwd=tmp_path)
    assert "This page has no figures. Install matplotlib: pip install" in page.stdout
    refused = run("report", "latest", "-o", "figures/", cwd=tmp_path)
    assert refused.returncode == 2
    assert ".[figures]" in refused.stderr
    assert not (tmp_path / "figures").exists()
