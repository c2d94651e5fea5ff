"""`truth` and `counterfactual` on recorded runs."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from pddlego.runs.store import read_results
from tests.children import started
from tests.cli.command import run
from tests.model_server import ModelServer, answer
from tests.scale import PATIENCE, scaled

MODEL = "reader+noise:0.3"
MODE = "edit-no-feedback-no-tolerance"


@pytest.fixture(scope="module")
def lost(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a run in which episodes are lost to errors that were made on purpose."""
    folder = tmp_path_factory.mktemp("lost")
    seeds = scaled("10-39", in_ci="10-16")
    options = ("--modes", MODE, "--models", MODEL, "--seeds", seeds, "--run", "lost", "--retries", "0")
    games = scaled(("coin",), in_ci=("coin", "mapreader", "twc", "cooking-easy", "cooking-hard", "cooking-full"))
    done = run("eval", *games, *options, cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder


def injected(folder: Path) -> dict[str, list[tuple[int, str]]]:
    """The errors that were made on purpose in each lost episode: after which step, and of which kind."""
    errors: dict[str, list[tuple[int, str]]] = {}
    for journal in sorted((folder / "runs" / "lost" / "episodes").glob("*.jsonl")):
        events = [json.loads(line)["event"] for line in journal.read_text(encoding="utf-8").splitlines()]
        if events[-1]["outcome"] == "won":
            continue
        step, made = 0, []
        for event in events:
            step = event["step"] if event["type"] == "observed" else step
            mistake = event["completion"].get("mistake") if event["type"] == "answered" else None
            made += [(step, mistake["kind"])] if mistake else []
        errors[journal.stem] = made
    return errors


def test_first_errors_are_those_that_were_made(lost: Path) -> None:
    """Of episodes with one error at least 90 % are said to be lost by it."""
    shown = run("truth", "lost", "--format", "json", cwd=lost)
    rows = {(row["game"], row["seed"]): row for row in json.loads(shown.stdout)}
    single = {name: made[0] for name, made in injected(lost).items() if len(made) == 1}
    assert single
    right = 0
    for name, (step, _) in single.items():
        game, seed = name.partition(f"-{MODE}")[0], int(name.rpartition("-seed")[2])
        right += f"after step {step}" in rows[game, seed]["first_error"]
    assert right >= 0.9 * len(single)


@pytest.mark.slow
def test_lost_episodes_are_won_without_their_first_error(lost: Path) -> None:
    """At least 90 % of the lost episodes are won after one correction; the second time nothing is played."""
    options = ("counterfactual", "lost", "--with", "reader", "--run", "again")
    done = run(*options, cwd=lost)
    assert done.returncode == 0, done.stderr
    table = done.stdout.partition("Effect of one correction")[2].splitlines()
    numbers = [[int(word) for word in line.split() if word.isdecimal()][:2] for line in table if " to " in line]
    total = numbers[-1]  # the row of all kinds, or of the only one
    assert total[0] == len(injected(lost))
    assert total[1] >= 0.9 * len(injected(lost))
    again = run(*options, cwd=lost)
    assert again.stdout.partition("Effect of one correction")[2] == done.stdout.partition("Effect of one correction")[2]
    assert "seed" not in again.stdout


@pytest.fixture(scope="module")
def paper(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a run of the paper's Cooking World in which each mode that asks a model loses episodes."""
    folder = tmp_path_factory.mktemp("paper")
    options = ("--modes", "act,edit,gen,random", "--models", "reader+noise:0.6", "--seeds", "0-2", "--run", "paper")
    done = run("eval", "paper-cooking-easy", "paper-cooking-hard", *options, cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.slow
def test_every_loss_has_a_cause_where_a_script_plays_along(paper: Path) -> None:
    rows = json.loads(run("truth", "paper", "--format", "json", cwd=paper).stdout)
    lost = [row for row in rows if row["outcome"] != "won" and row["model"] != "none"]
    assert {row["mode"] for row in lost} == {"act", "edit", "gen"}
    assert all(row["cause"] for row in lost)
    assert any(row["cause"].startswith(("wrong", "missing", "stale")) for row in lost), "there is a reference"
    shown = run("truth", "paper", cwd=paper).stdout
    assert "random" not in shown and "Facts of the model, checked against a reference" in shown
    table = shown.partition("Cause of each loss")[2].splitlines()
    assert not [line for line in table if line.rstrip().endswith(" -")]


def test_game_and_mode_filter_each_table(paper: Path) -> None:
    shown = run("truth", "paper", "--game", "paper-cooking-hard", "--mode", "gen", cwd=paper).stdout
    titles = [line for line in shown.splitlines() if line.endswith(")") and "reader" in line]
    assert len(titles) == 3 and all("(paper-cooking-hard, gen, reader+noise:0.6)" in title for title in titles)
    assert "all games" not in shown
    by_mode = run("truth", "paper", "--mode", "gen", cwd=paper).stdout
    assert "all games" in by_mode and " act " not in by_mode and " edit " not in by_mode


def test_the_paper_s_losses_are_won_without_their_errors(paper: Path) -> None:
    done = run("counterfactual", "paper", "--mode", "edit", "--with", "reader", "--run", "again", cwd=paper)
    assert done.returncode == 0, done.stderr
    assert "with a correction" in done.stdout and "step limit" not in done.stdout


def test_without_lost_episodes(tmp_path: Path) -> None:
    run("eval", "coin", "--seeds", "1", "--run", "won", cwd=tmp_path)
    done = run("counterfactual", "won", cwd=tmp_path)
    assert (done.returncode, "no lost episode" in done.stderr) == (2, True)
    assert "1 episode: all were won" in run("truth", "won", cwd=tmp_path).stdout


def test_losses_without_a_model_are_named(tmp_path: Path) -> None:
    options = ("--modes", "edit,random", "--seeds", "3-4", "--max-steps", "8", "--run", "both")
    run("eval", "coin", *options, cwd=tmp_path)
    said = run("truth", "both", cwd=tmp_path).stdout
    assert "2 episodes with a model: all were won.\n" in said
    assert "2 of 2 episodes without a model were not won. No error of a model can be the cause." in said
    said = run("truth", "both", "--mode", "random", cwd=tmp_path).stdout
    assert "No model played.\n2 of 2 episodes without a model were not won." in said
    assert "were won" not in said


def test_facts_are_checked_while_an_episode_is_played(tmp_path: Path) -> None:
    done = run(
        "play", "coin", "--seed", "2", "--truth", "--model", "reader+noise:0.9,kinds=missing-reverse", cwd=tmp_path
    )
    assert "missing: (connected" in done.stdout
    report = run("eval", "coin", "--seeds", "1-2", "--truth", "--run", "checked", cwd=tmp_path)
    assert report.returncode == 0
    shown = run("report", "checked", cwd=tmp_path).stdout
    assert "Facts of the model, checked against a reference" in shown
    assert "Precision of facts by step" in shown
    assert run("replay", "checked", cwd=tmp_path).returncode == 0


@pytest.fixture(scope="session")
def refusals(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a run `lost` in which three episodes are lost to refused answers, and a run `one` with one."""
    folder = tmp_path_factory.mktemp("refusals")
    for name, seeds in (("lost", "10-12"), ("one", "10")):
        options = ("--models", "reader+noise:1,kinds=refusal", "--seeds", seeds, "--run", name, "--retries", "0")
        assert run("eval", "coin", "--modes", MODE, *options, cwd=folder).returncode == 0
    return folder


def lost_run(refusals: Path, folder: Path, name: str = "lost") -> None:
    shutil.copytree(refusals / "runs" / name, folder / "runs" / name)


def test_what_cannot_be_corrected_is_said_before_anything_is_played(tmp_path: Path, refusals: Path) -> None:
    lost_run(refusals, tmp_path)
    for arguments, reason in (
        (("--with", "nosuch"), "No API key"),
        (("--with", "reader+noise:x"), "Unknown model"),
        (("--max-cost", "1", "--with", "nosuch"), "--max-cost requires the price of every model"),
        (("--seed", "99"), "no lost episode to correct"),
    ):
        done = run("counterfactual", "lost", *arguments, cwd=tmp_path, OPENAI_API_KEY="")
        assert done.returncode == 2, arguments
        assert reason in done.stderr
    assert not (tmp_path / "runs" / "counterfactual-lost").exists()


def test_one_model_does_not_play_the_episodes_of_two_on_as_one(tmp_path: Path, refusals: Path) -> None:
    lost_run(refusals, tmp_path, "one")
    (tmp_path / "two.toml").write_text('models = ["reader+noise:1,kinds=refusal", "reader+noise:1,kinds=empty"]\n')
    options = ("--modes", MODE, "--seeds", "10", "--run", "two", "--retries", "0", "--config", "two.toml")
    assert run("eval", "coin", *options, cwd=tmp_path).returncode == 0
    done = run("counterfactual", "two", "--with", "reader", cwd=tmp_path)
    assert (done.returncode, "of one model" in done.stderr) == (2, True)
    chosen = run("counterfactual", "two", "--with", "reader", "--model", "reader+noise:1,kinds=empty", cwd=tmp_path)
    assert chosen.returncode == 0, chosen.stderr
    assert "Nothing is shown: " in chosen.stdout, "a model without errors wins without a correction, too"
    listed = run("runs", cwd=tmp_path).stdout
    assert "4 runs" in listed, "the corrections and their controls are runs, too"
    assert "unfinished" not in listed


def test_corrections_of_another_run_are_not_mixed_in(tmp_path: Path, refusals: Path) -> None:
    for name in ("one", "lost"):
        lost_run(refusals, tmp_path, name)
    assert run("counterfactual", "one", "--with", "reader", "--run", "mine", cwd=tmp_path).returncode == 0
    done = run("counterfactual", "lost", "--with", "reader", "--run", "mine", cwd=tmp_path)
    assert (done.returncode, "belongs to another run" in done.stderr) == (2, True)


def test_truth_goes_on_after_a_damaged_journal(tmp_path: Path, refusals: Path) -> None:
    lost_run(refusals, tmp_path)
    first, second, third = sorted((tmp_path / "runs" / "lost" / "episodes").iterdir())
    with first.open("ab") as file:
        file.write(b"noise\n")
    second.write_bytes(b"")
    done = run("truth", "lost", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert all(f"{journal.name} has changed" in done.stderr.replace("\n", "") for journal in (first, second))
    assert done.stdout.partition("Cause of each loss")[2].count("unusable answer") == 1
    assert third.exists()


@pytest.mark.slow
@pytest.mark.parametrize("correction", [1, 2])
def test_every_correction_can_be_stopped(
    tmp_path: Path, refusals: Path, model_server: ModelServer, correction: int
) -> None:
    lost_run(refusals, tmp_path, "one")
    model_server.replies = [*([answer("nonsense")] * (correction - 1)), answer("nonsense", hold=threading.Event())]
    options = ("--with", "m", "--base-url", model_server.url)
    command = [sys.executable, "-m", "pddlego", "counterfactual", "one", *options]
    environment = {**os.environ, "OPENAI_API_KEY": "k"}
    with started(command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, text=True) as playing:
        assert playing.stdout is not None
        model_server.wait_for_requests(correction)
        playing.send_signal(signal.SIGTERM)
        for line in playing.stdout:
            if "Interrupted: waiting for 1 episode" in line:
                time.sleep(0.5)  # signals that come at once are one interrupt
                playing.send_signal(signal.SIGTERM)
        playing.wait(PATIENCE)
    assert playing.returncode in (130, -signal.SIGKILL)
    results = [read_results(place)[0] for place in sorted((tmp_path / "runs" / "counterfactual-one").iterdir())]
    assert [len(result) for result in results] == [1] * correction
    outcomes = {"1": ["interrupted"], "2": ["interrupted", "no plan"]}  # the control is played first
    assert [result.outcome.value for (result,) in results] == outcomes[str(correction)]


def test_what_was_not_played_on_is_no_loss(tmp_path: Path, refusals: Path, model_server: ModelServer) -> None:
    """The budget ends the evaluation: the episodes without a result are counted apart."""
    lost_run(refusals, tmp_path)
    model_server.replies = [answer("nonsense")]
    options = ("--with", "m", "--max-calls", "1", "--workers", "1")
    endpoint = {"OPENAI_BASE_URL": model_server.url, "OPENAI_API_KEY": "k"}
    done = run("counterfactual", "lost", *options, cwd=tmp_path, **endpoint)
    assert done.returncode == 3, done.stderr
    table = done.stdout.partition("Lost episodes that are won")[2]
    row = next(line.split() for line in table.splitlines() if line.startswith("corrected "))
    lost, without_result = int(row[1]), int(row[-2])
    assert lost == 3
    assert without_result >= 2
    assert row[-1] == "n/a", "the model has no price"


@pytest.mark.slow
def test_chance_shows_nothing(tmp_path: Path) -> None:
    """A model that wins some of its replays by chance: corrected ones do not win more often than the others."""
    options = ("--modes", "edit", "--models", "reader+noise:0.15,kinds=refusal", "--seeds", "0-39", "--retries", "0")
    assert run("eval", "coin", *options, "--run", "chance", cwd=tmp_path).returncode == 0
    done = run("counterfactual", "chance", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Nothing is shown: " in done.stdout
    row = next(line.split() for line in done.stdout.splitlines() if line.startswith("unusable answer"))
    lost, without, control = map(int, row[4:7])
    assert lost >= 15
    assert 0.2 * lost < control < 0.9 * lost
    assert abs(without - control) < 0.3 * lost
