"""The command line through its real entry point, in a process of its own."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tests.children import started
from tests.cli.command import run, run_process
from tests.model_server import ModelServer, answer, fault
from tests.runs.stores import read
from tests.scale import PATIENCE

KEY = "sk-canary-0123456789abcdef"


def three_lines(error: str) -> bool:
    lines = error.strip().split("\n")
    return "Traceback" not in error and len(lines) <= 3 and lines[0].startswith("Error: ")


def test_one_line_wins_a_game(tmp_path: Path) -> None:
    done = run("play", "coin", "--mode", "edit", "--seed", "12", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "No model configured: playing with the built-in reader (rules, no language model)"
    assert any(line.startswith("won after 21 steps") for line in lines)
    assert "\x1b" not in done.stdout
    (folder,) = (tmp_path / "runs").iterdir()
    assert "coin-edit-reader-seed12" in folder.name
    manifest = json.loads((folder / "manifest.json").read_text())
    coin = manifest["configuration"]["settings"]["coin"]
    assert coin["options"]["parameters"]["numLocations"] == "11"
    assert "prompts/coin/notes.j2" in coin["files"]
    assert manifest["asked"][0]["seeds"] == {"coin": [12]}
    version = manifest["configuration"]["versions"]["textworld-express"]
    with (folder / "results.csv").open(newline="") as table:
        assert [f"textworld-express {version}" in row["engine"] for row in csv.DictReader(table)] == [True]
    assert read(folder / "episodes" / "coin-edit-reader-seed12.jsonl").ended is not None


def test_a_recorded_run_can_be_played_again(tmp_path: Path) -> None:
    first = run("play", "coin", "--seed", "4", "--format", "json", cwd=tmp_path)
    (folder,) = (tmp_path / "runs").iterdir()
    again = run("play", "coin", "--seed", "4", "--model", f"transcript:{folder}", "--format", "json", cwd=tmp_path)
    assert again.returncode == 0, again.stderr

    def text(output: str) -> list[tuple[str, str]]:
        events = [json.loads(line)["event"] for line in output.splitlines()]
        return [(event["type"], event.get("text") or event.get("command") or "") for event in events]

    assert text(again.stdout) == text(first.stdout)
    other = run("play", "coin", "--seed", "5", "--model", f"transcript:{folder}", cwd=tmp_path)
    assert other.returncode == 3
    assert "differs from the transcript" in other.stdout


def test_json_is_nothing_but_events(tmp_path: Path) -> None:
    done = run("play", "coin", "--seed", "3", "--format", "json", cwd=tmp_path)
    types = [json.loads(line)["event"]["type"] for line in done.stdout.splitlines()]
    assert types[0] == "started"
    assert types[-1] == "ended"
    assert "No model configured" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (("play", "chess"), 2, "List all with 'pddlego games'"),
        (("play", "coin", "--mode", "dream"), 2, "edit, edit+learn-actions, gen, act, act+cot, random"),
        (("play", "coin", "--seed", "5000"), 2, "Its seeds are 0-999"),
        (("play", "coin", "--set", "rooms=4"), 2, "numLocations (1-11"),
        (("play", "coin", "--set", "numLocations"), 2, "KEY=VALUE"),
        (("play", "coin", "--search", "dfs"), 2, "bfs, astar"),
        (("play", "coin", "--planner", "magic"), 2, "pyperplan, fast-downward"),
        (("play", "coin", "--set", "replan=never"), 2, "every-step"),
        (("play", "coin", "--set", "numLocations=²"), 2, "from 1 to 11"),
        (("play", "coin", "--model", "gpt-4o"), 2, "OPENAI_API_KEY is not set"),
        (("play", "coin", "--model", "transcript:nowhere"), 2, "is not a run folder"),
        (("play", "coin", "--model", "m", "--base-url", "http://me:secret@host:99999x/v1"), 2, "not a URL"),
    ],
)
def test_what_a_user_can_get_wrong_ends_in_three_lines(
    tmp_path: Path, arguments: tuple[str, ...], code: int, says: str
) -> None:
    done = run(*arguments, cwd=tmp_path)
    assert done.returncode == code, done.stderr
    assert says in done.stderr
    assert three_lines(done.stderr), done.stderr


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    done = run("play", "coin", cwd=tmp_path, PDDLEGO_RUNS="/proc/nowhere")
    assert (done.returncode, "Cannot write" in done.stderr) == (2, True)


def test_a_java_that_is_none_is_named(tmp_path: Path) -> None:
    done = run_process("play", "coin", cwd=tmp_path, PDDLEGO_JAVA="/no/such/java")
    assert done.returncode == 3
    assert "Tried /no/such/java" in done.stderr
    assert three_lines(done.stderr), done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("play",),
        ("dance",),
        ("play", "coin", "--pace", "inf"),
        ("play", "coin", "--timeout", "inf"),
    ],
)
def test_wrong_options_are_usage_errors(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    done = run(*arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def test_other_methods_and_settings(tmp_path: Path) -> None:
    for arguments in (
        ("--mode", "gen", "--search", "astar(hmax)"),
        ("--set", "numLocations=3", "--set", "includeDoors=0"),
        ("--set", "fold=dev", "--seed", "10003"),
    ):
        done = run("play", "coin", "--seed", "3", *arguments, cwd=tmp_path)
        assert done.returncode == 0, (arguments, done.stderr, done.stdout)
    assert run("play", "coin", "--mode", "random", "--max-steps", "3", "--seed", "12", cwd=tmp_path).returncode == 1


def test_a_language_model_behind_an_endpoint(tmp_path: Path, model_server: ModelServer) -> None:
    known = {"add": ["kitchen - location"]}
    facts = {"add": ["(at kitchen)", "(visited kitchen)", "(item_at coin kitchen)"]}
    model_server.replies = [answer(json.dumps({"objects": known, "init": facts}))]
    arguments = ("play", "coin", "--seed", "3", "--base-url", model_server.url)
    done = run(*arguments, cwd=tmp_path, PDDLEGO_MODEL="test-model", OPENAI_API_KEY=KEY)
    assert done.returncode == 0, done.stderr + done.stdout
    assert "No model configured" not in done.stdout
    assert "1 call · 120 tokens" in done.stdout
    written = "".join(path.read_text() for path in tmp_path.rglob("*") if path.is_file())
    assert '"temperature": 1.0' in written
    assert KEY not in written + done.stdout + done.stderr


@pytest.mark.parametrize("status", [401])
def test_an_endpoint_that_refuses_is_one_readable_line(tmp_path: Path, model_server: ModelServer, status: int) -> None:
    model_server.replies = [fault(status, f"no: {KEY}")]
    arguments = ("play", "coin", "--seed", "3", "--model", "m", "--base-url", model_server.url)
    done = run(*arguments, cwd=tmp_path, OPENAI_API_KEY=KEY)
    assert done.returncode == 3
    assert f"model error after 0 steps: {model_server.url} answered {status}" in done.stdout
    assert "Traceback" not in done.stderr
    written = "".join(path.read_text() for path in tmp_path.rglob("*") if path.is_file())
    assert KEY not in written + done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_ends_cleanly_with_the_run_folder_whole(
    tmp_path: Path, model_server: ModelServer, how: signal.Signals
) -> None:
    model_server.replies = [answer("{}", hold=threading.Event())]
    command = [sys.executable, "-m", "pddlego", "play", "coin", "--model", "m", "--base-url", model_server.url]
    with started(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as playing:
        model_server.wait_for_requests()
        os.killpg(playing.pid, how)
        output, errors = playing.communicate(timeout=PATIENCE)
    assert playing.returncode == 130, errors
    assert "interrupted after 0 steps" in output
    assert errors == ""
    (journal,) = tmp_path.rglob("episodes/*.jsonl")
    assert read(journal).ended is not None


@pytest.mark.slow
def test_a_reader_of_our_pipe_that_goes_away_is_no_traceback(tmp_path: Path) -> None:
    command = f"{sys.executable} -m pddlego play coin --seed 12 | head -1"
    done = subprocess.run(
        ["bash", "-c", command], cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE, check=True
    )
    assert "No model configured" in done.stdout
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr
    (journal,) = tmp_path.rglob("episodes/*.jsonl")
    assert read(journal).ended is not None


def test_an_output_that_cannot_show_a_sign_shows_a_question_mark(tmp_path: Path) -> None:
    done = run_process("play", "coin", "--seed", "12", cwd=tmp_path, PYTHONIOENCODING="ascii")
    assert done.returncode == 0, done.stderr
    assert done.stdout.isascii()


def test_a_disk_that_is_full_is_three_lines(tmp_path: Path) -> None:
    # Without -B, Python before 3.14 writes the first 8 KiB of its compiled modules for all later processes.
    command = f"ulimit -f 8; {sys.executable} -B -m pddlego play coin --seed 12"
    done = subprocess.run(
        ["bash", "-c", command], cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert done.returncode == 3
    assert three_lines(done.stderr), done.stderr
    assert "Cannot write" in done.stderr


@pytest.mark.parametrize("key", ["AIzaSecretCanary\r", "AIzaSecretCanäry"])
def test_a_key_that_cannot_be_sent_is_not_shown(tmp_path: Path, model_server: ModelServer, key: str) -> None:
    arguments = ("play", "coin", "--model", "m", "--base-url", model_server.url, "--max-calls", "1")
    done = run(*arguments, cwd=tmp_path, OPENAI_API_KEY=key)
    assert "Traceback" not in done.stderr
    written = "".join(path.read_text() for path in tmp_path.rglob("*") if path.is_file())
    assert "SecretCan" not in written + done.stdout + done.stderr


@pytest.mark.parametrize("mode", ["edit", "gen", "act"])
def test_a_model_that_says_the_unspeakable(tmp_path: Path, model_server: ModelServer, mode: str) -> None:
    strange = [
        '{"objects":{"add":["loc1\u00b2 - location", "a\\ud800 - location"]}}',
        "\ud800",
        "\x1b[2J\u202e",
        "{" * 5000,
    ]
    strange += ['{"objects": ' + "1" * 5000 + "}", "(" * 50_000, "(define (problem p\u00b2) (:objects x\u00b2))"]
    model_server.replies = [answer(text) for text in strange]
    done = run("play", "coin", "--mode", mode, "--model", "m", "--base-url", model_server.url, cwd=tmp_path)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "no plan after 0 steps" in done.stdout
    assert "\x1b" not in done.stdout
    (journal,) = tmp_path.rglob("episodes/*.jsonl")
    assert read(journal).ended is not None


def test_a_broken_prompt_is_found_before_the_game_begins(tmp_path: Path) -> None:
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts" / "problem.j2").write_text("{{ nothing }}")
    done = run("play", "coin", cwd=tmp_path)
    assert done.returncode == 2
    assert three_lines(done.stderr), done.stderr
    assert not (tmp_path / "runs").exists()


def test_a_game_of_the_user_s_own(tmp_path: Path) -> None:
    from pddlego.util import resources

    (tmp_path / "envs").mkdir()
    text = resources.read("envs", "coin.toml").replace("value = 11", "value = 2")
    (tmp_path / "envs" / "small.toml").write_text(text)
    done = run("play", "small", "--seed", "1", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    (tmp_path / "envs" / "small.toml").write_text("x = [")
    broken = run("play", "small", cwd=tmp_path)
    assert broken.returncode == 2
    assert three_lines(broken.stderr)


def test_help_does_not_import_what_it_does_not_need() -> None:
    script = (
        "import sys; sys.argv = ['pddlego', '--help']\n"
        "from pddlego.cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "slow = {'openai', 'py4j', 'pyperplan', 'fast_downward', 'jinja2', 'textworld_express', 'tenacity'}\n"
        "print('loaded:', sorted(slow & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=PATIENCE)
    assert "loaded: []" in done.stdout


def test_version() -> None:
    from pddlego import __version__

    assert run("--version", cwd=Path.cwd()).stdout.strip() == f"pddlego {__version__}"


def test_limits_of_a_file_and_of_the_environment_hold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "eval.toml").write_text("max_calls = 2\n")
    limited = run("play", "coin", "--seed", "12", "--config", "eval.toml", cwd=tmp_path)
    assert limited.returncode == 1
    assert "2 calls" in limited.stdout
    monkeypatch.setenv("PDDLEGO_MAX_CALLS", "3")
    assert "3 calls" in run("play", "coin", "--seed", "12", cwd=tmp_path).stdout
    assert "1 call " in run("play", "coin", "--seed", "12", "--max-calls", "1", cwd=tmp_path).stdout


def test_one_episode_has_one_model(tmp_path: Path) -> None:
    (tmp_path / "eval.toml").write_text('models = ["reader", "x"]\nbase_url = "http://127.0.0.1:1"\n')
    refused = run("play", "coin", "--config", "eval.toml", cwd=tmp_path)
    assert refused.returncode == 2
    assert three_lines(refused.stderr)
    assert "One episode has one model" in refused.stderr


def test_the_model_of_a_file_is_asked_at_the_endpoint_of_a_flag(tmp_path: Path, model_server: ModelServer) -> None:
    (tmp_path / "eval.toml").write_text('models = ["reader-lm-1.5b"]\n')
    arguments = ("--config", "eval.toml", "--base-url", model_server.url, "--mode", "act", "--max-calls", "1")
    done = run("play", "coin", *arguments, cwd=tmp_path)
    assert "reader-lm-1.5b" in done.stdout
    assert model_server.requests
    assert "--base-url needs a model" in run("play", "coin", "--base-url", model_server.url, cwd=tmp_path).stderr


def test_what_is_no_result_of_a_method_alone_is_not_counted(tmp_path: Path) -> None:
    run("play", "coin", "--seed", "12", cwd=tmp_path, PDDLEGO_RUNS="one")
    (first,) = (tmp_path / "one").iterdir()
    run("resume", str(first), "--from-step", "3", cwd=tmp_path, PDDLEGO_RUNS="two")
    (second,) = (tmp_path / "two").iterdir()
    run("play", "coin", "--seed", "13", "--max-calls", "1", cwd=tmp_path, PDDLEGO_RUNS="three")
    (third,) = (tmp_path / "three").iterdir()
    assert run("report", str(first), cwd=tmp_path).returncode == 0
    refused = run("report", str(first), str(second), cwd=tmp_path)
    assert "resumed from the middle of others" in refused.stderr
    assert "cannot be reported together" in run("report", str(first), str(third), cwd=tmp_path).stderr
