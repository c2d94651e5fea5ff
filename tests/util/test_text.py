"""Text helpers: suggestions for misspelt names."""

from __future__ import annotations

import pytest

from pddlego.util.text import suggestion


@pytest.mark.parametrize(
    ("word", "known", "wanted"), [("COIN", "coin", "coin"), ("GPT-4p", "GPT-4o", "GPT-4o"), ("coni", "coin", "coin")]
)
def test_a_name_is_suggested_whatever_its_case(word: str, known: str, wanted: str) -> None:
    assert suggestion(word, [known], "") == f"Did you mean '{wanted}'?"


def test_no_name_is_close() -> None:
    assert suggestion("xyz", ["coin"], "Choose one.") == "Choose one."
