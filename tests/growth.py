"""How the time of some work grows with its size, by a ratio that holds on any machine; and the memory it needs."""

from __future__ import annotations

import gc
import math
import time
import tracemalloc
from collections.abc import Callable

SHORT = 0.1
"""Seconds of work for which no ratio can be measured, and need not be."""

TRIES = 5


def cpu_seconds(work: Callable[[], object]) -> float:
    """CPU time of this thread without garbage collection, which depends on what else is in the process."""
    gc.disable()
    try:
        began = time.thread_time()
        work()
        return time.thread_time() - began
    finally:
        gc.enable()


def is_linear(small: Callable[[], object], large: Callable[[], object], factor: float) -> bool:
    """Whether work that is `factor` times as large takes about `factor` times as long, and not the square of it.

    A busy machine lengthens CPU time too, but not the best of several tries. The bound is the geometric mean of
    linear and quadratic time.
    """
    best_small = best_large = math.inf
    for _ in range(TRIES):
        best_large = min(best_large, cpu_seconds(large))
        if best_large < SHORT:
            return True
        best_small = min(best_small, *(cpu_seconds(small) for _ in range(TRIES)))
        if best_large < factor**1.5 * best_small:
            return True
    return False


def extra_memory(work: Callable[[], object]) -> int:
    """The bytes that some work needs for a while, beside those of its result."""
    work()
    gc.collect()
    tracemalloc.start()
    try:
        result = work()
        kept, most = tracemalloc.get_traced_memory()
        del result
        return most - kept
    finally:
        tracemalloc.stop()
