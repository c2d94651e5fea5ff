"""What changes when a model is asked again, seen by the model: on a game in pure Python, with the real planner."""

from __future__ import annotations

import json

import pytest

from pddlego.episode import events as ev
from pddlego.episode.events import Outcome
from pddlego.methods.textgames.events import Observed
from pddlego.methods.textgames.memory import INCREASE, MORE_TOKENS
from pddlego.methods.textgames.settings import GameSetting
from pddlego.models import Request
from pddlego.models.dialect import HOTTEST, Sampling
from pddlego.models.openai import OpenAIModel
from pddlego.pddl import DefectKind
from pddlego.planning import ProcessPlanner
from tests.methods.textgames.grid_house import small_house
from tests.methods.textgames.playing import ForgetfulModel, ended, of, play
from tests.methods.textgames.situations import situation_with
from tests.model_server import ModelServer, answer, fault

BAD = '{"init": {"add": ["(at moon)"]}}'


def test_an_identical_retry_changes_something_every_time(coin: GameSetting, planner: ProcessPlanner) -> None:
    model = ForgetfulModel([BAD, BAD, BAD, BAD])
    events = play(coin, planner, small_house(), model)
    assert ended(events).outcome is Outcome.WON
    asked = [request.messages[-1].content for request in model.requests[:5]]
    assert len(set(asked[1:])) >= 3, "no request is the one that has just failed"
    assert "said the same" not in asked[1], "one rejection is not a repetition"
    assert all("said the same" in item for item in asked[2:])
    assert [request.temperature_increase for request in model.requests[:5]] == [
        0.0,
        0.0,
        INCREASE,
        2 * INCREASE,
        3 * INCREASE,
    ]
    assert [request.purpose for request in model.requests[:5]] == ["edit", "edit", "edit", "gen", "gen"]
    assert [item.temperature_increase for item in of(events, ev.Asked)[:3]] == [0.0, 0.0, INCREASE]


def test_answers_that_alternate_are_repetitions(coin: GameSetting, planner: ProcessPlanner) -> None:
    in_other_words = '{"init": {"delete": [], "add": ["at moon"]}, "objects": {"add": ["moon - location"]}}'
    model = ForgetfulModel([BAD, BAD.replace("moon", "mars"), in_other_words, BAD.replace("moon", "mars")])
    play(coin, planner, small_house(), model)
    assert [request.temperature_increase for request in model.requests[:5]] == [0.0] * 3 + [INCREASE] * 2


def test_a_whole_file_is_read_whatever_was_asked_for(coin: GameSetting, planner: ProcessPlanner) -> None:
    whole = "(define (problem p) (:domain coin-collector) (:objects kitchen attic - location) (:init (at kitchen)"
    whole += " (visited kitchen) (connected kitchen attic east)) (:goal (have coin)))"
    events = play(coin, planner, small_house(), ForgetfulModel([f"Here it is:\n```\n{whole}\n```"]))
    later = {DefectKind.CONTRADICTION.value}  # the same file after a step is wrong about where the agent is
    assert {item.feedback.category for item in of(events, ev.Rejected)} <= later
    assert "(connected kitchen attic east)" in of(events, ev.Accepted)[0].text


@pytest.mark.parametrize(
    ("mode", "text"),
    [
        ("edit", '{"objects": {"add": ["kitchen - location"'),
        ("edit", "<think>Let me see. The kitchen has"),
        ("gen", "(define (problem p) (:domain coin-collector) (:objects kitchen - location) (:init (at kitchen)"),
        ("gen", "(define (problem p) (:domain coin-collector) (:objects kitchen - location) (:init (at kit"),
    ],
)
def test_an_answer_that_was_cut_off_is_asked_for_again_with_more_room(
    coin: GameSetting, planner: ProcessPlanner, mode: str, text: str
) -> None:
    model = ForgetfulModel([text], "length")
    events = play(coin, planner, small_house(), model, mode)
    (rejected,) = of(events, ev.Rejected)
    assert rejected.feedback.category == "cut off"
    assert [request.max_tokens for request in model.requests[:2]] == [None, MORE_TOKENS]
    assert "cut off" in model.requests[1].messages[-1].content
    assert ended(events).outcome is Outcome.WON


def test_what_is_whole_counts_whatever_would_have_followed(coin: GameSetting, planner: ProcessPlanner) -> None:
    whole = '{"objects": {"add": ["kitchen - location", "loc1 - location"]}, "init": {"add": ["(at kitchen)",'
    whole += ' "(visited kitchen)", "(connected kitchen loc1 east)"]}} And now I will explain wh'
    events = play(coin, planner, small_house(), ForgetfulModel([whole], "length"))
    assert not of(events, ev.Rejected)


@pytest.mark.parametrize(
    ("base", "temperature_increase", "sent"), [(1.0, 0.3, 1.3), (1.0, 0.9, HOTTEST), (1.8, 0.3, 1.8), (1.0, 0, 1.0)]
)
def test_the_temperature_is_raised_within_bounds(
    coin: GameSetting, model_server: ModelServer, base: float, temperature_increase: float, sent: float
) -> None:
    model = OpenAIModel("m", "sk-canary-0123456789abcdef", model_server.url, Sampling(base))
    model.complete(
        Request(
            "edit",
            (),
            situation_with("coin", "", coin.start.domain, coin.start.problem),
            temperature_increase=temperature_increase,
        )
    )
    assert model_server.requests[0]["temperature"] == pytest.approx(sent)
    assert "max_tokens" not in model_server.requests[0]


def test_an_endpoint_that_takes_no_limit_is_asked_without(coin: GameSetting, model_server: ModelServer) -> None:
    model_server.replies = [fault(400, "Unsupported parameter: max_tokens"), answer(json.dumps({}))]
    model = OpenAIModel("m", "sk-canary-0123456789abcdef", model_server.url)
    request = Request(
        "edit", (), situation_with("coin", "", coin.start.domain, coin.start.problem), max_tokens=MORE_TOKENS
    )
    model.complete(request)
    model.complete(request)
    assert [request.get("max_tokens") for request in model_server.requests] == [MORE_TOKENS, None, None]


def test_a_mode_without_feedback_asks_the_same_again(coin: GameSetting, planner: ProcessPlanner) -> None:
    model = ForgetfulModel([BAD, BAD])
    play(coin, planner, small_house(), model, "edit-no-feedback")
    assert len({request.messages for request in model.requests[:3]}) == 1
    assert {request.temperature_increase for request in model.requests[:3]} == {0.0}


def test_a_mode_without_remedies_says_what_is_wrong_and_changes_nothing_else(
    coin: GameSetting, planner: ProcessPlanner
) -> None:
    model = ForgetfulModel([BAD, BAD, BAD])
    play(coin, planner, small_house(), model, "edit-no-remedies")
    second, third, fourth = model.requests[1:4]
    assert "moon" in second.messages[-1].content
    assert {item.purpose for item in (second, third, fourth)} == {"edit"}
    assert {item.temperature_increase for item in (second, third, fourth)} == {0.0}
    assert not any("said the same" in item.messages[-1].content for item in (third, fourth))


FENCED = """```json
{"objects": {"add": ["kitchen - location", "loc1 - location"]},
 "init": {"add": ["(at kitchen)", "(visited kitchen)", "(connected kitchen loc1 east)"]}}
```"""


def test_a_mode_without_tolerance_takes_the_bare_answer_only(coin: GameSetting, planner: ProcessPlanner) -> None:
    (first, *_) = of(play(coin, planner, small_house(), ForgetfulModel([FENCED]), "edit-no-tolerance"), ev.Rejected)
    assert "text around" in first.feedback.message
    assert not of(play(coin, planner, small_house(), ForgetfulModel([FENCED])), ev.Rejected)
    twice = FENCED.strip("`json\n").replace('"(at kitchen)",', '"(at kitchen)", "(at kitchen)",')
    (first, *_) = of(play(coin, planner, small_house(), ForgetfulModel([twice]), "edit-no-tolerance"), ev.Rejected)
    assert "(at kitchen): already there" in first.feedback.evidence[0]
    assert not of(play(coin, planner, small_house(), ForgetfulModel([twice])), ev.Rejected)


def test_what_the_plan_expected_is_told_with_what_came(coin: GameSetting, planner: ProcessPlanner) -> None:
    """The problem says that the corridor is west; the game knows better."""
    wrong = {
        "objects": {"add": ["kitchen - location", "loc1 - location"]},
        "init": {"add": ["(at kitchen)", "(visited kitchen)", "(connected kitchen loc1 west)"]},
    }
    for mode, text in (("edit", True), ("edit-no-feedback", False)):
        model = ForgetfulModel([json.dumps(wrong)])
        events = play(coin, planner, small_house(), model, mode)
        refused = of(events, Observed)[1]
        assert (refused.command, refused.refused) == ("move west", True)
        asked = model.requests[1].messages[-1].content
        assert ("(move kitchen loc1 west) was to make (at loc1) true" in asked) is text
        assert ("the game refused the command" in asked) is text


@pytest.mark.parametrize(("finish", "rejected"), [("stop", 0), ("length", 1), ("content_filter", 1)])
def test_a_file_without_its_end_is_taken_only_where_nobody_cut_it(
    coin: GameSetting, planner: ProcessPlanner, finish: str, rejected: int
) -> None:
    half = "(define (problem p) (:domain coin-collector) (:objects kitchen attic - location) (:init (at kitchen)"
    half += " (visited kitchen) (connected kitchen attic east)"
    events = play(coin, planner, small_house(), ForgetfulModel([half], finish), "gen")
    first = next(item for item in events if isinstance(item, ev.Rejected | ev.Accepted))
    assert isinstance(first, ev.Rejected) is bool(rejected)


def test_more_room_than_the_model_has_is_not_asked_for_again(coin: GameSetting, model_server: ModelServer) -> None:
    too_much = "maximum context length is 8192 tokens. However, you requested 17000 tokens (16384 in the completion)"
    model_server.replies = [fault(400, too_much, "context_length_exceeded"), answer(json.dumps({}))]
    model = OpenAIModel("m", "sk-canary-0123456789abcdef", model_server.url)
    request = Request(
        "edit", (), situation_with("coin", "", coin.start.domain, coin.start.problem), max_tokens=MORE_TOKENS
    )
    assert [model.complete(request).attempts for _ in range(2)] == [2, 1]
    assert [request.get("max_tokens") for request in model_server.requests] == [MORE_TOKENS, None, None]
