"""The command line: arguments, one call, an exit code. No logic, and nothing slow imported before it is needed."""

from pddlego.cli.main import main

__all__ = ["main"]
