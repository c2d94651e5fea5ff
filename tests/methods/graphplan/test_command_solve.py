"""Graphplan from the command line: as the planner of a game, and what it asks within budgets."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.command import run
from tests.model_server import ModelServer, answer

pytestmark = pytest.mark.method("graphplan")


def test_coin_is_won_with_graphplan(tmp_path: Path) -> None:
    done = run("play", "coin", "--planner", "graphplan", "--seed", "12", "--pace", "0", cwd=tmp_path)
    assert done.returncode == 0
    assert "won after" in done.stdout


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (("--prune", "relaxed"), "No such option: --prune"),
        (("--set", "levels=3"), "levels"),
        (("--kappa", "0.5"), "--kappa was removed. Use --set kappa=…"),
    ],
)
def test_what_does_not_fit_is_refused_before_anything_is_played(
    tmp_path: Path, options: tuple[str, ...], text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    done = run("play", "coin", *options, cwd=tmp_path)
    assert done.returncode == 2
    assert text in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "runs").exists()


@pytest.mark.slow
def test_a_dry_run_sends_nothing(tmp_path: Path, model_server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary-0123456789abcdef")
    where = ("--models", "m", "--base-url", model_server.url, "--seeds", "0-1", "--dry-run")
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
    ("options", "text"),
    [
        (("--set", "kappa=1.5"), "kappa = 1.5"),
        (("--set", "kappa=,"), "kappa"),
        (("--set", "levels=0"), "levels = 0"),
        (("--set", "task=-1"), "task"),
        (("--set", "corrupt=2"), "corrupt"),
        (("--set", "bound=actions", "--planner", "graphplan"), "bound=actions needs the planner pyperplan"),
    ],
)
def test_what_the_mode_does_not_take_is_refused(tmp_path: Path, options: tuple[str, ...], text: str) -> None:
    done = run("play", "logistics", "--mode", "graphplan", *options, cwd=tmp_path)
    assert done.returncode == 2
    assert text in done.stderr


@pytest.mark.parametrize("form", ["json", "lines"])
def test_on_a_pipe_the_graph_grows_in_lines(tmp_path: Path, form: str) -> None:
    options = ("--format", "json") if form == "json" else ()
    done = run("play", "movie", "--mode", "graphplan", *options, cwd=tmp_path)
    assert done.returncode == 0
    assert ('"grown"' if form == "json" else "level  2: ") in done.stdout
    assert "\x1b" not in done.stdout
