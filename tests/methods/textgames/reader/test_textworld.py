"""What the reader makes of TextWorld's sentences: the grammar of the games has many for the same thing."""

from __future__ import annotations

import pytest

from pddlego.methods.textgames.loading import load
from tests.methods.textgames.reader.asking import Diary


def told(text: str, command: str | None = None, setting: str = "textworld-treasure") -> Diary:
    diary = Diary(load(setting))
    diary.tell(command, f"-= Steam Room =-\nYou've entered a steam room. The room is well lit.\n\n{text}")
    return diary


def test_only_a_heading_makes_a_room() -> None:
    diary = Diary(load("textworld-treasure"))
    assert not diary.tell(None, "You can't go that way. You see a closed box here.").facts
    assert told("").facts("at") == {("steam_room",)}


def test_what_comes_before_the_heading_is_not_in_the_room() -> None:
    diary = told("You see an open box. The box contains a key.")
    text = "You take the key from the box.\n-= Steam Room =-\nYou see an open box. The box is empty."
    diary.tell("take key", text)
    assert diary.holds("have key")
    assert not diary.facts("item_at") and not diary.facts("closed")


@pytest.mark.parametrize(
    "sentence",
    [
        "There is an unblocked exit to the north.",
        "There is an exit to the north. Don't worry, it is unguarded.",
        "You need an unguarded exit? You should try going north.",
        "You don't like doors? Why not try going north, that entranceway is not blocked by one.",
    ],
)
def test_exits_without_doors(sentence: str) -> None:
    assert told(sentence).facts("connected") == {("steam_room", "loc1", "north"), ("loc1", "steam_room", "south")}


def test_doors_come_before_exits_to_several_sides() -> None:
    diary = told("There are exits to the north, south and west. There is a closed type S hatch leading east.")
    exits = {(to, way) for room, to, way in diary.facts("connected") if room == "steam_room"}
    assert exits == {("loc1", "east"), ("loc2", "north"), ("loc3", "south"), ("loc4", "west")}
    assert diary.facts("closed_door") == {("loc1", "steam_room")}
    assert ("type_s_hatch", "steam_room", "loc1") in diary.facts("door")


@pytest.mark.parametrize(
    ("sentence", "closed", "opened"),
    [
        ("You see a closed fridge right there by you.", "fridge", ""),
        ("You make out a locked case, which looks red, in the room.", "red_case", ""),
        ("You make out a locked case, which looks usual, in the room.", "case", ""),
        ("You can see a red looking box.", "red_box", ""),
        ("You scan the room for a suitcase, and you find a suitcase!", "suitcase", ""),
        ("You can make out a coffer. Classic TextWorld. Empty! What kind of nightmare is this?", "", "coffer"),
        ("You see an opened fridge. The fridge contains a carrot.", "", "fridge"),
        ("You smell a terrible smell, and follow it to a box. What a letdown! The box is empty!", "", "box"),
        ("A locked cabinet is in the corner.", "cabinet", ""),
        ("You make out a chest. You see a shelf. The shelf is typical. But the thing is empty, sadly.", "chest", ""),
    ],
)
def test_containers(sentence: str, closed: str, opened: str) -> None:
    diary = told(sentence)
    containers = {obj.name for obj in diary.problem.objects if obj.type == "container"}
    assert containers == {closed or opened}
    assert diary.facts("closed") == ({(closed, "steam_room")} if closed else set())


@pytest.mark.parametrize(
    "sentence",
    [
        "On the table you can make out a cookbook and a raw red potato.",
        "You see a cookbook and a raw red potato on the counter.",
        "The fridge contains a cookbook and a raw red potato.",
        "There is a cookbook and a raw red potato in it.",
        "There is a cookbook and a raw red potato on the floor.",
        "In it, you can see a cookbook and a raw red potato.",
        "Let's see what's inside - a cookbook and a raw red potato, so there's that.",
    ],
)
def test_contents(sentence: str) -> None:
    diary = told(sentence, setting="textworld-cooking-hard")
    assert diary.facts("thing_at") == {("cookbook", "steam_room"), ("red_potato", "steam_room")}


def test_preparations_are_read_of_words_before_a_name() -> None:
    diary = told("On the table you see a fried sliced red potato.", setting="textworld-cooking-hard")
    assert diary.facts("is") == {("red_potato", "fried"), ("red_potato", "sliced")}
    diary.tell("inventory", "You are carrying: a knife, some salt and a diced carrot.")
    assert diary.facts("have") == {("knife",), ("salt",), ("carrot",)}
    assert diary.holds("is carrot diced")


@pytest.mark.parametrize("sentence", ["You see a closed fridge in the room.", "Hm. Oh well.", "You see a shelf."])
def test_sentences_without_contents(sentence: str) -> None:
    assert not told(sentence).facts("item_at")
