"""Exit codes, signals, and closed output."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any

WON, NOT_WON, USAGE, BROKEN, INTERRUPTED = 0, 1, 2, 3, 130


def silence_output() -> None:
    """Discard further output, after standard output was closed or cannot be written."""
    sys.stdout = open(os.devnull, "w")  # noqa: SIM115, PTH123


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


def is_typed_at() -> bool:
    """Whether standard input is a terminal."""
    return sys.stdin is not None and sys.stdin.isatty()
