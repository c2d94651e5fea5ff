"""How the loop ends and what it passes on: limits, failures, interrupts, scores, spelling."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from pddlego.episode import events as ev
from pddlego.episode.events import Ended, Limits, Outcome
from pddlego.errors import BudgetSpentError, EngineError, ModelError, NoTimeLeftError
from pddlego.methods.textgames.events import Observed, Planned
from pddlego.methods.textgames.games import Observation
from pddlego.methods.textgames.knowledge import ActionRule
from pddlego.methods.textgames.reader import ReaderModel
from pddlego.methods.textgames.settings import GameSetting
from pddlego.models import Completion, Request
from pddlego.pddl import Domain, Problem
from pddlego.planning import PlanResult, PlanStatus, ProcessPlanner, Search
from pddlego.runs.journal import dump_event
from pddlego.util.text import count
from tests.methods.textgames.grid_house import GridHouse, small_house
from tests.methods.textgames.playing import BrokenModel, ForgetfulModel, agent, ended, of, play


@pytest.mark.parametrize(
    ("limits", "outcome", "steps"),
    [
        (Limits(2), Outcome.STEP_LIMIT, 2),
        (Limits(50, calls=1), Outcome.BUDGET, 1),
        (Limits(50, tokens=1), Outcome.BUDGET, 1),
        (Limits(50, seconds=0.0), Outcome.BUDGET, 0),
    ],
)
def test_limits(coin: GameSetting, planner: ProcessPlanner, limits: Limits, outcome: Outcome, steps: int) -> None:
    @dataclass
    class Counting:
        name: str = "counting"
        description: Mapping[str, Any] = field(default_factory=dict)

        def complete(self, request: Request) -> Completion:
            return Completion(ReaderModel().complete(request).text, 100, 10)

    events = play(coin, planner, small_house(), Counting(), limits=limits)
    assert (ended(events).outcome, ended(events).usage.steps) == (outcome, steps)


@pytest.mark.parametrize("rounds", [1, 2])
def test_a_protocol_may_limit_plans_and_not_steps(coin: GameSetting, planner: ProcessPlanner, rounds: int) -> None:
    protocol = coin.asking.protocol.model_copy(update={"rounds": rounds})
    setting = replace(coin, asking=replace(coin.asking, protocol=protocol))
    events = play(setting, planner, small_house(), ReaderModel(), limits=Limits(50))
    assert len(of(events, Planned)) == rounds
    assert (ended(events).outcome, ended(events).message) == (
        Outcome.STEP_LIMIT,
        f"not won within {count(rounds, 'plan')}",
    )


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (ModelError("no network", "the cable", "plug it in"), Outcome.MODEL_ERROR),
        (KeyboardInterrupt(), Outcome.INTERRUPTED),
        (ZeroDivisionError("oops"), Outcome.CRASHED),
    ],
)
def test_whatever_a_model_raises_ends_the_episode_with_an_outcome(
    coin: GameSetting, planner: ProcessPlanner, error: BaseException, outcome: Outcome
) -> None:
    events = play(coin, planner, small_house(), BrokenModel(error, after=1))
    assert ended(events).outcome is outcome
    assert ended(events).usage.calls == 2


def test_an_engine_that_fails_ends_the_episode(coin: GameSetting, planner: ProcessPlanner) -> None:
    class Dying(GridHouse):
        def step(self, command: str) -> Observation:
            raise EngineError("Java is gone")

    events = play(coin, planner, Dying({("kitchen", "north"): "pantry"}), ReaderModel())
    assert ended(events).outcome is Outcome.CRASHED
    assert "Java is gone" in ended(events).message


def test_a_game_that_can_be_lost(coin: GameSetting, planner: ProcessPlanner) -> None:
    class Cruel(GridHouse):
        def step(self, command: str) -> Observation:
            return Observation("You fall.", 0.0, False, True)

    assert ended(play(coin, planner, Cruel({("kitchen", "north"): "attic"}), ReaderModel())).outcome is Outcome.LOST


def test_an_interrupt_from_outside_ends_the_episode_properly(coin: GameSetting, planner: ProcessPlanner) -> None:
    running = agent(coin, planner, small_house(), ReaderModel()).run()
    assert isinstance(running, Iterator)
    next(running)
    last = running.throw(KeyboardInterrupt())  # type: ignore[attr-defined]
    assert isinstance(last, Ended)
    assert last.outcome is Outcome.INTERRUPTED
    assert list(running) == []


@dataclass
class EndlessPlanner:
    """Searches as long as it may, by a clock of its own, and finds nothing."""

    now: list[float]
    description: Mapping[str, Any] = field(default_factory=dict)

    def solve(self, domain: Domain, problem: Problem, search: Search, seconds: float | None = None) -> PlanResult:
        taken = 1000.0 if seconds is None else seconds
        self.now[0] += taken
        return PlanResult(PlanStatus.TIMEOUT, problem.goal, None, "no answer in time", taken)

    def close(self) -> None:
        """There is nothing to close."""


def test_planning_takes_no_more_than_the_time_that_is_left(coin: GameSetting) -> None:
    now = [0.0]
    playing = agent(
        coin, EndlessPlanner(now), small_house(), ReaderModel(), limits=Limits(50, seconds=7.0), clock=lambda: now[0]
    )
    events = list(playing.run())
    last = ended(events)
    assert (last.outcome, last.cause, last.usage.seconds) == (Outcome.BUDGET, "seconds", 7.0)
    assert len(of(events, Planned)) == 1


def test_what_an_endpoint_has_no_time_left_for_is_the_limit_of_the_episode(
    coin: GameSetting, planner: ProcessPlanner
) -> None:
    model = BrokenModel(NoTimeLeftError("m answered 429", "Wait.", ""))
    last = ended(play(coin, planner, small_house(), model, limits=Limits(50, seconds=5)))
    assert (last.outcome, last.cause) == (Outcome.BUDGET, "seconds")


def test_requests_do_not_grow_with_the_steps(coin: GameSetting, planner: ProcessPlanner) -> None:
    rooms = ["kitchen", *(f"room {number}" for number in range(12))]
    game = GridHouse({(a, "east"): b for a, b in itertools.pairwise(rooms)}, coin="room 11")
    events = play(coin, planner, game, ReaderModel())
    assert ended(events).outcome is Outcome.WON
    asked = of(events, ev.Asked)
    assert len(asked) == 13
    assert len({item.messages[0].content for item in asked}) == 1
    assert all(len(item.messages) == 2 for item in asked)
    problems = [str(coin.start.problem), *(item.text for item in of(events, ev.Accepted))]
    around = [len(item.messages[1].content) - len(problem) for item, problem in zip(asked, problems, strict=False)]
    assert max(around[1:]) - min(around[1:]) < 40


def test_a_refusal_stops_the_plan_even_where_the_setting_expects_nothing(
    coin: GameSetting, planner: ProcessPlanner
) -> None:
    careless = replace(
        coin,
        start=replace(
            coin.start, actions={name: ActionRule(rule.command, "") for name, rule in coin.start.actions.items()}
        ),
    )
    wrong = {
        "objects": {"add": ["kitchen loc1 loc2 - location"]},
        "init": {"add": ["(at kitchen) (visited kitchen) (visited loc1)", "(connected kitchen loc1 north)"]},
    }
    wrong["init"]["add"].append("(connected loc1 loc2 north)")
    events = play(careless, planner, small_house(), ForgetfulModel([json.dumps(wrong)]))
    first = of(events, Observed)[1]
    assert first.refused
    assert events[events.index(first) + 1].type == "asked"


def test_lines_that_matched_nothing_are_told_with_a_rejection(coin: GameSetting, planner: ProcessPlanner) -> None:
    lost = {
        "objects": {"add": ["attic - location"]},
        "init": {"add": ["(at attic)", "(visited attic)"], "delete": ["(at moon)"]},
    }
    model = ForgetfulModel([json.dumps(lost)])
    play(coin, planner, small_house(), model)
    assert "(at moon): matched nothing" in model.requests[1].messages[-1].content


def test_a_lone_surrogate_in_an_answer_does_no_harm(coin: GameSetting, planner: ProcessPlanner) -> None:
    events = play(coin, planner, small_house(), ForgetfulModel(["\ud800"]))
    assert ended(events).outcome is Outcome.WON
    assert all(dump_event(event) for event in events)


def test_a_plan_is_carried_out_up_to_a_step_that_nobody_can_say(coin: GameSetting, planner: ProcessPlanner) -> None:
    """As on a map without directions: the door is opened, and then no plan begins with something that can be said."""
    mute = replace(coin, start=replace(coin.start, actions={**coin.start.actions, "move": ActionRule("", "")}))
    game = GridHouse({("kitchen", "north"): "pantry"}, frozenset({frozenset({"kitchen", "pantry"})}))
    events = play(mute, planner, game, ReaderModel(), retries=0)
    first, second = of(events, Planned)[:2]
    assert [step.command for step in first.plan][-1] == ""
    assert game.commands == [step.command for step in first.plan if step.command]
    assert second.rung is None
    assert "is not known yet" in second.tried[-1].message
    assert ended(events).outcome is Outcome.NO_PLAN


@pytest.mark.parametrize("mode", ["edit", "act"])
def test_the_score_is_read_where_the_setting_says_so(coin: GameSetting, planner: ProcessPlanner, mode: str) -> None:
    def text(setting: GameSetting) -> list[str]:
        asked = of(play(setting, planner, small_house(), ReaderModel(), mode), ev.Asked)
        return [message.content for each in asked for message in each.messages[1:]]

    assert not any("Score:" in text for text in text(coin))
    scored = text(replace(coin, observing=coin.observing.model_copy(update={"score": True})))
    assert "Score:" not in scored[0], "before the first command there is nothing to tell"
    assert any("Score: 0.00" in text for text in scored)


def test_the_model_is_told_when_the_score_went_up_or_down(coin: GameSetting, planner: ProcessPlanner) -> None:
    class Rated(GridHouse):
        """Scores one half after the first command, one quarter after the second."""

        def step(self, command: str) -> Observation:
            answer = super().step(command)
            return replace(answer, score=0.5 if len(self.commands) == 1 else 0.25)

    exits = {("kitchen", "north"): "hall", ("hall", "north"): "attic", ("attic", "north"): "loft"}
    asked = of(
        play(
            replace(coin, observing=coin.observing.model_copy(update={"score": True})),
            planner,
            Rated(exits),
            ReaderModel(),
        ),
        ev.Asked,
    )
    assert "Score: 0.50 (it went up)" in asked[1].messages[1].content
    assert "Score: 0.25 (it went down)" in asked[2].messages[1].content


def test_commands_keep_the_spelling_of_the_game(coin: GameSetting, planner: ProcessPlanner) -> None:
    class Loud(GridHouse):
        """Knows its directions in capitals only."""

        def step(self, command: str) -> Observation:
            refused = Observation("Unknown action")
            answer = super().step(command.lower()) if command[:4] == command[:4].upper() else refused
            return replace(answer, valid_commands=tuple(command.upper() for command in answer.valid_commands))

        def start(self) -> Observation:
            first = super().start()
            return replace(first, valid_commands=tuple(command.upper() for command in first.valid_commands))

    game = Loud({("kitchen", "north"): "hall"}, coin="hall")
    events = play(coin, planner, game, ReaderModel())
    assert ended(events).outcome is Outcome.WON
    assert of(events, Observed)[1].command == "MOVE NORTH"


def test_a_request_that_the_budget_stopped_is_not_counted(coin: GameSetting, planner: ProcessPlanner) -> None:
    events = play(coin, planner, small_house(), BrokenModel(BudgetSpentError("The budget of 1 request"), after=1))
    assert ended(events).outcome is Outcome.BUDGET
    assert ended(events).usage.calls == 1
