from __future__ import annotations

import random
from dataclasses import replace

import pytest

from pddlego.errors import ModelError, UsageError
from pddlego.methods.textgames.loading import load
from pddlego.methods.textgames.reader import ReaderModel, check_reader
from pddlego.methods.textgames.reader.houses import House, missing_things
from pddlego.methods.textgames.settings import GameSetting
from pddlego.models import Message, Request
from pddlego.pddl import Atom, Problem, TypedName
from pddlego.pddl.conditions import parse_condition
from pddlego.planning.world import World
from tests.methods.textgames.reader.asking import Diary
from tests.methods.textgames.situations import situation_with

KITCHEN = (
    "You are in the kitchen. In one part of the room you see a stove. There is also a fridge that is closed. "
    "You also see a counter that has a raw red potato, some salt, and a cookbook on it. In another part of the room "
    "you see a cutlery drawer that is closed.\n"
    "To the South you see a closed patio door. To the East you see the corridor."
)
RECIPE = (
    "Gather all following ingredients and follow the directions to prepare this tasty meal.\nIngredients:\nred potato\n"
    "carrot\nblack pepper\nDirections:\nchop the red potato\ngrill the red potato\nslice the carrot\nprepare meal"
)


@pytest.fixture
def setting() -> GameSetting:
    return load("cooking-hard")


@pytest.fixture
def diary(setting: GameSetting) -> Diary:
    diary = Diary(setting)
    diary.tell(None, KITCHEN)
    return diary


def test_a_first_look(diary: Diary) -> None:
    assert diary.facts("thing_at") == {(name, "kitchen") for name in ("stove", "red_potato", "salt", "cookbook")}
    assert diary.facts("closed") == {("fridge", "kitchen"), ("cutlery_drawer", "kitchen")}
    assert diary.facts("closed_door") == {("kitchen", "loc1")}
    assert diary.facts("likely") == set(), "nothing is known to be needed yet"


def test_the_recipe_says_what_is_wanted_and_sense_where_it_is(diary: Diary) -> None:
    diary.tell("read cookbook", RECIPE)
    assert diary.holds("recipe_known", "ingredient red_potato", "ingredient carrot", "ingredient black_pepper")
    assert diary.facts("wanted") == {("red_potato", "chopped"), ("red_potato", "grilled"), ("carrot", "sliced")}
    likely = diary.facts("likely")
    assert {("knife", "cutlery_drawer"), ("carrot", "fridge"), ("carrot", "loc1"), ("barbeque", "loc1")} <= likely
    assert ("knife", "fridge") not in likely
    assert not any(thing == "red_potato" for thing, _ in likely), "it has been seen"


def test_a_container_gives_up_what_it_holds(diary: Diary) -> None:
    diary.tell("read cookbook", RECIPE)
    diary.tell("open fridge", "You open the fridge. The fridge contains a carrot, a raw block of cheese.")
    assert diary.holds("thing_at carrot kitchen", "thing_at block_of_cheese kitchen")
    assert not diary.holds("closed fridge kitchen")
    assert not any(thing == "carrot" for thing, _ in diary.facts("likely"))
    diary.tell("open cutlery drawer", "You open the cutlery drawer. It's empty inside.")
    assert not diary.facts("closed")


def test_what_lies_on_the_floor_is_seen(setting: GameSetting) -> None:
    diary = Diary(setting)
    diary.tell(None, "You are in the kitchen. There is also a carrot. You also see a bath mat.")
    assert diary.facts("thing_at") == {("carrot", "kitchen")}


def test_no_way_leads_to_a_room_that_was_visited(setting: GameSetting) -> None:
    """The kitchen is a constant of the domain: it must not count as a room that nobody has seen."""
    diary = Diary(setting)
    diary.tell(None, KITCHEN.replace("There is also a fridge that is closed. ", ""))
    diary.tell("read cookbook", RECIPE)
    assert not any(thing == "toaster" for thing, _ in diary.facts("likely"))


def test_what_is_missing_is_what_the_domain_calls_missing(setting: GameSetting) -> None:
    """The rules guess places for the things of which the domain's derived predicate says that they are missing."""
    drawn = 0
    for number in range(60):
        rng = random.Random(number)
        facts = {Atom("at", ("kitchen",))} | ({Atom("recipe_known")} if rng.random() < 0.7 else set())
        for food in ("carrot", "salt"):
            facts |= {Atom("ingredient", (food,))} if rng.random() < 0.7 else set()
            facts |= {Atom(rng.choice(["have", "eaten"]), (food,))} if rng.random() < 0.4 else set()
            if rng.random() < 0.6:
                facts.add(Atom("wanted", (food, rng.choice(["sliced", "diced", "fried", "roasted", "grilled"]))))
        for thing in ("cookbook", "knife", "stove", "oven", "toaster", "barbeque", "carrot"):
            facts |= {Atom("thing_at", (thing, "kitchen"))} if rng.random() < 0.3 else set()
        objects = frozenset(TypedName(food, "item") for food in ("carrot", "salt"))
        problem = Problem("p", "cooking-world", objects, frozenset(facts))
        world = World(setting.start.domain, problem)
        things = [obj.name for obj in world.objects if setting.start.domain.is_a(obj.type, "thing")]
        missing = {name for name in things if world.holds(parse_condition(f"(missing {name})"), world.initial, {})}
        assert missing_things(House.of(problem)) == missing
        drawn += len(missing)
    assert drawn > 60


def test_taking_and_preparing(diary: Diary) -> None:
    diary.tell("take red potato", "You take the red potato.")
    assert diary.holds("have red_potato")
    assert not diary.holds("thing_at red_potato kitchen")
    diary.tell("chop red potato", "You chop the red potato.")
    diary.tell("cook red potato in toaster", "You grill the red potato with the toaster.")
    assert diary.facts("is") == {("red_potato", "chopped"), ("red_potato", "grilled")}
    diary.tell("prepare meal", "Adding the meal to your inventory.")
    assert diary.holds("have meal")


def test_a_look_tells_what_is_there_and_what_is_no_longer(diary: Diary) -> None:
    diary.tell(
        "look around",
        "You are in the kitchen. You also see An open fridge, that contains a fried sliced carrot.\n"
        "Through an open patio door, to the South you see the backyard. To the East you see the corridor.",
    )
    assert diary.facts("thing_at") == {("carrot", "kitchen")}
    assert diary.facts("is") == {("carrot", "fried"), ("carrot", "sliced")}
    assert diary.holds("closed cutlery_drawer kitchen", "connected kitchen backyard south")
    assert not diary.facts("closed_door")


def test_the_same_container_in_two_rooms_is_told_apart(diary: Diary) -> None:
    diary.tell("move east", "You are in the corridor. There is also a fridge that is closed.")
    diary.tell("open fridge", "You open the fridge. It's empty inside.")
    assert diary.facts("closed") == {("fridge", "kitchen"), ("cutlery_drawer", "kitchen")}


def test_what_a_person_wrote_into_the_problem_stays(diary: Diary) -> None:
    added = Atom("wanted", ("salt", "diced"))
    diary.problem = replace(diary.problem, facts=diary.problem.facts | {added})
    assert added in diary.tell("read cookbook", RECIPE).facts


def test_where_it_does_not_choose_commands_it_says_so() -> None:
    setting = load("twc")
    asked = situation_with("twc", "", setting.start.domain, setting.start.problem)
    with pytest.raises(ModelError, match="cannot answer for 'act'"):
        ReaderModel().complete(Request("act", (Message("user", ""),), asked))
    with pytest.raises(UsageError, match="cannot play twc in mode act"):
        check_reader(setting, "act")
    check_reader(setting, "gen")
