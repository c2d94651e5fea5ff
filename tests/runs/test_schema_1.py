"""Run folders that version 0.1.0 wrote (schema 1) are read by everything that reads run folders."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from pddlego.evaluation.recorded import load_recorded
from pddlego.evaluation.replay import replay
from pddlego.events import Answered, Asked, Started
from pddlego.methods.textgames.events import Observed
from pddlego.planning import ProcessPlanner
from pddlego.report import build_report, load_results
from pddlego.report.formats import as_csv
from pddlego.report.html import html
from pddlego.runs.folders import find_journal, find_journals
from pddlego.runs.store import read_cells
from pddlego.runs.tail import FolderTail
from tests.cli.command import run
from tests.runs.stores import read

OLD = Path(__file__).parent.parent / "data" / "schema-1"
FILES = OLD / "files"
"""The domain, setting and prompts of then: an episode is played again with the files that it was played with."""

EPISODE, EVALUATION = OLD / "play-coin-edit-seed12", OLD / "eval-coin"


@pytest.fixture
def then(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with the files of then."""
    shutil.copytree(FILES, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_journal_holds_the_values_of_today() -> None:
    journal = read(find_journal(EPISODE))
    assert journal.complete
    assert journal.started is not None
    assert journal.started.played_by == "textgames"
    assert journal.started.details["goals"] == ["have the coin", "be in a room not yet visited"]
    answered = [event for event in journal.events if isinstance(event, Answered)]
    asked = [event for event in journal.events if isinstance(event, Asked)]
    assert len(answered) == len(asked) == 10
    assert answered[0].completion.text.startswith("{")
    assert sum(isinstance(event, Observed) for event in journal.events) == 22


@pytest.mark.parametrize("folder", [EPISODE, EVALUATION], ids=["play", "eval"])
def test_what_was_played_is_played_again(folder: Path, planner: ProcessPlanner, then: Path) -> None:
    for journal in find_journals(folder):
        recorded = load_recorded(journal)
        assert replay(recorded, planner).difference is None
        assert recorded.changed == ()


def test_an_evaluation_is_reported_as_it_was() -> None:
    report = build_report([EVALUATION])
    assert as_csv(report) == (EVALUATION / "results.csv").read_text()
    assert {summary.cell for summary in load_results([EVALUATION])} == read_cells(EVALUATION)
    assert "be in a room not yet visited" in html(report, [EVALUATION], 10)
    (edit,) = (row for row in report.rows if row.mode == "edit")
    steps = edit.number("steps")
    assert steps is not None
    assert steps.mean == steps.median == 13.5


def test_it_is_watched_and_shown() -> None:
    folder = FolderTail(EVALUATION)
    folder.poll()
    assert {peek.method for peek in folder.peeks.values()} == {"textgames"}
    assert sum(peek.outcome is not None and peek.outcome.value == "won" for peek in folder.peeks.values()) == 4
    first = read(find_journals(EVALUATION)[0]).events[0]
    assert isinstance(first, Started)


def test_the_commands_take_it(tmp_path: Path) -> None:
    shutil.copytree(EPISODE, tmp_path / "old")
    assert "won after 21 steps" in run("show", "old", cwd=tmp_path).stdout
    assert run("show", "old", "--step", "3", "--problem", cwd=tmp_path).stdout.startswith("(define (problem")
    done = run("resume", "old", "--from-step", "15", cwd=tmp_path)
    assert done.returncode == 0, done.stderr


def test_an_evaluation_is_continued(then: Path) -> None:
    shutil.copytree(EVALUATION, then / "old")
    done = run("eval", "coin", "--modes", "random,edit", "--seeds", "0-2", "--run", "old", "--runs", ".", cwd=then)
    assert done.returncode == 0, done.stderr
    assert "4 of 6 episodes are finished already" in done.stdout
    changed = run("eval", "coin", "--seeds", "0-2", "--max-steps", "7", "--run", "old", "--runs", ".", cwd=then)
    assert changed.returncode == 2
    assert "options.max_steps was 50 and is now 7" in changed.stderr


def test_it_is_reported_together_with_one_of_today(then: Path) -> None:
    shutil.copytree(EVALUATION, then / "old")
    assert run("eval", "coin", "--modes", "random", "--seeds", "5", "--run", "new", cwd=then).returncode == 0
    both = run("report", "old", "runs/new", "--format", "csv", cwd=then)
    assert both.returncode == 0, both.stderr
    assert len(both.stdout.splitlines()) == 1 + 6 + 1
