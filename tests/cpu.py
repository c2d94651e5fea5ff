"""Lists the tests that take too much CPU time: they are made smaller, or get the marker `slow`.

CPU time includes threads and child processes. The limit is a multiple of the time of a fixed loop, which is measured in
the same run, so that the list depends little on the machine.
"""

from __future__ import annotations

import os
import resource
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.landing import SLOW
from tests.scale import IN_CI

LIST = "PDDLEGO_CPU_LIST"
"""The variable with the file of the list, which is made when a test takes too much."""

LOOPS = 40.0
"""A test may take the time of so many loops: about 4 seconds."""


class Guard:
    """A plugin that appends to a file each test that takes too much. `measure` returns the time of the loop."""

    def __init__(self, path: Path, measure: Callable[[], float]) -> None:
        self._path, self._measure = path, measure
        self._loop = measure()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        before = cpu_time()
        result = yield
        seconds = cpu_time() - before
        if is_limited(item) and seconds > LOOPS * self._loop:
            self._loop = max(self._loop, self._measure())  # the machine may have become slower
            if seconds > LOOPS * self._loop:
                with self._path.open("a", encoding="utf-8") as file:
                    file.write(f"{seconds / self._loop:.0f} loops ({seconds:.1f} s) {item.nodeid}\n")
        return result


def is_limited(item: pytest.Item) -> bool:
    """Whether the limit holds for a test: not for a slow one, and not where `scaled` gives its module more cases."""
    if any(item.get_closest_marker(name) for name in SLOW):
        return False
    return not (IN_CI and hasattr(getattr(item, "module", None), "scaled"))


def loop_time() -> float:
    """The seconds of CPU time of a fixed loop: the most of three."""
    seconds = []
    for _ in range(3):
        begin = time.thread_time()
        counts: dict[int, str] = {}
        for number in range(1_000_000):
            counts[number % 1000] = counts.get(number % 7, "") and str(number)
        seconds.append(time.thread_time() - begin)
    return max(seconds)


def cpu_time() -> float:
    """The seconds of CPU time of this process, its ended children, and, on Linux, its living descendants."""
    own = sum(
        usage.ru_utime + usage.ru_stime
        for usage in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    )
    return own + sum(map(_with_descendants, _children(Path("/proc/self"))))


def _children(process: Path) -> Iterator[Path]:
    for file in process.glob("task/*/children"):
        with suppress(OSError):  # the thread has ended
            yield from (Path("/proc", number) for number in file.read_text().split())


def _with_descendants(process: Path) -> float:
    """The seconds of a process, its ended children, and its living descendants."""
    try:
        fields = (process / "stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:  # it has ended
        return 0.0
    seconds = sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    return seconds + sum(map(_with_descendants, _children(process)))
