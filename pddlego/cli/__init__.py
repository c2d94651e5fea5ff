"""The command line: one module per command, which parses options and prints results. Slow imports are late."""

from __future__ import annotations

import gc
import sys


def main() -> None:
    """The entry point of `pddlego`. An interrupt while its modules are still loading is an interrupt like any other."""
    gc.disable()  # until the command is loaded: loading makes no garbage, and looking for it takes a tenth of the time
    try:
        from pddlego.cli.commands import run

        run()
    except KeyboardInterrupt:
        sys.stderr.write("Interrupted.\n")
        sys.exit(130)
    finally:
        # CPython remembers an interrupt that left code run from a string (dataclasses are made so while modules load),
        # even where it was caught later, and then dies of the signal instead of giving our exit code. Any further
        # code from a string makes it forget.
        exec("")
