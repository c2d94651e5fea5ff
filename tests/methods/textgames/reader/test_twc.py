from __future__ import annotations

import pytest

import pddlego
from pddlego.methods.textgames.events import Observed
from pddlego.methods.textgames.loading import load
from pddlego.methods.textgames.reader.houses import last_resort, places
from tests.methods.textgames.reader.asking import Diary

LAUNDRY = (
    "You are in the laundry room. In one part of the room you see a bench, that has nothing on it. There is also a "
    "washing machine that is closed. You also see a dirty red T-shirt. In another part of the room you see an used "
    "plastic cup.\nTo the South you see the corridor."
)


@pytest.fixture
def diary() -> Diary:
    diary = Diary(load("twc"))
    diary.tell(None, LAUNDRY)
    return diary


def test_a_first_look(diary: Diary) -> None:
    assert diary.facts("item_at") == {("dirty_red_t-shirt", "laundry_room"), ("used_plastic_cup", "laundry_room")}
    assert diary.facts("holder_at") == {("bench", "laundry_room"), ("washing_machine", "laundry_room")}
    assert diary.facts("closed") == {("washing_machine", "laundry_room")}
    assert diary.facts("belongs") == {("dirty_red_t-shirt", "washing_machine")}, "for the cup nothing was seen yet"


def test_the_score_says_whether_it_was_right(diary: Diary) -> None:
    diary.tell("take dirty red T-shirt", "You take the dirty red T-shirt.")
    diary.tell("open washing machine", "You open the washing machine. It's empty inside.")
    put = "You put the dirty red T-shirt in the washing machine."
    diary.tell("put dirty red T-shirt in washing machine", put, gained=0.25)
    assert diary.holds("put_away dirty_red_t-shirt")
    assert not diary.facts("have") | diary.facts("belongs") | diary.facts("closed")


def test_fixtures_are_not_items(diary: Diary) -> None:
    before = diary.facts("item_at")
    diary.tell(
        "look around", LAUNDRY.replace("\n", " In one part of the room you see a toilet. There is also an oven.\n")
    )
    assert diary.facts("item_at") == before


def test_what_the_game_refuses_to_give_does_not_lie_about(diary: Diary) -> None:
    refusal = "Unknown action: I'm not sure what you mean."
    diary.tell("open bench", refusal)
    assert ("used_plastic_cup", "laundry_room") in diary.facts("item_at")
    diary.tell("take used plastic cup", refusal)
    assert diary.facts("item_at") == {("dirty_red_t-shirt", "laundry_room")}


def test_a_learned_rule_for_items_does_not_read_fixtures() -> None:
    """In the living room of seed 260 *you see a kettle*, and in the kitchen *you see a stove*."""
    episode = pddlego.play("twc", mode="learn-facts", seed=260)
    texts = [event.text for event in episode.events if isinstance(event, Observed)]
    assert episode.won, episode.message
    assert any("you see a kettle." in text for text in texts)
    assert any("you see a stove." in text for text in texts)
    assert not [text for text in texts if text.startswith("Unknown action")]


def test_another_place_is_tried_after_a_wrong_one(diary: Diary) -> None:
    diary.tell("move south", "You are in the corridor.\nTo the North you see the laundry room.")
    (first,) = (holder for item, holder in diary.facts("belongs") if item == "used_plastic_cup")
    assert first == "bench", "all rooms were seen, so the best that is left"
    diary.tell("move north", LAUNDRY)
    diary.tell("take used plastic cup", "You take the used plastic cup.")
    diary.tell("put used plastic cup in bench", "You put the used plastic cup in the bench.")
    assert diary.holds(
        "tried used_plastic_cup bench",
        "item_at used_plastic_cup laundry_room",
        "belongs used_plastic_cup washing_machine",
    )


def test_what_is_put_away_is_not_picked_up_again(diary: Diary) -> None:
    diary.tell("put dirty red T-shirt in bench", "You put the dirty red T-shirt in the bench.", gained=0.25)
    diary.tell("look around", "You are in the laundry room. There is also a bench that has a dirty red T-shirt on it.")
    assert ("dirty_red_t-shirt", "laundry_room") not in diary.facts("item_at")


def test_common_sense() -> None:
    assert places("dirty_plate")[0] == ["dishwasher", "sink"]
    assert places("flip_flops") == [["shoe_cabinet"]]
    assert places("gizmo") == []
    assert sorted(["bed", "kitchen_cupboard", "chandelier"], key=last_resort)[-1] == "chandelier"
