"""A real terminal: tmux runs the command, and the screen is read."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.scale import PATIENCE

pytestmark = [pytest.mark.slow, pytest.mark.terminal]


class Terminal:
    """A tmux session of its own, of a given size."""

    def __init__(self, folder: Path, width: int, height: int) -> None:
        self._socket = ["tmux", "-L", f"pddlego-{os.getpid()}-{width}-{folder.name}", "-f", "/dev/null"]
        self._tmux("new-session", "-d", "-s", "t", "-x", str(width), "-y", str(height), "-c", str(folder), "sh")

    def type(self, text: str) -> None:
        self._tmux("send-keys", "-t", "t", text, "Enter")

    def press(self, key: str) -> None:
        self._tmux("send-keys", "-t", "t", key)

    def screen(self, colors: bool = False) -> str:
        return self._tmux("capture-pane", "-p", "-t", "t", *(["-e"] if colors else []))

    def wait_for(self, *texts: str) -> str:
        """Wait until all texts are on one screen: what a slow machine has drawn so far may be half a picture."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            shown = self.screen()
            if all(text in shown for text in texts):
                return shown
            time.sleep(0.05)
        raise AssertionError(f"{texts} did not appear:\n{self.screen()}")

    def wait_for_after(self, before: str, text: str) -> str:
        """Wait for a text below another: a prompt that has come again takes keys, and not before."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            shown = self.screen()
            below = shown[shown.find(before) + len(before) :]
            if before in shown and text in below:
                return shown
            time.sleep(0.05)
        raise AssertionError(f"'{text}' did not appear:\n{self.screen()}")

    def close(self) -> None:
        self._tmux("kill-server")

    def _tmux(self, *arguments: str) -> str:
        done = subprocess.run([*self._socket, *arguments], capture_output=True, text=True, check=True, timeout=PATIENCE)
        return done.stdout


@pytest.fixture(params=[(80, 24), (120, 40), (200, 50)], ids=lambda size: f"{size[0]}x{size[1]}")
def terminal(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Terminal]:
    made = Terminal(tmp_path, *request.param)
    yield made
    made.close()


COLOR = "\x1b[38;5;"  # one of the 256 colours, as the shades of `SHADES` are drawn
PLAY = f"clear; env -u COLUMNS -u LINES LC_ALL=C.UTF-8 {sys.executable} -m pddlego play coin --seed 12"


def test_a_whole_episode_on_screen(terminal: Terminal) -> None:
    terminal.type(f"{PLAY} --pace 0.05; echo code $?")
    shown = terminal.wait_for("code 0")
    assert "Coin Collector · seed 12 · edit · reader · step 21/50" in shown
    for panel in ("map", "what changed", "game", "have the coin", "● bathroom", "You take the coin."):
        assert panel in shown, panel
    assert "won after 21 steps" in shown
    assert "Saved in" in shown
    widths = {len(line) for line in shown.split("\n") if line.startswith(("╭", "│", "╰"))}
    assert len(widths) == 1


def test_ctrl_c_leaves_a_usable_terminal(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path, 80, 24)
    try:
        terminal.type(f"{PLAY} --pace 0.5; echo code $?")
        terminal.wait_for("step 2/50")
        terminal.press("C-c")
        shown = terminal.wait_for("code 130")
        assert "interrupted after" in shown
        assert "Traceback" not in shown
        terminal.type("echo still $((40 + 2))")
        terminal.wait_for("still 42")
    finally:
        terminal.close()


def test_no_color(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path, 80, 24)
    try:
        terminal.type(f"{PLAY} --pace 0 ; echo code $?")
        terminal.wait_for("code 0")
        assert COLOR in terminal.screen(colors=True)
        terminal.type(PLAY.replace("LC_ALL", "NO_COLOR=1 LC_ALL") + " --pace 0; echo again $?")
        terminal.wait_for("again 0")
        assert COLOR not in terminal.screen(colors=True)
    finally:
        terminal.close()


def test_a_narrow_terminal_gets_lines(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path, 60, 24)
    try:
        terminal.type(f"{PLAY} --pace 0; echo code $?")
        shown = terminal.wait_for("code 0")
        assert "╭" not in shown
        assert "won after 21 steps" in shown
    finally:
        terminal.close()
