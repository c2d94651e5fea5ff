"""A command that is refused again and again: what the agent does about it, on a game in pure Python."""

from __future__ import annotations

import json

import pytest

from pddlego.episode import events as ev
from pddlego.episode.events import Outcome
from pddlego.methods.textgames.events import Observed
from pddlego.methods.textgames.memory import FUTILE, REPEATED, Refusals
from pddlego.methods.textgames.settings import GameSetting
from pddlego.planning import ProcessPlanner
from tests.methods.textgames.grid_house import small_house
from tests.methods.textgames.playing import ForgetfulModel, ended, of, play

WRONG = json.dumps(
    {
        "objects": {"add": ["kitchen - location", "corridor - location"]},
        "init": {
            "add": [
                *("(at kitchen)", "(visited kitchen)", "(connected kitchen corridor east)"),
                *("(connected corridor kitchen west)", "(closed_door kitchen corridor)"),
            ]
        },
    }
)
"""There is no door to the corridor, and the pantry behind the real one is left out."""


def test_refusals_are_counted_until_the_problem_changes() -> None:
    refusals = Refusals()
    assert not refusals.repeated
    assert not refusals.look_is_due
    assert refusals.objection("open x") == ""
    for _ in range(REPEATED):
        refusals.refused("open x")
    refusals.refused("open y")
    assert refusals.repeated == (("open x", REPEATED),)
    assert refusals.look_is_due
    refusals.look_is_due = False
    assert not refusals.look_is_due
    assert refusals.objection("open x") == ""
    for _ in range(FUTILE - REPEATED):
        refusals.refused("open x")
    assert refusals.objection("open x") == f"the game refused 'open x' {FUTILE} times"
    assert not refusals.look_is_due
    refusals.changed()
    assert not refusals.repeated
    assert refusals.objection("open x") == ""


@pytest.mark.parametrize("tells_looks", [True, False])
def test_answers_that_change_nothing_do_not_send_the_same_for_ever(
    coin: GameSetting, planner: ProcessPlanner, tells_looks: bool
) -> None:
    game = small_house(tells_looks=tells_looks)
    events = play(coin, planner, game, ForgetfulModel([WRONG, *["{}"] * 60]))
    assert ended(events).outcome is Outcome.NO_PLAN
    assert game.commands.count("open door to east") == FUTILE
    assert ended(events).usage.refused == FUTILE
    assert game.commands.count("look around") == (0 if tells_looks else 2), (
        "once for the refusals, once as no goal was left"
    )
    assert ended(events).usage.steps == len(game.commands)
    evidence = of(events, ev.Rejected)[0].feedback.evidence
    assert any("the game refused 'open door to east' 3 times" in line for line in evidence)


def test_what_was_missed_is_seen_again(coin: GameSetting, planner: ProcessPlanner) -> None:
    model = ForgetfulModel([WRONG, "{}"])
    events = play(coin, planner, small_house(tells_looks=True), model)
    assert ended(events).outcome is Outcome.WON
    assert ended(events).usage.refused == REPEATED
    (look,) = [item for item in of(events, Observed) if item.free]
    assert (look.command, look.step) == ("look around", REPEATED)
    assert not any(item.free for item in of(events, Observed) if item is not look)


def test_the_model_is_shown_everything_since_its_last_change(coin: GameSetting, planner: ProcessPlanner) -> None:
    model = ForgetfulModel([WRONG, "{}"])
    play(coin, planner, small_house(tells_looks=True), model)
    shown = [request.messages[-1].content for request in model.requests]
    assert "repeats itself" not in shown[1]
    assert "the game refused 'open door to east' 2 times" in shown[2]
    assert shown[2].count("The agent did: open door to east") == 2
    assert shown[2].count("The agent did: look around") == 1
    assert not any("repeats itself" in item for item in shown[3:])


def test_without_remedies_it_goes_on_as_before(coin: GameSetting, planner: ProcessPlanner) -> None:
    game = small_house(tells_looks=True)
    events = play(coin, planner, game, ForgetfulModel([WRONG, *["{}"] * 60]), "edit-no-remedies")
    assert ended(events).outcome is Outcome.STEP_LIMIT
    assert set(game.commands) == {"open door to east"}
    assert not any(item.free for item in of(events, Observed))


def test_where_no_goal_can_be_reached_the_agent_looks_and_then_tells_all(
    coin: GameSetting, planner: ProcessPlanner
) -> None:
    lost = json.dumps(
        {"objects": {"add": ["kitchen - location"]}, "init": {"add": ["(at kitchen)", "(visited kitchen)"]}}
    )
    model = ForgetfulModel([lost] * 4)
    events = play(coin, planner, small_house(tells_looks=True), model)
    assert ended(events).outcome is Outcome.WON
    shown = [request.messages[-1].content for request in model.requests]
    assert ["look around" in item for item in shown[:3]] == [False, False, True]
    assert of(events, Observed)[1].free
    assert ended(events).usage.steps == 4
