"""A clock that a test moves, so that no time limit under test depends on how busy the machine is."""

from __future__ import annotations

import threading
import time
from typing import ClassVar


class FakeClock:
    """Takes the place of `time.monotonic`. With a `step`, so many seconds pass whenever it is read."""

    def __init__(self, step: float = 0.0) -> None:
        self._lock = threading.Lock()
        self._now, self.step = 0.0, step

    def __call__(self) -> float:
        with self._lock:
            self._now += self.step
            return self._now

    def advance(self, seconds: float) -> None:
        """Let time pass."""
        with self._lock:
            self._now += seconds


class Passing(threading.Event):
    """For a server in place of a pause: so many `seconds` pass on the clock when the server comes here."""

    holds: ClassVar[bool] = False

    def __init__(self, clock: FakeClock, seconds: float) -> None:
        super().__init__()
        self._clock, self._seconds = clock, seconds

    def wait(self, timeout: float | None = None) -> bool:
        self._clock.advance(self._seconds)
        return super().wait(timeout) if self.holds else True


class Silence(Passing):
    """The same, and then the server says nothing until the event is set."""

    holds = True


def unhurried() -> float:
    """A clock that runs ten times more slowly than that of the machine: for whatever is not tested for time-outs."""
    return time.monotonic() / 10
