"""Names for rooms that were not seen yet: `loc1`, `loc2`, … No number is used twice in an episode; one
that is resumed knows the numbers of the problem that it begins with.

A name that once meant another room is taken for that room by whoever remembers it, above all by a language model that
is shown older observations again.
"""

from __future__ import annotations

import re

from pddlego.pddl import Problem


class Placeholders:
    """Which placeholders an episode has used. Without a `prefix` the setting has none."""

    def __init__(self, prefix: str) -> None:
        self._prefix, self._highest = prefix, 0

    def used(self, problem: Problem) -> None:
        """A problem was accepted, with whatever placeholders are in it."""
        found = (re.fullmatch(rf"{re.escape(self._prefix)}(\d{{1,6}})", each.name) for each in problem.objects)
        self._highest = max([self._highest, *(int(match.group(1)) for match in found if match)])

    @property
    def next(self) -> str:
        """The first that was never used; empty where there are none."""
        return f"{self._prefix}{self._highest + 1}" if self._prefix else ""
