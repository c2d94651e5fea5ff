"""`pddlego watch` on a folder of 1,000 episodes, in a real pseudo-terminal: how soon, how late, at what price."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import statistics
import struct
import sys
import tempfile
import termios
import time
from pathlib import Path

from benchmarks.table import show
from pddlego.evaluation.assemble import evaluating
from pddlego.evaluation.config import resolve
from pddlego.evaluation.prepare import make_setup

EPISODES = 1000
OPENINGS = 5
SECONDS = 20.0
"""How long a running episode is followed."""

PAUSE = 0.4
"""Seconds between two steps of the running episode."""


class Screen:
    """A command in a pseudo-terminal of 100x30."""

    def __init__(self, *arguments: str) -> None:
        self.pid, self._terminal = pty.fork()
        if self.pid == 0:
            os.environ.update(TERM="xterm-256color", LC_ALL="C.UTF-8")
            os.execv(sys.executable, [sys.executable, "-m", "pddlego", *arguments])
        fcntl.ioctl(self._terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))

    def wait_for(self, pattern: str, seconds: float = 20.0) -> None:
        """Read until the pattern comes."""
        seen = ""
        end = time.perf_counter() + seconds
        while not re.search(pattern, seen):
            ready, _, _ = select.select([self._terminal], [], [], max(0.0, end - time.perf_counter()))
            if not ready:
                raise TimeoutError(f"{pattern} did not appear in:\n{seen[-2000:]}")
            seen += os.read(self._terminal, 65536).decode(errors="replace")

    def press(self, key: str) -> None:
        os.write(self._terminal, key.encode())

    def seconds_used(self) -> float:
        """Processor time until now."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def close(self) -> None:
        os.kill(self.pid, signal.SIGTERM)
        os.waitpid(self.pid, 0)
        os.close(self._terminal)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        lines = _recorded(Path(folder))
        run = Path(folder, "many")
        (run / "episodes").mkdir(parents=True)
        for number in range(EPISODES - 1):
            (run / "episodes" / f"coin-edit-reader-seed{number}.jsonl").write_bytes(b"".join(lines))
        rows = [
            [f"opens a folder of {EPISODES - 1} episodes; s, median and slowest of {OPENINGS}", _opening(run)],
            *_following(run, lines),
        ]
    show("pddlego watch", ["what", "measured"], rows)


def _recorded(folder: Path) -> list[bytes]:
    """The lines of a won episode."""
    options = make_setup(resolve({"games": ("coin",), "modes": ("edit",), "seeds": "12"}, {}))
    with evaluating(options, folder / "one") as running:
        list(running.evaluation.run())
    journal = next((folder / "one" / "episodes").iterdir())
    return journal.read_bytes().splitlines(keepends=True)


def _opening(run: Path) -> str:
    times = []
    for _ in range(OPENINGS):
        began = time.perf_counter()
        screen = Screen("watch", str(run))
        screen.wait_for(f"{EPISODES - 1} episodes")
        times.append(time.perf_counter() - began)
        screen.close()
    return f"{statistics.median(times):.2f}, {max(times):.2f}"


def _following(run: Path, lines: list[bytes]) -> list[list[str]]:
    """A running episode, in the list and opened: how late a step is seen, and the share of one core."""
    rows = []
    for name, keys in (("in the list", ""), ("opened", "\r")):
        path = run / "episodes" / "running-seed5000.jsonl"
        path.write_bytes(b"".join(lines[:2]))
        screen = Screen("watch", str(run))
        screen.wait_for("0/50")
        screen.press(keys)
        delays, step, began, used = [], 0, time.perf_counter(), screen.seconds_used()
        with path.open("ab", buffering=0) as file:
            while time.perf_counter() - began < SECONDS:
                step += 1
                file.write(lines[1].replace(b'"step":0', b'"step":%d' % (step % 50)))
                written = time.perf_counter()
                screen.wait_for(f"{step % 50}/50")
                delays.append(time.perf_counter() - written)
                time.sleep(PAUSE)
            share = (screen.seconds_used() - used) / (time.perf_counter() - began)
        screen.close()
        path.unlink()
        late = f"{statistics.median(delays):.2f}, {max(delays):.2f}"
        rows.append([f"a step of a running episode is seen, {name}; s after it, median and slowest", late])
        rows.append([f"share of one core meanwhile, {name}; %", f"{100 * share:.1f}"])
    return rows
