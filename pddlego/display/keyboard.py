"""Single keys from the terminal, for questions in a live display, and for its switches."""

from __future__ import annotations

import os
import select
import sys
import threading
from collections.abc import Callable, Container, Iterable
from contextlib import AbstractContextManager
from typing import Any

from rich.text import Text

from pddlego.display.console import Glyphs
from pddlego.errors import UsageError

_ESCAPE_WAIT = 0.05
"""Seconds after which an Esc byte is read as the key Esc, and not as the beginning of an escape sequence."""

MOVES = {"down": 1, "j": 1, "up": -1, "k": -1, "pagedown": 10, "pageup": -10, "home": -(10**6), "end": 10**6}
"""The number of rows by which a key scrolls down."""

# The names of prompt_toolkit for keys, and ours.
_NAMES = {"c-m": "enter", "c-j": "enter", "c-i": "tab", "s-tab": "backtab", "c-h": "backspace", " ": "space"}


def check_keyboard() -> None:
    """Raise `UsageError` on Windows: prompt_toolkit reads its keys, but a terminal there cannot be waited for."""
    try:
        import termios  # noqa: F401
    except ImportError:
        reason = "Single keys are read from Unix terminals only."
        raise UsageError("Proposals cannot be confirmed here", reason, "Use Linux, macOS or WSL.") from None


class Keyboard:
    """A context manager for reading keys without echo. prompt_toolkit decodes them and restores the terminal's modes.

    Ctrl-C does not interrupt the process: it is read as the key `c-c`. With `signals`, it does.
    """

    def __init__(self, signals: bool = False) -> None:
        from prompt_toolkit.input import create_input

        self._input = create_input(sys.stdin)
        self._raw = self._input.raw_mode()
        self._signals = signals

    def __enter__(self) -> Keyboard:
        self._raw.__enter__()
        if self._signals:
            import termios

            modes = termios.tcgetattr(self._input.fileno())
            modes[3] |= termios.ISIG
            termios.tcsetattr(self._input.fileno(), termios.TCSANOW, modes)
        return self

    def __exit__(self, *error: Any) -> None:
        self._raw.__exit__(*error)

    def read(self, seconds: float) -> list[str]:
        """The names of the pressed keys (`a`, `left`, `escape`, `c-c` …), after at most `seconds` without a key.

        Raises `EOFError` if the terminal was closed.
        """
        if not self._wait(seconds):
            return []
        presses = self._input.read_keys()
        if not presses:
            if self._input.closed or not os.isatty(self._input.fileno()):
                raise EOFError
            if not self._wait(_ESCAPE_WAIT):
                presses = self._input.flush_keys()
        names = [str(getattr(press.key, "value", press.key)) for press in presses]
        return [_NAMES.get(name, name) for name in names]

    def discard(self) -> None:
        """Discard keys that were typed and have not been read."""
        import termios

        termios.tcflush(self._input.fileno(), termios.TCIFLUSH)

    def read_first(self, wanted: Container[str]) -> str:
        """Wait for one of the `wanted` keys, and return its name. Other keys are ignored."""
        while (key := next((name for name in self.read(1.0) if name in wanted), None)) is None:
            pass
        return key

    def _wait(self, seconds: float) -> bool:
        """Wait for input at most `seconds`. Returns whether there is any."""
        return bool(select.select([self._input.fileno()], [], [], seconds)[0])


class KeyListener(AbstractContextManager["KeyListener"]):
    """A context manager that calls `press` with each pressed key, in a thread. Ctrl-C interrupts the process.

    It does nothing if `is_foreground` is false at its beginning.
    """

    def __init__(self, press: Callable[[str], None]) -> None:
        self._press = press
        self._keyboard: Keyboard | None = None
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._read, daemon=True)

    @property
    def is_listening(self) -> bool:
        """Whether pressed keys are read."""
        return self._keyboard is not None

    def __enter__(self) -> KeyListener:
        if is_foreground():
            self._keyboard = Keyboard(signals=True)
            self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        keyboard, self._keyboard = self._keyboard, None
        self._ended.set()
        try:
            if self._thread.is_alive():
                self._thread.join()
        finally:
            if keyboard is not None and is_foreground():  # else the shell has set its own modes
                keyboard.__exit__(*error)

    def _read(self) -> None:
        while (keyboard := self._keyboard) is not None:
            if not is_foreground():  # reading would stop the process
                self._ended.wait(_SLICE)
                continue
            keyboard.__enter__()  # again and again: a shell sets its own modes while the process is stopped
            try:
                names = keyboard.read(_SLICE)
            except (EOFError, OSError):
                return
            for name in names:
                self._press(name)


_SLICE = 0.1
"""Seconds between two looks at whether the listener has ended, or the process was stopped."""


def is_foreground() -> bool:
    """Whether keys can be read: standard input is a Unix terminal, and the process is not a background job."""
    try:
        return os.tcgetpgrp(sys.stdin.fileno()) == os.getpgrp()
    except (AttributeError, OSError, ValueError):  # AttributeError: Windows, or standard input was closed
        return False


def keys_line(keys: Iterable[tuple[str, str]], glyphs: Glyphs) -> Text:
    """The keys and their meanings, on one line."""
    line = Text(no_wrap=True, overflow="ellipsis")
    for key, meaning in keys:
        name = key if glyphs.across == "─" else key.replace("↑↓", "up/down")
        line.append(f" {name} ", "reverse").append(f" {meaning}  ")
    return line
