from __future__ import annotations

import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pddlego.methods.textgames.games import GameSpec
from pddlego.methods.textgames.games.java import ExpressGame
from pddlego.methods.textgames.loading import load
from pddlego.methods.textgames.reader.text import (
    ADJECTIVES,
    Exit,
    Holder,
    Recipe,
    Room,
    Thing,
    read_map,
    read_opened,
    read_recipe,
    read_room,
    read_thing,
    read_things,
    revealed_room,
)
from pddlego.methods.textgames.world import normalize_command
from pddlego.pddl import from_name, to_name
from pddlego.pddl.names import is_name
from tests.methods.textgames.reader.speech import say_room, say_thing, say_things

NAMES = st.sampled_from(
    [
        "carrot",
        "red hot pepper",
        "block of cheese",
        "TV remote control",
        "clean teal T-shirt",
        "used Q-tip",
        "olive oil",
    ]
)
THINGS = st.builds(
    Thing,
    NAMES,
    st.sets(st.sampled_from(ADJECTIVES)).map(lambda some: tuple(item for item in ADJECTIVES if item in some)),
    st.sampled_from(["a", "an", "some"]),
)
SOME = st.lists(THINGS, max_size=4).map(tuple)
HOLDERS = st.one_of(
    st.builds(Holder, st.sampled_from(["fridge", "box", "chest of drawers"]), contents=SOME),
    st.builds(Holder, st.sampled_from(["fridge", "cutlery drawer"]), closed=st.just(True)),
    st.builds(Holder, st.sampled_from(["TV stand", "arm chair", "toilet roll holder"]), st.just(True), contents=SOME),
)
EXITS = st.sampled_from(["north", "south", "east", "west"]).flatmap(
    lambda direction: st.one_of(
        st.builds(Exit, st.just(direction), st.sampled_from(["living room", "pantry"])),
        st.builds(Exit, st.just(direction), st.just("side yard"), st.just("sliding patio door")),
        st.builds(Exit, st.just(direction), st.none(), st.just("frosted-glass door"), closed=st.just(True)),
    )
)


@given(st.lists(st.one_of(THINGS, HOLDERS), max_size=8), st.lists(EXITS, max_size=4))
def test_a_room_that_is_said_is_read_back(order: list[Thing | Holder], exits: list[Exit]) -> None:
    things = tuple(item for item in order if isinstance(item, Thing))
    holders = tuple(item for item in order if isinstance(item, Holder))
    room = Room("laundry room", things, holders, tuple(exits))
    assert read_room(say_room(room, order)) == room


@given(st.text())
def test_any_text_is_read(text: str) -> None:
    for read in (read_room, read_thing, read_things, read_opened, read_recipe, read_map, revealed_room):
        read(text)


@given(SOME)
def test_lists_with_and_without_and(things: tuple[Thing, ...]) -> None:
    if things:
        assert read_things(say_things(things)) == things
        assert read_things(", ".join(map(say_thing, things))) == things


@pytest.mark.parametrize("name", ["cooking-full", "twc", "mapreader", "coin"])
def test_every_room_of_the_real_games_is_read_and_said_again(name: str) -> None:
    """What is read of a room, said again, is the room's text: nothing is lost, nothing is taken for another thing."""
    setting = load(name)
    parameters = {key: parameter.value for key, parameter in setting.parameters.items()}
    rooms = 0
    for seed in range(6):
        rng, game = random.Random(seed), ExpressGame(GameSpec(setting.game.name, parameters, seed, setting.game.fold))
        answer = game.start()
        for _ in range(25):
            room = read_room(answer.text)
            if room is not None:
                rooms += 1
                assert _normal(say_room(room, _order(answer.text, room))) == _normal(answer.text)
                _names_go_into_pddl_and_back(room, answer.valid_commands)
            verb = rng.choice(["open", "move", "move", "look", "take", "put"])
            commands = [command for command in answer.valid_commands if command.startswith(verb)]
            answer = game.step(rng.choice(commands or ["look around"]))
    assert rooms > 40


def _names_go_into_pddl_and_back(room: Room, valid: tuple[str, ...]) -> None:
    """What is read of a room can be taken and opened by the command that its PDDL name makes."""
    for verb, names in (("take", room.in_sight()), ("open", room.holders)):
        for thing in names:
            if f"{verb} {thing.name}" in valid:
                assert is_name(to_name(thing.name))
                assert normalize_command(f"{verb} {from_name(to_name(thing.name))}", valid) == f"{verb} {thing.name}"
    takeable = {item.removeprefix("take ") for item in valid if item.startswith("take ")}
    assert takeable <= {thing.name for thing in room.in_sight()}, "no adjective or article is left in a name"


def _order(text: str, room: Room) -> list[Thing | Holder]:
    everything: list[Thing | Holder] = [*room.things, *room.holders]
    # A holder that holds a thing of another's name is found by the words that follow its own name.
    marks = {id(item): rf"(?:see|also) (?:\w+ )*?{re.escape(item.name)}(?=[.,]| that)" for item in everything}

    def position(item: Thing | Holder) -> int:
        match = re.search(marks[id(item)], text)
        assert match is not None
        return match.start()

    return sorted(everything, key=position)


def _normal(text: str) -> str:
    """Without what the values do not keep: articles, which are wrong in the game at times, and spaces at line ends."""
    return re.sub(r"\b[Aa]n?\b ?", "", re.sub(r"\s+", " ", text)).strip()


def test_adjectives_are_not_part_of_the_name() -> None:
    assert read_thing("a raw fried chopped red potato") == Thing("red potato", ("raw", "fried", "chopped"))
    assert read_thing("some black pepper") == Thing("black pepper", (), "some")
    assert read_thing("an used Q-tip") == Thing("used Q-tip", (), "an")
    assert read_thing("stove") is None


def test_a_container_that_was_opened() -> None:
    opened = read_opened("You open the fridge. The fridge contains a block of cheese, some water, a raw pork chop.")
    assert opened is not None
    assert [content.name for content in opened.contents] == ["block of cheese", "water", "pork chop"]
    assert read_opened("You open the trash can. It's empty inside.") == Holder("trash can")
    assert read_opened("You open the wood door, revealing the pantry. ") is None
    assert revealed_room("You open the wood door, revealing the living room. ") == "living room"


RECIPE = """Gather all following ingredients and follow the directions to prepare this tasty meal.

Ingredients:
  red hot pepper
  salt

Directions:
  slice the red hot pepper
  grill the red hot pepper
  prepare meal
"""


@pytest.mark.parametrize("text", [RECIPE, "\n".join(line.strip() for line in RECIPE.splitlines() if line.strip())])
def test_a_recipe(text: str) -> None:
    wanted = (("slice", "red hot pepper"), ("grill", "red hot pepper"))
    assert read_recipe(text) == Recipe(("red hot pepper", "salt"), wanted)


def test_a_map() -> None:
    text = "The map reads:\n  The bar connects to the side yard, attic and shower.\n  The attic connects to the bar.\n"
    assert read_map(text) == (("bar", "side yard"), ("bar", "attic"), ("bar", "shower"), ("attic", "bar"))
