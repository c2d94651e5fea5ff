"""Single keys from the terminal, for questions in a live display."""

from __future__ import annotations

import os
import select
import sys
from typing import Any

_ESCAPE_WAIT = 0.05
"""Seconds after which an Esc that nothing follows is the key itself, and not the beginning of an arrow."""

MOVES = {"down": 1, "j": 1, "up": -1, "k": -1, "pagedown": 10, "pageup": -10, "home": -(10**6), "end": 10**6}
"""By how many rows a key moves."""

_NAMES = {"c-m": "enter", "c-j": "enter", "c-i": "tab", "s-tab": "backtab", "c-h": "backspace", " ": "space"}


class Keyboard:
    """Reads keys without echo, between `__enter__` and `__exit__`; after it the terminal is as it was.

    prompt_toolkit knows the escape sequences of terminals and puts the terminal's modes back. Ctrl-C comes as the key
    `c-c`.
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
        """The keys that were pressed, after waiting at most so long for the first: `a`, `left`, `escape`, `c-c` …

        Raises `EOFError` when the terminal is gone.
        """
        if not self._wait(seconds):
            return []
        pressed = self._input.read_keys()
        if not pressed:
            if self._input.closed or not os.isatty(self._input.fileno()):
                raise EOFError
            if not self._wait(_ESCAPE_WAIT):
                pressed = self._input.flush_keys()
        names = [str(getattr(press.key, "value", press.key)) for press in pressed]
        return [_NAMES.get(name, name) for name in names]

    def forget(self) -> None:
        """Throw away what was typed and not read yet."""
        import termios

        termios.tcflush(self._input.fileno(), termios.TCIFLUSH)

    def one(self) -> str:
        """Wait for a key."""
        while not (pressed := self.read(1.0)):
            pass
        return pressed[0]

    def _wait(self, seconds: float) -> bool:
        """Whether there is something to read."""
        return bool(select.select([self._input.fileno()], [], [], seconds)[0])
