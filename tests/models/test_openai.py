"""The real client against a real server on this machine."""

from __future__ import annotations

import json
import threading
import traceback
from dataclasses import replace
from typing import Any

import pytest

from pddlego.errors import BudgetSpentError, ModelError, NoTimeLeftError, UsageError
from pddlego.methods.textgames.settings import GameSetting
from pddlego.models import Message, Request
from pddlego.models.credentials import address_of, secrets_of, without_credentials
from pddlego.models.dialect import Sampling
from pddlego.models.limiter import SharedLimiter, Spending
from pddlego.models.openai import OpenAIModel
from pddlego.pddl import EDIT_SCHEMA
from tests.clock import FakeClock, Passing, Silence
from tests.methods.textgames.situations import situation_with
from tests.model_server import ModelServer, Reply, answer, fault
from tests.scale import PATIENCE

KEY = "sk-canary-0123456789abcdef"


@pytest.fixture
def request_(coin: GameSetting) -> Request:
    situation = situation_with("coin", "", coin.start.domain, coin.start.problem)
    messages = (Message("system", "Answer in JSON."), Message("user", "What?"))
    return Request("edit", messages, situation, EDIT_SCHEMA)


def model(server: ModelServer, waits: list[float] | None = None, **options: Any) -> OpenAIModel:
    sleeping = waits if waits is not None else []
    chosen = {name: options.pop(name) for name in list(options) if name in Sampling.__dataclass_fields__}
    sampling = replace(Sampling(temperature=0.5, seed=7, streams=False), **chosen)
    options = {"timeout": PATIENCE, "sampling": sampling, **options}
    return OpenAIModel("test-model", KEY, server.url, sleep=sleeping.append, **options)


def test_an_answer_with_its_numbers(model_server: ModelServer, request_: Request) -> None:
    model_server.replies = [answer('{"init": {}}')]
    completion = model(model_server).complete(request_)
    assert completion.text == '{"init": {}}'
    assert (completion.tokens_in, completion.tokens_out, completion.tokens_cached) == (100, 20, 64)
    assert completion.attempts == 1
    assert not completion.estimated
    sent = model_server.requests[0]
    assert sent["model"] == "test-model"
    assert (sent["temperature"], sent["seed"]) == (0.5, 7)
    assert sent["messages"] == [{"role": "system", "content": "Answer in JSON."}, {"role": "user", "content": "What?"}]
    assert sent["response_format"]["type"] == "json_schema"
    assert model_server.headers[0]["Authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize(
    "passing",
    [
        fault(429, "slow down"),
        fault(500, "oops"),
        fault(502, "oops"),
        fault(408, "timeout"),
        Reply(503, "<html>busy</html>", {"content-type": "text/html"}),
        Reply(drop=True),
    ],
)
def test_what_may_pass_is_tried_again(model_server: ModelServer, request_: Request, passing: Reply) -> None:
    waits: list[float] = []
    model_server.replies = [passing, passing, answer("{}")]
    completion = model(model_server, waits).complete(request_)
    assert completion.text == "{}"
    assert completion.attempts == 3
    assert len(model_server.requests) == 3
    assert 0.7 <= waits[0] <= 1.3
    assert 1.4 <= waits[1] <= 2.6


@pytest.mark.parametrize(
    "usage",
    [
        {},
        {"prompt_tokens": None, "completion_tokens": None},
        "none",
    ],
)
def test_usage_without_numbers_is_estimated(model_server: ModelServer, request_: Request, usage: object) -> None:
    body = json.loads(answer("x" * 40).body) | {"usage": usage}
    model_server.replies = [Reply(body=json.dumps(body))]
    completion = model(model_server).complete(request_)
    assert completion.estimated
    assert (completion.tokens_in, completion.tokens_out) == (6, 13)


def test_a_stream_that_breaks_off_took_what_came_of_it(model_server: ModelServer, request_: Request) -> None:
    chunk = {
        "choices": [
            {"index": 0, "delta": {"content": " ".join(map(str, range(7_000)))[:30_000]}, "finish_reason": None}
        ]
    }
    part = f"data: {json.dumps(chunk)}\n\n"
    model_server.replies = [Reply(headers={"content-type": "text/event-stream"}, pieces=(part, part, part))]
    limiter = SharedLimiter(1, Spending(tokens=100_000))
    with pytest.raises(BudgetSpentError):
        model(model_server, streams=True, attempts=9, limiter=limiter).complete(replace(request_, longest=10**6))
    assert len(model_server.requests) == 3
    assert limiter.spent.tokens == 3 * (request_.characters // 3 + 30_000)


@pytest.mark.parametrize("status", [400, 422])
def test_a_refusal_that_names_nothing_is_tried_without_whatever_may_be_to_blame(
    model_server: ModelServer, request_: Request, status: int
) -> None:
    model_server.replies = [fault(status, "no such luck")]
    client = model(model_server)
    with pytest.raises(ModelError, match=f"answered {status}") as caught:
        client.complete(request_)
    assert "no such luck" in caught.value.reason
    assert set(model_server.requests[-1]) == {"model", "messages"}
    before = model_server.requests[0]
    model_server.replies = [answer("{}")]
    client.complete(request_)
    assert model_server.requests[-1] == before, "what did not help was not a knowledge"


def test_a_time_out(model_server: ModelServer, request_: Request) -> None:
    clock = FakeClock()
    late = answer("{}", hold=Silence(clock, PATIENCE))
    model_server.replies = [late, answer("{}")]
    completion = model(model_server, clock=clock).complete(request_)
    assert completion.attempts == 2
    model_server.replies = [late]
    with pytest.raises(ModelError, match="longer than the time-out"):
        model(model_server, attempts=1, clock=clock).complete(request_)


@pytest.mark.parametrize("word", ["response_format", "json_schema is not supported", "guided decoding failed"])
def test_an_unsupported_response_format_is_negotiated_down_once(
    model_server: ModelServer, request_: Request, word: str
) -> None:
    no = fault(400, f"Invalid parameter: {word}")
    model_server.replies = [no, no, answer("{}")]
    client = model(model_server)
    completion = client.complete(request_)
    assert (completion.text, completion.attempts) == ("{}", 3)
    formats = [(request.get("response_format") or {}).get("type") for request in model_server.requests]
    assert formats == ["json_schema", "json_object", None]
    client.complete(request_)
    assert "response_format" not in model_server.requests[-1]


def test_an_unsupported_temperature_is_left_out_from_then_on(model_server: ModelServer, request_: Request) -> None:
    model_server.replies = [fault(400, "Unsupported value: 'temperature' does not support 0.5"), answer("{}")]
    client = model(model_server)
    client.complete(request_)
    assert "temperature" not in model_server.requests[-1]
    assert model_server.requests[-1]["seed"] == 7
    assert client.description["temperature"] == 0.5


@pytest.mark.parametrize(
    "body",
    [
        '{"id": "x", "object": "chat.completion", "choices": []}',
        "{}",
        "<html>",
        "[" * 200_000,
        '{"choices": "none"}',
        '{"choices": [{"message": "text"}]}',
        '{"choices": [{"message": null}]}',
        "null",
        '"text"',
    ],
)
def test_a_reply_that_is_no_completion(model_server: ModelServer, request_: Request, body: str) -> None:
    model_server.replies = [Reply(body=body)]
    with pytest.raises(ModelError, match="gave no answer"):
        model(model_server, attempts=1).complete(request_)


def test_a_deadline_holds_whatever_drips_in(model_server: ModelServer, request_: Request) -> None:
    clock = FakeClock()
    drops = [" " if number % 2 else Passing(clock, 0.25) for number in range(8)]
    model_server.replies = [Reply(headers={"content-length": "100"}, pieces=(*drops, threading.Event()))]
    with pytest.raises(NoTimeLeftError):
        model(model_server, clock=clock).complete(replace(request_, seconds=1.0))
    assert len(model_server.requests) == 1, "it asks again"


def test_a_key_never_reaches_a_text(model_server: ModelServer, request_: Request) -> None:
    model_server.replies = [fault(401, f"Incorrect API key provided: {KEY}. Also sk-other-987654321.")]
    client = model(model_server)
    with pytest.raises(ModelError) as caught:
        client.complete(request_)
    shown = "".join(traceback.format_exception(caught.value)) + repr(caught.value.args) + str(client.description)
    assert KEY not in shown
    assert "sk-other" not in shown
    assert "Check OPENAI_API_KEY" in str(caught.value)


@pytest.mark.parametrize("key", ["schlüssel", "two words\x00", "\r"])
def test_a_key_that_cannot_be_sent_is_refused_without_showing_it(key: str) -> None:
    with pytest.raises(UsageError) as caught:
        OpenAIModel("m", key)
    assert key.strip() == "" or key not in str(caught.value)


def test_a_key_is_taken_without_the_line_end_of_its_file(model_server: ModelServer, request_: Request) -> None:
    OpenAIModel("m", "AIzaCanary\r\n", model_server.url).complete(request_)
    assert model_server.headers[0]["Authorization"] == "Bearer AIzaCanary"


@pytest.mark.parametrize("url", ["nonsense", "http://[bad", "http://me:geheim@host:99999x/v1", "ftp://host", "http://"])
def test_an_address_that_is_no_url_is_refused(url: str) -> None:
    with pytest.raises(UsageError, match="not a URL") as caught:
        OpenAIModel("m", None, url)
    assert "geheim" not in str(caught.value)


def test_a_password_in_the_url_never_reaches_a_text(request_: Request) -> None:
    client = OpenAIModel("m", None, "http://me:geheim@127.0.0.1:9/v1?token=geheim", attempts=1)
    with pytest.raises(ModelError) as caught:
        client.complete(request_)
    assert "geheim" not in str(caught.value) + str(client.description)
    assert without_credentials("http://me:geheim@host:1/v1?x=y") == "http://host:1/v1"


def test_without_key_and_endpoint_there_is_no_model() -> None:
    with pytest.raises(UsageError, match="No API key"):
        OpenAIModel("gpt-x")
    for misspelt, name in (("lokal", "local"), ("raeder", "reader")):
        with pytest.raises(UsageError) as caught:
            OpenAIModel(misspelt)
        assert caught.value.next_step == f"Did you mean '{name}'?"


def test_an_answer_that_nobody_wants_any_more_is_not_waited_for(model_server: ModelServer, request_: Request) -> None:
    limiter, silent = SharedLimiter(1), answer("{}", hold=threading.Event())

    def stopped(body: object) -> Reply:
        limiter.break_off()
        return silent

    model_server.replies = [stopped]
    with pytest.raises(KeyboardInterrupt):
        model(model_server, timeout=PATIENCE, limiter=limiter).complete(request_)
    assert limiter.load().in_flight == 0
    assert limiter.spent.calls == 1


def test_a_query_of_the_address_goes_with_every_request(model_server: ModelServer, request_: Request) -> None:
    OpenAIModel("m", KEY, f"{model_server.url}?api-version=3&name=a%20b").complete(request_)
    assert model_server.paths == ["/v1/chat/completions?api-version=3&name=a+b"]


@pytest.mark.parametrize(
    ("url", "hidden", "shown"),
    [
        ("http://h/v1?sig=ab%2Fcd%2BefGH%3D", ("ab/cd+efGH=", "ab%2Fcd%2BefGH%3D", "ab%2fcd%2befGH%3d"), ()),
        ("http://h/v1?passthrough=true&max_tokens=4096", (), ("true", "4096")),
        ("http://token-12345@h/v1", ("token-12345",), ()),
        ("http://me:pass%20word@h/v1", ("pass word", "pass%20word", "pass+word"), ("me",)),
    ],
)
def test_what_is_secret_in_an_address(url: str, hidden: tuple[str, ...], shown: tuple[str, ...]) -> None:
    result = secrets_of("", url)
    assert set(hidden) <= set(result)
    assert not set(shown) & set(result)


def test_another_address_is_another_endpoint() -> None:
    urls = ["http://h/v1", "http://h/v1?deployment=a", "http://h/v1?deployment=b", "http://h/team", "http://u@h/v1"]
    assert len({address_of(url) for url in urls}) == len(urls)
    assert address_of("http://u:one@h/v1?api_key=a") == address_of("http://u:two@h/v1?api_key=b")


def test_arguments_of_a_tool_may_be_an_object(model_server: ModelServer, request_: Request) -> None:
    call = '{"choices": [{"message": {"content": null, "tool_calls": [{"function": {"arguments": {"init": {}}}}]}}]}'
    model_server.replies = [Reply(body=call)]
    assert json.loads(model(model_server).complete(request_).text) == {"init": {}}
