"""Single keys from the terminal, for questions in a live display."""

from __future__ import annotations

import os
import select
import sys
from typing import Any

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

    Ctrl-C does not interrupt the process: it is read as the key `c-c`.
    """

    def __init__(self) -> None:
        from prompt_toolkit.input import create_input

        self._input = create_input(sys.stdin)
        self._raw = self._input.raw_mode()

    def __enter__(self) -> Keyboard:
        self._raw.__enter__()
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

    def read_one(self) -> str:
        """Wait for a key, and return its name."""
        while not (names := self.read(1.0)):
            pass
        return names[0]

    def _wait(self, seconds: float) -> bool:
        """Wait for input at most `seconds`. Returns whether there is any."""
        return bool(select.select([self._input.fileno()], [], [], seconds)[0])
