"""The process of an engine: a program in a session of its own, with pipes, whose last errors can be read."""

from __future__ import annotations

import contextlib
import io
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from pddlego.util.children import for_children, kill_group
from pddlego.util.limits import Deadline

_LAST = 4_000
"""Bytes of the errors that are read."""


_ENDING = 5.0
"""Seconds that a process that closed its pipe is waited for, at most."""


class EngineProcess:
    """A running program of an engine. Safe to end from another thread at any moment.

    It has a session of its own: Ctrl-C is ours to handle, and a game must survive it until the journal is closed.
    """

    def __init__(self, command: Sequence[str], folder: Path | None = None, **environment: str) -> None:
        """Start it in its working directory. Raises `OSError`."""
        self._late: float | None = None
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 -- lives as long as the process
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            cwd=folder,
            env=for_children(**environment),
            start_new_session=True,
        )

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def ask(self, question: bytes, seconds: float) -> bytes:
        """Send a line, and read one."""
        assert self._process.stdin is not None
        with contextlib.suppress(OSError, ValueError):  # it is gone, which reading notices
            self._process.stdin.write(question)
            self._process.stdin.flush()
        return self.line(seconds)

    def line(self, seconds: float) -> bytes:
        """The next line that it prints; empty if it has ended, or was killed because it took longer."""
        assert self._process.stdout is not None
        deadline = Deadline(seconds, self.kill)
        line = b""
        try:
            with contextlib.suppress(OSError, ValueError):  # it is closed
                line = self._process.stdout.readline()
        finally:
            deadline.cancel()
        if deadline.expired:
            self._late = seconds
            self._process.wait()
        elif not line.endswith(b"\n"):
            self.wait(_ENDING)  # its exit code says why
        return line if line.endswith(b"\n") and not deadline.expired else b""

    def wait(self, seconds: float) -> int | None:
        """The exit code; None if it has not ended in time."""
        try:
            return self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None

    def drain(self) -> None:
        """Read what it prints to its end, so that its pipe never fills up."""
        assert self._process.stdout is not None
        with contextlib.suppress(OSError, ValueError):
            for _ in self._process.stdout:
                pass

    def kill(self) -> None:
        """End it with all its children, whatever they do."""
        if self.alive:
            kill_group(self.pid)
        self._process.wait()

    def close(self) -> None:
        """End it, and close its pipes. Safe to call twice."""
        self.kill()
        for stream in (self._process.stdin, self._process.stdout, self._errors):
            with contextlib.suppress(OSError):
                if stream is not None:
                    stream.close()

    def state(self, lines: int = 1) -> str:
        """Why it does not answer: late, or ended with which code, and the last lines that it said."""
        if self._late is not None:
            return f"it did not answer within {self._late:g} seconds"
        code = self._process.poll()
        return ("it does not answer" if code is None else f"it ended with code {code}") + self.last_words(lines)

    def last_words(self, lines: int) -> str:
        """The last lines of its errors, as the end of a sentence; empty if it said nothing."""
        with contextlib.suppress(OSError, ValueError):
            self._errors.seek(max(0, self._errors.seek(0, io.SEEK_END) - _LAST))
            said = self._errors.read().decode(errors="replace").strip().splitlines()
            return "; it said: " + " / ".join(said[-lines:])[:400] if said else ""
        return ""
