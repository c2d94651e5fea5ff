from __future__ import annotations

import signal
import threading
import time

from pddlego.util.limits import Deadline


def test_it_expires_unless_it_is_cancelled() -> None:
    called = threading.Event()
    late = Deadline(0.01, called.set)
    assert called.wait(10)
    assert late.expired
    silent = Deadline(0.2, lambda: called.clear())
    silent.cancel()
    silent.cancel()
    time.sleep(0.3)
    assert called.is_set()
    assert not silent.expired


def test_an_interrupt_at_any_moment_leaves_nothing_locked() -> None:
    """With `threading.Timer` in its place this hangs sooner or later."""

    def interrupt(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    kept = signal.signal(signal.SIGALRM, interrupt)
    try:
        for number in range(400):
            deadline = None
            try:
                signal.setitimer(signal.ITIMER_REAL, 0.00002 * (number % 20 + 1))
                deadline = Deadline(100.0, lambda: None)
                for _ in range(50):
                    deadline.cancel()
                time.sleep(0.01)
            except KeyboardInterrupt:
                if deadline is not None:
                    deadline.cancel()
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
    finally:
        signal.signal(signal.SIGALRM, kept)
