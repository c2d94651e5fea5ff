from __future__ import annotations

import pytest

from pddlego.methods.textgames.settings import GameSetting
from pddlego.methods.textgames.world import mismatch, normalize_command
from pddlego.pddl import Problem, TypedName
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
