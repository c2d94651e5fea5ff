"""`--cache` and `pddlego cache` through their real entry point."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from tests.cli.command import run
from tests.cli.test_play import KEY, three_lines
from tests.model_server import ModelServer, answer


@pytest.mark.slow
def test_a_second_evaluation_with_the_cache_sends_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model_server: ModelServer
) -> None:
    monkeypatch.setenv("PDDLEGO_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    model_server.replies = [answer("I would rather not.")]
    arguments = ("eval", "coin", "--models", "m", "--base-url", model_server.url, "--seeds", "0,1", "--retries", "2")
    budget = ("--cache", "use", "--max-calls", "6")
    assert run(*arguments, *budget, "--run", "first", cwd=tmp_path).returncode == 0
    assert len(model_server.requests) == 6
    again = run(*arguments, *budget, "--run", "second", cwd=tmp_path)
    assert again.returncode == 0, again.stderr
    assert len(model_server.requests) == 6
    first, second = (_rows(tmp_path / "runs" / name / "results.csv") for name in ("first", "second"))
    assert [item["from_cache"] for item in first + second] == ["0", "0", "3", "3"]
    assert [item["calls"] for item in first + second] == ["3"] * 4
    assert {item["tokens_in"] for item in second} == {"0"}
    assert (tmp_path / "runs" / "second" / "ledger.jsonl").read_text() == ""
    journal = next((tmp_path / "runs" / "second" / "episodes").iterdir()).read_text()
    answered = [json.loads(line)["event"] for line in journal.splitlines() if '"type":"answered"' in line]
    assert [(item["completion"]["from_cache"], item["completion"]["attempts"]) for item in answered] == [(True, 0)] * 3
    continued = run(*arguments, *budget, "--run", "second", cwd=tmp_path)
    assert "2 of 2 episodes are finished already" in continued.stdout, "the ledger is not taken for damaged"
    info = run("cache", "info", cwd=tmp_path)
    assert info.stdout.splitlines()[2].split()[:3] == ["m", "6", "720"]


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open() as file:
        return list(csv.DictReader(file))


def test_clear_asks_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PDDLEGO_CACHE_DIR", str(tmp_path / "cache"))
    assert "no cached answers" in run("cache", "info", cwd=tmp_path).stdout
    assert not (tmp_path / "cache").exists(), "looking makes no file"
    refused = run("cache", "clear", cwd=tmp_path)
    assert refused.returncode == 2
    assert three_lines(refused.stderr)
    done = run("cache", "clear", "--yes", cwd=tmp_path)
    assert (done.returncode, done.stdout.strip()) == (0, "Removed: 0 answers.")


def test_what_is_no_use_of_a_cache(tmp_path: Path) -> None:
    for arguments in (("play", "coin", "--cache", "maybe"), ("eval", "coin", "--cache", "maybe")):
        refused = run(*arguments, cwd=tmp_path)
        assert refused.returncode == 2
        assert three_lines(refused.stderr)
