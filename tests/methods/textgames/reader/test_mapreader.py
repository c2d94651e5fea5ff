from __future__ import annotations

import pytest

from pddlego.methods.textgames.loading import load
from tests.methods.textgames.reader.asking import Diary

TASK = "Your task is to take the coin that is located in the alley, and put it into the box found in the side yard."
START = (
    "You are in the side yard. In one part of the room you see a box, that is empty.\nTo the North you see the lounge."
)


@pytest.fixture
def diary() -> Diary:
    diary = Diary(load("mapreader"), TASK)
    diary.tell(None, START)
    return diary


def test_the_task_names_two_rooms(diary: Diary) -> None:
    assert diary.holds("item_at coin alley", "box_at side_yard", "at side_yard", "connected side_yard lounge north")


def test_the_map_connects_without_directions(diary: Diary) -> None:
    text = (
        "The map reads:\n  The side yard connects to the lounge.\n  The lounge connects to the side yard and alley.\n"
    )
    diary.tell("read map", text)
    assert diary.facts("on_map") == {("side_yard", "lounge"), ("lounge", "alley")}
    assert diary.holds("map_known")
    assert not any("alley" in args for args in diary.facts("connected"))


def test_coin_and_box(diary: Diary) -> None:
    diary.tell("take coin", "You take the coin.")
    assert diary.holds("have coin")
    assert not diary.facts("item_at")
    diary.tell("put coin in box", "You put the coin in the box.")
    assert diary.holds("in_box coin")
    assert not diary.facts("have")


def test_a_coin_that_lies_elsewhere_is_seen(diary: Diary) -> None:
    diary.tell("move north", "You are in the lounge. There is also a coin.\nTo the South you see the side yard.")
    assert diary.holds("item_at coin lounge")
