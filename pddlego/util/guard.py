"""Kills a process that does not end after the user has stopped it, whatever its threads do.

Python runs a signal handler in the main thread, once that thread gets Python's lock: compiled code that keeps the lock
in another thread delays the handler without limit. Python's C-level handler, however, writes the number of each signal
into a pipe at once (see `signal.set_wakeup_fd`). A small guard process reads that pipe and kills our process when the
time is up. The guard process runs this module, so its top level imports only the standard library.
"""

from __future__ import annotations

import contextlib
import math
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable

ENDING = 1.7
"""Seconds that the process has to end on its own."""

_AT_ONCE = b"\0"
"""The byte that `Guard.arm` writes into the pipe in place of the number of a signal."""


class Interrupts:
    """Tells new interrupts from a repeated signal: the same one within so many `seconds`, as measured by a `clock`."""

    def __init__(self, seconds: float = 0.1, clock: Callable[[], float] = time.monotonic) -> None:
        self._seconds, self._clock = seconds, clock
        self._last: dict[int, float] = {}

    def is_new(self, number: int) -> bool:
        """Whether the signal that has just come is a new interrupt."""
        now = self._clock()
        if now - self._last.get(number, -math.inf) < self._seconds:
            return False
        self._last[number] = now
        return True


class Guard:
    """Kills this process `seconds` after `count` interrupts (signals of these `numbers`), or after `arm`.

    `close` ends the guard, unless it was armed. Only signals that have a handler count. On Windows, which has neither
    such pipes nor such signals, the guard does nothing.
    """

    def __init__(self, numbers: Iterable[int], count: int, seconds: float = ENDING) -> None:
        self._armed = False
        self._process: subprocess.Popen[bytes] | None = None
        if not hasattr(os, "fork"):
            return
        from pddlego.util.children import start_python  # not at the top: this file is a program, too

        reading, self._writing = os.pipe()
        os.set_blocking(self._writing, False)
        arguments = ["-I", "-S", __file__, *map(str, (seconds, reading, os.getpid(), count, *map(int, numbers)))]
        null = subprocess.DEVNULL
        self._process = start_python(
            "The guard", arguments, stdin=null, stdout=null, stderr=null, pass_fds=(reading,), env={}
        )
        os.close(reading)
        self._before = signal.set_wakeup_fd(self._writing, warn_on_full_buffer=False)

    def arm(self) -> None:
        """Kill the process after `seconds` unless it ends before."""
        self._armed = True
        if self._process is not None:
            with contextlib.suppress(OSError):  # the guard is gone: the process ends on its own
                os.write(self._writing, _AT_ONCE)

    def close(self) -> None:
        """Stop counting signals. A guard that was armed stays."""
        if self._process is None or self._armed:
            return
        signal.set_wakeup_fd(self._before)
        os.close(self._writing)
        self._process.wait()
        self._process = None


def main(seconds: float, reading: int, parent: int, count: int, *numbers: int) -> None:
    """Run the guard process: count interrupts up to `count`, then kill the parent if it does not end in time."""
    interrupts = Interrupts(0.3)  # longer than in the parent, which must not be killed for what it does not count
    while count > 0:
        signals = os.read(reading, 100)
        if not signals:  # the parent has ended, or has closed its guard
            return
        if _AT_ONCE[0] in signals:
            break
        count -= sum(interrupts.is_new(number) for number in set(signals) & set(numbers))
    if not _is_closed(reading, seconds) and os.getppid() == parent:
        os.kill(parent, signal.SIGKILL)


def _is_closed(reading: int, seconds: float) -> bool:
    """Wait up to `seconds` for the parent to close the pipe; returns whether it did."""
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        if select.select([reading], [], [], left)[0] and not os.read(reading, 100):
            return True
    return False


if __name__ == "__main__":
    main(float(sys.argv[1]), *map(int, sys.argv[2:]))
