from __future__ import annotations

from collections.abc import Generator

import pytest

from pddlego.events import Event
from pddlego.refine import Attempt, ExhaustedError, Retry, refine
from pddlego.situation import Feedback


def run(results: list[Attempt[int]], retries: int) -> tuple[int, list[Retry]]:
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
    assert run([Attempt("a", 7)], 5) == (7, [Retry()])


def test_the_next_try_knows_the_answer_and_the_reason() -> None:
    value, seen = run([BAD, Attempt("good", 7)], 5)
    assert value == 7
    assert seen[1] == Retry(1, "bad", BAD.feedback)


def test_the_limit() -> None:
    with pytest.raises(ExhaustedError, match="3 answers in a row could not be used; the last: why"):
        run([BAD] * 3, 2)
