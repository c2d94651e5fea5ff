"""What the tests of linear time measure with."""

from __future__ import annotations

from tests.growth import is_linear


def linear(size: int) -> int:
    return sum(number % 7 for number in range(size * 300))


def quadratic(size: int) -> int:
    return sum(one < other for one in range(size) for other in range(size))


def test_linear_work_is_told_from_quadratic_work() -> None:
    assert is_linear(lambda: linear(500), lambda: linear(8_000), 16)
    assert not is_linear(lambda: quadratic(150), lambda: quadratic(2_400), 16)
