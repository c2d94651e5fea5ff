"""Graphplan from the command line: as the planner of a game, and what it asks within budgets."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.command import run
from tests.model_server import ModelServer, answer


def test_coin_is_won_with_graphplan(tmp_path: Path) -> None:
    done = run("play", "coin", "--planner", "graphplan", "--seed", "12", "--pace", "0", cwd=tmp_path)
    assert done.returncode == 0
    assert "won after" in done.stdout


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--prune", "relaxed"), "only graphplan has levels to prune and to sort"),
        (("--levels", "3"), "only graphplan has levels to prune and to sort"),
        (("--kappa", "0.5"), "only graphplan has levels to prune and to sort"),
        (("--planner", "graphplan", "--kappa", "0.5"), "Nobody is asked what to prune"),
        (("--planner", "graphplan", "--kappa", "2"), "kappa"),
        (("--planner", "graphplan", "--kappa", ","), "kappa"),
        (("--planner", "graphplan", "--kappa", "high"), "kappa"),
        (("--planner", "graphplan", "--levels", "0"), "levels"),
        (("--planner", "graphplan", "--prune", "random:9"), "random:P keeps every action"),
        (("--planner", "graphplan", "--prune", "gpt-4"), "OPENAI_API_KEY"),
        (("--planner", "graphplan", "--sort", ""), "sort"),
    ],
)
def test_what_does_not_fit_is_refused_before_anything_is_played(
    tmp_path: Path, options: tuple[str, ...], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    done = run("play", "coin", *options, cwd=tmp_path)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "runs").exists()


def test_advice_of_a_language_model_counts_in_the_budget_and_stands_in_the_ledger(
    tmp_path: Path, model_server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The reader formalizes, which is free; only what the planner asks is sent."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary-0123456789abcdef")
    model_server.replies = [lambda body: answer("Keep everything.")]
    asked = ("--planner", "graphplan", "--prune", "m", "--base-url", model_server.url)
    command = ("eval", "coin", "--seeds", "0-1", "--run", "r", *asked)
    stopped = run(*command, "--max-calls", "4", cwd=tmp_path)
    assert stopped.returncode == 3
    assert len(model_server.requests) == 4
    assert run(*command, "--max-calls", "1000", cwd=tmp_path).returncode == 0
    ledger = (tmp_path / "runs" / "r" / "ledger.jsonl").read_text(encoding="utf-8")
    assert '"m"' in ledger
    assert "sk-canary" not in ledger
    replayed = run("replay", "runs/r", cwd=tmp_path)
    assert replayed.returncode == 0, replayed.stdout
    dry = run(*command, "--dry-run", cwd=tmp_path)
    assert dry.returncode == 0
    assert "m (advises)" in dry.stdout


def test_a_dry_run_sends_nothing_also_where_both_model_and_adviser_are_paid(
    tmp_path: Path, model_server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary-0123456789abcdef")
    model_server.replies = [lambda body: answer("Keep everything.")]
    where = ("--models", "m", "--base-url", model_server.url, "--seeds", "0-1", "--dry-run")
    played = run("eval", "coin", *where, "--planner", "graphplan", "--prune", "m", cwd=tmp_path)
    assert played.returncode == 0
    assert "m (advises)" in played.stdout
    assert run("eval", "openstacks", "--modes", "graphplan", *where, cwd=tmp_path).returncode == 0
    assert not model_server.requests


def test_an_answer_that_names_nothing_is_said_and_counted(
    tmp_path: Path, model_server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary-0123456789abcdef")
    model_server.replies = [lambda body: answer("I would rather not.")]
    where = ("--model", "m", "--base-url", model_server.url, "--pace", "0")
    done = run("play", "movie", "--mode", "graphplan", *where, cwd=tmp_path)
    assert done.returncode == 0
    assert "it names none of the candidates, and everything is kept" in done.stdout
    assert run("replay", "latest", cwd=tmp_path).returncode == 0


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--prune", "relaxed"), "that model is asked"),
        (("--sort", "relaxed"), "that model is asked"),
        (("--set", "task=-1"), "task"),
        (("--set", "corrupt=2"), "corrupt"),
        (("--set", "coin=toss"), "coin"),
        (("--set", "judge=both"), "judge"),
        (("--set", "bound=3"), "bound"),
        (("--set", "bound=actions", "--planner", "graphplan"), "bound=actions needs the planner pyperplan"),
    ],
)
def test_what_the_mode_does_not_take_is_refused(tmp_path: Path, options: tuple[str, ...], said: str) -> None:
    done = run("play", "logistics", "--mode", "graphplan", *options, cwd=tmp_path)
    assert done.returncode == 2
    assert said in done.stderr


@pytest.mark.parametrize("form", ["json", "lines"])
def test_on_a_pipe_the_graph_grows_in_lines(tmp_path: Path, form: str) -> None:
    options = ("--json",) if form == "json" else ()
    done = run("play", "movie", "--mode", "graphplan", *options, cwd=tmp_path)
    assert done.returncode == 0
    assert ('"grown"' if form == "json" else "level  2: ") in done.stdout
    assert "\x1b" not in done.stdout
