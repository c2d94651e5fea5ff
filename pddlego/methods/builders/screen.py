"""The live picture of a build: in lines, as of any method without one of its own."""

from __future__ import annotations


def no_screen() -> None:
    """What happens is told in lines."""


SCREEN = no_screen
