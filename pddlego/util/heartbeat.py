"""Reports progress on a pipe while nothing else is printed."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from types import TracebackType

SILENCE = 10.0
"""Seconds without a line after which progress is reported."""


class Heartbeat:
    """Calls `report` with the seconds since the start whenever there was no `beat` for `silence` seconds.

    `report` runs in a thread.
    """

    def __init__(self, report: Callable[[float], None], silence: float = SILENCE) -> None:
        self._report, self._silence = report, silence
        self._began = self._last = time.monotonic()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def beat(self) -> None:
        """Something was printed."""
        self._last = time.monotonic()

    def __enter__(self) -> Heartbeat:
        self._thread.start()
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._ended.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._ended.wait(max(0.0, self._last + self._silence - time.monotonic())):
            now = time.monotonic()
            if now - self._last >= self._silence:
                self._last = now
                self._report(now - self._began)
