"""Exit codes, signals, and closed output."""

from __future__ import annotations

import os
import signal
import stat
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

WON, NOT_WON, USAGE, BROKEN, INTERRUPTED = 0, 1, 2, 3, 130


def silence_output() -> None:
    """Discard further output, after standard output was closed or cannot be written."""
    sys.stdout = open(os.devnull, "w")  # noqa: SIM115, PTH123


def silence_gone_terminals() -> bool:
    """Discard further output to terminals that are gone, where it would fail. Returns whether there are any."""
    gone = [number for number in (1, 2) if _is_device(number) and not os.isatty(number)]
    for number in gone:  # below Python's streams, which Rich replaces and restores
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, number)
        os.close(null)
    return bool(gone)


def _is_device(number: int) -> bool:
    try:
        return stat.S_ISCHR(os.fstat(number).st_mode)
    except OSError:  # it was closed at the start
        return False


_TERMINATION = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))
"""The signals that request termination, as far as the system has them."""

INTERRUPTS = (signal.SIGINT, *_TERMINATION)
"""The signals that interrupt a command."""


def handle_sigterm() -> None:
    """Treat SIGTERM and SIGHUP as interrupts, so that files are closed and the terminal is restored.

    Further ones are ignored: systems send several in a row, and the second would interrupt the clean-up.
    """

    def interrupted(number: int, frame: object) -> None:
        for signum in _TERMINATION:
            signal.signal(signum, signal.SIG_IGN)
        silence_gone_terminals()
        raise KeyboardInterrupt

    handle(_TERMINATION, interrupted)


def handle(numbers: Iterable[int], handler: Callable[[int, object], None]) -> None:
    """Set the handler of signals. A signal that was ignored at the start (background job, `nohup`) stays ignored."""
    for number in numbers:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, handler)


def ignores_keys() -> bool:
    """Whether Ctrl-C has no effect, because SIGINT was ignored at the start."""
    return signal.getsignal(signal.SIGINT) is signal.SIG_IGN


def ignore_interrupts() -> None:
    """Ignore interrupts from now on."""
    for signum in INTERRUPTS:
        signal.signal(signum, signal.SIG_IGN)


def interrupt_handlers() -> Mapping[int, Any]:
    """The current handlers of `INTERRUPTS`, for `restore_handlers`."""
    return {number: signal.getsignal(number) for number in INTERRUPTS}


def restore_handlers(handlers: Mapping[int, Any]) -> None:
    """Set the handlers that `interrupt_handlers` returned."""
    for number, handler in handlers.items():
        signal.signal(number, handler)


def end_without_terminal() -> None:
    """From now on, end the process as soon as a terminal of its standard streams is gone.

    Only the controlling terminal sends a signal then. There is no screen to restore, and Textual would wait for ever
    for a place in its queue of output.
    """
    terminals = [number for number in range(3) if os.isatty(number)]

    def watch() -> None:
        while all(map(os.isatty, terminals)):
            time.sleep(_SLICE)
        os._exit(INTERRUPTED)

    threading.Thread(target=watch, daemon=True).start()


_SLICE = 0.2
"""Seconds between two looks at a terminal."""


def is_typed_at() -> bool:
    """Whether standard input is a terminal."""
    return sys.stdin is not None and sys.stdin.isatty()
