"""What the reader makes of TextWorld's sentences: the grammar of the games has many for the same thing."""

from __future__ import annotations

import pytest

from pddlego.methods.textgames.reader.text import Exit, Holder, Thing
from pddlego.methods.textgames.reader.textworld import contents_in, read_textworld_room


def room(text: str) -> str:
    return f"-= Steam Room =-\nYou've entered a steam room. The room is well lit.\n\n{text}"


def test_only_a_heading_makes_a_room() -> None:
    assert read_textworld_room("You can't go that way.") is None
    described = read_textworld_room(room(""))
    assert described is not None and (described.name, described.exits) == ("Steam Room", ())


def test_of_two_headings_the_last_one_counts() -> None:
    described = read_textworld_room("-= Study =-\nA study.\n\n" + room("There is an exit to the west."))
    assert described is not None and described.name == "Steam Room"


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
    described = read_textworld_room(room(sentence))
    assert described is not None and described.exits == (Exit("north", None),)


def test_exits_to_several_sides_and_doors() -> None:
    text = "There are exits to the north, south and west. There is a closed type S hatch leading east."
    described = read_textworld_room(room(text))
    assert described is not None
    assert [exit_.direction for exit_ in described.exits] == ["east", "north", "south", "west"]
    assert described.exits[0] == Exit("east", None, "type S hatch", closed=True)


@pytest.mark.parametrize(
    ("sentence", "holder"),
    [
        ("You see a closed fridge right there by you.", Holder("fridge", closed=True)),
        ("You make out a locked case, which looks red, in the room.", Holder("red case", closed=True)),
        ("You make out a locked case, which looks usual, in the room.", Holder("case", closed=True)),
        ("You can see a red looking box.", Holder("red box", closed=True)),
        ("You scan the room for a suitcase, and you find a suitcase!", Holder("suitcase", closed=True)),
        ("You can make out a coffer. Classic TextWorld. Empty! What kind of nightmare is this?", Holder("coffer")),
        ("You see an opened fridge. The fridge contains a carrot.", Holder("fridge")),
        ("You smell a terrible smell, and follow it to a box. What a letdown! The box is empty!", Holder("box")),
        ("A locked cabinet is in the corner.", Holder("cabinet", closed=True)),
    ],
)
def test_containers(sentence: str, holder: Holder) -> None:
    described = read_textworld_room(room(sentence))
    assert described is not None and described.holders == (holder,)


def test_what_is_said_of_a_surface_does_not_open_the_container_before_it() -> None:
    text = "You make out a chest. You see a shelf. The shelf is typical. But the thing is empty, unfortunately."
    described = read_textworld_room(room(text))
    assert described is not None
    assert Holder("chest", closed=True) in described.holders


@pytest.mark.parametrize(
    "sentence",
    [
        "On the table you can make out a cookbook and a raw red potato.",
        "You see a cookbook and a raw red potato on the counter.",
        "The fridge contains a cookbook and a raw red potato.",
        "There is a cookbook and a raw red potato in it.",
        "There is a cookbook and a raw red potato on the floor.",
        "In it, you can see a cookbook and a raw red potato.",
        "You open the fridge, revealing a cookbook and a raw red potato.",
        "Let's see what's inside - a cookbook and a raw red potato.",
    ],
)
def test_contents(sentence: str) -> None:
    assert contents_in(sentence) == (Thing("cookbook"), Thing("red potato", ("raw",)))


@pytest.mark.parametrize("sentence", ["You see a closed fridge in the room.", "Hm. Oh well.", "You see a shelf."])
def test_sentences_without_contents(sentence: str) -> None:
    assert contents_in(sentence) == ()
