from __future__ import annotations

from collections.abc import Generator

from pddlego.episode.events import Event
from pddlego.episode.loop import Attempt, Retry, refine
from pddlego.models.base import Feedback


def run(results: list[Attempt[int]], retries: int) -> tuple[Attempt[int], list[Retry]]:
    seen: list[Retry] = []

    def propose(retry: Retry) -> Generator[Event, None, Attempt[int]]:
        seen.append(retry)
        yield from ()
        return results[len(seen) - 1]

    loop = refine(propose, retries)
    try:
        next(loop)
    except StopIteration as stop:
        return stop.value, seen
    raise AssertionError


BAD = Attempt[int]("bad", feedback=Feedback("kind", "why"))


def test_the_first_value_counts() -> None:
    assert run([Attempt("a", 7)], 5) == (Attempt("a", 7), [Retry(attempts=6)])


def test_the_next_try_knows_the_answer_and_the_reason() -> None:
    attempt, seen = run([BAD, Attempt("good", 7)], 5)
    assert (attempt.value, attempt.tries, attempt.failure) == (7, 2, "")
    assert seen[1] == Retry(1, "bad", BAD.feedback, attempts=6)


def test_the_limit() -> None:
    attempt, seen = run([BAD] * 3, 2)
    assert (attempt.value, len(seen)) == (None, 3)
    assert attempt.failure == "3 answers in a row were rejected; the last: why"
    assert run([BAD], 0)[0].failure == "the answer was rejected: why"
