"""The sandbox against a bare child process, in one run: to start, and to answer a call."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial

from benchmarks.table import show
from pddlego.sandbox import Sandbox, SandboxSession
from pddlego.sandbox.sandbox import ISOLATIONS

STARTS, CALLS = 50, 20_000

TITLE = "sandbox: to start, and to answer a call"

_BARE = "import sys\nfor line in sys.stdin.buffer:\n    sys.stdout.buffer.write(line); sys.stdout.buffer.flush()"
_PROGRAM = "def f(x):\n    return x"


def main() -> None:
    rows = [("bare child process", *_bare())]
    for isolation in ISOLATIONS:
        began = time.perf_counter()
        with Sandbox(isolation) as sandbox:
            _open(sandbox)
            first = time.perf_counter() - began
            starts = statistics.median(_timed(partial(_open, sandbox)) for _ in range(STARTS))
            with sandbox.open(_PROGRAM) as program:
                call = _timed(partial(_called, program)) / CALLS
        name = f"sandbox, isolation {isolation}"
        rows.append((name, f"{first * 1e3:.0f}", f"{starts * 1e3:.1f}", f"{call * 1e6:.0f}"))
    show(TITLE, ("", "first start, ms", "further starts, ms", "a call, µs"), rows)


def _open(sandbox: Sandbox) -> None:
    sandbox.open(_PROGRAM).close()


def _called(program: SandboxSession) -> None:
    for _ in range(CALLS):
        program.call("f", 1)


def _bare() -> tuple[str, str, str]:
    """A child without anything: how long it takes until it has answered once, and a line after that."""

    def start() -> None:
        with subprocess.Popen([sys.executable, "-c", _BARE], stdin=-1, stdout=-1, bufsize=0) as child:
            _ask(child)
            assert child.stdin is not None
            child.stdin.close()

    starts = [_timed(start) for _ in range(10)]
    with subprocess.Popen([sys.executable, "-c", _BARE], stdin=-1, stdout=-1, bufsize=0) as child:
        _ask(child)
        began = time.perf_counter()
        for _ in range(CALLS):
            _ask(child)
        call = (time.perf_counter() - began) / CALLS
        assert child.stdin is not None
        child.stdin.close()
    return f"{starts[0] * 1e3:.0f}", f"{statistics.median(starts[1:]) * 1e3:.1f}", f"{call * 1e6:.0f}"


def _ask(child: subprocess.Popen[bytes]) -> None:
    assert child.stdin is not None and child.stdout is not None
    child.stdin.write(b'{"call": "f", "arguments": [1]}\n')
    child.stdout.read(1000)


def _timed(run: Callable[[], object]) -> float:
    began = time.perf_counter()
    run()
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
