"""The refinement loop: propose, check, turn what failed into feedback, propose again, stop at a limit.

Free of games: whatever a model writes and a machine can check is refined in this way.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Generic, TypeVar

from pddlego.events import Event
from pddlego.situation import Feedback

T = TypeVar("T")


@dataclass(frozen=True)
class Attempt(Generic[T]):
    """One try. `value` is there if and only if `feedback` is not; `answer` is what the model said."""

    answer: str
    value: T | None = None
    feedback: Feedback | None = None


@dataclass(frozen=True)
class Retry:
    """What the next try must know: how many came before, the answer that failed and why. The first try has neither.

    `repeated` counts how often in a row the answer was, word for word, the one that had just been rejected.
    """

    attempt: int = 0
    rejected: str = ""
    feedback: Feedback | None = None
    repeated: int = 0

    def failed_with(self, category: str) -> bool:
        """Whether the answer failed for a reason of this category."""
        return self.feedback is not None and self.feedback.category == category


class ExhaustedError(Exception):
    """All tries failed; `feedback` is the reason of the last one."""

    def __init__(self, tries: int, feedback: Feedback) -> None:
        answers = "the answer" if tries == 1 else f"{tries} answers in a row"
        reason = " ".join((feedback.message, *feedback.evidence[:1]))
        super().__init__(
            f"{answers} could not be used; the last: {reason}"
            if tries > 1
            else f"{answers} could not be used: {reason}"
        )
        self.feedback = feedback


def refine(
    propose: Callable[[Retry], Generator[Event, None, Attempt[T]]], retries: int, first: Retry = Retry()
) -> Generator[Event, None, T]:
    """Try up to `1 + retries` times and return the first value. Raises `ExhaustedError`."""
    retry = first
    while True:
        attempt = yield from propose(retry)
        if attempt.value is not None:
            return attempt.value
        assert attempt.feedback is not None
        if retry.attempt >= retries:
            raise ExhaustedError(retry.attempt + 1, attempt.feedback)
        again = retry.attempt > 0 and attempt.answer.strip() == retry.rejected.strip()
        retry = Retry(retry.attempt + 1, attempt.answer, attempt.feedback, retry.repeated + 1 if again else 0)
