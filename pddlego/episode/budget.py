"""Usage and limits of an episode."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from pddlego.episode.events import Cause, Limits, Outcome, Usage
from pddlego.models import Completion
from pddlego.util.limits import Clock
from pddlego.util.text import count


class EpisodeOver(Exception):  # noqa: N818 -- most endings are not errors
    """Raised by a method, or by a limit, to end the episode with an outcome."""

    def __init__(self, outcome: Outcome, message: str = "", cause: Cause = "") -> None:
        super().__init__(message)
        self.outcome = outcome
        self.message = message
        self.cause: Cause = cause


class Budget:
    """Counts steps, calls, tokens and seconds. The clock can be `paused`, for instance while a person decides.

    `score` is the score reached so far, from 0 to 1; the method sets it.
    """

    def __init__(self, limits: Limits, clock: Clock = time.monotonic) -> None:
        self.limits = limits
        self.usage = Usage()
        self.score = 0.0
        self.clock, self._began = clock, clock()

    def begin(self) -> None:
        """Start the episode's clock at 0."""
        self._began = self.clock()

    @contextmanager
    def paused(self) -> Iterator[None]:
        stopped = self.clock()
        try:
            yield
        finally:
            self._began += self.clock() - stopped

    @property
    def seconds(self) -> float:
        return self.clock() - self._began

    @property
    def seconds_left(self) -> float | None:
        return None if self.limits.seconds is None else self.limits.seconds - self.seconds

    def step(self, refused: bool = False) -> None:
        """Count a step. Raises `EpisodeOver` if the limit of steps was reached before."""
        self.check_steps()
        self.usage = replace(self.usage, steps=self.usage.steps + 1, refused=self.usage.refused + refused)

    def asked(self, characters: int) -> None:
        used = self.usage
        self.usage = replace(used, calls=used.calls + 1, characters=used.characters + characters)

    def not_sent(self, characters: int) -> None:
        """Take back a request that the budget of the whole evaluation refused."""
        used = self.usage
        self.usage = replace(used, calls=used.calls - 1, characters=used.characters - characters)

    def answered(self, answer: Completion) -> None:
        self.usage = self.usage.with_answer(answer)

    def final(self) -> Usage:
        """The usage, including the seconds so far."""
        return replace(self.usage, seconds=self.seconds)

    def check_call(self) -> None:
        """Raise `EpisodeOver` if a limit does not allow another model call."""
        used, limits = self.usage, self.limits
        if limits.calls is not None and used.calls - used.from_cache >= limits.calls:
            raise EpisodeOver(Outcome.BUDGET, f"{count(limits.calls, 'model call')} used up", "calls")
        if limits.tokens is not None and used.tokens >= limits.tokens:
            raise EpisodeOver(Outcome.BUDGET, f"{count(limits.tokens, 'token')} used up", "tokens")
        self.check_time()

    def check_time(self, too_short: bool = False) -> None:
        """Raise `EpisodeOver` if the time is up, or if the caller found the remaining time `too_short`."""
        left = self.seconds_left
        if left is not None and (left <= 0 or too_short):
            raise EpisodeOver(Outcome.BUDGET, f"{count(self.limits.seconds or 0, 'second')} used up", "seconds")

    def check_steps(self) -> None:
        """Raise `EpisodeOver` if the limit of steps is reached."""
        most = self.limits.steps
        if most is not None and self.usage.steps >= most:
            raise EpisodeOver(Outcome.STEP_LIMIT, f"not won within {count(most, 'step')}")
