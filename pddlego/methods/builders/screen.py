"""The live picture of a build: in lines, as of any method without one of its own."""

from __future__ import annotations


def SCREEN() -> None:  # noqa: N802 -- the name under which the shell looks for it
    """None: what happens is told in lines."""
