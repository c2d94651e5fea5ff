from __future__ import annotations

import signal
import threading
import time
from queue import SimpleQueue

import pytest

from pddlego.errors import TooManyCasesError
from pddlego.util.limits import SILENCE, SLICE, Deadline, Heartbeat, Work
from tests.clock import FakeClock
from tests.scale import PATIENCE


def test_it_expires_unless_it_is_cancelled() -> None:
    clock, called = FakeClock(), threading.Event()
    late = Deadline(600.0, called.set, clock)
    silent = Deadline(600.0, called.clear, clock)
    silent.cancel()
    silent.cancel()
    clock.advance(599.0)
    assert not called.wait(2 * SLICE)
    clock.advance(1.0)
    assert called.wait(PATIENCE)
    late.cancel()
    assert late.expired
    assert not silent.expired


def test_it_expires_again_until_it_is_cancelled() -> None:
    calls = SimpleQueue[bool]()
    deadline = Deadline(0.0, lambda: calls.put(True), FakeClock())
    assert [calls.get(timeout=PATIENCE) for _ in range(3)] == [True] * 3
    deadline.cancel()


def test_silence_is_reported_once_in_each_period() -> None:
    clock, reports = FakeClock(), SimpleQueue[float]()
    with Heartbeat(reports.put, clock) as heartbeat:
        clock.advance(SILENCE - 1)
        heartbeat.beat()
        clock.advance(SILENCE)
        assert reports.get(timeout=PATIENCE) == 2 * SILENCE - 1
        clock.advance(SILENCE)
        assert reports.get(timeout=PATIENCE) == 3 * SILENCE - 1
    assert reports.empty()


def test_work_ends_when_its_time_is_up() -> None:
    clock = FakeClock()
    work = Work(1, seconds=5.0, clock=clock)
    clock.advance(5.0)
    work.renew()
    clock.advance(1.0)
    with pytest.raises(TooManyCasesError):
        work.renew()


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
