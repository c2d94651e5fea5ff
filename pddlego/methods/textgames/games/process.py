"""The process of an engine, with pipes for its questions and answers, and a file for its errors."""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO, cast

from pddlego.errors import EngineError, is_too_many_files
from pddlego.util.children import die_with, for_children, kill_group, limit_memory
from pddlego.util.limits import Clock, Deadline
from pddlego.util.unexpected import explained

_LAST = 4_000
"""Maximum number of bytes that are read from the end of the errors."""


_ENDING = 5.0
"""Maximum number of seconds until a process that has closed its pipe must end."""


class EngineProcess:
    """A running program of an engine. Another thread may end it at any time.

    The process is in a new session, so that Ctrl-C does not end it before the journal is closed.
    """

    def __init__(
        self,
        command: Sequence[str],
        folder: Path | None = None,
        environment: Mapping[str, str] | None = None,
        clock: Clock = time.monotonic,
    ) -> None:
        """Start the process in the working directory `folder`. Raises `OSError`."""
        self._late: float | None = None
        self._clock = clock
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 -- lives as long as the process
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            cwd=folder,
            env=for_children(**(environment or {})),
            start_new_session=True,
        )

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def ask(self, question: bytes, seconds: float) -> bytes:
        """Send a line, and return the next line of the process as `line` does."""
        assert self._process.stdin is not None
        with contextlib.suppress(OSError, ValueError):  # the process has ended, and reading reports that
            self._process.stdin.write(question)
            self._process.stdin.flush()
        return self.line(seconds)

    def line(self, seconds: float) -> bytes:
        """The next line of the output. Empty if the process has ended or is killed after `seconds`."""
        assert self._process.stdout is not None
        deadline = Deadline(seconds, self.kill, self._clock)
        line = b""
        try:
            with contextlib.suppress(OSError, ValueError):  # the pipe is closed
                line = self._process.stdout.readline()
        finally:
            deadline.cancel()
        if deadline.expired:
            self._late = seconds
            self._process.wait()
        elif not line.endswith(b"\n"):
            self.wait(_ENDING)  # `state` reports the exit code
        return line if line.endswith(b"\n") and not deadline.expired else b""

    def wait(self, seconds: float) -> int | None:
        """The exit code; None if the process has not ended after `seconds`."""
        try:
            return self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None

    def drain(self) -> None:
        """Read the output until the process ends, so that its pipe never fills up."""
        assert self._process.stdout is not None
        with contextlib.suppress(OSError, ValueError):
            for _ in self._process.stdout:
                pass

    def kill(self) -> None:
        """Kill the process with all its children."""
        if self.alive:
            kill_group(self.pid)
        self._process.wait()

    def close(self) -> None:
        """Kill the process, and close its pipes. It may be called twice, also by two threads at once."""
        self.kill()
        for stream in (self._process.stdin, self._process.stdout, self._errors):
            with contextlib.suppress(OSError, ValueError):  # ValueError: the other thread closes it at this moment
                if stream is not None:
                    stream.close()

    def state(self, lines: int = 1) -> str:
        """Why the process does not answer (time limit or exit code), with the last lines of its errors."""
        if self._late is not None:
            return f"it did not answer within {self._late:g} seconds"
        code = self._process.poll()
        return ("it does not answer" if code is None else f"it ended with code {code}") + self.last_words(lines)

    def last_words(self, lines: int) -> str:
        """The last lines of the errors, as the end of a sentence; empty without errors."""
        with contextlib.suppress(OSError, ValueError):
            self._errors.seek(max(0, self._errors.seek(0, io.SEEK_END) - _LAST))
            errors = self._errors.read().decode(errors="replace").strip().splitlines()
            return "; it said: " + " / ".join(errors[-lines:])[:400] if errors else ""
        return ""


_ANSWER = 60.0
"""Maximum number of seconds for an answer. Most take some milliseconds, and the first one up to some seconds."""

_starting = threading.BoundedSemaphore(os.cpu_count() or 1)
"""Held while a game is started, which uses a whole processor. The time limit of waiting games has not begun."""


def environment() -> dict[str, str]:
    """The environment variables of our programs. The game of a seed must not depend on the order of sets."""
    # An empty entry of the path is the working directory, which is another one for the programs.
    paths = os.pathsep.join(os.path.abspath(path) for path in sys.path)  # noqa: PTH100 -- does not follow links
    return {"PYTHONHASHSEED": "0", "PYTHONPATH": paths, "OPENBLAS_NUM_THREADS": "1"}


class GameProgram:
    """A program of ours that plays one game: a line of its input is a question as JSON, a line of its output a state.

    The program runs in a process of its own from `start` to `close`, and is started again after a failure. `engine` is
    the name of the engine in messages, and `advice` what to do if the program fails again and again. It is called as
    `python -m MODULE play PARENT FOLDER ARGUMENT`, and works in FOLDER, which is empty, and removed at the end.
    """

    def __init__(self, engine: str, module: str, advice: str, clock: Clock = time.monotonic) -> None:
        self._engine, self._module, self._advice, self._clock = engine, module, advice, clock
        self._process: EngineProcess | None = None
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._closed = False

    def start(self, argument: str) -> Mapping[str, Any]:
        """Start the program if it does not run, and its game from the beginning. Raises `EngineError`."""
        with _starting:
            if self._process is None or not self._process.alive:
                self._launch(argument)
            return self.ask("start the game", None)

    def ask(self, what: str, command: str | None) -> Mapping[str, Any]:
        """The state of the game after a command, or at its start. Raises `EngineError`, and ends the process then."""
        process = self._process
        try:
            if process is None or self._closed:
                raise EngineError(f"{self._engine} cannot {what}", "The game is not running.")
            answer = process.ask(json.dumps(command).encode() + b"\n", _ANSWER)
            if answer:
                return cast("Mapping[str, Any]", json.loads(answer))
            reason = f"Its process failed: {process.state()}."
            raise EngineError(f"{self._engine} failed to {what}", reason, self._advice)
        except BaseException:
            self._end()  # also if it was interrupted between question and answer
            raise

    def close(self) -> None:
        """End the process, also while another thread waits for its answer."""
        self._closed = True
        self._end()

    def _launch(self, argument: str) -> None:
        self._end()
        try:
            self._folder = tempfile.TemporaryDirectory(prefix="pddlego-game-", ignore_cleanup_errors=True)
            folder = self._folder.name
            command = [sys.executable, "-m", self._module, "play", str(os.getpid()), folder, argument]
            # Programs put files into the folder for temporary files, and may be killed before they remove them.
            self._process = EngineProcess(command, Path(folder), {**environment(), "TMPDIR": folder}, self._clock)
        except OSError as error:
            reason = explained(error) if is_too_many_files(error) else f"{error.strerror or error}."
            advice = "Free space in the folder for temporary files, or name another one in TMPDIR."
            raise EngineError(f"{self._engine} did not start", reason, advice) from error

    def _end(self) -> None:
        if self._process is not None:
            self._process.close()
        if self._folder is not None:
            self._folder.cleanup()


_MEMORY = 4096
"""The memory limit of a game's program in MiB. The largest games need a tenth of it."""


def connected(parent: str, folder: str, limits: bool = True) -> TextIO:
    """Called by a program at its start: it ends when the process `parent` ends, and then removes `folder`.

    Returns the stream for answers; the engine's own output goes to standard error.
    """
    threading.Thread(target=die_with, args=(int(parent), folder), daemon=True).start()
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    if limits:
        limit_memory(_MEMORY)
    return answers


def serve_game(
    start: Callable[[], Mapping[str, Any]], step: Callable[[str], Mapping[str, Any]], answers: TextIO
) -> None:
    """Called by a program: answer the questions of a `GameProgram` until its input ends.

    The input ends because the process that asked has been killed, and `die_with` removes the folder within a second.
    """
    with contextlib.suppress(BrokenPipeError):
        for line in sys.stdin.buffer:
            command = json.loads(line)
            answers.write(json.dumps(start() if command is None else step(command)) + "\n")
            answers.flush()
    time.sleep(_ENDING)
