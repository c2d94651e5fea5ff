"""The loop, on a game in pure Python, with the real planner and models that do as they are told."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from pddlego import events as ev
from pddlego.agent import Agent
from pddlego.errors import EngineError, ModelError
from pddlego.events import EpisodeEnded, Event, Limits, Outcome, dump_event
from pddlego.games import Game, Observation
from pddlego.models import Completion, Model, Request
from pddlego.models.base import ScriptedModel
from pddlego.models.reader import ReaderModel
from pddlego.planning import ProcessPlanner
from pddlego.play import make_method
from pddlego.settings import ActionRule, Setting
from tests.grid_house import GridHouse, small_house


def play(
    setting: Setting,
    planner: ProcessPlanner,
    game: Game,
    model: Model,
    mode: str = "edit",
    limits: Limits | None = None,
    **options: Any,
) -> list[Event]:
    method = make_method(mode, setting, 1)
    agent = Agent(setting, 1, game, method, model, planner, limits or Limits(50), **options)
    return list(agent.run())


def ended(events: Sequence[Event]) -> EpisodeEnded:
    last = events[-1]
    assert isinstance(last, EpisodeEnded)
    assert sum(isinstance(each, EpisodeEnded) for each in events) == 1
    return last


def of(events: Sequence[Event], kind: type[Any]) -> list[Any]:
    return [each for each in events if isinstance(each, kind)]


@dataclass
class BrokenModel:
    """Answers like the reader until a call, then raises."""

    error: BaseException
    after: int = 0
    reader: ReaderModel = field(default_factory=ReaderModel)
    calls: int = 0
    name: str = "broken"
    description: Mapping[str, Any] = field(default_factory=dict)

    def complete(self, request: Request) -> Completion:
        self.calls += 1
        if self.calls > self.after:
            raise self.error
        return self.reader.complete(request)


@dataclass
class ForgetfulModel:
    """The reader, but its first answers are the given ones. Keeps the requests."""

    first: list[str]
    reader: ReaderModel = field(default_factory=ReaderModel)
    requests: list[Request] = field(default_factory=list)
    name: str = "forgetful"
    description: Mapping[str, Any] = field(default_factory=dict)

    def complete(self, request: Request) -> Completion:
        self.requests.append(request)
        if len(self.requests) <= len(self.first):
            return Completion(self.first[len(self.requests) - 1], 10, 5)
        return self.reader.complete(request)


@pytest.mark.parametrize("mode", ["edit", "gen", "act"])
def test_the_reader_wins(coin: Setting, planner: ProcessPlanner, mode: str) -> None:
    game = small_house()
    events = play(coin, planner, game, ReaderModel(), mode)
    assert ended(events).outcome is Outcome.WON
    assert game.commands[-1] == "take coin"
    assert ended(events).tally.steps == len(game.commands) == 4
    assert ended(events).tally.refused == 0


def test_the_nearest_unvisited_room_comes_first(coin: Setting, planner: ProcessPlanner) -> None:
    game = small_house("pantry")
    play(coin, planner, game, ReaderModel())
    assert game.commands[:3] == ["move east", "open door to east", "move east"]
    assert game.commands[3:] == ["move west", "move west", "open door to north", "move north", "take coin"]


def test_events_tell_the_whole_story(coin: Setting, planner: ProcessPlanner) -> None:
    events = play(coin, planner, small_house(), ReaderModel())
    kinds = [each.type for each in events]
    assert kinds[:6] == ["started", "observed", "asked", "answered", "formalized", "planned"]
    assert kinds[-2:] == ["observed", "ended"]
    planned = of(events, ev.Planned)
    assert [each.name for each in planned[0].tried] == ["have the coin", "be in a room not yet visited"]
    assert [each.status for each in planned[0].tried] == ["unsolvable", "solved"]
    assert planned[-1].rung == "have the coin"
    assert planned[-1].plan == (
        ev.PlannedStep("(take coin living_room)", "take coin", ("(have coin)",), ("(item_at coin living_room)",)),
    )
    assert of(events, ev.Formalized)[-1].renamed == (("loc2", "living_room"),)
    observed = of(events, ev.Observed)
    assert "stove" in observed[0].text
    assert "stove" not in observed[0].read
    assert "a coin" in observed[-2].read


def test_random_asks_nobody_and_repeats_itself(coin: Setting, planner: ProcessPlanner) -> None:
    runs = []
    for _ in range(2):
        game = small_house()
        events = play(coin, planner, game, ScriptedModel(("never asked",)), "random", Limits(6))
        assert ended(events).tally.calls == 0
        runs.append(game.commands)
    assert runs[0] == runs[1]


def test_an_unreadable_answer_is_asked_about_with_the_reason(coin: Setting, planner: ProcessPlanner) -> None:
    model = ForgetfulModel(["I am sorry.", '{"init": {"add": ["(at nowhere)"]}}'])
    events = play(coin, planner, small_house(), model)
    assert ended(events).outcome is Outcome.WON
    rejected = of(events, ev.Rejected)
    assert [each.category for each in rejected] == ["invalid answer", "defects"]
    second, third = model.requests[1].messages[-1].content, model.requests[2].messages[-1].content
    assert "I am sorry." in second
    assert "no JSON object" in second
    assert "object nowhere is not declared" in third
    assert "attempt 2" in third
    assert "(at nowhere)" not in of(events, ev.Formalized)[0].problem


def test_an_edit_that_reaches_no_goal_is_taken_back(coin: Setting, planner: ProcessPlanner) -> None:
    lost = {"objects": {"add": ["attic - location"]}, "init": {"add": ["(at attic)", "(visited attic)"]}}
    true = {"objects": {"add": ["attic - location"]}, "init": {"add": ["(at attic)"]}}
    model = ForgetfulModel([json.dumps(lost), json.dumps(true)])
    events = play(coin, planner, small_house(), model)
    assert ended(events).outcome is Outcome.WON
    assert [each.category for each in of(events, ev.Rejected)] == ["goal unreachable", "goal already true"]
    assert "attic" not in of(events, ev.Formalized)[0].problem
    assert "have the coin: unsolvable" in model.requests[1].messages[-1].content
    assert [each.rung for each in of(events, ev.Planned)][:2] == [None, None]


def test_after_five_retries_the_episode_ends(coin: Setting, planner: ProcessPlanner) -> None:
    events = play(coin, planner, small_house(), ScriptedModel(("no",)))
    assert ended(events).outcome is Outcome.NO_PLAN
    assert len(of(events, ev.Asked)) == 6
    assert "6 answers in a row" in ended(events).message
    assert len(of(play(coin, planner, small_house(), ScriptedModel(("no",)), retries=0), ev.Asked)) == 1


def test_lines_that_matched_nothing_go_back_to_the_model_once(coin: Setting, planner: ProcessPlanner) -> None:
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
    assert [line.kind for line in of(events, ev.Formalized)[0].lines if "moon" in line.line] == ["matched nothing"]
    assert "(at moon): matched nothing" in model.requests[1].messages[-1].content
    assert "moon" not in model.requests[2].messages[-1].content


def test_a_door_that_shows_a_known_room_stops_the_plan(coin: Setting, planner: ProcessPlanner) -> None:
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
    observed = of(events, ev.Observed)[-1]
    assert observed.command == "open door to north"
    assert observed.surprise == "the plan expected loc1, and it is pantry"


def test_a_refused_command_stops_the_plan_and_is_counted(coin: Setting, planner: ProcessPlanner) -> None:
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
    assert len(of(events, ev.Planned)[0].plan) == 2
    first = of(events, ev.Observed)[1]
    assert first.refused
    assert first.surprise
    assert events[events.index(first) + 1].type == "asked"
    assert ended(events).tally.refused == sum(each.refused for each in of(events, ev.Observed)) >= 1
    assert "can't move there" in model.requests[1].messages[-1].content


def test_replanning_at_every_step(coin: Setting, planner: ProcessPlanner) -> None:
    usual = play(coin, planner, small_house("pantry"), ReaderModel())
    often = play(coin, planner, small_house("pantry"), ReaderModel(), replan_every_step=True)
    assert ended(often).outcome is Outcome.WON
    assert ended(often).tally.calls == ended(often).tally.steps
    assert ended(often).tally.calls > ended(usual).tally.calls


@pytest.mark.parametrize(
    ("limits", "outcome", "steps"),
    [
        (Limits(2), Outcome.STEP_LIMIT, 2),
        (Limits(50, calls=1), Outcome.BUDGET, 1),
        (Limits(50, tokens=1), Outcome.BUDGET, 1),
        (Limits(50, seconds=0.0), Outcome.BUDGET, 0),
    ],
)
def test_limits(coin: Setting, planner: ProcessPlanner, limits: Limits, outcome: Outcome, steps: int) -> None:
    @dataclass
    class Counting:
        name: str = "counting"
        description: Mapping[str, Any] = field(default_factory=dict)

        def complete(self, request: Request) -> Completion:
            return Completion(ReaderModel().complete(request).text, 100, 10)

    events = play(coin, planner, small_house(), Counting(), limits=limits)
    assert (ended(events).outcome, ended(events).tally.steps) == (outcome, steps)


def test_the_step_limit_is_met_before_the_model_is_asked_in_vain(coin: Setting, planner: ProcessPlanner) -> None:
    events = play(coin, planner, small_house(), ReaderModel(), limits=Limits(1))
    assert ended(events).tally.calls == 1


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (ModelError("no network", "the cable", "plug it in"), Outcome.MODEL_ERROR),
        (KeyboardInterrupt(), Outcome.INTERRUPTED),
        (ZeroDivisionError("oops"), Outcome.CRASHED),
    ],
)
def test_whatever_a_model_raises_ends_the_episode_with_an_outcome(
    coin: Setting, planner: ProcessPlanner, error: BaseException, outcome: Outcome
) -> None:
    events = play(coin, planner, small_house(), BrokenModel(error, after=1))
    assert ended(events).outcome is outcome
    assert ended(events).tally.calls == 2


def test_an_engine_that_fails_ends_the_episode(coin: Setting, planner: ProcessPlanner) -> None:
    class Dying(GridHouse):
        def step(self, command: str) -> Observation:
            raise EngineError("Java is gone")

    events = play(coin, planner, Dying({("kitchen", "north"): "pantry"}), ReaderModel())
    assert ended(events).outcome is Outcome.CRASHED
    assert "Java is gone" in ended(events).message


def test_a_game_that_can_be_lost(coin: Setting, planner: ProcessPlanner) -> None:
    class Cruel(GridHouse):
        def step(self, command: str) -> Observation:
            return Observation("You fall.", 0.0, False, True)

    assert ended(play(coin, planner, Cruel({("kitchen", "north"): "attic"}), ReaderModel())).outcome is Outcome.LOST


def test_an_interrupt_from_outside_ends_the_episode_properly(coin: Setting, planner: ProcessPlanner) -> None:
    agent = Agent(coin, 1, small_house(), make_method("edit", coin, 1), ReaderModel(), planner, Limits(50))
    running = agent.run()
    assert isinstance(running, Iterator)
    next(running)
    last = running.throw(KeyboardInterrupt())  # type: ignore[attr-defined]
    assert isinstance(last, EpisodeEnded)
    assert last.outcome is Outcome.INTERRUPTED
    assert list(running) == []


def test_looking_costs_no_time(coin: Setting, planner: ProcessPlanner) -> None:
    now = [0.0]
    agent = Agent(
        coin,
        1,
        small_house(),
        make_method("edit", coin, 1),
        ReaderModel(),
        planner,
        Limits(50, seconds=100),
        clock=lambda: now[0],
    )
    last: Event | None = None
    for event in agent.run():
        now[0] += 1000.0
        last = event
    assert isinstance(last, EpisodeEnded)
    assert last.outcome is Outcome.WON
    assert last.tally.seconds == 0.0


def test_requests_do_not_grow_with_the_steps(coin: Setting, planner: ProcessPlanner) -> None:
    rooms = ["kitchen", *(f"room {number}" for number in range(12))]
    game = GridHouse({(a, "east"): b for a, b in itertools.pairwise(rooms)}, coin="room 11")
    events = play(coin, planner, game, ReaderModel())
    assert ended(events).outcome is Outcome.WON
    asked = of(events, ev.Asked)
    assert len(asked) == 13
    assert len({each.messages[0].content for each in asked}) == 1
    assert all(len(each.messages) == 2 for each in asked)
    problems = [str(coin.start), *(each.problem for each in of(events, ev.Formalized))]
    around = [len(each.messages[1].content) - len(problem) for each, problem in zip(asked, problems, strict=False)]
    assert max(around[1:]) - min(around[1:]) < 40


def test_a_refusal_stops_the_plan_even_where_the_setting_expects_nothing(
    coin: Setting, planner: ProcessPlanner
) -> None:
    careless = replace(coin, actions={name: ActionRule(rule.command, "") for name, rule in coin.actions.items()})
    wrong = {
        "objects": {"add": ["kitchen loc1 loc2 - location"]},
        "init": {"add": ["(at kitchen) (visited kitchen) (visited loc1)", "(connected kitchen loc1 north)"]},
    }
    wrong["init"]["add"].append("(connected loc1 loc2 north)")
    events = play(careless, planner, small_house(), ForgetfulModel([json.dumps(wrong)]))
    first = of(events, ev.Observed)[1]
    assert first.refused
    assert events[events.index(first) + 1].type == "asked"


def test_lines_that_matched_nothing_are_told_with_a_rejection(coin: Setting, planner: ProcessPlanner) -> None:
    lost = {
        "objects": {"add": ["attic - location"]},
        "init": {"add": ["(at attic)", "(visited attic)"], "delete": ["(at moon)"]},
    }
    model = ForgetfulModel([json.dumps(lost)])
    play(coin, planner, small_house(), model)
    assert "(at moon): matched nothing" in model.requests[1].messages[-1].content


def test_a_lone_surrogate_in_an_answer_does_no_harm(coin: Setting, planner: ProcessPlanner) -> None:
    events = play(coin, planner, small_house(), ForgetfulModel(["\ud800"]))
    assert ended(events).outcome is Outcome.WON
    assert all(dump_event(event) for event in events)
