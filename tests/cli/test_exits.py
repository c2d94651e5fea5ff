"""Two signals end an evaluation, whatever its threads do, and what had ended before is kept."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pddlego.runs.store import read_results
from tests.children import started
from tests.scale import PATIENCE

_PROGRAM = """
import os, re, signal, sys, threading, time
from dataclasses import replace
from pddlego.cli.evaluating import report_missing_results, run_evaluation
from pddlego.cli.exits import handle_sigterm
from pddlego.display.console import Console
from pddlego.evaluation.assemble import evaluating
from pddlego.evaluation.config import resolve
from pddlego.evaluation.setup import SettingUse, make_setup, run_path
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
@pytest.mark.parametrize("first", ["SIGTERM", "SIGINT", ""])
@pytest.mark.parametrize("block", BLOCKS)
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
