"""Two signals end an evaluation, whatever its threads do, and what had ended before is kept."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from pddlego.runs.store import read_results
from pddlego.util.guard import ENDING
from tests.children import started
from tests.evaluation.test_replay import RECORDED, RUNS
from tests.model_server import ModelServer, answer
from tests.scale import PATIENCE

_PROGRAM = """
import os, re, signal, sys, threading, time
from dataclasses import replace
from pddlego.cli.evaluating import report_missing_results, run_evaluation
from pddlego.cli.exits import handle_sigterm
from pddlego.display.console import Console
from pddlego.evaluation.assemble import evaluating
from pddlego.evaluation.config import resolve
from pddlego.evaluation.prepare import make_setup
from pddlego.evaluation.setup import SettingUse, run_path
from pddlego.methods.registry import method

def loops():
    while True:
        pass

def keeps_the_lock():
    re.match("(a+)+$", "a" * 60 + "b")

def holds_on_to_interrupts():
    while True:
        try:
            time.sleep(0.01)
        except BaseException:
            pass

def waits_in_a_thread_that_is_joined_at_the_end():
    thread = threading.Thread(target=threading.Event().wait, daemon=False)
    thread.start()
    thread.join()

class Blocking(SettingUse):
    temperature = None

    @property
    def method(self):
        return self

    def run(self, cell, setting, options, tools):
        if cell.seed < 2:
            yield from method("textgames").run(cell, setting, options, tools)
            return
        os.write(1, b"it blocks\\n")
        globals()[sys.argv[1]]()

handle_sigterm()
setup = make_setup(resolve({"games": ("coin",), "seeds": "0-3", "workers": 1, "run": "r"}, {}))
played = {key: Blocking(use.method_name, use.options, use.setting) for key, use in setup.played.items()}
setup = replace(setup, played=played)
console = Console()
with evaluating(setup, run_path(setup)) as running:
    run_evaluation(console, running)
console.print("the table")
sys.exit(report_missing_results(console, running))
"""

KILLED = ("waits_in_a_thread_that_is_joined_at_the_end", "keeps_the_lock")
"""What does not even let Python end."""

BLOCKS = ("loops", "holds_on_to_interrupts", *KILLED)
IGNORING = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("block", "first"),
    [*((block, "SIGTERM") for block in BLOCKS), *zip(BLOCKS, ("SIGINT", "", "SIGINT", ""), strict=True)],
)
def test_a_second_signal_ends_it_whatever_its_threads_do(tmp_path: Path, block: str, first: str) -> None:
    """Without a `first` one, Ctrl-C is ignored, as in a background job of a script."""
    command = [sys.executable, "-c", _PROGRAM if first else f"{IGNORING}\n{_PROGRAM}", block]
    with started(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as playing:
        assert playing.stdout is not None
        assert "it blocks\n" in playing.stdout  # reads up to that line, or to the end
        if first:
            playing.send_signal(getattr(signal, first))
        if block != "keeps_the_lock":
            lines = iter(playing.stdout.readline, "")
            assert not first or any("waiting for 1 episode" in line for line in lines)
            time.sleep(0.5)  # a second signal at once would be the same interrupt
            playing.send_signal(signal.SIGTERM)
        while block == "keeps_the_lock" and playing.poll() is None:  # it cannot say that it has got the first one
            playing.send_signal(signal.SIGTERM)
            time.sleep(0.1)
        out, err = playing.communicate(timeout=PATIENCE / 2)
    results = read_results(tmp_path / "runs" / "r")[0]
    assert [result.won for result in results[:2]] == [True, True]
    assert not err
    if block in KILLED:
        assert playing.returncode == -signal.SIGKILL
    elif playing.returncode != -signal.SIGKILL:  # as on a machine that is too busy to write the table in time
        assert playing.returncode == 130
        assert "the table" in out
        assert "2 of 4 episodes have no result (interrupted" in out
        assert [result.outcome.value for result in results[2:]] == ["interrupted"]


@pytest.fixture
def open_requests(model_server: ModelServer) -> Iterator[tuple[ModelServer, threading.Event]]:
    """An endpoint whose answers wait for the event."""
    may_answer = threading.Event()
    model_server.replies = [answer("look around", hold=may_answer)]
    yield model_server, may_answer
    may_answer.set()


def begun(server: ModelServer) -> None:
    deadline = time.monotonic() + PATIENCE
    while not server.requests and time.monotonic() < deadline:
        time.sleep(0.02)
    assert server.requests


EVAL = ("eval", "coin", "--modes", "act", "--models", "m", "--seeds", "0-2", "--workers", "1", "--max-steps", "1")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_two_signals_at_once_are_one(
    tmp_path: Path, open_requests: tuple[ModelServer, threading.Event], name: str
) -> None:
    """The running episode is finished, and nothing kills the process."""
    server, may_answer = open_requests
    command = [sys.executable, "-m", "pddlego", *EVAL, "--base-url", server.url, "--run", "r"]
    with started(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as playing:
        begun(server)
        for _ in range(2):
            playing.send_signal(getattr(signal, name))
        assert playing.stdout is not None
        lines = iter(playing.stdout.readline, "")
        assert any("waiting for 1 episode" in line for line in lines)
        time.sleep(ENDING + 0.5)  # a guard that had counted two would have killed it
        may_answer.set()
        out, err = playing.communicate(timeout=PATIENCE)
    assert (playing.returncode, err) == (130, "")
    assert "2 of 3 episodes have no result (interrupted: the running episodes were finished)" in out
    assert [result.outcome.value for result in read_results(tmp_path / "runs" / "r")[0]] == ["step limit"]


class Pty:
    """A command at a terminal of its own, which may be its controlling one."""

    def __init__(self, arguments: Sequence[str], cwd: Path, *, controls: bool) -> None:
        self.master, slave = os.openpty()
        control = "import fcntl, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0)\n" if controls else ""
        code = f"{control}import sys; from pddlego.cli import main; sys.argv[0] = 'pddlego'; main()"
        self.process = subprocess.Popen(
            [sys.executable, "-c", code, *arguments],
            cwd=cwd,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
            env={**os.environ, "TERM": "xterm-256color"},
        )
        os.close(slave)

    def read_until(self, text: bytes) -> None:
        shown, deadline = b"", time.monotonic() + PATIENCE
        while text not in shown and time.monotonic() < deadline:
            shown += os.read(self.master, 65536)
        assert text in shown

    def close(self) -> None:
        self.process.kill()
        self.process.wait()


@pytest.mark.slow
@pytest.mark.terminal
@pytest.mark.parametrize("controls", [True, False])
@pytest.mark.parametrize("command", ["watch", "runs", "show"])
def test_the_browser_ends_with_its_terminal(tmp_path: Path, command: str, controls: bool) -> None:
    shutil.copytree(RECORDED / RUNS[0], tmp_path / "runs" / "a")
    pty = Pty([command, *(["latest"] if command == "show" else [])], tmp_path, controls=controls)
    try:
        pty.read_until(b"Quit")
        os.close(pty.master)
        assert pty.process.wait(PATIENCE) == 130
    finally:
        pty.close()


@pytest.mark.slow
@pytest.mark.terminal
@pytest.mark.parametrize("gone", [True, False], ids=["the terminal is gone", "the terminal is there"])
def test_a_second_hangup_stops_an_evaluation_like_a_second_ctrl_c(
    tmp_path: Path, open_requests: tuple[ModelServer, threading.Event], gone: bool
) -> None:
    server, _ = open_requests
    pty = Pty([*EVAL, "--base-url", server.url, "--run", "r"], tmp_path, controls=True)
    try:
        begun(server)
        if gone:
            os.close(pty.master)  # the first hang-up
        else:
            pty.process.send_signal(signal.SIGHUP)
            pty.read_until(b"Interrupted")
        while pty.process.poll() is None:  # after the first one was noticed
            time.sleep(0.2)
            pty.process.send_signal(signal.SIGHUP)
        assert pty.process.returncode in (130, -signal.SIGKILL)  # killed where the machine is too busy to end in time
    finally:
        pty.close()
    assert [result.outcome.value for result in read_results(tmp_path / "runs" / "r")[0]] == ["interrupted"]
