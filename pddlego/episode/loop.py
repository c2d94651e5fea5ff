"""The refinement loop: propose, check, turn a failed check into feedback, propose again, stop at a limit."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from pddlego.episode.events import Event
from pddlego.models.base import Feedback

T = TypeVar("T")


@dataclass(frozen=True)
class Attempt(Generic[T]):
    """One answer of the model and its check: the `value` of a usable answer, or the `feedback` on a rejected one.

    Answers with equal `meaning` (by default, their text) are repetitions of each other. `tries` counts the attempts
    including this one. `notes` are about what was left out of a usable answer.
    """

    answer: str
    value: T | None = None
    feedback: Feedback | None = None
    tries: int = 1
    meaning: object = None
    notes: tuple[str, ...] = ()

    @property
    def failure(self) -> str:
        """The reason of the failure as a clause; empty for a usable answer."""
        if self.feedback is None:
            return ""
        reason = " ".join((self.feedback.message, *self.feedback.evidence[:1]))
        if self.tries == 1:
            return f"the answer was rejected: {reason}"
        return f"{self.tries} answers in a row were rejected; the last: {reason}"


@dataclass(frozen=True)
class Retry:
    """The input of the next attempt, which has the number `attempt` from 0: the rejected answer and the feedback on it.

    The first attempt has neither. `repeated` counts the earlier answers to the same question that meant the same as the
    rejected one. `attempts` is the maximum number of attempts, or 0 if it is unknown.
    """

    attempt: int = 0
    rejected: str = ""
    feedback: Feedback | None = None
    repeated: int = 0
    attempts: int = 0

    def failed_with(self, category: str) -> bool:
        """Whether the rejected answer has feedback of this category."""
        return self.feedback is not None and self.feedback.category == category


FIRST = Retry()


def refine(
    propose: Callable[[Retry], Generator[Event, None, Attempt[T]]], retries: int, first: Retry = FIRST
) -> Generator[Event, None, Attempt[T]]:
    """Make up to `1 + retries` attempts. Returns the first attempt with a value, or else the last attempt."""
    retry = replace(first, attempts=1 + retries)
    meanings: list[object] = []
    while True:
        attempt = replace((yield from propose(retry)), tries=retry.attempt + 1)
        if attempt.feedback is None or retry.attempt >= retries:
            return attempt
        meaning = attempt.answer.strip() if attempt.meaning is None else attempt.meaning
        retry = Retry(retry.attempt + 1, attempt.answer, attempt.feedback, meanings.count(meaning), 1 + retries)
        meanings.append(meaning)
