"""Two recorded runs are played again with the real engine; every kind of change is noticed.

`pddlego play coin --seed 12` and `pddlego play cooking-easy --mode gen --seed 3` made them; whoever changes a prompt on
purpose records them again.
"""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from pddlego.episodes import make_game
from pddlego.errors import JournalError, UsageError
from pddlego.events import Outcome
from pddlego.planning import ProcessPlanner
from pddlego.recorded import load_recorded
from pddlego.replay import Replayed, replay
from pddlego.run_folders import find_journal, find_journals, newest_run

RECORDED = Path(__file__).parent / "recorded"
RUNS = ("coin-edit-reader-seed12", "cooking-easy-gen-reader-seed3")


def again(journal: Path, planner: ProcessPlanner) -> Replayed:
    recorded = load_recorded(journal)
    return replay(recorded, make_game(recorded.episode.setting, recorded.episode.seed), planner)


@pytest.mark.parametrize("run", RUNS)
def test_a_recorded_run_comes_out_the_same(run: str, planner: ProcessPlanner) -> None:
    journal = find_journal(RECORDED / run)
    replayed = again(journal, planner)
    assert replayed.difference is None
    assert replayed.same == len(journal.read_text().splitlines())


CHANGES = [
    ('"step":2,"command":"move north"', '"step":2,"command":"move south"', "observed", "command"),
    ("revealing the laundry room", "revealing the laundry rum", "observed", "text"),
    (r'"rung":"be in a room not yet visited"', '"rung":"have the coin"', "planned", "rung"),
    (r'"added":\["kitchen - location"', '"added":["cellar - location"', "formalized", "added[0]"),
    ("Answer with what changes", "Answer with what stays", "asked", "messages[0].content"),
    (r'"outcome":"won"', '"outcome":"lost"', "ended", "outcome"),
]


@pytest.mark.parametrize(("old", "new", "kind", "field"), CHANGES)
def test_what_was_changed_is_found(
    tmp_path: Path, planner: ProcessPlanner, old: str, new: str, kind: str, field: str
) -> None:
    shutil.copytree(RECORDED / RUNS[0], tmp_path / "run")
    journal = find_journal(tmp_path / "run")
    text, count = re.subn(old, new, journal.read_text(), count=1)
    assert count == 1
    journal.write_text(text)
    difference = again(journal, planner).difference
    assert difference is not None
    assert (difference.kind, difference.field.partition(",")[0]) == (kind, field)


def test_a_run_that_was_broken_off_is_the_same_as_far_as_it_goes(tmp_path: Path, planner: ProcessPlanner) -> None:
    shutil.copytree(RECORDED / RUNS[0], tmp_path / "run")
    journal = find_journal(tmp_path / "run")
    lines = journal.read_text().splitlines(keepends=True)
    journal.write_text("".join(lines[:20]) + lines[20][:30])
    assert again(journal, planner) == Replayed(20)
    stopped = re.sub(r'"outcome":"\w+"', f'"outcome":"{Outcome.INTERRUPTED.value}"', lines[-1])
    journal.write_text("".join([*lines[:20], stopped]))
    assert again(journal, planner) == Replayed(20)


def test_an_unfinished_beginning_is_no_episode(tmp_path: Path) -> None:
    shutil.copytree(RECORDED / RUNS[0], tmp_path / "run")
    journal = find_journal(tmp_path / "run")
    journal.write_text("")
    with pytest.raises(JournalError, match="holds no episode"):
        load_recorded(journal)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda kept: kept.clear(), "is damaged"),
        (lambda kept: kept.update(planner=3), "is damaged"),
        (lambda kept: kept["setting"].update(name="chess"), "cannot be played again"),
        (lambda kept: kept["setting"].update(overrides={"numLocations": "999"}), "cannot be played again"),
    ],
)
def test_a_manifest_that_is_none_is_refused(tmp_path: Path, change: object, says: str) -> None:
    shutil.copytree(RECORDED / RUNS[0], tmp_path / "run")
    place = tmp_path / "run" / "manifest.json"
    kept = json.loads(place.read_text())
    assert callable(change)
    change(kept)
    place.write_text(json.dumps(kept))
    with pytest.raises(UsageError, match=says):
        load_recorded(find_journal(tmp_path / "run"))
    place.unlink()
    with pytest.raises(UsageError, match="cannot be read"):
        load_recorded(find_journal(tmp_path / "run"))


def test_files_that_have_changed_since_are_named(tmp_path: Path) -> None:
    shutil.copytree(RECORDED / RUNS[0], tmp_path / "run")
    place = tmp_path / "run" / "manifest.json"
    kept = json.loads(place.read_text())
    kept["digests"]["envs/coin.toml"] = "0" * 64
    kept["digests"]["envs/gone.toml"] = "0" * 64
    place.write_text(json.dumps(kept))
    assert load_recorded(find_journal(tmp_path / "run")).changed == ("envs/coin.toml", "envs/gone.toml")


def test_run_folders_and_journals_are_found(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no runs"):
        newest_run(tmp_path / "nowhere")
    for name, seeds in (("old", (1,)), ("new", (2, 10, 2))):
        (tmp_path / name / "episodes").mkdir(parents=True)
        for number, seed in enumerate(seeds):
            (tmp_path / name / "episodes" / f"coin-{number}-seed{seed}.jsonl").touch()
    assert newest_run(tmp_path) == tmp_path / "new"
    assert [each.name for each in find_journals(tmp_path / "new", 2)] == ["coin-0-seed2.jsonl", "coin-2-seed2.jsonl"]
    with pytest.raises(UsageError, match="holds 2 episodes of seed 2"):
        find_journal(tmp_path / "new", 2)
    with pytest.raises(UsageError, match="none of seed 5"):
        find_journal(tmp_path / "new", 5)
    assert find_journal(tmp_path / "new", 10).name == "coin-1-seed10.jsonl"
    assert find_journal(tmp_path / "old" / "episodes" / "coin-0-seed1.jsonl").exists()
