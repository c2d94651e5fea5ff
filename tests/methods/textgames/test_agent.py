"""The loop, on a game in pure Python, with the real planner and models that do as they are told."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

import pddlego
from pddlego.episode import events as ev
from pddlego.episode.events import Limits, Outcome
from pddlego.methods.textgames.events import Observed, Planned, PlannedStep
from pddlego.methods.textgames.reader import ReaderModel
from pddlego.methods.textgames.settings import GameSetting
from pddlego.models import Completion, Request
from pddlego.models.base import ScriptedModel
from pddlego.planning import ProcessPlanner
from tests.methods.textgames.grid_house import GridHouse, small_house
from tests.methods.textgames.playing import ForgetfulModel, ended, of, play


@pytest.mark.parametrize("mode", ["edit", "gen", "act"])
def test_the_reader_wins(coin: GameSetting, planner: ProcessPlanner, mode: str) -> None:
    game = small_house()
    events = play(coin, planner, game, ReaderModel(), mode)
    assert ended(events).outcome is Outcome.WON
    assert game.commands[-1] == "take coin"
    assert ended(events).usage.steps == len(game.commands) == 4
    assert ended(events).usage.refused == 0


def test_the_nearest_unvisited_room_comes_first(coin: GameSetting, planner: ProcessPlanner) -> None:
    game = small_house("pantry")
    play(coin, planner, game, ReaderModel())
    assert game.commands[:3] == ["move east", "open door to east", "move east"]
    assert game.commands[3:] == ["move west", "move west", "open door to north", "move north", "take coin"]


def test_events_tell_the_whole_story(coin: GameSetting, planner: ProcessPlanner) -> None:
    events = play(coin, planner, small_house(), ReaderModel())
    kinds = [event.type for event in events]
    assert kinds[:6] == ["started", "observed", "asked", "answered", "accepted", "planned"]
    assert kinds[-2:] == ["observed", "ended"]
    planned = of(events, Planned)
    assert [item.name for item in planned[0].tried] == ["have the coin", "be in a room not yet visited"]
    assert [item.status for item in planned[0].tried] == ["unsolvable", "solved"]
    assert planned[-1].rung == "have the coin"
    assert planned[-1].plan == (
        PlannedStep("(take coin living_room)", "take coin", ("(have coin)",), ("(item_at coin living_room)",)),
    )
    assert of(events, ev.Accepted)[-1].renamed == (("loc2", "living_room"),)
    observed = of(events, Observed)
    assert "stove" in observed[0].text
    assert "stove" not in observed[0].read
    assert "a coin" in observed[-2].read


def test_random_asks_nobody_and_repeats_itself(coin: GameSetting, planner: ProcessPlanner) -> None:
    runs = []
    for _ in range(2):
        game = small_house()
        events = play(coin, planner, game, ScriptedModel(("never asked",)), "random", Limits(6))
        assert ended(events).usage.calls == 0
        runs.append(game.commands)
    assert runs[0] == runs[1]


def test_an_unreadable_answer_is_asked_about_with_the_reason(coin: GameSetting, planner: ProcessPlanner) -> None:
    model = ForgetfulModel(["I am sorry.", '{"init": {"add": ["(at nowhere)", "(have nowhere)"]}}'])
    events = play(coin, planner, small_house(), model)
    assert ended(events).outcome is Outcome.WON
    rejected = of(events, ev.Rejected)
    assert [item.feedback.category for item in rejected] == ["invalid answer", "defects"]
    second, third = model.requests[1].messages[-1].content, model.requests[2].messages[-1].content
    assert "I am sorry." in second
    assert "no JSON object" in second
    assert "object nowhere is not declared" in third
    assert "attempt 2" in third
    assert "(at nowhere)" not in of(events, ev.Accepted)[0].text


def test_an_edit_that_reaches_no_goal_is_taken_back(coin: GameSetting, planner: ProcessPlanner) -> None:
    lost = {"objects": {"add": ["attic - location"]}, "init": {"add": ["(at attic)", "(visited attic)"]}}
    true = {"objects": {"add": ["attic - location"]}, "init": {"add": ["(at attic)"]}}
    model = ForgetfulModel([json.dumps(lost), json.dumps(true)])
    events = play(coin, planner, small_house(), model)
    assert ended(events).outcome is Outcome.WON
    assert [item.feedback.category for item in of(events, ev.Rejected)] == ["goal unreachable", "goal already true"]
    assert "attic" not in of(events, ev.Accepted)[0].text
    assert "have the coin: unsolvable" in model.requests[1].messages[-1].content
    assert [item.rung for item in of(events, Planned)][:2] == [None, None]


def test_after_five_retries_the_episode_ends(coin: GameSetting, planner: ProcessPlanner) -> None:
    events = play(coin, planner, small_house(), ScriptedModel(("no",)))
    assert ended(events).outcome is Outcome.NO_PLAN
    assert len(of(events, ev.Asked)) == 6
    assert "6 answers in a row" in ended(events).message
    assert len(of(play(coin, planner, small_house(), ScriptedModel(("no",)), retries=0), ev.Asked)) == 1


def test_lines_that_matched_nothing_go_back_to_the_model_once(coin: GameSetting, planner: ProcessPlanner) -> None:
    reader = ReaderModel()

    @dataclass
    class Sloppy:
        requests: list[Request] = field(default_factory=list)
        name: str = "sloppy"
        description: Mapping[str, Any] = field(default_factory=dict)

        def complete(self, request: Request) -> Completion:
            self.requests.append(request)
            edit = json.loads(reader.complete(request).text)
            if len(self.requests) == 1:
                edit["init"]["delete"].append("(at moon)")
            return Completion(json.dumps(edit))

    model = Sloppy()
    events = play(coin, planner, small_house(), model)
    assert ended(events).outcome is Outcome.WON
    assert [line.kind for line in of(events, ev.Accepted)[0].lines if "moon" in line.line] == ["matched nothing"]
    assert "(at moon): matched nothing" in model.requests[1].messages[-1].content
    assert "moon" not in model.requests[2].messages[-1].content


def test_a_door_that_shows_a_known_room_stops_the_plan(coin: GameSetting, planner: ProcessPlanner) -> None:
    """The plan opens a door to a placeholder; behind it is a room that was visited: going there would be wasted."""
    exits = {("kitchen", "north"): "pantry", ("kitchen", "east"): "corridor", ("corridor", "north"): "pantry"}
    first = {
        "objects": {"add": ["kitchen pantry corridor loc1 - location"]},
        "init": {
            "add": [
                "(at corridor) (visited corridor) (visited kitchen) (visited pantry)",
                "(connected corridor loc1 north) (closed_door corridor loc1)",
            ]
        },
    }
    model = ForgetfulModel([json.dumps(first)])
    game = GridHouse(exits, frozenset({frozenset({"corridor", "pantry"})}), "nowhere", start="corridor")
    events = play(coin, planner, game, model, limits=Limits(1))
    observed = of(events, Observed)[-1]
    assert observed.command == "open door to north"
    assert observed.mismatch == "the plan expected loc1, and it is pantry"


def test_a_refused_command_stops_the_plan_and_is_counted(coin: GameSetting, planner: ProcessPlanner) -> None:
    wrong = {
        "objects": {"add": ["kitchen loc1 loc2 - location"]},
        "init": {
            "add": [
                "(at kitchen) (visited kitchen) (visited loc1)",
                "(connected kitchen loc1 north) (connected loc1 loc2 north)",
            ]
        },
    }
    model = ForgetfulModel([json.dumps(wrong)])
    events = play(coin, planner, small_house(), model)
    assert len(of(events, Planned)[0].plan) == 2
    first = of(events, Observed)[1]
    assert first.refused
    assert first.mismatch
    assert events[events.index(first) + 1].type == "asked"
    assert ended(events).usage.refused == sum(item.refused for item in of(events, Observed)) >= 1
    assert "can't move there" in model.requests[1].messages[-1].content


def test_replanning_at_every_step(coin: GameSetting, planner: ProcessPlanner) -> None:
    usual = play(coin, planner, small_house("pantry"), ReaderModel())
    often = play(coin, planner, small_house("pantry"), ReaderModel(), replan="every-step")
    assert ended(often).outcome is Outcome.WON
    assert len(of(often, Planned)) == ended(often).usage.steps
    assert len(of(often, Planned)) > len(of(usual, Planned))


def test_a_command_that_leaves_the_file_as_it_was_is_asked_about_and_not_repeated_without_end() -> None:
    """The answer leaves out that the recipe is known now, and the plan would read it again and again."""

    class Forgetful(ReaderModel):
        times = 2

        def complete(self, request: Request) -> Completion:
            answer = json.loads(super().complete(request).text)
            added = answer["init"]["add"]
            if "(recipe_known)" in added and self.times:
                self.times -= 1
                added.remove("(recipe_known)")
            elif not self.times:
                assert "'read cookbook' went as planned and left the file as it was" in request.messages[-1].content
                self.times -= 1
            return Completion(json.dumps(answer))

    episode = pddlego.play("cooking-easy", mode="edit", seed=2, model=Forgetful())
    assert episode.won
    assert [event.command for event in of(episode.events, Observed)].count("read cookbook") == 3
