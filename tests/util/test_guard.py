"""Which signals count as one interrupt, in the process and in its guard."""

from __future__ import annotations

import pytest

from pddlego.util.guard import Interrupts


@pytest.mark.parametrize(
    ("times", "new"),
    [
        ([0.0], [True]),
        ([0.0, 0.001], [True, False]),
        ([5.0, 5.0, 5.0], [True, False, False]),
        ([0.0, 0.06, 0.12, 0.18, 0.24], [True, False, True, False, True]),
        ([0.0, 0.001, 0.8, 0.801], [True, False, True, False]),
        ([0.0, 0.5], [True, True]),
    ],
)
def test_signals_at_once_are_one_interrupt(times: list[float], new: list[bool]) -> None:
    clock = iter(times)
    interrupts = Interrupts(0.1, lambda: next(clock))
    assert [interrupts.is_new(2) for _ in times] == new


def test_another_signal_is_another_interrupt() -> None:
    interrupts = Interrupts(0.1, lambda: 0.0)
    assert [interrupts.is_new(number) for number in (2, 15, 2, 15)] == [True, True, False, False]
