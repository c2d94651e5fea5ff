"""The command line: one module per command, which parses options and prints results. Slow imports are in functions."""

from __future__ import annotations

import gc
import sys

_ADVICE = "Install them: pip install . in a copy of the repository. For PDDL in Python, see docs/python.md."


def _without_dependencies(error: ModuleNotFoundError) -> int:
    """Report in three lines that a package is missing, and return the exit code. Raises the error if it is a bug."""
    package = (error.name or "pddlego").partition(".")[0]
    if package == "pddlego":
        raise error
    sys.stderr.write(f"Error: The command pddlego needs the package {package}, which is not installed\n")
    sys.stderr.write(
        "  why: pddlego was installed without its dependencies. Its Python functions for PDDL need none.\n"
    )
    sys.stderr.write(f"  do:  {_ADVICE}\n")
    return 3


def main() -> None:
    """The entry point of `pddlego`. Interrupts while modules are being loaded are reported, too."""
    gc.disable()  # until the command is loaded: loading leaves no garbage, and collections take a tenth of its time
    try:
        try:
            from pddlego.cli.commands import run
        except ModuleNotFoundError as error:
            sys.exit(_without_dependencies(error))
        run()
    except KeyboardInterrupt:
        sys.stderr.write("Interrupted.\n")
        sys.exit(130)
    finally:
        # If an interrupt leaves code that runs from a string (as `dataclass` does while modules are loaded), CPython
        # ends with the signal instead of our exit code, even if the interrupt was caught. Running another string
        # resets that.
        exec("")
