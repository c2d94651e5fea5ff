"""What commands share of the terminal: exit codes, signals, and programs that fill the screen."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterable

from pddlego.display.app import App, run_app
from pddlego.display.console import Console
from pddlego.display.screens import MIN_HEIGHT, MIN_WIDTH
from pddlego.errors import UsageError

WON, NOT_WON, USAGE, BROKEN, INTERRUPTED = 0, 1, 2, 3, 130


def silence_output() -> None:
    """Standard output is full or gone: nothing may be written to it any more, not even when Python ends."""
    sys.stdout = open(os.devnull, "w")  # noqa: SIM115, PTH123


POLITE = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))
"""Polite kills, as far as the system has them."""

INTERRUPTS = (signal.SIGINT, *POLITE)
"""Everything that asks a command to end."""


def polite_kills() -> None:
    """A polite kill is an interrupt: things end properly and the terminal is left as it was.

    One is enough: systems send several in a row, and the second would cut short what the first began.
    """

    def interrupted(number: int, frame: object) -> None:
        for each in POLITE:
            signal.signal(each, signal.SIG_IGN)
        raise KeyboardInterrupt

    handle(POLITE, interrupted)


def handle(numbers: Iterable[int], handler: Callable[[int, object], None]) -> None:
    """Set the handler of signals. One that was ignored at the start (a background job, `nohup`) stays ignored."""
    for number in numbers:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, handler)


def ignores_keys() -> bool:
    """Whether Ctrl-C does nothing: SIGINT was ignored at the start."""
    return signal.getsignal(signal.SIGINT) is signal.SIG_IGN


def ignore_interrupts() -> None:
    """From now on there is nothing to interrupt."""
    for each in INTERRUPTS:
        signal.signal(each, signal.SIG_IGN)


def is_typed_at() -> bool:
    """Whether somebody can type."""
    return sys.stdin is not None and sys.stdin.isatty()


def is_terminal(console: Console) -> bool:
    """Whether somebody sits there who can see and type."""
    return console.is_terminal and not console.is_dumb_terminal and is_typed_at()


def fill(app: App, console: Console) -> None:
    """Fill the terminal."""
    polite_kills()
    if console.width < MIN_WIDTH or console.height < MIN_HEIGHT:
        why = f"It has {console.width} columns and {console.height} lines, and {MIN_WIDTH}x{MIN_HEIGHT} are needed."
        raise UsageError("The terminal is too small", why, "Make it larger.")
    run_app(app, console)
