"""What users, disks, terminals and folders from elsewhere can do, through the real entry point."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from pddlego.util import resources
from tests.children import started
from tests.cli.command import run
from tests.cli.test_play import three_lines
from tests.model_server import ModelServer, answer, fault
from tests.runs.stores import read
from tests.scale import PATIENCE

KEY = "canary-0123456789"


def everything(folder: Path, done: subprocess.CompletedProcess[str]) -> str:
    """All that was printed or written."""
    written = [str(path) + (path.read_text() if path.is_file() else "") for path in (folder / "runs").rglob("*")]
    return "".join(written) + done.stdout + done.stderr


_INTERRUPTED = """
import os, signal, sys
left = int(sys.argv.pop(2))
kind = sys.argv.pop(1)
def interrupt(event, arguments):
    global left
    left -= event == kind
    if event == kind and left == 0:
        os.write(2, b"interrupt\\n")
        os.kill(os.getpid(), signal.SIGINT)
sys.addaudithook(interrupt)
from pddlego.cli import main
main()
"""
"""Runs `pddlego`, and interrupts it at the n-th audit event of a kind."""


@pytest.mark.parametrize(
    ("event", "number", "code"),
    [
        ("import", 300, 130),
        ("os.mkdir", 3, 130),  # the run folder
        ("subprocess.Popen", 2, 130),  # the planner
        ("subprocess.Popen", 3, 130),  # Java
        ("socket.connect", 1, 130),  # to Java
        ("os.rename", 3, 0),  # the results: the game is won
    ],
)
def test_ctrl_c_while_everything_is_starting(tmp_path: Path, event: str, number: int, code: int) -> None:
    command = [
        sys.executable,
        "-c",
        _INTERRUPTED,
        event,
        str(number),
        "play",
        "coin",
        "--seed",
        "12",
        "--format",
        "json",
    ]
    with started(
        command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as playing:
        _, errors = playing.communicate(timeout=PATIENCE)
    assert "interrupt\n" in errors
    assert playing.returncode == code, errors
    assert "Traceback" not in errors
    for journal in tmp_path.rglob("episodes/*.jsonl"):
        assert read(journal).ended is not None


def test_an_interrupt_of_code_from_a_string_is_an_exit_code_too(tmp_path: Path) -> None:
    """So dataclasses are made while modules load: CPython died of the signal, although it was caught."""
    program = (
        "from pddlego.cli import main; import pddlego.cli.commands as loaded\n"
        "loaded.run = lambda: exec('raise KeyboardInterrupt')\n"
        "main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=PATIENCE
    )
    assert (done.returncode, done.stderr) == (130, "Interrupted.\n")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("arguments", [("play", "coin", "--seed", "3"), ("games", "coin"), ("--version",)])
def test_a_full_standard_output(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "pddlego", *arguments],
            cwd=tmp_path,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            timeout=PATIENCE,
        )
    assert done.returncode == 3
    assert "Traceback" not in done.stderr
    assert "The output cannot be written" in done.stderr


def test_a_working_directory_that_was_deleted(tmp_path: Path) -> None:
    folder = tmp_path / "gone"
    command = f"mkdir {folder}; cd {folder}; rmdir {folder}; {sys.executable} -m pddlego games coin"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False, timeout=PATIENCE)
    assert "Traceback" not in done.stderr
    assert "coin" in done.stdout


def test_a_folder_of_prompts_cannot_run_code(tmp_path: Path) -> None:
    (tmp_path / "prompts").mkdir()
    evil = "{{ cycler.__init__.__globals__.os.system('touch PWNED') }}"
    (tmp_path / "prompts" / "edit.j2").write_text(evil)
    done = run("play", "coin", "--seed", "3", cwd=tmp_path)
    assert not (tmp_path / "PWNED").exists()
    assert done.returncode == 2
    assert three_lines(done.stderr), done.stderr


def own_game(folder: Path, old: str, new: str, domain: str | None = None) -> None:
    (folder / "envs").mkdir()
    (folder / "envs" / "mine.toml").write_text(resources.read("envs", "coin.toml").replace(old, new))
    if domain is not None:
        (folder / "domains").mkdir()
        (folder / "domains" / "coin.pddl").write_text(domain)


def test_a_domain_that_cannot_be_planned_with_is_refused_before_the_game(tmp_path: Path) -> None:
    derived = "(:derived (far ?l - location) (forall (?m - location) (not (far ?m))))"
    text = resources.read("domains", "coin.pddl").replace("(have ?i - item))", "(have ?i - item) (far ?l - location))")
    own_game(tmp_path, "", "", text.replace("(:action move", f"{derived} (:action move"))
    done = run("play", "mine", cwd=tmp_path)
    assert done.returncode == 2, done.stdout
    assert "follows from its own negation" in done.stderr
    assert three_lines(done.stderr), done.stderr


def test_a_broken_setting_does_not_hide_the_others(tmp_path: Path) -> None:
    own_game(tmp_path, 'title = "Coin Collector"', 'title = "\\u001b[31m[bold]Mine"')
    (tmp_path / "envs" / "broken.toml").write_text("a = " + "[" * 50_000)
    done = run("games", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "[bold]Mine" in done.stdout
    assert "\x1b" not in done.stdout
    assert "nested too deeply" in " ".join(done.stdout.split())


def test_a_key_that_the_endpoint_echoes_is_kept_nowhere(tmp_path: Path, model_server: ModelServer) -> None:
    model_server.replies = [answer(f"move {KEY} Bearer {KEY}")]
    arguments = ("play", "coin", "--mode", "act", "--model", "m", "--base-url", model_server.url, "--retries", "1")
    done = run(*arguments, cwd=tmp_path, OPENAI_API_KEY=KEY)
    assert done.returncode == 1, done.stderr
    assert KEY not in everything(tmp_path, done)


def test_a_password_in_the_address_is_kept_nowhere(tmp_path: Path, model_server: ModelServer) -> None:
    import base64

    both = base64.b64encode(f"me:{KEY}".encode()).decode()
    model_server.replies = [fault(401, f"got Basic {both} for {KEY}")]
    url = model_server.url.replace("//", f"//me:{KEY}@")
    done = run("play", "coin", "--model", "m", "--base-url", url, cwd=tmp_path)
    assert done.returncode == 3
    assert KEY not in everything(tmp_path, done)
    assert both not in everything(tmp_path, done)


def test_a_key_pasted_as_the_model_s_name_is_refused(tmp_path: Path) -> None:
    done = run("play", "coin", "--model", KEY, cwd=tmp_path, OPENAI_API_KEY=KEY)
    assert done.returncode == 2
    assert KEY not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--base-url", "http://127.0.0.1:9/v1"), "needs a model"),
        (("--memory", "20"), "A planner memory of 20 MiB is too small"),
        (("--model", "transcript:/dev/zero"), "is not a file"),
    ],
)
def test_more_of_what_a_user_can_get_wrong(tmp_path: Path, arguments: tuple[str, ...], says: str) -> None:
    done = run("play", "coin", *arguments, cwd=tmp_path)
    assert done.returncode == 2, done.stdout
    assert says in done.stderr
    assert three_lines(done.stderr)


def test_the_environment_names_an_endpoint_without_a_model(tmp_path: Path) -> None:
    done = run("play", "coin", "--seed", "3", cwd=tmp_path, OPENAI_BASE_URL="http://127.0.0.1:9/v1")
    assert done.returncode == 0, done.stderr
    assert os.environ.get("OPENAI_BASE_URL") is None
