"""Text helpers: suggestions for misspelt names, and texts from outside without what cannot be seen."""

from __future__ import annotations

import sys
import unicodedata

import pytest

from pddlego.util.text import clean, count, suggestion


@pytest.mark.parametrize(
    ("word", "known", "wanted"), [("COIN", "coin", "coin"), ("GPT-4p", "GPT-4o", "GPT-4o"), ("coni", "coin", "coin")]
)
def test_a_name_is_suggested_whatever_its_case(word: str, known: str, wanted: str) -> None:
    assert suggestion(word, [known], "") == f"Did you mean '{wanted}'?"


def test_no_name_is_close() -> None:
    assert suggestion("xyz", ["coin"], "Choose one.") == "Choose one."


@pytest.mark.parametrize(
    ("number", "shown"),
    [(1, "1 step"), (0, "0 steps"), (0.5, "0.5 steps"), (1_234, "1,234 steps"), (1_234_567.25, "1,234,567 steps")],
)
def test_a_number_is_written_out(number: float, shown: str) -> None:
    assert count(number, "step") == shown


DIRECTION = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
EMOJI = "\ufe0e\ufe0f"
FILLERS = "\u034f\u115f\u1160\u17b4\u17b5\u180b\u3164\uffa0\U000e0100\u2028\u2029\ufe00"


def test_no_character_that_controls_or_cannot_be_seen_is_left() -> None:
    """Control characters, and format characters that change the direction or are not shown (of this Unicode)."""
    unseen = {
        character
        for character in map(chr, range(sys.maxunicode + 1))
        if unicodedata.category(character) == "Cc"
        or unicodedata.bidirectional(character) in DIRECTION
        or (unicodedata.category(character) == "Cf" and unicodedata.bidirectional(character) in ("BN", "ON"))
    }
    unseen |= {"\u061c", "\u200e", "\u200f", *FILLERS}
    unseen -= {"\n", "\t"}
    assert {character for character in unseen if clean(f"a{character}b") != "a\N{REPLACEMENT CHARACTER}b"} == set()


@pytest.mark.parametrize(
    "text", ["", "naïve café", "日本語", "\u0627\u0644", "a\nb", "(at ?x)", f"❤{EMOJI[1]}", "e\u0301", "\xa0"]
)
def test_what_is_seen_stays(text: str) -> None:
    assert clean(text) == text


def test_lines_and_tabs() -> None:
    assert clean("a\r\nb\tc") == "a\nb    c"
