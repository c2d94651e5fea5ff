"""The command line: one module per command, which parses options and prints results. Slow imports are in functions."""

from __future__ import annotations

import gc
import sys


def main() -> None:
    """The entry point of `pddlego`. Interrupts while modules are being loaded are reported, too."""
    gc.disable()  # until the command is loaded: loading leaves no garbage, and collections take a tenth of its time
    try:
        from pddlego.cli.commands import run

        run()
    except KeyboardInterrupt:
        sys.stderr.write("Interrupted.\n")
        sys.exit(130)
    finally:
        # If an interrupt leaves code that runs from a string (as `dataclass` does while modules are loaded), CPython
        # ends with the signal instead of our exit code, even if the interrupt was caught. Running another string
        # resets that.
        exec("")
