from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pddlego.pddl.names import from_name, is_name, same_name, to_name
from pddlego.util.text import natural, nearest


@given(st.lists(st.from_regex(r"[a-z0-9][a-z0-9-]{0,8}", fullmatch=True), min_size=1, max_size=4))
def test_game_names_survive_the_way_into_pddl_and_back(words: list[str]) -> None:
    text = " ".join(words)
    assert from_name(to_name(text)) == text


@pytest.mark.parametrize(
    ("name", "good"), [("loc1", True), ("a-b_c", True), ("1a", False), ("a b", False), ("", False)]
)
def test_what_is_a_name(name: str, good: bool) -> None:
    assert is_name(name) is good


def test_spellings_of_one_name() -> None:
    assert same_name("Living Room", "living_room")
    assert same_name("living-room", "living room")
    assert not same_name("loc1", "loc10")


def test_numbers_sort_as_numbers() -> None:
    assert sorted(["loc10", "loc2", "kitchen"], key=natural) == ["kitchen", "loc2", "loc10"]


@given(st.lists(st.text(max_size=8)))
def test_any_text_can_be_sorted(words: list[str]) -> None:
    longest = "loc" + "9" * 5000
    assert len(sorted([*words, "loc²", longest], key=natural)) == len(words) + 2
    assert sorted([longest, "loc2"], key=natural) == ["loc2", longest]


def test_misspellings() -> None:
    assert nearest("kitchn", ["kitchen", "pantry"]) == "kitchen"
    assert nearest("zebra", ["kitchen", "pantry"]) is None
