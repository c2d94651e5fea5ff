"""A deadline that an interrupt cannot break."""

from __future__ import annotations

import _thread
import contextlib
import threading
from collections.abc import Callable


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
