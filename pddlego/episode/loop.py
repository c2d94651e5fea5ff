"""The refinement loop: propose, check, turn what failed into feedback, propose again, stop at a limit.

Whatever a model writes and a machine can check is refined in this way.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from pddlego.episode.events import Event
from pddlego.models.base import Feedback

T = TypeVar("T")


@dataclass(frozen=True)
class Attempt(Generic[T]):
    """One try. `value` is there if and only if `feedback` is not; `answer` is what the model said.

    `tries` counts the tries until here, this one too.
    """

    answer: str
    value: T | None = None
    feedback: Feedback | None = None
    tries: int = 1

    @property
    def failure(self) -> str:
        """Why it failed, in a sentence; empty for a usable one."""
        if self.feedback is None:
            return ""
        reason = " ".join((self.feedback.message, *self.feedback.evidence[:1]))
        if self.tries == 1:
            return f"the answer was rejected: {reason}"
        return f"{self.tries} answers in a row were rejected; the last: {reason}"


@dataclass(frozen=True)
class Retry:
    """What the next try must know: how many came before, the answer that failed and why. The first try has neither.

    `repeated` counts how often in a row the answer was identical to the one rejected before it. `attempts` is the
    maximum number of tries, or 0 if it is unknown.
    """

    attempt: int = 0
    rejected: str = ""
    feedback: Feedback | None = None
    repeated: int = 0
    attempts: int = 0

    def failed_with(self, category: str) -> bool:
        """Whether the answer failed for a reason of this category."""
        return self.feedback is not None and self.feedback.category == category


FIRST = Retry()


def refine(
    propose: Callable[[Retry], Generator[Event, None, Attempt[T]]], retries: int, first: Retry = FIRST
) -> Generator[Event, None, Attempt[T]]:
    """Try up to `1 + retries` times. Returns the first attempt that succeeded, or the last that failed."""
    retry = replace(first, attempts=1 + retries)
    while True:
        attempt = replace((yield from propose(retry)), tries=retry.attempt + 1)
        if attempt.feedback is None or retry.attempt >= retries:
            return attempt
        again = retry.attempt > 0 and attempt.answer.strip() == retry.rejected.strip()
        repeated = retry.repeated + 1 if again else 0
        retry = Retry(retry.attempt + 1, attempt.answer, attempt.feedback, repeated, 1 + retries)
