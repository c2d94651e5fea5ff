"""Numbers on axes are short enough to be read whole."""

from __future__ import annotations

import pytest

from pddlego.report.svg import brief


@pytest.mark.parametrize(
    ("number", "text"),
    [(0, "0"), (9.5, "9.5"), (4750, "4750"), (12_345, "12.3k"), (390_111, "390k"), (1_340_000, "1.34M"), (2e9, "2G")],
)
def test_numbers_on_axes_are_short(number: float, text: str) -> None:
    assert brief(number) == text
