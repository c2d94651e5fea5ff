"""Runs `pddlego` as a user does: its real entry point, here in the process of the tests or in one of its own.

Here it shares the Java machine and the planners of the other tests, which take longer to start than most commands
take. What is about
the process itself (signals, pipes, limits, what children get) needs one of its own.
"""

from __future__ import annotations

import contextlib
import io
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from pddlego.cli import main
from tests.scale import PATIENCE

SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))


def run(*arguments: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a command here."""
    text, wrong = _Stream(), _Stream()
    code = _exit_code(arguments, cwd, environment, text, wrong)
    return subprocess.CompletedProcess(["pddlego", *arguments], code, text.text(), wrong.text())


def run_at_once(*arguments: str, cwd: Path, **environment: str) -> tuple[int, str]:
    """Run a command here. Its exit code, and what it writes to its output and its errors, in that order."""
    both = _Stream()
    return _exit_code(arguments, cwd, environment, both, both), both.text()


def _exit_code(
    arguments: tuple[str, ...], cwd: Path, environment: dict[str, str], output: _Stream, errors: _Stream
) -> int:
    with (
        _as_a_process(cwd, environment, arguments),
        contextlib.redirect_stdout(output),
        contextlib.redirect_stderr(errors),
    ):
        try:
            main()
        except SystemExit as ending:
            return ending.code if isinstance(ending.code, int) else int(ending.code is not None)
    return 0


class _Stream(io.TextIOWrapper):
    """What a command writes, as a pipe would get it."""

    def __init__(self) -> None:
        self._bytes = io.BytesIO()
        super().__init__(self._bytes, encoding="utf-8")

    def text(self) -> str:
        self.flush()
        return self._bytes.getvalue().decode("utf-8", "replace")


@contextlib.contextmanager
def _as_a_process(cwd: Path, environment: dict[str, str], arguments: tuple[str, ...]) -> Iterator[None]:
    """Working directory, environment, arguments, input and signals of a command; afterwards they are as they were."""
    kept = Path.cwd(), dict(os.environ), sys.argv, sys.stdin
    handlers = {number: signal.getsignal(number) for number in SIGNALS}
    os.chdir(cwd)
    os.environ.update({"COLUMNS": "100", **environment})
    sys.argv, sys.stdin = ["pddlego", *arguments], io.TextIOWrapper(io.BytesIO())
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        os.chdir(kept[0])
        os.environ.clear()
        os.environ.update(kept[1])
        sys.argv, sys.stdin = kept[2:]


def run_process(
    *arguments: str, cwd: Path, typed: str | None = None, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run a command in a process of its own, with `typed` as its standard input."""
    return subprocess.run(
        [sys.executable, "-m", "pddlego", *arguments],
        cwd=cwd,
        env={**os.environ, "COLUMNS": "100", **environment},
        input=typed,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
