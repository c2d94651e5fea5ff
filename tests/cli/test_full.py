"""Play without a domain file from the command line: the engine's own games, domains that are kept and carried."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.command import run
from tests.scale import scaled

ERRING = "reader+noise:0.9,kinds=lost-condition+undeclared-predicate+undeclared-variable+wrong-arity"
"""Errs in domains only, nearly always when it writes one."""


def calls(folder: Path) -> int:
    lines = (folder / "results.jsonl").read_text(encoding="utf-8").splitlines()
    return sum(json.loads(line)["usage"]["calls"] for line in lines)


@pytest.mark.parametrize("mode", ["full", "full+steps"])
def test_coin_is_won_without_a_domain_file(tmp_path: Path, mode: str) -> None:
    done = run("play", "coin", "--mode", mode, "--seed", "12", "--pace", "0", cwd=tmp_path)
    assert done.returncode == 0
    assert "won after 21 steps" in done.stdout
    shown = run("show", "latest", "--step", "0", cwd=tmp_path)
    assert "action (move ?from" in shown.stdout
    again = run("replay", "latest", cwd=tmp_path)
    assert again.returncode == 0


@pytest.mark.parametrize("model", ["reader", "reader+noise:0.1"])
def test_nearly_all_seeds_of_coin_are_won(tmp_path: Path, model: str) -> None:
    last = scaled(5, in_ci=11)
    run("eval", "coin", "--modes", "full", "--models", model, "--seeds", f"0-{last}", "--run", "r", cwd=tmp_path)
    lines = (tmp_path / "runs" / "r" / "results.jsonl").read_text(encoding="utf-8").splitlines()
    won = sum(json.loads(line)["outcome"] == "won" for line in lines)
    assert len(lines) == last + 1
    assert won >= (last + 1) * (57 if model == "reader" else 50) / 60


def test_the_fixed_rules_of_a_setting_hold_without_its_domain(tmp_path: Path) -> None:
    """In the paper's Coin Collector the coin is taken by a rule, and no plan does it."""
    done = run("play", "paper-coin", "--mode", "full", "--pace", "0", cwd=tmp_path)
    assert "won after" in done.stdout


def test_cooking_is_won_without_a_domain_file(tmp_path: Path) -> None:
    done = run("eval", "cooking-easy", "--modes", "full", "--seeds", "0-2", "--run", "r", cwd=tmp_path)
    assert "3/3" in done.stdout


@pytest.mark.slow
def test_a_carried_domain_saves_calls_and_is_replayed(tmp_path: Path) -> None:
    command = ("eval", "coin", "--modes", "full", "--models", ERRING, "--seeds", "0-5")
    run(*command, "--run", "alone", cwd=tmp_path)
    run(*command, "--run", "carried", "--carry", cwd=tmp_path)
    assert calls(tmp_path / "runs" / "carried") < calls(tmp_path / "runs" / "alone")
    last = tmp_path / "runs" / "carried" / "episodes"
    journal = next(item for item in last.iterdir() if "seed5" in item.name)
    assert '"domain":"(define' in journal.read_text(encoding="utf-8").splitlines()[0]
    assert run("replay", str(journal), cwd=tmp_path).returncode == 0
    assert run(*command, "--run", "carried", cwd=tmp_path).returncode == 2  # another configuration
    begun = run("play", "coin", "--mode", "full", "--seed", "7", "--from", "runs/carried", cwd=tmp_path)
    assert "won" in begun.stdout


def test_an_episode_begins_from_a_run_in_the_folder_of_the_environment_variable(tmp_path: Path) -> None:
    command = ("play", "coin", "--mode", "full", "--pace", "0", "--max-steps", "40", "--seed")
    assert run(*command, "12", cwd=tmp_path, PDDLEGO_RUNS="other").returncode == 0
    begun = run(*command, "7", "--from", "latest", cwd=tmp_path, PDDLEGO_RUNS="other")
    assert begun.returncode == 0, begun.stderr
    domains = [json.loads(file.read_text().splitlines()[0])["event"] for file in tmp_path.glob("other/*/episodes/*7*")]
    assert ["(define" in str(domain) for domain in domains] == [True]


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (("--from", "nowhere"), "Unknown run nowhere"),
        (("--from", "broken.pddl"), "The domain to begin with is invalid"),
        (("--set", "history=some"), "news"),
    ],
)
def test_what_does_not_fit_is_refused(tmp_path: Path, options: tuple[str, ...], text: str) -> None:
    (tmp_path / "broken.pddl").write_text("(define (domain d)", encoding="utf-8")
    done = run("play", "coin", "--mode", "full", *options, cwd=tmp_path)
    assert done.returncode == 2
    assert text in done.stderr
    assert "Traceback" not in done.stderr


def test_carrying_plays_one_after_another(tmp_path: Path) -> None:
    for more in (("--workers", "2"), ("--executor", "ray")):
        done = run("eval", "coin", "--modes", "full", "--carry", *more, cwd=tmp_path)
        assert done.returncode == 2
        assert "--carry plays with one worker" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["full", "full-edit", "full-no-schemas"])
def test_an_episode_is_resumed_with_the_domain_that_it_had(tmp_path: Path, mode: str) -> None:
    assert run("play", "coin", "--mode", mode, "--seed", "12", "--pace", "0", cwd=tmp_path).returncode == 0
    (first,) = (tmp_path / "runs").iterdir()
    done = run("resume", str(first), "--from-step", "5", "--pace", "0", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "won after 21 steps" in done.stdout
    assert run("replay", "latest", cwd=tmp_path).returncode == 0
    problem = run("show", str(first), "--step", "5", "--problem", cwd=tmp_path)
    assert problem.stdout.startswith("(define (problem")


def test_a_replay_needs_no_run_that_a_domain_came_from(tmp_path: Path) -> None:
    assert run("play", "coin", "--mode", "full", "--seed", "1", "--pace", "0", cwd=tmp_path).returncode == 0
    (first,) = (tmp_path / "runs").iterdir()
    command = ("play", "coin", "--mode", "full", "--seed", "2", "--pace", "0", "--from", str(first))
    assert run(*command, cwd=tmp_path).returncode == 0
    first.rename(tmp_path / "elsewhere")
    assert run("replay", "latest", cwd=tmp_path).returncode == 0
