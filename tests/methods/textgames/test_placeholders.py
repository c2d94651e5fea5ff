"""Placeholders: no number is used twice in an episode."""

from __future__ import annotations

from pddlego.episode.events import Asked
from pddlego.methods.textgames.memory import Placeholders
from pddlego.methods.textgames.reader import ReaderModel
from pddlego.methods.textgames.settings import GameSetting
from pddlego.pddl import parse_problem
from pddlego.planning import ProcessPlanner
from tests.methods.textgames.grid_house import small_house
from tests.methods.textgames.playing import of, play


def test_the_next_is_one_more_than_ever() -> None:
    names = Placeholders("loc")
    assert names.next == "loc1"
    for rooms in ("loc1 loc7 kitchen", "loc2 loc", "location9"):
        names.used(
            parse_problem(f"(define (problem p) (:domain d) (:objects {rooms} - location) (:init) (:goal (and)))")
        )
        assert names.next == "loc8"
    assert Placeholders("").next == ""


def test_a_model_is_told_and_a_number_does_not_come_again(coin: GameSetting, planner: ProcessPlanner) -> None:
    asked = of(play(coin, planner, small_house("pantry"), ReaderModel()), Asked)
    text = [line for message in asked for line in message.messages[-1].content.splitlines() if "placeholder is" in line]
    assert text[0] == "The next new placeholder is loc1."
    assert len(text) == len(asked)
    numbers = [int(line.rstrip(".").rpartition("loc")[2]) for line in text]
    assert numbers == sorted(numbers)
    assert numbers[-1] > 1
