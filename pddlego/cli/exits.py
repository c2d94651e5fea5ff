"""Exit codes, and what is done where nobody reads any more."""

from __future__ import annotations

import os
import sys

WON, NOT_WON, USAGE, BROKEN, INTERRUPTED = 0, 1, 2, 3, 130


def silence_output() -> None:
    """Standard output is full or gone: nothing may be written to it any more, not even when Python ends."""
    sys.stdout = open(os.devnull, "w")  # noqa: SIM115, PTH123
