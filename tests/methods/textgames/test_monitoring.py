"""Execution monitoring: nothing is asked where all went as planned, and a plan ends at a surprise."""

from __future__ import annotations

import json

from pddlego.events import Accepted, Asked, Outcome
from pddlego.methods.textgames.events import Observed
from pddlego.methods.textgames.expect import says_nothing_new
from pddlego.methods.textgames.reader import ReaderModel
from pddlego.methods.textgames.setting_files import load_setting
from pddlego.methods.textgames.settings import GameSetting
from pddlego.planning import PlanStep, ProcessPlanner
from tests.methods.textgames.grid_house import small_house
from tests.methods.textgames.playing import ForgetfulModel, ended, of, play

KNOWN = json.dumps(
    {
        "objects": {"add": ["kitchen corridor - location"]},
        "init": {
            "add": [
                "(at kitchen) (visited kitchen) (item_at coin corridor)",
                "(connected kitchen corridor east) (connected corridor kitchen west)",
            ]
        },
    }
)
"""All that the first look shows, and a coin where there is none."""


def test_what_was_said_before_or_is_expected_to_the_word_is_nothing_new() -> None:
    setting = load_setting("cooking-easy")
    take, move = PlanStep("take", ("red_potato", "kitchen")), PlanStep("move", ("kitchen", "hall", "north"))
    assert says_nothing_new(setting, take, "You take the red potato.", ())
    assert not says_nothing_new(setting, take, "You take the red potato. It is hot.", ())
    assert not says_nothing_new(setting, move, "You are in the hall. To the South you see the kitchen.", ())
    assert says_nothing_new(
        setting, move, "You are in the hall. You see a box.", ["You are in the hall. You see a box."]
    )
    assert not says_nothing_new(setting, PlanStep("eat_meal", ()), "You eat the meal.", ())


def test_after_moves_that_bring_nothing_new_no_model_is_asked(planner: ProcessPlanner) -> None:
    """In Cooking World things that were found are taken: the game says so, and nothing else."""
    from pddlego.methods.textgames.assembly import make_game

    setting = load_setting("cooking-easy")
    monitored = play(setting, planner, make_game(setting, 3), ReaderModel())
    asked = play(setting, planner, make_game(setting, 3), ReaderModel(), "edit-no-replanning")
    assert ended(monitored).outcome is ended(asked).outcome is Outcome.WON
    assert [each.command for each in of(monitored, Observed)] == [each.command for each in of(asked, Observed)]
    by_plan = [each for each in of(monitored, Accepted) if each.source == "plan"]
    assert by_plan
    assert any(fact.startswith("(have ") for each in by_plan for fact in each.added)
    assert len(of(asked, Asked)) == len(of(monitored, Asked)) + len(by_plan)
    assert {each.source for each in of(asked, Accepted)} == {"model"}


def test_without_replanning_a_plan_is_carried_out_to_its_end(coin: GameSetting, planner: ProcessPlanner) -> None:
    stopped = play(coin, planner, small_house(), ForgetfulModel([KNOWN]))
    carried = play(coin, planner, small_house(), ForgetfulModel([KNOWN]), "edit-no-replanning")
    first = [each.command for each in of(stopped, Observed)][1:3]
    assert first == [each.command for each in of(carried, Observed)][1:3] == ["move east", "take coin"]
    assert of(carried, Observed)[2].refused
    before = [each.type for each in carried[: carried.index(of(carried, Observed)[2])]]
    assert before.count("asked") == 1
