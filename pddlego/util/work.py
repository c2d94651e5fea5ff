"""A bound on evaluating what a text from outside says: few characters may stand for billions of cases."""

from __future__ import annotations

import math
import time

from pddlego.errors import TooManyCasesError

_INTERVAL = 20_000
"""Steps between two looks at the clock."""


class Work:
    """The steps that an evaluation may take.

    There are `most` of them, so that the same input ends in the same way on every machine, and as many again for each
    part of it that begins with `renew`; and no more than fit into `seconds` from now. Without either there is no bound:
    the caller runs in a process that is killed in time.
    """

    def __init__(self, most: int | None = None, seconds: float = math.inf) -> None:
        self._ends = time.monotonic() + seconds
        self._most = most
        self.left = _INTERVAL if most is None else most

    def spend(self, steps: int = 1) -> None:
        """Take some steps. Raises `TooManyCasesError`."""
        self.left -= steps
        if self.left < 0:
            if self._most is not None:
                raise TooManyCasesError
            self.renew()

    def renew(self) -> None:
        """Begin another part, with as many steps. Raises `TooManyCasesError` if the time is up."""
        if time.monotonic() > self._ends:
            raise TooManyCasesError
        self.left = _INTERVAL if self._most is None else self._most
