"""The process of an engine, which several threads may end."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

from pddlego.methods.textgames.games.process import EngineProcess


def test_two_threads_may_close_a_process_at_once() -> None:
    """An unfinished question is in the pipe's buffer, which closing flushes."""
    for _ in range(20):
        process = EngineProcess([sys.executable, "-S", "-c", "input()"])
        assert process._process.stdin is not None
        process._process.stdin.write(b"a question")
        barrier = Barrier(4)

        def close(process: EngineProcess = process, barrier: Barrier = barrier) -> None:
            barrier.wait(20)
            process.close()

        with ThreadPoolExecutor(4) as pool:
            closing = [pool.submit(close) for _ in range(4)]
        assert [future.exception() for future in closing] == [None] * 4
        assert not process.alive
