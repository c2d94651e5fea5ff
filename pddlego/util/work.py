"""A bound on evaluating what a text from outside says: few characters may stand for billions of cases."""

from __future__ import annotations

import math
import time

from pddlego.errors import TooLargeError

_INTERVAL = 20_000
"""Steps between two looks at the clock."""


class Work:
    """The steps that an evaluation may take.

    There are `most` of them, so that the same input ends in the same way on every machine, or as many as fit into
    `seconds` from now. Without either there is no bound: the caller runs in a process that is killed in time.
    """

    def __init__(self, most: int | None = None, seconds: float = math.inf) -> None:
        self._ends = time.monotonic() + seconds
        self._counted = most is not None
        self.left = _INTERVAL if most is None else most

    def spend(self, steps: int = 1) -> None:
        """Take some steps. Raises `TooLargeError`."""
        self.left -= steps
        if self.left < 0:
            self.renew()

    def renew(self) -> None:
        """Allow further steps if there is time. Raises `TooLargeError`."""
        if self._counted or time.monotonic() > self._ends:
            raise TooLargeError
        self.left = _INTERVAL
