"""Requests that exceed the window of a model are shortened before they are sent."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import pytest

from pddlego.episode.ask import ask
from pddlego.episode.budget import Budget
from pddlego.episode.events import Answered, Limits
from pddlego.episode.loop import Retry
from pddlego.errors import ModelError
from pddlego.methods.textgames.formalize import Exchange, Observations, PromptContext
from pddlego.methods.textgames.formalize.problems import PddlEdit
from pddlego.methods.textgames.loading import load
from pddlego.methods.textgames.play import episode_events, setting_game
from pddlego.methods.textgames.settings import GameSetting
from pddlego.methods.textgames.shortening import fitting_request
from pddlego.methods.textgames.world import EpisodeSetup
from pddlego.models import Completion, Message, Request
from pddlego.models.base import Feedback, ScriptedModel
from pddlego.models.openai import OpenAIModel
from pddlego.models.prompts import Prompts
from pddlego.models.replies import window_in, window_of_server
from pddlego.planning import ProcessPlanner
from tests.model_server import ModelServer, Reply, answer, fault

FORMALIZER = PddlEdit(Prompts("coin"))


@dataclass(frozen=True)
class Windowed:
    """A model with a window, which answers nothing."""

    window: int | None
    name: str = "windowed"
    description: dict[str, object] = field(default_factory=dict)

    def complete(self, request: Request) -> Completion:
        return Completion("{}")


def situation(coin: GameSetting, rejected: int = 1_500, exchanges: int = 40) -> PromptContext:
    news = tuple(Exchange(f"command {number}", f"text {number} " * 30) for number in range(exchanges))
    retry = Retry(1, "x" * rejected, Feedback("defects", "wrong", ("line",)))
    return PromptContext(coin.start, seen=Observations(news, news), retry=retry)


def test_a_request_that_fits_is_unchanged(coin: GameSetting) -> None:
    whole = FORMALIZER.request(situation(coin))
    for window in (None, 100_000):
        request = fitting_request(FORMALIZER, situation(coin), Windowed(window))
        assert request is not None
        assert (request.messages, request.note) == (whole.messages, "")


def test_the_rejected_answer_goes_first_and_then_the_oldest_observations(coin: GameSetting) -> None:
    whole = FORMALIZER.request(situation(coin)).characters // 3
    barely = fitting_request(FORMALIZER, situation(coin), Windowed(whole + 1_000))
    assert barely is not None
    assert barely.note.endswith("left out: the rejected answer")
    assert "command 0\n" in barely.messages[-1].content
    small = fitting_request(FORMALIZER, situation(coin), Windowed(4_096))
    assert small is not None
    assert small.note.endswith("left out: the rejected answer and all but the last 20 observations")
    assert "command 39" in small.messages[-1].content
    assert small.characters // 3 + 1_024 <= 4_096


def test_what_is_still_too_long_is_as_short_as_possible(coin: GameSetting) -> None:
    request = fitting_request(FORMALIZER, situation(coin), Windowed(1_200))
    assert request is not None
    assert request.note.endswith("all but the last 1 observation")
    assert "command 39" in request.messages[-1].content
    assert "command 38" not in request.messages[-1].content


def test_an_endpoint_that_names_its_window_gets_a_shorter_request(
    planner: ProcessPlanner, model_server: ModelServer
) -> None:
    setting = load("cooking-hard")
    wrong = json.dumps({"init": {"add": [f"(nonsense-{number} kitchen garden)" for number in range(60)]}})

    def reply(body: dict[str, Any]) -> Reply:
        text = "".join(message["content"] for message in body["messages"])
        if "nonsense-59" not in text.partition("What was wrong")[0]:
            return answer(wrong)
        return fault(400, f"This model's maximum context length is {len(text) // 3 + 1_000} tokens.")

    model_server.replies = [reply]
    episode = EpisodeSetup(setting, 10, "edit", Limits(50), retries=1)
    model = OpenAIModel("m", base_url=model_server.url)
    events = list(episode_events(episode, setting_game(setting, 10), model, planner))
    first, second = (event.completion.note for event in events if isinstance(event, Answered))
    assert not first
    assert second.endswith("left out: the rejected answer")


class Unasked:
    """A model that must not be asked for its window."""

    name = "unasked"
    description: Mapping[str, object] = MappingProxyType({})

    @property
    def window(self) -> int:
        raise AssertionError("it was asked for")

    def complete(self, request: Request) -> Completion:
        return Completion("{}")


def test_a_small_request_does_not_ask_for_the_window(coin: GameSetting) -> None:
    assert fitting_request(FORMALIZER, PromptContext(coin.start), Unasked()) is not None


@pytest.mark.parametrize(
    ("body", "window"),
    [
        ({"default_generation_settings": {"n_ctx": 16_384}, "total_slots": 1}, 16_384),
        ({"object": "list", "data": [{"id": "m", "max_model_len": 4_096}]}, 4_096),
        ({"data": [{"id": "other", "context_length": 8}, {"id": "m", "context_length": 131_072}]}, 131_072),
        ({"data": [{"id": "an alias", "max_model_len": 2_048}]}, 2_048),
        ({"data": [{"id": "a"}, {"id": "b", "max_model_len": 9}]}, None),
        ({"data": "none"}, None),
        ({"data": [7]}, None),
        ([], None),
        ("no", None),
    ],
)
def test_windows_of_servers(body: object, window: int | None) -> None:
    assert window_of_server(body, "m") == window


@pytest.mark.parametrize(
    ("text", "window"),
    [
        ("This model's maximum context length is 4096 tokens. However, you requested 5000 tokens.", 4_096),
        ("request (5123 tokens) exceeds the available context size (4096 tokens), try increasing it", 4_096),
        ("prompt is too long: 210000 tokens > 200000 maximum", None),
        ("", None),
    ],
)
def test_windows_in_errors(text: str, window: int | None) -> None:
    assert window_in(text) == window


def test_a_server_is_asked_once(model_server: ModelServer) -> None:
    model_server.models, model_server.window = ["m"], 2_048
    model = OpenAIModel("m", base_url=model_server.url)
    assert model.window == 2_048
    model_server.window = 4_096
    assert model.window == 2_048


def test_a_server_that_says_nothing_is_asked_twice(model_server: ModelServer) -> None:
    model = OpenAIModel("m", base_url=model_server.url)
    assert (model.window, model.window) == (None, None)
    model_server.models, model_server.window = ["m"], 2_048
    assert model.window is None


def test_an_error_names_the_window(model_server: ModelServer) -> None:
    model_server.replies = [fault(400, "the request exceeds the available context size (4096 tokens)")]
    model = OpenAIModel("m", base_url=model_server.url)
    with pytest.raises(ModelError):
        model.complete(Request("edit", (Message("user", "What?"),)))
    assert model.window == 4_096


def test_the_user_reads_what_was_left_out() -> None:
    request = Request("edit", (Message("user", "What?"),), note="shortened")
    *_, answered = ask(ScriptedModel(("yes",)), request, Budget(Limits(None)))
    assert isinstance(answered, Answered)
    assert answered.completion.note == "shortened"
