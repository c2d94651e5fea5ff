"""A running `pddlego serve`, and the expert's answers to play with."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from pddlego import Environment
from pddlego.methods.textgames.events import Observed
from tests.scale import PATIENCE


@dataclass(frozen=True)
class Server:
    """A server's process and its address."""

    pid: int
    url: str

    @property
    def resources(self) -> tuple[int, int, int]:
        """The numbers of open descriptors, threads and child processes."""
        proc = Path(f"/proc/{self.pid}")
        tasks, children = list((proc / "task").iterdir()), 0
        for task in tasks:
            with suppress(OSError):  # a thread that ended
                children += len((task / "children").read_text().split())
        return len(list((proc / "fd").iterdir())), len(tasks), children


@contextmanager
def served(*arguments: str, **environment: str) -> Iterator[Server]:
    """Serve on a free port until the end of the block."""
    python = os.environ.get("PDDLEGO_OPENENV_PYTHON", sys.executable)  # the trainer's environment may have no server
    command = [python, "-m", "pddlego", "serve", *arguments, "--port", "0"]
    with tempfile.NamedTemporaryFile("w+") as errors:
        process = subprocess.Popen(command, stderr=errors, env=os.environ | environment)
        try:
            while not (match := re.search(r"at (http://\S+)", text := Path(errors.name).read_text())):
                assert process.poll() is None, f"the server ended: {text}"
                time.sleep(0.05)
            yield Server(process.pid, match[1])
        finally:
            process.terminate()
            try:
                process.wait(PATIENCE)
            finally:
                process.kill()
        assert "Traceback" not in Path(errors.name).read_text()


@cache
def expert_answers(game: str, mode: str, seed: int) -> tuple[str, ...]:
    """The answers of the built-in model with which the game is won; for `act`, the commands of its plans."""
    answers = []
    with Environment(game, "edit" if mode == "act" else mode) as environment:
        observed = environment.reset(seed)
        while not observed.done:
            answers.append(environment.expert())
            observed = environment.step(answers[-1])
        events = environment.episode.events
    assert observed.won
    if mode == "act":
        return tuple(event.command for event in events if isinstance(event, Observed) and event.command)
    return tuple(answers)
