from __future__ import annotations

import pytest

from pddlego.methods.textgames.loading import load
from pddlego.methods.textgames.settings import GameSetting
from pddlego.methods.textgames.world import mismatch, names_any, normalize_command
from pddlego.pddl import Problem, TypedName, parse_problem
from pddlego.planning import PlanStep

KNOWN = Problem("p", "d", frozenset(TypedName(name, "location") for name in ("kitchen", "loc1", "living_room")))
MOVE = PlanStep("move", ("kitchen", "loc1", "north"))
NAMED = PlanStep("move", ("kitchen", "living_room", "north"))


@pytest.mark.parametrize(
    ("step", "text", "expected"),
    [
        (MOVE, "You are in the pantry. To the", ""),
        (MOVE, "You are in the living room. To the", "the plan expected loc1, and it is living room"),
        (NAMED, "You are in the living room. To the", ""),
        (NAMED, "You are in the pantry. To the", "the plan expected living room, and it is pantry"),
        (MOVE, "You can't move there, the door is closed. ", "the game answered otherwise than the plan expected"),
        (PlanStep("open_door", MOVE.args), "You open the wood door, revealing the pantry. ", ""),
        (PlanStep("open_door", MOVE.args), "That is already open. ", "the game answered otherwise"),
        (PlanStep("take", ("coin", "kitchen")), "You take the coin.", ""),
    ],
)
def test_what_surprises(coin: GameSetting, step: PlanStep, text: str, expected: str) -> None:
    result = mismatch(coin.start.with_problem(KNOWN), step, text, ["To the North you see the living room."])
    assert result.startswith(expected)
    assert bool(result) is bool(expected)


@pytest.mark.parametrize(
    ("command", "sent"),
    [
        ("put cup in tv stand", "put cup in TV stand"),
        ("put cup in tv-stand", "put cup in TV stand"),
        ("take t-shirt", "take T-shirt"),
        ("take cup", "take cup"),
        ("take Cup", "take Cup"),
        ("fly away", "fly away"),
    ],
)
def test_commands_are_sent_as_the_game_spells_them(command: str, sent: str) -> None:
    assert normalize_command(command, ["put cup in TV stand", "take T-shirt", "take cup", "take Cup"]) == sent


@pytest.mark.parametrize(
    ("names", "text", "found"),
    [
        (["mug"], "On the shelf 1, you see a mug 1.", True),
        (["mug", "desklamp"], "you see a Desklamp 2, and a pen 1.", True),
        (["credit_card"], "you see a credit card 1.", True),
        (["pan"], "you see a pancake 1, and a saucepan 2.", False),
        ([], "you see a mug 1.", False),
    ],
)
def test_a_thing_is_named_by_whole_words(names: list[str], text: str, found: bool) -> None:
    assert names_any(names, text) is found


def test_only_a_plan_for_a_goal_about_such_things_looks_for_them() -> None:
    start = load("household").start
    problem = "(define (problem p) (:domain household) (:objects mug - kind shelf_1 - place)"
    known = start.with_problem(parse_problem(f"{problem} (:init (likely mug shelf_1)) (:goal (and)))"))
    looks = {rung.name: known.sought_for(rung.goal) for rung in known.ladder}
    assert {name for name, things in looks.items() if things == {"mug"}} == {
        *("look at every likely place that does not open", "look into every likely place", "look into every place"),
    }
    assert not any(start.sought_for(rung.goal) for rung in start.ladder)
    assert not load("coin").start.sought_for(known.ladder[-1].goal)
