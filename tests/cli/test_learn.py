"""Rules that a model wrote, as a file of a run that a person can read, correct and give to other episodes."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from pddlego.methods.textgames.reading.rules import parse_learned
from tests.cli.command import run


def test_the_rules_of_a_run_are_a_file_that_others_begin_with(tmp_path: Path) -> None:
    done = run("eval", "coin", "--modes", "learn,edit", "--seeds", "2,12", "--carry", "--run", "r", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (kept,) = (tmp_path / "runs" / "r" / "carried").iterdir()
    assert kept.name == "coin-learn-reader.toml", "mode edit begins from nothing"
    assert len(parse_learned(kept.read_text(encoding="utf-8")).rules) > 3
    command = ("play", "coin", "--mode", "learn", "--seed", "12", "--pace", "0", "--from")
    by_run, by_file = (run(*command, name, cwd=tmp_path).stdout for name in ("r", str(kept)))
    assert " 0 calls" in by_file
    assert by_run.partition(" calls")[0] == by_file.partition(" calls")[0]
    report = run("report", "r", cwd=tmp_path)
    assert "Requests and characters by episode" in report.stdout

    tables = kept.read_text(encoding="utf-8").split("\n\n")
    others = [table for table in tables if "closed {door}" not in table]  # a person takes a rule out
    assert len(others) == len(tables) - 1
    (tmp_path / "corrected.toml").write_text("\n\n".join(others), encoding="utf-8")
    assert " 1 call" in run(*command, "corrected.toml", cwd=tmp_path).stdout


@pytest.mark.parametrize("is_file", [False, True])
def test_the_copy_of_the_rules_never_ends_an_evaluation(tmp_path: Path, is_file: bool) -> None:
    command = ("eval", "coin", "--modes", "learn", "--carry", "--run", "r", "--seeds")
    assert run(*command, "2", cwd=tmp_path).returncode == 0
    folder = tmp_path / "runs" / "r"
    shutil.rmtree(folder / "carried")
    if is_file:
        (folder / "carried").write_text("not a folder", encoding="utf-8")
    else:  # the won episode is deleted after its result was read
        next((folder / "episodes").iterdir()).unlink()
    done = run(*command, "2,12" if is_file else "2", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert not (folder / "carried").is_dir()


@pytest.mark.parametrize("text", ["[[rule]]\n", "no TOML", "[[rule]]\npattern = '('\n", ""])
def test_rules_that_cannot_be_read_are_refused_with_the_name_of_their_file(tmp_path: Path, text: str) -> None:
    (tmp_path / "mine.toml").write_text(text, encoding="utf-8")
    done = run("play", "coin", "--mode", "learn", "--from", "mine.toml", cwd=tmp_path)
    if text:
        assert done.returncode == 2
        assert done.stderr.startswith("Error: The rules in mine.toml are invalid")
    assert "Traceback" not in done.stderr


def test_rules_of_another_game_are_refused(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text("[[reading]]\nsentence = 'A {x}.'\nadd = ['(ta {x})']\n", encoding="utf-8")
    done = run("play", "coin", "--mode", "edit", "--seed", "2", "--from", "mine.toml", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("Error: The rules in mine.toml are of another game")
    assert '"A {x}."' in done.stderr


def test_a_domain_learned_from_an_episode_that_did_not_end_says_so(tmp_path: Path) -> None:
    assert run("eval", "coin", "--modes", "edit", "--seeds", "2,12", "--run", "r", cwd=tmp_path).returncode == 0
    assert "did not end" not in run("learn-domain", "r", cwd=tmp_path).stderr
    journal = min((tmp_path / "runs" / "r" / "episodes").iterdir())
    journal.write_text("".join(journal.read_text(encoding="utf-8").splitlines(keepends=True)[:-1]), encoding="utf-8")
    done = run("learn-domain", "r", cwd=tmp_path)
    assert "1 of 2 episodes did not end: what is there so far is used" in done.stderr
    assert "(:action move" in done.stdout
