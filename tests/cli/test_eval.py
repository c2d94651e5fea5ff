"""`pddlego eval` and `pddlego config` through their real entry point."""

from __future__ import annotations

import json
import os
import re
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
from tests.cli.test_play import KEY, three_lines
from tests.model_server import ModelServer, answer, fault
from tests.scale import PATIENCE


def folder(tmp_path: Path) -> Path:
    (result,) = (tmp_path / "runs").iterdir()
    return result


def test_games_modes_and_seeds_and_the_same_again(tmp_path: Path) -> None:
    arguments = ("eval", "coin", "cooking-easy", "--modes", "edit,random", "--seeds", "0-1")
    done = run(*arguments, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert sum(line[8:10] == " [" for line in lines) == 8
    assert any(line.split()[:4] == ["coin", "edit", "reader", "2/2"] for line in lines)
    table = (folder(tmp_path) / "results.csv").read_text()
    assert table.count("\n") == 9
    again = run(*arguments, cwd=tmp_path)
    assert again.returncode == 0
    assert "8 of 8 episodes are finished already" in again.stdout
    assert (folder(tmp_path) / "results.csv").read_text() == table
    same = run(*arguments, cwd=tmp_path, PDDLEGO_TEMPERATURE="0.5")  # the built-in reader has none
    assert same.returncode == 0
    other = run(*arguments, "--max-steps", "30", cwd=tmp_path)
    assert other.returncode == 2
    assert three_lines(other.stderr)
    assert "max_steps was " in other.stderr


PATIENT = f"""
import functools
from pddlego.cli import evaluating, main
evaluating.Guard = functools.partial(evaluating.Guard, seconds={PATIENCE})
main()
"""
"""`pddlego`, with a guard that does not kill it because the machine is busy."""


def _command(*arguments: str) -> list[str]:
    return [sys.executable, "-c", PATIENT, "eval", *arguments]


def journal_lines(place: Path) -> int:
    return sum(path.read_bytes().count(b"\n") for path in place.rglob("episodes/*.jsonl"))


@pytest.mark.slow
def test_killed_again_and_again_it_ends_with_the_same_results(tmp_path: Path) -> None:
    """After the first line of a journal, and after some more each time."""
    arguments = ("coin", "--modes", "edit,random", "--seeds", "0-5")
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    for place in (whole, broken):
        place.mkdir()
    assert run("eval", *arguments, cwd=whole).returncode == 0
    for more in (1, 30, 60):
        before = journal_lines(broken)
        with started(_command(*arguments), cwd=broken, stdout=subprocess.DEVNULL, start_new_session=True) as playing:
            while journal_lines(broken) < before + more:
                assert playing.poll() is None, "it ended before it was killed"
                time.sleep(0.01)
            os.killpg(playing.pid, signal.SIGKILL)
    assert journal_lines(broken) < journal_lines(whole)
    assert run("eval", *arguments, cwd=broken).returncode == 0
    assert (folder(broken) / "results.csv").read_bytes() == (folder(whole) / "results.csv").read_bytes()


def test_a_budget_is_never_exceeded_and_can_be_raised(tmp_path: Path, model_server: ModelServer) -> None:
    model_server.replies = [answer("look around", delay=0.02)]
    given = ("--modes", "act", "--models", "m", "--base-url", model_server.url, "--workers", "8", "--max-steps", "3")
    arguments = ("eval", "coin", "--seeds", "0-7", *given)
    first = run(*arguments, "--max-calls", "10", cwd=tmp_path, OPENAI_API_KEY=KEY)
    assert first.returncode == 3, first.stderr
    assert len(model_server.requests) == 10
    assert "the budget is spent" in first.stdout
    outcomes = {result.outcome.value for result in read_results(folder(tmp_path))[0]}
    assert "budget" in outcomes
    second = run(*arguments, "--max-calls", "100", cwd=tmp_path, OPENAI_API_KEY=KEY)
    assert second.returncode == 0, second.stdout
    assert 24 <= len(model_server.requests) <= 100
    table = (folder(tmp_path) / "results.csv").read_text()
    assert table.count("step limit") == 8
    assert KEY not in "".join(path.read_text() for path in tmp_path.rglob("*") if path.is_file())


@pytest.mark.slow
def test_retries_of_an_endpoint_count_too(tmp_path: Path, model_server: ModelServer) -> None:
    slow = fault(429, "slow", headers={"retry-after": "0"})
    model_server.replies = [slow, slow, slow, answer("look around")]
    arguments = (
        "--modes",
        "act",
        "--models",
        "m",
        "--base-url",
        model_server.url,
        "--max-steps",
        "2",
        "--max-calls",
        "5",
    )
    done = run("eval", "coin", "--seeds", "0-1", *arguments, cwd=tmp_path, OPENAI_API_KEY=KEY)
    assert done.returncode == 3
    assert len(model_server.requests) == 5


def test_errors_of_an_endpoint_are_counted_apart_and_played_again(tmp_path: Path, model_server: ModelServer) -> None:
    model_server.replies = [fault(418, "no"), answer("look around")]
    given = ("--modes", "act", "--models", "m", "--base-url", model_server.url, "--max-steps", "1", "--workers", "1")
    arguments = ("eval", "coin", "--seeds", "0-1", *given)
    first = run(*arguments, cwd=tmp_path, OPENAI_API_KEY=KEY)
    assert first.returncode == 3
    assert "1 of 2 episodes have no result (errors: " in first.stdout and "418" in first.stdout.splitlines()[-1]
    again = run(*arguments, cwd=tmp_path, OPENAI_API_KEY=KEY)
    assert again.returncode == 0
    assert len(model_server.requests) == 3


@pytest.mark.slow
def test_one_interrupt_plays_to_the_end_what_has_begun(tmp_path: Path, model_server: ModelServer) -> None:
    model_server.replies = [answer("look around", delay=0.2)]
    arguments = (
        "--modes",
        "act",
        "--models",
        "m",
        "--base-url",
        model_server.url,
        "--workers",
        "2",
        "--max-steps",
        "4",
    )
    with started(
        _command("coin", "--seeds", "0-20", *arguments),
        cwd=tmp_path,
        env={**os.environ, "OPENAI_API_KEY": KEY},
        stdout=subprocess.PIPE,
        text=True,
    ) as playing:
        model_server.wait_for_requests(2)
        playing.send_signal(signal.SIGINT)
        shown, _ = playing.communicate(timeout=PATIENCE)
    assert playing.returncode == 130
    assert "Run the same command again to resume." in shown
    assert [result.outcome.value for result in read_results(folder(tmp_path))[0]] == ["step limit"] * 2


def test_a_dry_run_plays_nothing(tmp_path: Path) -> None:
    (tmp_path / "prices.toml").write_text("['m']\ntokens_in = 1.0\ntokens_out = 2.0\n")
    arguments = ("--models", "reader,m", "--prices", "prices.toml", "--seeds", "0-9", "--dry-run")
    done = run("eval", "coin", *arguments, cwd=tmp_path, OPENAI_API_KEY=KEY)
    assert done.returncode == 0, done.stderr
    assert "18,000" in done.stdout, "10 episodes, 50 steps, 6 answers a step, 6 tries an answer"
    line = next(line.split() for line in done.stdout.splitlines() if line.split()[2:3] == ["m"])
    assert len(line) == 10
    calls, tokens, cost = int(line[4]), int(line[5].replace(",", "")), float(line[6].removeprefix("$"))
    assert 10 < calls < 200, "as the reader's"
    assert 10_000 < tokens < 200_000
    assert 0.01 < cost < 0.3 < float(line[9].removeprefix("$"))
    narrow = run("eval", "coin", *arguments, cwd=tmp_path, OPENAI_API_KEY=KEY, COLUMNS="60").stdout
    assert line[6] in narrow and line[9] in narrow, "costs are left out last"
    assert "A wider terminal also shows: " in narrow
    assert not (tmp_path / "runs").exists()


def test_a_dry_run_knows_the_finished_episodes_of_the_run(tmp_path: Path, model_server: ModelServer) -> None:
    model_server.replies = [answer("nonsense")]
    options = ("--models", "m", "--base-url", model_server.url, "--retries", "1", "--run", "r")
    assert run("eval", "coin", *options, "--seeds", "0-1", cwd=tmp_path, OPENAI_API_KEY="k").returncode == 0
    done = run("eval", "coin", *options, "--seeds", "0-9", "--dry-run", cwd=tmp_path, OPENAI_API_KEY="k")
    finished, head, row, total = (line.split() for line in done.stdout.splitlines())
    assert finished[:7] == ["2", "of", "10", "episodes", "are", "finished", "already"]
    assert head[4:6] == ["likely", "calls"]
    assert row[:5] == ["coin", "edit", "m", "8", "16"], "two answers an episode that is left"
    assert total[:3] == ["all", "8", "16"]
    done = run("eval", "coin", *options, "--seeds", "0-1", "--dry-run", cwd=tmp_path, OPENAI_API_KEY="k")
    assert done.stdout.splitlines()[-1].split()[:3] == ["all", "0", "0"]


def test_flag_beats_environment_beats_file_beats_default(tmp_path: Path) -> None:
    (tmp_path / "eval.toml").write_text('games = ["twc"]\nseeds = [1, 2]\nworkers = 3\nretries = 2\n')
    done = run("config", "--config", "eval.toml", cwd=tmp_path, PDDLEGO_WORKERS="7", OPENAI_BASE_URL="http://x/v1")
    assert re.search(r"max_answer_tokens +ended after 16,384", done.stdout)
    rows = {line.split()[0]: line for line in done.stdout.splitlines()}
    assert "twc" in rows["games"] and "eval.toml" in rows["games"]
    assert "1,2" in rows["seeds"]
    assert "7" in rows["workers"] and "PDDLEGO_WORKERS" in rows["workers"]
    assert "OPENAI_BASE_URL" in rows["base_url"]
    assert rows["modes"].split() == ["modes", "default"]
    played = run("eval", "coin", "--config", "eval.toml", "--workers", "1", "--dry-run", cwd=tmp_path)
    assert played.stdout.splitlines()[1].split()[:4] == ["coin", "edit", "reader", "2"]


def test_the_requests_of_models_that_are_not_named_now_are_not_counted_as_without_result(
    tmp_path: Path, model_server: ModelServer
) -> None:
    model_server.replies = [answer("look around")]
    (tmp_path / "prices.toml").write_text("".join(f"[{name}]\ntokens_in = 9.0\ntokens_out = 9.0\n" for name in "mn"))
    options = ("--modes", "act", "--base-url", model_server.url, "--max-steps", "2", "--prices", "prices.toml")
    for model in "mn":
        arguments = ("--models", model, "--seeds", "0", "--run", "r", *options)
        done = run("eval", "coin", *arguments, cwd=tmp_path, OPENAI_API_KEY=KEY)
        assert done.returncode == 0, done.stderr
        assert "$" in done.stdout
        assert "was spent on" not in done.stdout


def test_a_lost_ledger_does_not_give_the_budget_back(tmp_path: Path, model_server: ModelServer) -> None:
    model_server.replies = [answer("look around")]
    arguments = (
        "--modes",
        "act",
        "--models",
        "m",
        "--base-url",
        model_server.url,
        "--max-steps",
        "2",
        "--max-calls",
        "3",
    )
    assert run("eval", "coin", "--seeds", "0-1", *arguments, cwd=tmp_path, OPENAI_API_KEY=KEY).returncode == 3
    (folder(tmp_path) / "ledger.jsonl").unlink()
    again = run("eval", "coin", "--seeds", "0-1", *arguments, cwd=tmp_path, OPENAI_API_KEY=KEY)
    assert again.returncode == 2
    assert three_lines(again.stderr)
    assert len(model_server.requests) == 3


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("eval", "chess"), "Unknown game 'chess'"),
        (("eval", "coin", "--modes", "dream"), "--modes dream"),
        (("eval", "coin", "--seeds", "exam"), "names no seeds"),
        (("eval", "coin", "--seeds", "2000"), "0-999"),
        (("eval", "coin", "--workers", "0"), "--workers 0"),
        (("eval", "coin", "--models", "gpt-x"), "OPENAI_API_KEY"),
        (("eval", "twc", "--modes", "act"), "cannot play twc in mode act"),
        (("eval", "coin", "--config", "nowhere.toml"), "cannot be read"),
        (("eval", "coin", "--config", "bad.toml"), "Unknown option 'colour'"),
        (("eval", "coin", "--models", "m", "--prices", "bad.toml"), "not a price list"),
        (("eval", "coin", "--models", "m", "--base-url", "http://127.0.0.1:9/v1", "--max-cost", "1"), "no price of m"),
        (("config", "--config", "text.toml"), "workers = 8"),
        (("config", "--config", "boolean.toml"), "workers = True"),
        (("eval", "coin", "--modes", ","), "Name at least one"),
        (("eval", "coin", "--address", "127.0.0.1:1"), "--address needs --executor ray"),
        (("report", "latest", "--format", "dance"), "The formats are: text"),
    ],
)
def test_what_a_user_can_get_wrong_ends_in_three_lines(tmp_path: Path, arguments: tuple[str, ...], says: str) -> None:
    (tmp_path / "bad.toml").write_text("colour = 3\n")
    (tmp_path / "other.toml").write_text("[n]\ntokens_in = 1.0\ntokens_out = 2.0\n")
    (tmp_path / "text.toml").write_text('workers = "8"\n')
    (tmp_path / "boolean.toml").write_text("workers = true\n")
    done = run(*arguments, cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert three_lines(done.stderr)
    assert says in done.stderr


def test_a_model_may_have_a_very_long_name(tmp_path: Path, model_server: ModelServer) -> None:
    arguments = ("--modes", "act", "--models", "m" * 400, "--base-url", model_server.url, "--max-steps", "1")
    done = run("eval", "coin", "--seeds", "0", *arguments, cwd=tmp_path, OPENAI_API_KEY=KEY)
    assert done.returncode == 0, done.stderr
    (journal,) = (folder(tmp_path) / "episodes").iterdir()
    assert "m" * 50 in journal.name


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_an_interrupt_while_it_starts_says_so(tmp_path: Path, name: str) -> None:
    command = [sys.executable, "-c", f"import os, signal\n{_START % name}"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 130
    assert done.stderr == "Interrupted.\n"


_START = """
from pddlego.cli import main
import pddlego.evaluation.assemble
def interrupted(options):
    os.kill(os.getpid(), signal.%s)
    import time; time.sleep(10)
pddlego.evaluation.assemble.make_planners = interrupted
import sys; sys.argv = ["pddlego", "eval", "coin"]
main()
"""


@pytest.mark.slow
@pytest.mark.parametrize("status", [429, 500])
def test_episodes_whose_time_is_up_while_the_endpoint_fails_are_played_again(
    tmp_path: Path, model_server: ModelServer, status: int
) -> None:
    """With one request at a time, so that some episodes are never asked for. Each begins within its 20 seconds."""
    limits = ("--max-seconds", "20", "--max-steps", "1", "--llm-jobs", "1")
    arguments = ("--modes", "act", "--models", "m", "--base-url", model_server.url, *limits)
    model_server.replies = [fault(status, "not now")]
    done = run("eval", "coin", "--seeds", "0-3", *arguments, cwd=tmp_path, OPENAI_API_KEY=KEY)
    assert done.returncode == 3, done.stderr
    assert {result.outcome.value for result in read_results(folder(tmp_path))[0]} == {"model error"}
    model_server.replies = [answer("look around")]
    done = run("eval", "coin", "--seeds", "0-3", *arguments, cwd=tmp_path, OPENAI_API_KEY=KEY)
    assert done.returncode == 0, done.stdout
    assert [result.attempt for result in read_results(folder(tmp_path))[0]] == [1] * 4 + [2] * 4


@pytest.mark.slow
def test_the_second_interrupt_breaks_off_what_is_in_flight(tmp_path: Path, model_server: ModelServer) -> None:
    model_server.replies = [answer("look around", hold=threading.Event())]
    arguments = ("--modes", "act", "--models", "m", "--base-url", model_server.url)
    environment = {**os.environ, "OPENAI_API_KEY": KEY}
    with started(
        _command("coin", "--seeds", "0-3", *arguments),
        cwd=tmp_path,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as playing:
        model_server.wait_for_requests(4)
        playing.send_signal(signal.SIGINT)
        playing.send_signal(signal.SIGTERM)
        out, err = playing.communicate(timeout=PATIENCE)
    assert playing.returncode == 130
    assert not err
    assert "4 of 4 episodes have no result (interrupted: the running episodes were stopped)" in out
    assert all(result.outcome.value == "interrupted" for result in read_results(folder(tmp_path))[0])


@pytest.mark.slow
@pytest.mark.parametrize("command", ["play", "eval"])
def test_a_kill_ends_at_once_what_ignores_ctrl_c(tmp_path: Path, model_server: ModelServer, command: str) -> None:
    """So it starts as a background job of a script."""
    model_server.replies = [answer("look around", hold=threading.Event())]
    program = f"import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)\n{PATIENT}"
    arguments = (
        ("--base-url", model_server.url, "--run", "r") if command == "eval" else ("--base-url", model_server.url)
    )
    modes = ("--modes", "act", "--models", "m") if command == "eval" else ("--mode", "act", "--model", "m")
    with started(
        [sys.executable, "-c", program, command, "coin", *modes, *arguments],
        cwd=tmp_path,
        env={**os.environ, "OPENAI_API_KEY": KEY},
        stdout=subprocess.PIPE,
        text=True,
    ) as playing:
        model_server.wait_for_requests()
        playing.send_signal(signal.SIGINT)
        playing.send_signal(signal.SIGTERM)
        shown, _ = playing.communicate(timeout=PATIENCE)
    assert playing.returncode == 130
    if command == "eval":
        assert f"'kill {playing.pid}' ends" in shown.splitlines()[0]
        assert "interrupted: the running episodes were stopped" in shown


@pytest.mark.slow
def test_interrupted_cells_are_no_losses(tmp_path: Path) -> None:
    command = _command("coin", "--seeds", "0-59", "--workers", "2", "--run", "cut")
    with started(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True, start_new_session=True) as playing:
        assert playing.stdout is not None
        for line in playing.stdout:
            if " [4/60] " in line:
                break
        while playing.poll() is None:
            playing.send_signal(signal.SIGINT)
            time.sleep(0.1)
        rest = playing.stdout.read()
    results = read_results(tmp_path / "runs" / "cut")[0]
    assert playing.returncode == 130
    played = sum(result.played for result in results)
    assert 4 <= played < 60
    assert f"{played} of 60 cells played" in rest
    row = next(line.split() for line in rest.splitlines() if line.startswith("coin "))
    assert row[3:5] == [f"{played}/{played}", "100%"]
    for to in ("text", "markdown", "csv", "json", "html"):
        done = run("report", "runs/cut", "--format", to, cwd=tmp_path)
        assert f"{played} of 60 cells played" in (done.stderr if to == "csv" else done.stdout)


def test_parameters_of_a_game_from_a_file_are_numbers_as_well(tmp_path: Path) -> None:
    (tmp_path / "five.toml").write_text("[textgames]\nparameters = {numLocations = 5, includeDoors = true}\n")
    arguments = ("--config", "five.toml", "--mode", "random", "--seed", "12", "--max-steps", "2", "--pace", "0")
    done = run("play", "coin", *arguments, cwd=tmp_path)
    assert done.returncode in (0, 1), done.stderr
    manifest = json.loads((folder(tmp_path) / "manifest.json").read_text())
    options = manifest["configuration"]["settings"]["coin"]["options"]
    assert options["parameters"].items() >= {"includeDoors": "1", "numLocations": "5"}.items()


def test_without_an_engine_a_dry_run_expects_nothing(tmp_path: Path) -> None:
    arguments = ("eval", "coin", "--models", "m", "--seeds", "0", "--dry-run", "--set", "java=/nowhere/java")
    done = run(*arguments, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "max calls" in done.stdout
    assert "expected" not in done.stdout
