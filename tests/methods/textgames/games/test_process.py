"""The process of an engine, which several threads may end."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor, wait
from threading import Barrier

from pddlego.methods.textgames.games.process import EngineProcess
from tests.clock import FakeClock
from tests.scale import PATIENCE


def test_two_threads_may_close_a_process_at_once() -> None:
    """An unfinished question is in the pipe's buffer, which closing flushes."""
    for _ in range(20):
        process = EngineProcess([sys.executable, "-S", "-c", "input()"])
        assert process._process.stdin is not None
        process._process.stdin.write(b"a question")
        barrier = Barrier(4)

        def close(process: EngineProcess = process, barrier: Barrier = barrier) -> None:
            barrier.wait(PATIENCE)
            process.close()

        with ThreadPoolExecutor(4) as pool:
            closing = [pool.submit(close) for _ in range(4)]
        assert [future.exception() for future in closing] == [None] * 4
        assert not process.alive


def test_a_process_that_does_not_answer_is_killed_when_its_time_is_up() -> None:
    clock = FakeClock()
    program = "print(input(), flush=True); print('no answer', flush=True); import sys; sys.stdin.read()"
    process = EngineProcess([sys.executable, "-S", "-c", program], clock=clock)
    assert process.ask(b"one\n", 60.0) == b"one\n"
    assert process.line(60.0) == b"no answer\n"
    with ThreadPoolExecutor(1) as pool:
        silent = pool.submit(process.line, 60.0)
        while not silent.done():
            clock.advance(20.0)
            wait((silent,), timeout=0.01)
    assert silent.result() == b""
    assert process.state() == "it did not answer within 60 seconds"
    assert not process.alive
    process.close()
