"""Limits on time and on work, and reports of progress while nothing else is printed."""

from __future__ import annotations

import _thread
import contextlib
import math
import threading
import time
from collections.abc import Callable
from types import TracebackType

from pddlego.errors import TooManyCasesError

_INTERVAL = 20_000
"""Steps between two looks at the clock."""


class Work:
    """The steps that an evaluation of a text from outside may take: few characters may stand for billions of cases.

    There are `most` of them, so that the same input ends in the same way on every machine, and as many again for each
    part of it that begins with `renew`; and no more than fit into `seconds` from now. Without either there is no bound:
    the caller runs in a process that is killed in time.
    """

    def __init__(self, most: int | None = None, seconds: float = math.inf) -> None:
        self._ends = time.monotonic() + seconds
        self._most = most
        self.left = _INTERVAL if most is None else most

    def spend(self, steps: int = 1) -> None:
        """Take some steps. Raises `TooManyCasesError`."""
        self.left -= steps
        if self.left < 0:
            if self._most is not None:
                raise TooManyCasesError
            self.renew()

    def renew(self) -> None:
        """Begin another part, with as many steps. Raises `TooManyCasesError` if the time is up."""
        if time.monotonic() > self._ends:
            raise TooManyCasesError
        self.left = _INTERVAL if self._most is None else self._most


class Deadline:
    """Calls `expire` in a thread of its own after `seconds`, unless it is cancelled before.

    `threading.Timer` will not do: a Ctrl-C in the middle of its `cancel` leaves the lock of its condition taken for
    ever, and the next `cancel` waits for it; starting a `threading.Thread` can be cut in two in the same way. Starting
    a bare thread and releasing a bare lock are one step each.
    """

    def __init__(self, seconds: float, expire: Callable[[], None]) -> None:
        self.expired = False
        self._running = threading.Lock()
        self._running.acquire()
        self._seconds, self._expire = seconds, expire
        _thread.start_new_thread(self._watch, ())

    def cancel(self) -> None:
        """Nothing expires any more. Safe to call again, and from where a signal has come."""
        with contextlib.suppress(RuntimeError):
            self._running.release()

    def _watch(self) -> None:
        if not self._running.acquire(timeout=min(self._seconds, threading.TIMEOUT_MAX)):
            self.expired = True
            self._expire()


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
