"""Mode `learn-facts`: the model states facts of single sentences, and rules that are lifted from them read the rest."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

import pddlego
from pddlego.episode.events import Accepted, Asked, Event, Limits, Outcome, Rejected, Started
from pddlego.methods.base import parse_variant
from pddlego.methods.textgames.events import Observed
from pddlego.methods.textgames.loading import setting_for
from pddlego.methods.textgames.options import LEARN_FACTS, MODES
from pddlego.methods.textgames.reader import ReaderModel, situation_of
from pddlego.methods.textgames.reading.rules import parse_learned
from pddlego.methods.textgames.reference_model import NoisyReader
from pddlego.methods.textgames.settings import GameSetting
from pddlego.models import Completion, Request
from pddlego.models.base import ScriptedModel
from pddlego.planning import ProcessPlanner
from pddlego.runs.store import last_text
from tests.methods.textgames.grid_house import GridHouse, small_house
from tests.methods.textgames.playing import ended, of, play
from tests.traces import trace_of


def learn(
    coin: GameSetting, planner: ProcessPlanner, model: Any, text: str = "", mode: str = LEARN_FACTS, **how: Any
) -> list[Event]:
    setting = setting_for(coin, parse_variant(mode, MODES), text)
    return play(setting, planner, how.pop("game", None) or small_house("pantry"), model, mode, Limits(50), **how)


class Stating(ReaderModel):
    """The built-in reader. It changes the answers for a sentence, the first `times` times, and keeps all requests."""

    def __init__(self, part: str = "-", answer: object = None, times: int = 1) -> None:
        self.part, self.answer, self.times = part, answer, times
        self.requests: list[Request] = []

    def asked(self) -> list[str]:
        news = (situation_of(request).seen.news for request in self.requests)
        return [exchange.text for exchanges in news for exchange in exchanges]

    def complete(self, request: Request) -> Completion:
        self.requests.append(request)
        if self.times and self.part in self.asked()[-1]:
            self.times -= 1
            return Completion(self.answer if isinstance(self.answer, str) else json.dumps(self.answer))
        return super().complete(request)


def faults(events: Sequence[Event]) -> list[str]:
    return [line for event in of(events, Rejected) for line in event.feedback.evidence]


def test_a_game_is_won_with_a_request_for_each_form_and_a_second_one_without(
    coin: GameSetting, planner: ProcessPlanner
) -> None:
    model = Stating()
    events = learn(coin, planner, model)
    assert ended(events).outcome is Outcome.WON
    assert not of(events, Rejected)
    assert len(model.asked()) == len(set(model.asked())) == len(of(events, Asked))
    assert {request.purpose for request in model.requests} == {LEARN_FACTS}
    assert all(request.schema == model.requests[0].schema for request in model.requests)
    assert all(request.messages[:-1] == model.requests[0].messages[:-1] for request in model.requests)

    text, second = last_text(trace_of(events), "rules"), Stating()
    again = learn(coin, planner, second, text, game=GridHouse({("kitchen", "north"): "pantry"}, coin="pantry"))
    assert ended(again).outcome is Outcome.WON
    assert of(again, Started)[0].details["rules"] == text
    assert second.asked() == []


@pytest.mark.parametrize(
    ("part", "answer", "message"),
    [
        ("You are in", {"add": ["(at attic)"]}, "'attic' is not a name in the sentence"),
        ("You are in", {"add": ["(in kitchen)"]}, "the sentence does not say this"),
        ("You are in", {"add": ["(at kitchen"], "delete": 7}, "delete"),
        ("closed", {"add": ["(visited kitchen)"]}, "the sentence does not say this"),
        ("closed", "", "the answer holds no JSON object"),
    ],
)
def test_a_sentence_is_asked_a_second_time_with_the_fault_of_the_answer(
    coin: GameSetting, planner: ProcessPlanner, part: str, answer: object, message: str
) -> None:
    model = Stating(part, answer)
    events = learn(coin, planner, model)
    assert ended(events).outcome is Outcome.WON
    assert not of(events, Rejected)
    ((refused, wrong),) = (
        (request.messages[-2].content, request.messages[-1].content)
        for request in model.requests
        if request.messages[-1].content.startswith("Wrong: ")
    )
    assert refused == (json.dumps(answer) if answer else "(an empty answer)")
    assert message in wrong
    assert part in wrong


def test_facts_that_the_plan_contradicts_are_asked_again(coin: GameSetting, planner: ProcessPlanner) -> None:
    model = Stating("revealing", {"add": [], "delete": []})
    house = GridHouse({("kitchen", "north"): "pantry"}, frozenset({frozenset({"kitchen", "pantry"})}), coin="pantry")
    events = learn(coin, planner, model, game=house)
    assert any("(closed_door kitchen loc1) false" in line for line in faults(events))
    assert ended(events).outcome is Outcome.WON


@pytest.mark.parametrize("times", [1, 9])
def test_an_exit_that_the_game_refutes_is_asked_about_once_and_then_ignored(
    coin: GameSetting, planner: ProcessPlanner, times: int
) -> None:
    """The model reads a wall as an exit. Whether it corrects that or not, no other wall is run into."""

    class Walled(GridHouse):
        def _look(self) -> str:
            return f"{super()._look()} A wall stands north."

    class Wrong(Stating):
        def complete(self, request: Request) -> Completion:
            self.answer = {"add": [f"(connected kitchen {situation_of(request).placeholder} north)"]}
            return super().complete(request)

    model = Wrong("wall", times=times)
    house = Walled({("kitchen", "south"): "hall", ("hall", "south"): "pantry"}, coin="pantry")
    events = learn(coin, planner, model, game=house)
    assert ended(events).outcome is Outcome.WON
    assert [event.command for event in of(events, Observed) if event.refused] == ["move north"]
    assert model.asked().count("A wall stands north.") == 2
    assert "the game refused 'move north'" in str([request.messages[-1].content for request in model.requests])


def test_only_the_refuted_exit_of_a_sentence_is_left_out(coin: GameSetting, planner: ProcessPlanner) -> None:
    class Walled(GridHouse):
        def _look(self) -> str:
            return f"{super()._look()} In the north hangs the attic, and in the south lies the hall."

    class Corrected(Stating):
        def complete(self, request: Request) -> Completion:
            ways = ["(connected kitchen attic north)", "(connected kitchen hall south)"]
            self.answer = {"add": ways["the game refused" in request.messages[-1].content :]}
            return super().complete(request)

    house = Walled({("kitchen", "south"): "hall", ("hall", "south"): "pantry"}, coin="pantry")
    model = Corrected("hangs", times=9)
    events = learn(coin, planner, model, game=house)
    assert ended(events).outcome is Outcome.WON
    wrong = [request.messages[-1].content for request in model.requests if "refused" in request.messages[-1].content]
    assert [("north)" in text, "south)" in text) for text in wrong] == [(True, False)]


def test_a_sentence_without_usable_facts_is_asked_about_twice(coin: GameSetting, planner: ProcessPlanner) -> None:
    class Furnished(GridHouse):
        def _look(self) -> str:
            return f"{super()._look()} A table shines."

    model = Stating("table", {"add": ["(at attic)"]}, times=9)
    house = Furnished({("kitchen", "north"): "hall", ("hall", "north"): "pantry"}, coin="pantry")
    events = learn(coin, planner, model, game=house)
    assert ended(events).outcome is Outcome.WON
    assert model.asked().count("A table shines.") == 2
    assert parse_learned(last_text(trace_of(events), "rules")).unread == {"A table shines."}


@pytest.mark.parametrize(
    "answer", ["{}", "", "I am sorry.", '{"add": ["(at attic)"]}', '{"add": ["(visited kitchen)"]}']
)
def test_a_useless_model_ends_the_episode_in_a_typed_outcome(
    coin: GameSetting, planner: ProcessPlanner, answer: str
) -> None:
    events = learn(coin, planner, ScriptedModel((answer,)), retries=3)
    assert ended(events).outcome is Outcome.NO_PLAN


def test_without_the_check_facts_are_lifted_as_they_are(coin: GameSetting, planner: ProcessPlanner) -> None:
    model = Stating("closed", {"add": ["(visited kitchen)"]}, times=9)
    learned = last_text(trace_of(learn(coin, planner, model, mode="learn-facts-no-check", retries=2)), "rules")
    (rule,) = (rule for rule in parse_learned(learned).rules if "closed" in rule.sentence[0])
    assert rule.add == ("(visited ?here)",)


def test_a_sentence_that_was_not_asked_about_is_not_given_up(coin: GameSetting, planner: ProcessPlanner) -> None:
    class Furnished(GridHouse):
        def _look(self) -> str:
            return f"{super()._look()} {' '.join(f'Lamp{number} shines.' for number in range(40))}"

    model = Stating("shines", {"add": ["(at attic)"]}, times=99)
    events = learn(coin, planner, model, game=Furnished({("kitchen", "north"): "pantry"}, coin="pantry"), retries=0)
    unread = parse_learned(last_text(trace_of(events), "rules")).unread
    assert len(unread) == 40
    assert unread <= {*model.asked()}


@pytest.mark.parametrize("seed", range(3))
def test_a_reader_that_errs_wins_or_ends_in_a_typed_outcome(
    coin: GameSetting, planner: ProcessPlanner, seed: int
) -> None:
    events = learn(coin, planner, NoisyReader(0.6, seed))
    wrong = [event for event in events if getattr(getattr(event, "completion", None), "mistake", None)]
    assert ended(events).outcome in (Outcome.WON, Outcome.NO_PLAN, Outcome.STEP_LIMIT)
    assert wrong


@pytest.mark.slow
@pytest.mark.parametrize("game", ["coin", "mapreader", "twc", "cooking-easy"])
def test_the_reader_plays_it_where_its_rules_are_templates(game: str) -> None:
    episode = pddlego.play(game, mode=LEARN_FACTS, seed=201)
    assert episode.won, episode.message
    kinds = {event.kind for event in episode.events if isinstance(event, Accepted)}
    assert kinds == {"rules", "problem"}
