from __future__ import annotations

import csv
import hashlib
import io
import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from pddlego.episode.events import Outcome, Usage
from pddlego.errors import UsageError
from pddlego.evaluation.statistics import Side, compare_paired, holm_corrected
from pddlego.evaluation.table import results_table, rows
from pddlego.evaluation.truth import ResultFilter
from pddlego.methods.base import Figure
from pddlego.models.limiter import LedgerEntry, Price
from pddlego.report import build_report, load_results
from pddlego.report.figures import DrawnFigure, FigureLine, LinePoint
from pddlego.report.formats import as_csv, as_json, as_text, html, latex, markdown, one_table
from pddlego.report.tables import (
    Table,
    compared_numbers,
    comparison_table,
    cost_table,
    figure_table,
    print_table,
    success,
)
from pddlego.runs.cells import Cell
from pddlego.runs.summary import Measures, Summary, dump_summary
from tests.cli.command import run as command
from tests.display.rendering import drawn


def episode(mode: str, seed: int, outcome: Outcome, steps: int = 10, model: str = "m", game: str = "coin") -> Summary:
    usage = Usage(steps, 1, 3, 100, 1000, 100, 500, 2.0, 1.0)
    numbers = {"steps": steps, "refused": 1, "surprises": 1}
    counts = {"rungs": {"explore": 2}, "rejected": {"defects": 1}, "lines": {"applied": 5, "matched nothing": 1}}
    return Summary(Cell(game, mode, model, seed), 1, outcome, "", 1.0, usage, Measures(numbers, counts))


def side(name: str, results: Sequence[Summary]) -> Side:
    return Side(name, results)


RESULTS = [
    *(episode("edit", seed, Outcome.WON, 8 + seed % 2) for seed in range(10)),
    *(episode("act", seed, Outcome.WON if seed < 2 else Outcome.STEP_LIMIT, 12) for seed in range(10)),
    episode("edit", 10, Outcome.MODEL_ERROR),
    episode("random", 0, Outcome.STEP_LIMIT, model="none"),
    episode("edit", 0, Outcome.LOST, game="cooking|easy"),
]


@pytest.fixture
def run(tmp_path: Path) -> Path:
    (tmp_path / "results.jsonl").write_text("".join(map(dump_summary, RESULTS)))
    (tmp_path / "manifest.json").write_text("{}")
    return tmp_path


def test_rows_give_both_rates_and_what_it_took() -> None:
    (act, edit, *_) = rows(RESULTS, {"m": Price(1.0, 2.0, 0.5)})
    assert (act.mode, act.won, act.episodes, act.mean("steps")) == ("act", 2, 10, 12)
    assert (edit.won, edit.episodes, edit.counted) == (10, 11, 10)
    assert edit.success == 10 / 11
    assert edit.measured["steps"].median == 8.5
    assert edit.cost == pytest.approx(11 * (500 * 1.0 + 500 * 0.5 + 100 * 2.0) / 1e6)
    assert rows(RESULTS)[0].cost is None, "an unknown model costs n/a, never 0"
    unpriced = [LedgerEntry("m", 1100, 0.0, item.cell.label, answered=True) for item in RESULTS]
    priced = rows(RESULTS, {"m": Price(1.0, 2.0, 0.5)}, RESULTS, unpriced)
    assert priced[1].cost == pytest.approx(edit.cost), "also if its requests were sent before it had a price"


def test_two_methods_are_compared_on_the_seeds_that_both_have() -> None:
    edit, act = RESULTS[:10], RESULTS[10:20]
    result = compare_paired(side("edit", edit), side("act", act), "coin", "steps")
    assert (result.pairs, result.only_first, result.only_second) == (10, 8, 0)
    assert result.p_value == pytest.approx(2 / 2**8)
    assert (result.both_won, result.compared) == (2, "steps")
    slow = [replace(item, measures=Measures({"steps": 20})) for item in edit]
    fewer = compare_paired(side("edit", edit), side("slow", slow), "coin", "steps")
    assert fewer.difference == -11.5
    assert fewer.interval is not None
    assert fewer.interval.high < 0
    assert compare_paired(side("edit", edit), side("act", act), "twc", "steps").pairs == 0
    assert compare_paired(side("one", edit), side("other", edit), "coin", "steps").p_value == 1
    lost = [replace(item, outcome=Outcome.CRASHED) for item in act]
    assert compare_paired(side("edit", edit), side("act", lost), "coin", "steps").pairs == 0


def test_an_interval_without_bounds_is_not_printed() -> None:
    pair = compare_paired(side("edit", RESULTS[:10]), side("act", RESULTS[10:20]), "coin", "steps")
    _, head, (cells,), _ = comparison_table([pair])
    printed = dict(zip(head, cells, strict=True))
    assert (printed["both won"], printed["difference"], printed["95 %"]) == ("2", "-3.50 steps", "")


def test_p_values_are_corrected_for_many_comparisons() -> None:
    """Holm's example: 0.01, 0.04, 0.03 and 0.005 become 0.03, 0.06, 0.06 and 0.02."""
    pair = compare_paired(side("one", RESULTS[:10]), side("other", RESULTS[10:20]), "coin", "steps")
    values = (0.01, 0.04, 0.03, 0.005)
    adjusted = [one.adjusted for one in holm_corrected([replace(pair, p_value=value) for value in values])]
    assert adjusted == pytest.approx([0.03, 0.06, 0.06, 0.02])


def test_repeats_of_a_seed_are_no_seeds_of_their_own() -> None:
    def again(item: Summary, repeat: int, outcome: Outcome) -> Summary:
        return replace(item, cell=replace(item.cell, repeat=repeat), outcome=outcome)

    won = [again(RESULTS[0], repeat, Outcome.WON) for repeat in range(1, 8)]
    lost = [again(RESULTS[0], repeat, Outcome.LOST) for repeat in range(1, 8)]
    result = compare_paired(side("one", won), side("other", lost), "coin", "steps")
    assert (result.pairs, result.p_value) == (1, 1.0)
    mixed = compare_paired(side("one", [*won[:2], lost[2]]), side("other", lost), "coin", "steps")
    assert mixed.only_first == 1, "most of its repeats were won"


def test_what_was_lost_and_played_again_was_paid_for_too() -> None:
    first = replace(RESULTS[0], outcome=Outcome.CRASHED)
    again = replace(RESULTS[0], attempt=2)
    price = {"m": Price(1.0, 2.0)}
    (alone,), (both,) = rows([again], price), rows([again], price, [first, again])
    assert alone.cost is not None
    assert both.cost == 2 * alone.cost


def test_folders_with_other_configurations_are_not_counted_together(tmp_path: Path) -> None:
    for name, retries in (("a", 5), ("b", 0)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "results.jsonl").write_text("".join(map(dump_summary, RESULTS)))
        kept = {"method": "textgames", "options": {"fold": "train"}}
        manifest = {"schema": 2, "configuration": {"settings": {"coin": kept}, "retries": retries}}
        (tmp_path / name / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(UsageError, match="cannot be reported together") as caught:
        load_results([tmp_path / "a", tmp_path / "b"])
    assert "(retries: 5 and 0)" in caught.value.reason


def test_models_on_different_servers_are_reported_together(tmp_path: Path) -> None:
    """An address is no option of a method; any other option of the endpoint is one."""
    endpoints: list[dict[str, object]] = [{"base_url": f"http://127.0.0.1:{port}/v1"} for port in (1, 2)]
    for number, endpoint in enumerate([*endpoints, {"base_url": None}, {}, {"temperature": 1.0}]):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "results.jsonl").write_text(dump_summary(episode("edit", 0, Outcome.WON, model=f"m{number}")))
        (folder / "manifest.json").write_text(json.dumps({"schema": 2, "configuration": {"endpoint": endpoint}}))
    *alike, other = sorted(tmp_path.iterdir())
    assert [row.model for row in build_report(alike).rows] == ["m0", "m1", "m2", "m3"]
    with pytest.raises(UsageError, match="cannot be reported together") as caught:
        build_report([alike[0], other])
    assert "(endpoint.temperature: unset and 1.0)" in caught.value.reason
    asked = [{"seeds": {"coin": [0]}, "modes": ["edit"], "models": ["m0", "reader"], "repeats": 1}]
    for folder, endpoint in zip(alike, [*endpoints, {}, {}], strict=True):
        text = json.dumps({"schema": 2, "configuration": {"endpoint": endpoint}, "asked": asked})
        (folder / "manifest.json").write_text(text)
    assert build_report([alike[0], *alike[2:]]).rows, "the built-in reader needs no address"
    with pytest.raises(UsageError, match="cannot be reported together") as caught:
        build_report(alike[:2])
    assert "In the model m0 they differ (base_url:" in caught.value.reason


def test_a_chosen_name_that_matches_nothing_is_refused(run: Path) -> None:
    chosen = (("--model", "m,nonne", "none"), ("--mode", "edit,acct", "act"), ("--game", "coin,conn", "coin"))
    for option, names, meant in chosen:
        done = command("report", str(run), option, names, cwd=run)
        assert done.returncode == 2 and f"'{names.split(',')[1]}' ({option})" in done.stderr
        assert f"Did you mean '{meant}'?" in done.stderr
        both = f"{names.split(',')[0]}, {meant}"
        assert command("report", str(run), option, both, cwd=run).returncode == 0


def test_a_chosen_name_may_contain_commas_or_have_no_result_yet(tmp_path: Path) -> None:
    noisy = "reader+noise:0.1,seed=3"
    (tmp_path / "results.jsonl").write_text(dump_summary(episode("edit", 0, Outcome.WON, model=noisy)))
    asked = {"asked": [{"seeds": {"coin": [0]}, "modes": ["edit"], "models": [noisy, "later"], "repeats": 1}]}
    (tmp_path / "manifest.json").write_text(json.dumps(asked))
    done = command("report", str(tmp_path), "--model", f"{noisy},later", "--table", "success", cwd=tmp_path)
    assert done.returncode == 0 and "1 of 2 cells played." in done.stdout


@given(st.integers(1, 90), st.integers(1, 8), st.integers(20, 90), st.integers(5, 50))
def test_a_table_for_a_page_has_each_cell_once(rows: int, columns: int, width: int, height: int) -> None:
    """The parts are as wide and as high as they may be, or have one column with numbers; best values stay bold."""
    body = [[f"game{row}", *(f"{row * columns + column}" for column in range(columns))] for row in range(rows)]
    table = Table("All", ["game", *(f"number {column}" for column in range(columns))], body, frozenset({(rows - 1, 1)}))
    parts = table.parts(width, height)
    numbers = [cell for part in parts for row in part.body for cell in row[1:]]
    assert sorted(numbers, key=int) == [str(number) for number in range(rows * columns)]
    for part in parts:
        assert len(part.body) <= height
        assert all(row[0].startswith("game") for row in part.body)
        widest = sum(max(map(len, column)) + 2 for column in zip(part.head, *part.body, strict=True))
        assert widest <= width or len(part.head) == 2
    assert [part.body[row][place] for part in parts for row, place in part.bold] == [body[-1][1]]
    assert len({part.title for part in parts}) == len(parts)


def test_labels_name_the_tables_and_figures_for_latex(run: Path) -> None:
    text = latex(build_report([run]), {"figures/success.pdf": "Success in %"})
    labels = re.findall(r"\\label{(.*?)}", text)
    assert labels[0] == "tab:success"
    assert "tab:all-numbers" in labels
    assert len(set(labels)) == len(labels)
    assert r"\includegraphics[width=\linewidth]{figures/success.pdf}" in text
    assert r"\caption{Success in \%}" in text
    assert labels[-1] == "fig:success"


def test_table_1_has_the_layout_of_the_paper(run: Path) -> None:
    title, head, body, bold = success(build_report([run]).rows)
    assert title == "Success in % (95 % Wilson interval; errors count as not won; m)"
    assert head == ["game", "random", "act", "edit"]
    assert body == [
        ["coin", "0 (0-79) n=1", "20 (6-51) n=10", "91 (62-98) n=11, 1 error"],
        ["cooking|easy", "", "", "0 (0-79) n=1"],
        ["all games", "", "", "45 n=12, 1 error"],
    ]
    assert bold == set(), "the methods played different episodes"


def test_with_more_than_four_methods_these_are_the_rows_of_table_1(run: Path) -> None:
    rows = build_report([run]).rows
    more = [replace(row, mode=mode) for row in rows if row.mode == "act" for mode in ("gen", "learn", "full")]
    _, head, body, _ = success([*rows, *more])
    assert head == ["method", "coin", "cooking|easy", "all games"]
    assert [(row[0], row[1]) for row in body] == [
        ("random", "0 (0-79) n=1"),
        ("full", "20 (6-51) n=10"),
        ("learn", "20 (6-51) n=10"),
        ("act", "20 (6-51) n=10"),
        ("gen", "20 (6-51) n=10"),
        ("edit", "91 (62-98) n=11, 1 error"),
    ]
    assert body[5] == ["edit", "91 (62-98) n=11, 1 error", "0 (0-79) n=1", "45 n=12, 1 error"]
    same = [replace(row, mode=mode) for row in rows[1:2] for mode in ("gen", "learn", "full", "act")]
    assert success([*same, replace(same[0], mode="edit", won=5)]).bold == {(4, 1)}, "the greatest of equal numbers"


def played(mode: str, seeds: range, errors: int = 0, game: str = "coin") -> list[Summary]:
    """Episodes of a mode: `edit` wins all, another one the first; the last ones ended with an error."""
    outcomes = [Outcome.WON if mode == "edit" or not seed else Outcome.STEP_LIMIT for seed in seeds]
    outcomes[len(seeds) - errors :] = [Outcome.MODEL_ERROR] * errors
    return [episode(mode, seed, outcome, game=game) for seed, outcome in zip(seeds, outcomes, strict=True)]


UNEQUAL = {
    "unfinished": [*played("edit", range(6)), *played("act", range(2))],
    "an expired key": [*played("edit", range(6)), *played("act", range(6), errors=4)],
    "both": [*played("edit", range(6), errors=1), *played("act", range(4), errors=1)],
    "other seeds": [*played("edit", range(6)), *played("act", range(6, 12))],
    "other games": [*played("edit", range(6)), *played("edit", range(4), game="twc"), *played("act", range(6))],
    "the same": [*played("edit", range(6)), *played("act", range(6))],
}


@pytest.mark.parametrize("name", UNEQUAL)
@pytest.mark.parametrize("form", ["text", "markdown", "csv", "json", "latex", "html", "page"])
def test_a_number_of_a_paper_has_its_n(tmp_path: Path, name: str, form: str) -> None:
    """Where n differs, each cell has it, in each format; errors are in the cell and the caption; nothing is bold."""
    (tmp_path / "results.jsonl").write_text("".join(map(dump_summary, UNEQUAL[name])))
    (tmp_path / "manifest.json").write_text("{}")
    report = build_report([tmp_path])
    text = html(report, most_pages=0) if form == "page" else one_table(report.table("success"), form, report.notes)
    is_equal = len({row.episodes for row in report.rows}) == 1
    assert ("6 episodes each" in text) == (is_equal and form != "csv")
    for row in report.rows:
        low, high = row.interval.percent.split("-")
        n = "" if is_equal else f" n={row.episodes}"
        missing = row.episodes - row.counted
        n += f", {missing} error{'s' * (missing > 1)}" if missing else ""
        assert f"{100 * row.success:.0f} ({low}{'--' if form == 'latex' else '-'}{high}){n}" in text
    has_errors = any(row.counted < row.episodes for row in report.rows)
    assert ("errors count as not won" in text) == (has_errors and form != "csv")
    marks = {"markdown": "**", "latex": r"\textbf", "page": 'class="bold"'}
    if form in marks:
        assert (marks[form] in text) == (name in ("the same", "other games"))


def test_means_over_different_episodes_have_their_n() -> None:
    unequal, equal = (rows(UNEQUAL[name]) for name in ("both", "the same"))
    assert "episodes" not in cost_table(equal).head
    table = cost_table(unequal)
    assert [row[table.head.index("episodes")] for row in table.body] == ["4, 1 error", "6, 1 error"]
    steps = compared_numbers(rows(UNEQUAL["other games"]), UNEQUAL["other games"])
    assert [row[-1] for row in steps.body] == ["10.0 (10.0-10.0) n=6", "10.0 n=4", "10.0 n=10"]


def test_markdown_says_why_and_what_may_be_concluded(run: Path) -> None:
    text = markdown(build_report([run]))
    assert "| coin | edit | m | 10/11 | 91% | 62-98 | 1.00 | 10/10 | 8.50 | 8.5 |" in text
    assert "| coin | act | m | step limit | 8 |" in text
    assert "| coin | edit | m | line: matched nothing | 11 |" in text
    assert "line: applied" not in text
    assert "cooking\\|easy" in text
    places = [text.index(f"## {title}") for title in ("Success", "Comparisons", "All numbers")]
    assert places == sorted(places), "the comparisons are looked for first"
    assert "| coin | act | edit |" in text
    assert "0.00781" in text
    for format_of in (markdown, latex, as_text):
        noted = " ".join(format_of(build_report([run])).split())
        assert "p: McNemar's exact test, paired by seed;" in noted
        assert "0.05 after Holm's correction for 3 comparisons" in noted


def test_csv_and_json_hold_every_episode(run: Path) -> None:
    report = build_report([run])
    table = list(csv.DictReader(as_csv(report).splitlines()))
    assert len(table) == len(RESULTS)
    assert table[0]["game"] == "coin"
    result = json.loads(as_json(report))
    assert len(result["episodes"]) == len(RESULTS)
    assert [row["success"] for row in result["rows"]][:3] == [0.0, 0.2, 10 / 11], "the order of the tables"


@pytest.mark.pandas
def test_the_csv_is_read_by_pandas(run: Path) -> None:
    import pandas  # type: ignore[import-untyped]

    other = replace(episode("random", 1, Outcome.LOST, model='=a,"b"'), measures=Measures({"trained": 0.5}))
    with (run / "results.jsonl").open("a") as file:
        file.write(dump_summary(other))
    report = build_report([run])
    frame = pandas.read_csv(io.StringIO(as_csv(report)))
    assert len(frame) == len(report.results)
    assert list(frame.columns) == as_csv(report).splitlines()[0].split(",")
    assert list(frame["model"].unique()) == ["m", '\'=a,"b"', "none"], "a name is text, and no formula"
    assert list(frame["seed"]) == [result.cell.seed for result in report.results]
    assert frame["tokens_in"].sum() == 1000 * len(frame)
    won = frame[frame["outcome"] == "won"].groupby("mode")["steps"].mean()
    assert won.to_dict() == {"act": 12, "edit": 8.5}
    assert frame["trained"].dropna().tolist() == [0.5]
    assert frame["steps"].isna().sum() == 1, "an episode without a number has no number"


def test_the_last_attempt_of_the_last_folder_counts(tmp_path: Path) -> None:
    for name, outcome, attempts in (("a", Outcome.WON, 1), ("b", Outcome.LOST, 2)):
        (tmp_path / name).mkdir()
        tries = [replace(episode("edit", 1, Outcome.CRASHED), attempt=number) for number in range(1, attempts)]
        final = replace(episode("edit", 1, outcome), attempt=attempts)
        (tmp_path / name / "results.jsonl").write_text("".join(map(dump_summary, [final, *tries])))
        (tmp_path / name / "manifest.json").write_text("{}")
    assert [result.outcome for result in load_results([tmp_path / "a", tmp_path / "b"])] == [Outcome.LOST]
    assert [result.outcome for result in load_results([tmp_path / "b", tmp_path / "a"])] == [Outcome.WON]
    assert [build_report([tmp_path / name]).notes[:1] for name in ("a", "b")] == [
        (),
        ("Tried again: 1 episode. The last attempt counts; the cost is that of all.",),
    ]


def test_episodes_in_several_folders_are_counted_once_with_a_note(tmp_path: Path) -> None:
    for name, seeds in (("a", (1, 2, 3)), ("b", (2, 3, 4))):
        (tmp_path / name).mkdir()
        results = [episode("edit", seed, Outcome.WON) for seed in seeds]
        (tmp_path / name / "results.jsonl").write_text("".join(map(dump_summary, results)))
        (tmp_path / name / "manifest.json").write_text("{}")
    report = build_report([tmp_path / "a", tmp_path / "b"])
    assert len(report.results) == 4
    assert "In several runs: 2 episodes. The result of the last run counts." in report.notes
    assert not any("several runs" in note for note in build_report([tmp_path / "a"]).notes)


def test_what_is_no_evaluation_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is not an evaluation"):
        build_report([tmp_path])
    (tmp_path / "results.jsonl").write_text("")
    with pytest.raises(UsageError, match="is not a run folder"):
        build_report([tmp_path])
    (tmp_path / "manifest.json").write_text("[]")
    with pytest.raises(UsageError, match="is damaged"):
        build_report([tmp_path])
    (tmp_path / "manifest.json").write_text("{}")
    with pytest.raises(UsageError, match="nothing to report"):
        build_report([tmp_path])


def test_a_folder_that_is_named_twice_is_refused(run: Path) -> None:
    with pytest.raises(UsageError, match="named twice"):
        build_report([run, run / "."])


def test_ablations_have_a_table_of_their_own_and_are_compared_with_the_whole_mode(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    modes = ("edit", "edit-no-feedback", "edit-no-tolerance", "gen", "gen-no-feedback")
    results = [
        replace(
            episode("edit", seed, Outcome.WON if mode in ("edit", "gen") else Outcome.LOST),
            cell=Cell("coin", mode, model, seed),
        )
        for mode in modes
        for model in ("m", "n")
        for seed in range(8)
    ]
    (tmp_path / "a" / "results.jsonl").write_text("".join(map(dump_summary, results)))
    (tmp_path / "a" / "manifest.json").write_text("{}")
    report = build_report([tmp_path / "a"])
    _, head, body, _ = success(report.rows)
    assert head == ["game", "mode", "m", "n"]
    assert body[1:4] == [
        ["coin", "gen-no-feedback", "0 (0-32)", "0 (0-32)"],
        ["coin", "edit", "100 (68-100)", "100 (68-100)"],
        ["coin", "edit-no-feedback", "0 (0-32)", "0 (0-32)"],
    ]
    pairs = {(comparison.first, comparison.second) for comparison in report.comparisons}
    assert ("edit m", "edit-no-feedback m") in pairs
    assert ("edit m", "edit n") in pairs
    assert ("gen m", "edit n") not in pairs, "two things differ"
    assert not any("no-feedback" in one and "no-" in other for one, other in pairs)
    assert not any("gen-no" in one + other and "edit" in one + other for one, other in pairs)
    assert not any("no-" in other and one[-1] != other[-1] for one, other in pairs)


@pytest.mark.parametrize("width", [60, 80, 100, 200])
def test_no_number_is_ever_cut_short(width: int) -> None:
    results = [
        replace(
            episode("edit", seed, Outcome.WON),
            cell=Cell("cooking-hard", "edit-no-feedback-no-tolerance", "reader+noise:0.3,seed=1,kinds=refusal", seed),
        )
        for seed in range(3)
    ]
    text = " ".join(drawn(results_table(rows(results), width), width, 20).split())
    assert "3/3" in text
    hidden = text.partition("A wider terminal also shows")[2]
    for name, number in (("95 %", "44-100"), ("steps", "10.00"), ("calls", "3.00"), ("median", "10.0")):
        assert (name in hidden) or number in text


@pytest.mark.parametrize("width", [40, 60, 80, 100, 120])
@pytest.mark.parametrize("games", [1, 3])
def test_a_difference_keeps_its_interval_and_its_n(width: int, games: int) -> None:
    """In one part of a narrow table; what is equal or has no value throughout is said below."""
    pairs = [
        compare_paired(side("edit", RESULTS[:10]), side(f"gen-no-{other}", slower(other)), "coin", "steps")
        for other in ("look", "feedback")
    ]
    pairs = [replace(pair, game=f"game-{place}") for pair in pairs for place in range(games)]
    file = io.StringIO()
    print_table(Console(file=file, width=width), comparison_table(pairs))
    text = file.getvalue()
    assert all(len(line) <= width for line in text.splitlines())
    lines, below = text.splitlines(), text.partition("In all rows:")[2]
    differences = [line for line in lines if " steps" in line and "all rows" not in line]
    assert len(differences) == 2 * games or "difference" in below
    for line in differences if width >= 80 else ():
        assert " 10 " in line or "both won 10" in below, "its n"
        assert " to " in line or "95 %" in below, "its interval"
    assert "A wider terminal" not in text


def slower(other: str) -> list[Summary]:
    """Episodes with more steps than those of `edit`."""
    more = 2 if other == "look" else 4
    return [replace(item, measures=Measures({"steps": 8 + more - seed % 2})) for seed, item in enumerate(RESULTS[:10])]


def test_columns_that_tell_no_rows_apart_go_first() -> None:
    head = ["game", "error", "seeds", "p", "cost", "lost"]
    body = [
        ["coin", "missing connected", "5", "0.5", "n/a", "3 of 4"],
        ["twc", "wrong at", "5", "0.2", "n/a", "1 of 2"],
    ]
    file = io.StringIO()
    print_table(Console(file=file, width=34), Table("T", head, body))
    assert "In all rows: seeds 5, cost n/a." in file.getvalue()
    assert "part" not in file.getvalue() and "0.5" in file.getvalue() and "1 of 2" in file.getvalue()
    file = io.StringIO()
    print_table(Console(file=file, width=80), Table("T", head, body))
    assert "In all rows" not in file.getvalue(), "there is room"


@pytest.mark.parametrize(("number", "columns"), [("123456789", 9), ("100.0% (1234/1234)", 4)])
@pytest.mark.parametrize("names", [0, 1, 2])
def test_a_table_that_has_no_room_is_printed_in_parts(names: int, number: str, columns: int) -> None:
    head = [*("game", "mode")[:names], *(f"number {place}" for place in range(columns))]
    table = Table("T", head, [[*["a name"] * names, *[number] * columns]] * 2)
    file = io.StringIO()
    print_table(Console(file=file, width=50), table)
    assert file.getvalue().count(number) >= 2 * columns, "no number is cut"
    assert max(map(len, file.getvalue().splitlines())) <= 50


INTERRUPTED = [
    *(episode("edit", seed, Outcome.WON) for seed in range(4)),
    *(episode("edit", seed, Outcome.INTERRUPTED, 3) for seed in (4, 5)),
    replace(episode("edit", 6, Outcome.BUDGET), cause="evaluation"),
    replace(episode("edit", 7, Outcome.BUDGET), cause="evaluation"),
]
ASKED = {"asked": [{"seeds": {"coin": list(range(10))}, "modes": ["edit"], "models": ["m"], "repeats": 1}]}


@pytest.fixture
def interrupted(tmp_path: Path) -> Path:
    (tmp_path / "results.jsonl").write_text("".join(map(dump_summary, INTERRUPTED)))
    (tmp_path / "manifest.json").write_text(json.dumps(ASKED))
    return tmp_path


def test_an_interrupted_cell_is_no_loss(interrupted: Path) -> None:
    report = build_report([interrupted])
    (row,) = report.rows
    assert (row.won, row.episodes, row.success) == (4, 4, 1.0)
    assert "Why episodes were not won" not in {table.title for table in report.tables}
    for text in (markdown(report), as_json(report), html(report, most_pages=10)):
        assert "4 of 10 cells played" in text
    assert success(report.rows).body == [["coin", "100 (51-100)"]]


def test_a_csv_has_only_rows(interrupted: Path, tmp_path: Path) -> None:
    """That cells were not played is said beside it."""
    for arguments in (("--format", "csv"), ("-o", str(tmp_path / "x.csv"))):
        done = command("report", str(interrupted), *arguments, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        text = done.stdout if arguments[0] == "--format" else (tmp_path / "x.csv").read_text(encoding="utf-8")
        rows = list(csv.DictReader(text.splitlines()))
        assert [row["seed"] for row in rows] == [str(result.cell.seed) for result in INTERRUPTED]
        assert done.stderr == "4 of 10 cells played.\n"


def test_a_budget_of_the_episode_itself_is_a_result(tmp_path: Path) -> None:
    own = replace(episode("edit", 0, Outcome.BUDGET), cause="seconds")
    assert own.counts
    assert not INTERRUPTED[6].counts


def test_a_complete_evaluation_says_nothing_of_cells(run: Path) -> None:
    assert "cells played" not in markdown(build_report([run]))


def test_the_mean_score_stands_beside_the_success(tmp_path: Path) -> None:
    halves = [replace(episode("edit", seed, Outcome.STEP_LIMIT, game="twc"), score=0.25 + seed / 4) for seed in (0, 1)]
    (row,) = rows(halves)
    assert (row.success, row.score) == (0.0, 0.375)
    assert "0.38" in drawn(results_table([row], 120), 120, 10)
    (tmp_path / "results.jsonl").write_text("".join(map(dump_summary, halves)))
    (tmp_path / "manifest.json").write_text("{}")
    report = build_report([tmp_path])
    assert "| 0% | 0-66 | 0.38 |" in markdown(report)
    assert json.loads(as_json(report))["rows"][0]["score"] == 0.375
    assert "0.38" in html(report, most_pages=10)


def carried_run(folder: Path, *, carry: bool = True) -> Path:
    """Mode `learn` needs fewer requests in each episode, and `edit` three in all; the seeds are played downwards."""
    seeds = range(7, 0, -1)
    results = [
        replace(episode(mode, seed, Outcome.WON), usage=Usage(calls=calls, characters=1000 * calls))
        for place, seed in enumerate(seeds)
        for mode, calls in (("learn", max(0, 4 - 2 * place)), ("edit", 3))
    ]
    asked = {"modes": ["learn", "edit"], "models": ["m"], "repeats": 1}
    # As if seeds were added later: those that were played already are not played again.
    matrices = [{**asked, "seeds": {"coin": list(played)}} for played in (seeds[:3], seeds)]
    configuration = {"run": {"carry": carry}} if carry else {}
    (folder / "results.jsonl").write_text("".join(map(dump_summary, sorted(results, key=lambda result: result.cell))))
    (folder / "manifest.json").write_text(json.dumps({"configuration": configuration, "asked": matrices}))
    return folder


def test_carried_episodes_are_reported_in_playing_order(tmp_path: Path) -> None:
    report = build_report([carried_run(tmp_path)])
    (table,) = (table for table in report.tables if "by episode" in table.title)
    assert [row[1:] for row in table.body] == [
        ["learn", "m", "requests", "4 2 0 …", "6", "0.0"],
        ["learn", "m", "characters / 1000", "4 2 0 …", "6", "0.0"],
        ["edit", "m", "requests", "3 …", "21", "3.0"],
        ["edit", "m", "characters / 1000", "3 …", "21", "3.0"],
    ]
    (figure,) = json.loads(as_json(report))["figures"]
    points = {line["label"]: [(point["x"], point["y"]) for point in line["points"]] for line in figure["lines"]}
    assert points["learn m"] == [(1, 4), (2, 2), *((place, 0) for place in range(3, 8))]
    assert "Requests by episode, in order" in html(report, most_pages=0)
    assert "4 2 0 …" in markdown(report)


def test_only_whole_runs_with_carry_have_an_order(tmp_path: Path) -> None:
    lost = build_report([carried_run(tmp_path)], wanted=ResultFilter(outcome=Outcome.WON))
    assert not any("by episode" in table.title for table in lost.tables)
    report = build_report([carried_run(tmp_path, carry=False)])
    assert not any("by episode" in table.title for table in report.tables)
    assert not report.figures


def test_every_table_says_which_engine_and_files_were_played(tmp_path: Path) -> None:
    """The digest is the SHA-256 of the sorted digests of the files, one per line."""
    digests = ["b" * 64, "a" * 64, "b" * 64]
    played = [
        replace(episode("edit", seed, Outcome.WON), engine="alfworld 0.4.2", game_file={"path": "x", "sha256": digest})
        for seed, digest in enumerate(digests)
    ]
    (tmp_path / "results.jsonl").write_text("".join(map(dump_summary, [*played, episode("act", 0, Outcome.WON)])))
    (tmp_path / "manifest.json").write_text("{}")
    whole = hashlib.sha256(f"{'a' * 64}\n{'b' * 64}\n".encode()).hexdigest()[:16]
    note = f"coin: alfworld 0.4.2; 2 game files, SHA-256 of their digests {whole}."
    report = build_report([tmp_path])
    assert report.games == (note,)
    wholes = (markdown(report), latex(report), html(report, most_pages=0), as_text(report), as_json(report))
    assert all(note in " ".join(text.split()) for text in wholes)
    for form in ("text", "markdown", "json", "latex", "html"):
        assert note in one_table(report.table("success"), form, report.notes)
    assert one_table(report.table("success"), "latex", report.notes).startswith(f"% {note}\n")
    act, *edit = csv.DictReader(io.StringIO(as_csv(report)))
    assert {row["engine"] for row in edit} == {"alfworld 0.4.2"} and act["engine"] == act["game_sha256"] == ""


def test_a_report_names_each_version_of_an_engine_on_one_line(tmp_path: Path) -> None:
    engines = ["textworld 1.7.1", "textworld 1.7.0\n\\input{x}" + "y" * 1000, ""]
    played = [replace(episode("edit", seed, Outcome.WON), engine=engine) for seed, engine in enumerate(engines)]
    (tmp_path / "results.jsonl").write_text("".join(map(dump_summary, played)))
    (tmp_path / "manifest.json").write_text("{}")
    (note,) = build_report([tmp_path]).games
    assert note.startswith("coin: textworld 1.7.0 ") and len(note) <= 300 and "\n" not in note


@pytest.mark.parametrize("form", ["text", "markdown", "csv", "json", "latex", "html"])
def test_a_single_table_says_which_episodes_ended_with_an_error(run: Path, form: str) -> None:
    """Else an endpoint that died looks like a method that lost. A CSV has only rows: they are said beside it."""
    done = command("report", str(run), "--table", "success", "--format", form, cwd=run)
    said = " ".join((done.stderr if form == "csv" else done.stdout).split())
    assert "1 of 23 episodes ended with an error, not by the game: coin, edit, m: 1 of 11." in said
    assert "They count as not won; comparisons and causes leave them out." in said
    assert success(build_report([run]).rows).body[0][3] == "91 (62-98) n=11, 1 error"


def test_a_note_of_several_lines_is_a_comment_in_every_line() -> None:
    text = one_table(Table("One", ["game"], [["coin"]]), "latex", ["first\nsecond"])
    assert text.startswith("% first\n% second\n\\begin")


def test_the_list_of_losses_names_the_command_that_shows_all(tmp_path: Path) -> None:
    (tmp_path / "results.jsonl").write_text("".join(dump_summary(episode("act", n, Outcome.LOST)) for n in range(12)))
    (tmp_path / "manifest.json").write_text("{}")
    assert f"… 2 more: pddlego show {tmp_path} --only lost" in as_text(build_report([tmp_path]))


def test_a_point_of_a_figure_has_at_most_two_decimals() -> None:
    line = FigureLine("edit", (LinePoint(0.705263, 0.99712, 0.00191, 95), LinePoint(12.0, 1.0, 0.0, 3)))
    table = figure_table(DrawnFigure(Figure("precision", "Precision of facts by step", "step", "precision"), (line,)))
    assert [row[1] for row in table.body] == ["0.71", "12"]


def test_an_output_that_cannot_be_written_is_refused_before_the_report_is_made(tmp_path: Path) -> None:
    (tmp_path / "results.jsonl").write_text(dump_summary(episode("act", 0, Outcome.LOST)))
    (tmp_path / "manifest.json").write_text("{}")
    for output, code in (("missing/r.html", 3), (".", 2)):  # a folder is no place for a page
        done = command("report", ".", "--format", "html", "-o", output, cwd=tmp_path)
        assert done.returncode == code, done.stderr
        assert "Writing the pages" not in done.stderr and not (tmp_path / "missing").exists()


@pytest.mark.parametrize("form", ["text", "markdown", "csv", "json", "latex", "html"])
def test_changed_options_stand_in_every_format(taught: Path, form: str) -> None:
    line = "options: --max-steps 40, --from teach (from 3 requests), --retries 0"
    line = line.replace("--", "-{}-") if form == "latex" else line
    for table in ((), ("--table", "success")):
        done = command("report", "taught", *table, "--format", form, cwd=taught)
        assert done.returncode == 0 and line in done.stdout, done.stderr
        captions = re.findall(r"\\caption\{.*", done.stdout)
        assert all(line in caption for caption in captions) and bool(captions) == (form == "latex")
    assert "options:" not in command("report", "teach", "--format", form, cwd=taught).stdout


def test_a_mean_of_0_requests_is_0(taught: Path) -> None:
    """Rules that were learned before need no request: that is what such a run shows."""
    done = command("report", "taught", cwd=taught)
    head, row, *_ = done.stdout.partition("All numbers\n")[2].splitlines()
    assert dict(zip(re.split(" {2,}", head), re.split(" {2,}", row), strict=True))["calls"] == "0.00"
    assert "from cache" not in head, "a column of zeros is left out"
    shown = command("show", "taught", cwd=taught, COLUMNS="200").stdout.splitlines()
    assert "calls" in shown[1].split() and " 0 " in shown[2]


@pytest.fixture(scope="module")
def taught(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that begins with the rules of another one."""
    folder = tmp_path_factory.mktemp("taught")
    learn = ("eval", "coin", "--modes", "learn")
    assert command(*learn, "--seeds", "0", "--run", "teach", cwd=folder).returncode == 0
    options = ("--from", "teach", "--max-steps", "40", "--retries", "0", "--run", "taught")
    done = command(*learn, "--seeds", "1-2", *options, cwd=folder)
    assert "options: --max-steps 40, --from teach (from 3 requests), --retries 0." in done.stdout
    return folder
