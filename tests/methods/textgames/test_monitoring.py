"""Execution monitoring: nothing is asked where all went as planned, and a plan ends at a surprise."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from pddlego.episode.approval import Decision, Question
from pddlego.episode.events import Accepted, Asked, Judged, Outcome
from pddlego.methods.textgames.events import Observed
from pddlego.methods.textgames.games import Observation
from pddlego.methods.textgames.loading import load
from pddlego.methods.textgames.measure import WITHOUT_NEWS, measure
from pddlego.methods.textgames.play import setting_game
from pddlego.methods.textgames.reader import ReaderModel
from pddlego.methods.textgames.settings import FixedRule, GameSetting
from pddlego.methods.textgames.world import says_nothing_new
from pddlego.planning import PlanStep, ProcessPlanner
from tests.methods.textgames.grid_house import GridHouse, small_house
from tests.methods.textgames.playing import ForgetfulModel, ended, of, play
from tests.traces import trace_of

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
    setting = load("cooking-easy")
    take, move = PlanStep("take", ("red_potato", "kitchen")), PlanStep("move", ("kitchen", "hall", "north"))
    assert says_nothing_new(setting.start, take, "You take the red potato.", ())
    assert not says_nothing_new(setting.start, take, "You take the red potato. It is hot.", ())
    assert not says_nothing_new(setting.start, move, "You are in the hall. To the South you see the kitchen.", ())
    assert says_nothing_new(
        setting.start, move, "You are in the hall. You see a box.", ["You are in the hall. You see a box."]
    )
    assert not says_nothing_new(setting.start, PlanStep("eat_meal", ()), "You eat the meal.", ())


def test_after_moves_that_bring_nothing_new_no_model_is_asked(planner: ProcessPlanner) -> None:
    """In Cooking World things that were found are taken: the game says so, and nothing else."""
    setting = load("cooking-easy")
    monitored = play(setting, planner, setting_game(setting, 100), ReaderModel())
    asked = play(setting, planner, setting_game(setting, 100), ReaderModel(), "edit-no-replanning")
    assert ended(monitored).outcome is ended(asked).outcome is Outcome.WON
    assert [item.command for item in of(monitored, Observed)] == [item.command for item in of(asked, Observed)]
    by_plan = [item for item in of(monitored, Accepted) if item.source == "plan"]
    assert by_plan
    assert any(fact.startswith("(have ") for item in by_plan for fact in item.added)
    assert len(of(asked, Asked)) == len(of(monitored, Asked)) + len(by_plan)
    assert {item.source for item in of(asked, Accepted)} == {"model"}


@pytest.mark.parametrize("shown", [False, True])
def test_a_rising_score_is_news_only_if_requests_show_it(planner: ProcessPlanner, shown: bool) -> None:
    setting = load("cooking-easy")
    setting = replace(setting, observing=setting.observing.model_copy(update={"score": shown}))
    events = play(setting, planner, setting_game(setting, 100), ReaderModel())
    assert ended(events).outcome is Outcome.WON
    assert bool(measure(trace_of(events)).counts[WITHOUT_NEWS]) is shown


class AskingHouse(GridHouse):
    """A house that asks which door is meant, and opens it when it gets a number."""

    def step(self, command: str) -> Observation:
        if command.startswith("open door"):
            self.meant = command
            return self._answer("Ambiguous request: Please enter the number for the action you intended: 0, 1")
        return super().step(self.meant if command == "0" else command)


@pytest.mark.parametrize("question", [True, False])
def test_a_question_of_the_game_that_a_rule_answers_is_not_a_mismatch(
    coin: GameSetting, planner: ProcessPlanner, question: bool
) -> None:
    rule = FixedRule(when="^Ambiguous request", command="0", question=question)
    setting = replace(coin, fixed=replace(coin.fixed, rules=(rule,)))
    house = AskingHouse({("kitchen", "north"): "pantry"}, frozenset({frozenset({"kitchen", "pantry"})}), "pantry")
    model = ForgetfulModel([])
    events = play(setting, planner, house, model)
    assert ended(events).outcome is Outcome.WON
    asked = [item for item in of(events, Observed) if item.text.startswith("Ambiguous")]
    assert asked and all(bool(item.unforeseen) != question for item in asked)
    assert any("Correct the problem file" in request.messages[-1].content for request in model.requests) != question


def test_without_replanning_a_plan_is_carried_out_to_its_end(coin: GameSetting, planner: ProcessPlanner) -> None:
    stopped = play(coin, planner, small_house(), ForgetfulModel([KNOWN]))
    carried = play(coin, planner, small_house(), ForgetfulModel([KNOWN]), "edit-no-replanning")
    first = [item.command for item in of(stopped, Observed)][1:3]
    assert first == [item.command for item in of(carried, Observed)][1:3] == ["move east", "take coin"]
    assert of(carried, Observed)[2].refused
    before = [item.type for item in carried[: carried.index(of(carried, Observed)[2])]]
    assert before.count("asked") == 1


def test_a_name_that_was_not_known_is_news(coin: GameSetting) -> None:
    step = PlanStep("open_door", ("kitchen", "loc1", "south"))
    assert not says_nothing_new(coin.start, step, "You open the wood door, revealing the pantry.", ())
    known = PlanStep("open_door", ("kitchen", "pantry", "south"))
    assert says_nothing_new(coin.start, known, "You open the wood door, revealing the pantry.", ())


class Doubtful:
    """A person who rejects the first plan that no model was asked for."""

    def __init__(self) -> None:
        self.plans = 0

    def wants(self, what: str) -> bool:
        return what == "plans"

    def decide(self, question: Question) -> Decision:
        accepted = question.preview[0]
        assert isinstance(accepted, Accepted)
        if accepted.source == "plan" and not self.plans:
            self.plans += 1
            return Decision("rejected", "fetch the salt first")
        return Decision()


def test_what_a_person_says_of_such_a_plan_reaches_the_model(planner: ProcessPlanner) -> None:
    setting = load("cooking-easy")
    events = play(setting, planner, setting_game(setting, 100), ReaderModel(), approver=Doubtful())
    judged = next(number for number, event in enumerate(events) if isinstance(event, Judged) and event.text)
    asked = next(event for event in events[judged:] if isinstance(event, Asked))
    assert "fetch the salt first" in asked.messages[-1].content
