"""Limits on time and on computation steps, and reports of progress while nothing else is printed."""

from __future__ import annotations

import _thread
import contextlib
import math
import threading
import time
from collections.abc import Callable
from types import TracebackType

from pddlego.errors import TooManyCasesError

Clock = Callable[[], float]
"""Returns seconds, of which only differences count. Everything with a time limit takes a clock as an argument."""

SLICE = 0.2
"""Real seconds between two checks of a waiting thread: neither a signal nor a test's clock can wake it."""

_INTERVAL = 20_000
"""Steps between two checks of the clock."""


class Work:
    """A limit on the steps of evaluating untrusted text: a few characters can describe billions of cases.

    `most` is the number of steps for each part of the text; `renew` begins another part. Counting steps makes the same
    input end in the same way on every machine. `seconds` limits the time of all parts together. Without `most` and
    `seconds` there is no limit, for a caller in a process that is killed when its time is up.
    """

    def __init__(self, most: int | None = None, seconds: float = math.inf, clock: Clock = time.monotonic) -> None:
        self._clock, self._ends = clock, clock() + seconds
        self._most = most
        self.left = _INTERVAL if most is None else most

    def spend(self, steps: int = 1) -> None:
        """Count some steps. Raises `TooManyCasesError` if there are too many."""
        self.left -= steps
        if self.left < 0:
            if self._most is not None:
                raise TooManyCasesError
            self.renew()

    def renew(self) -> None:
        """Begin another part, with as many steps. Raises `TooManyCasesError` if the time is up."""
        if self._clock() > self._ends:
            raise TooManyCasesError
        self.left = _INTERVAL if self._most is None else self._most


class Deadline:
    """Calls `expire` in a thread of its own after `seconds`, and again every `SLICE`, until it is cancelled.

    One call is not enough: what it ends, such as a process, may start a moment later.

    `threading.Timer` is not safe here: a Ctrl-C in the middle of its `cancel` leaves the lock of its condition locked,
    and the next `cancel` waits forever; starting a `threading.Thread` has the same problem. Starting a bare thread and
    releasing a bare lock are one uninterruptible step each.
    """

    def __init__(self, seconds: float, expire: Callable[[], None], clock: Clock = time.monotonic) -> None:
        self.expired = False
        self._running = threading.Lock()
        self._running.acquire()
        self._ends, self._expire, self._clock = clock() + seconds, expire, clock
        _thread.start_new_thread(self._watch, ())

    def cancel(self) -> None:
        """Prevent the call of `expire`. Safe to call twice, and in a signal handler."""
        with contextlib.suppress(RuntimeError):
            self._running.release()

    def _watch(self) -> None:
        left = self._ends - self._clock()
        while not self._running.acquire(timeout=SLICE if self.expired else max(0.0, min(SLICE, left))):
            left = self._ends - self._clock()
            if left <= 0:
                self.expired = True
                self._expire()


SILENCE = 10.0
"""Seconds without a line after which progress is reported."""


class Heartbeat:
    """Calls `report` with the seconds since the start whenever there was no `beat` for `SILENCE` seconds.

    `report` runs in a thread.
    """

    def __init__(self, report: Callable[[float], None], clock: Clock = time.monotonic) -> None:
        self._report, self._clock = report, clock
        self._began = self._last = clock()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def beat(self) -> None:
        """Begin another period of silence: something was printed."""
        self._last = self._clock()

    def __enter__(self) -> Heartbeat:
        self._thread.start()
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._ended.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._ended.wait(max(0.0, min(SLICE, self._last + SILENCE - self._clock()))):
            now = self._clock()
            if now - self._last >= SILENCE:
                self._last = now
                self._report(now - self._began)
