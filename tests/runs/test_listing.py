"""Run folders and their episodes at a glance, also while they are written and when they are damaged."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from pddlego.display.columns import EPISODE_COLUMNS, RUN_COLUMNS, episode_summary
from pddlego.episode.events import Outcome
from pddlego.runs.cells import Cell
from pddlego.runs.folders import EPISODES
from pddlego.runs.listing import EpisodeList, EpisodeStatus, list_runs, run_row
from pddlego.runs.store import RESULTS, Store, is_locked, journal_name, results_from
from pddlego.runs.summary import LastingError, Measures, Summary, dump_summary
from tests.cli.command import run


def summary(seed: int, outcome: Outcome = Outcome.WON) -> Summary:
    cell = Cell("coin", "edit", "m", seed)
    return Summary(cell, 1, outcome, measures=Measures(errors=(LastingError("missing at", "missing (at kitchen)", 1),)))


def folder(path: Path, results: list[Summary]) -> Path:
    (path / EPISODES).mkdir(parents=True)
    (path / RESULTS).write_text("".join(map(dump_summary, results)))
    for result in results:
        (path / EPISODES / journal_name(result.cell, 1)).write_text("")
    return path


def test_runs_are_listed_with_what_came_of_them(tmp_path: Path) -> None:
    for name, seeds in (("first", "1-3"), ("second", "5")):
        assert run("eval", "coin", "--seeds", seeds, "--run", name, cwd=tmp_path).returncode == 0
    os.utime(tmp_path / "runs" / "first", (1, 1))
    first, second = sorted(list_runs(tmp_path / "runs"), key=lambda row: row.path.name)
    assert (first.won, first.played, first.cells, first.state) == (3, 3, 3, "finished")
    assert (second.games, second.modes, second.models) == ("coin", "edit", "reader")
    assert [row.path.name for row in list_runs(tmp_path / "runs")] == ["second", "first"], "the newest first"
    listed = run("runs", cwd=tmp_path).stdout
    assert "runs: 2 runs" in listed
    assert "3/3" in listed


@pytest.mark.parametrize(
    ("outcome", "state"),
    [
        (Outcome.LOST, "finished"),
        (Outcome.BUDGET, "finished"),
        (Outcome.MODEL_ERROR, "unfinished"),
        (Outcome.CRASHED, "unfinished"),
    ],
)
def test_a_run_is_finished_if_nothing_of_it_would_be_played_again(tmp_path: Path, outcome: Outcome, state: str) -> None:
    path = folder(tmp_path / "run", [summary(1), summary(2, outcome)])
    (path / "manifest.json").write_text("{}")
    (row,) = list_runs(tmp_path)
    assert row.state == state


def test_a_run_without_a_model_lists_none(tmp_path: Path) -> None:
    run("play", "coin", "--seed", "1", "--mode", "random", "--max-steps", "1", cwd=tmp_path)
    (row,) = list_runs(tmp_path / "runs")
    assert (row.games, row.modes, row.models) == ("coin", "random", "none")


def test_only_running_episodes_have_a_last_command(tmp_path: Path) -> None:
    """An ended one has its result without its commands, or those that were read while it was played."""
    (column,) = [column for column in EPISODE_COLUMNS if column.name == "last command"]
    status = EpisodeStatus(tmp_path / "a.jsonl", command="move north")
    assert column.text(status) == "move north"
    assert column.text(replace(status, outcome=Outcome.WON)) == ""


def test_a_run_of_model_errors_has_failed_and_a_note_is_listed(tmp_path: Path) -> None:
    path = folder(tmp_path / "runs" / "run", [summary(1, Outcome.MODEL_ERROR)])
    (path / "manifest.json").write_text("{}")
    assert run("runs", "note", "run", "no key", cwd=tmp_path).returncode == 0
    (row,) = list_runs(tmp_path / "runs")
    assert (row.state, row.note) == ("failed", "no key")
    assert "no key" in run("runs", cwd=tmp_path).stdout


def test_a_note_is_kept_on_runs_only(tmp_path: Path) -> None:
    path = folder(tmp_path / "runs" / "run", [summary(1)])
    (path / "manifest.json").write_text("{}")
    (journal,) = (path / EPISODES).iterdir()
    assert run("runs", "note", str(journal), "mine", cwd=tmp_path).returncode == 0
    assert (path / "note.txt").read_text() == "mine\n"
    (tmp_path / "runs" / "build").mkdir()
    for place in ("runs/build/journal.jsonl", "here.txt"):
        (tmp_path / place).write_text("")
    for place in ("runs/build/journal.jsonl", "here.txt", "runs"):
        refused = run("runs", "note", place, "mine", cwd=tmp_path)
        assert (refused.returncode, refused.stdout) == (2, "")
    assert list(tmp_path.rglob("note.txt")) == [path / "note.txt"]
    assert not (tmp_path.parent / "note.txt").exists()


def test_only_the_last_attempt_at_an_episode_is_counted(tmp_path: Path) -> None:
    repeated = [replace(summary(1), attempt=attempt, outcome=Outcome.CRASHED) for attempt in (1, 2)]
    run = folder(tmp_path / "run", [*repeated, replace(summary(1), attempt=3), summary(2, Outcome.LOST)])
    episodes = EpisodeList(run)
    episodes.poll()
    assert episode_summary(episodes.episodes.values()) == "2 episodes (4 attempts), 2 ended, 1 won"
    (run / "manifest.json").write_text("{}")
    cells = next(column for column in RUN_COLUMNS if column.name == "cells")
    assert cells.text(run_row(run, tmp_path)) == "2 (1 again)"


def test_the_first_columns_of_runs_fit_into_80() -> None:
    first = RUN_COLUMNS[:7]
    assert [column.name for column in first] == ["when", "won", "state", "game", "mode", "model", "cells"]
    widths = [len("123/360") if column.right else column.narrow or column.width for column in first]
    assert sum(widths) + 2 * len(widths) <= 80


def test_runs_within_a_folder_and_damaged_ones(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    folder(tmp_path / "counterfactual" / "1", [summary(1)])
    (tmp_path / "bad" / EPISODES).mkdir(parents=True)
    (tmp_path / "bad" / "manifest.json").write_text("[]")
    rows = {row.name: row for row in list_runs(tmp_path)}
    assert set(rows) == {str(Path("counterfactual") / "1"), "bad"}
    assert rows["bad"].state
    assert list(list_runs(tmp_path / "nowhere")) == []


def test_looking_at_a_folder_does_not_take_its_lock(tmp_path: Path) -> None:
    made = Store(tmp_path / "run", {}, codec=None, measure_of=lambda cell: lambda trace: Measures())  # type: ignore[arg-type]
    with made:
        assert is_locked(tmp_path / "run")
    assert not is_locked(tmp_path / "run")
    assert not is_locked(tmp_path)


def test_results_are_read_as_they_are_written(tmp_path: Path) -> None:
    run = folder(tmp_path / "run", [summary(1)])
    episodes = EpisodeList(run)
    assert episodes.poll()
    (known,) = episodes.episodes.values()
    assert (known.outcome, known.cause) == (Outcome.WON, None)
    assert not episodes.poll()
    line = dump_summary(summary(2, Outcome.LOST))
    with (run / RESULTS).open("a") as file:
        file.write(line[:50])
    assert not episodes.poll()
    with (run / RESULTS).open("a") as file:
        file.write(line[50:] + "noise\n" + dump_summary(summary(3)))
    assert episodes.poll()
    assert sorted(episode.seed for episode in episodes.episodes.values()) == [1, 2, 3]
    assert not any(episode.cause for episode in episodes.episodes.values()), "a first error is not a cause yet"
    episodes.set_causes({journal_name(summary(2).cell, 1): LastingError("missing at", "missing (at kitchen)", 1)})
    assert [episode.seed for episode in episodes.episodes.values() if episode.cause] == [2]


def test_a_folder_that_was_made_anew_is_read_anew(tmp_path: Path) -> None:
    run = folder(tmp_path / "run", [summary(seed) for seed in range(5)])
    episodes = EpisodeList(run)
    episodes.poll()
    for path in (run / EPISODES).iterdir():
        path.unlink()
    (run / RESULTS).write_text(dump_summary(summary(9)))
    episodes.poll()
    assert [episode.seed for episode in episodes.episodes.values()] == [9]


@pytest.mark.parametrize("start", [0, 10**9])
def test_results_of_a_file(tmp_path: Path, start: int) -> None:
    place = tmp_path / RESULTS
    assert results_from(place, start) == ([], start)
    place.write_text(dump_summary(summary(1)))
    results, end = results_from(place, start)
    assert [replace(result) for result in results] == [summary(1)]
    assert end == place.stat().st_size
