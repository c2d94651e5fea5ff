"""Every endpoint of `docs/endpoints.md`, as it is documented: no call dies of something that could be left out."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pddlego.errors import ModelError, UsageError
from pddlego.methods.textgames.formalize.question import ANSWER_SCHEMA
from pddlego.models import Message, Request
from pddlego.models.base import Delta, RetryNotice
from pddlego.models.dialect import Dialects, Sampling
from pddlego.models.endpoint import Endpoint as EndpointOptions
from pddlego.models.limiter import OUTPUT_ESTIMATE, SharedLimiter
from pddlego.models.openai import OpenAIModel
from pddlego.models.replies import TokenCounts, lines_of, usage_of
from pddlego.pddl import EDIT_SCHEMA
from tests.model_server import ModelServer, Reply, answer, fault
from tests.models.endpoints import ENDPOINTS, TEXT, Endpoint, chunk, lines, streamed, used, violations

KEY = "sk-canary-0123456789abcdef"
PAGE = Path(__file__).parent.parent.parent / "docs" / "endpoints.md"


def asked(text: list[RetryNotice | Delta]) -> Request:
    messages = (Message("system", "Answer in JSON."), Message("user", "What?"))
    return Request("edit", messages, schema=EDIT_SCHEMA, report=text.append)


@pytest.mark.parametrize("name", ENDPOINTS)
def test_an_endpoint_as_it_is(model_server: ModelServer, name: str) -> None:
    endpoint = ENDPOINTS[name]
    model_server.replies = [endpoint.reply]
    sampling = replace(Sampling(0.5, seed=7), **endpoint.options)
    text: list[RetryNotice | Delta] = []
    client = OpenAIModel("m", KEY, model_server.url, sampling, sleep=lambda _: None)
    result = client.complete(asked(text))
    _check(endpoint, result, model_server.requests[-1])
    assert len(model_server.requests) == result.attempts == endpoint.first
    troubles = [item for item in text if isinstance(item, RetryNotice)]
    assert len(troubles) == endpoint.first - 1, "every fallback is told"
    assert all("does not take" in trouble.reason for trouble in troubles)
    words = [item for item in text if isinstance(item, Delta)]
    if model_server.requests[-1].get("stream"):
        assert "".join(word.text for word in words) == TEXT
        assert "".join(word.reasoning for word in words) == endpoint.reasoning
    assert client.complete(asked([])).attempts == 1, "and remembered"


def _check(endpoint: Endpoint, result: Any, sent: Mapping[str, Any]) -> None:
    assert result.text == TEXT
    assert result.finish == "stop"
    counted = (result.tokens_in, result.tokens_out, result.tokens_cached, result.tokens_reasoning)
    assert counted == endpoint.tokens
    assert not result.estimated
    assert result.reasoning == endpoint.reasoning
    assert not set(endpoint.left_out) & set(sent)
    form = sent.get("response_format")
    assert (form or {}).get("type") == endpoint.form
    assert (form or {}).get("json_schema", {}).get("strict") == endpoint.strict


def test_the_table_of_the_docs_names_them_all() -> None:
    table = PAGE.read_text(encoding="utf-8")
    for name in ENDPOINTS:
        assert f"| {name.partition(', not')[0].partition(' with')[0]} " in table, name


def test_every_schema_that_is_sent_keeps_the_rules_of_strict_mode() -> None:
    """All properties are required, no free maps, no additional properties."""
    assert violations(dict(EDIT_SCHEMA)) == violations(dict(ANSWER_SCHEMA)) == []
    free: dict[str, Any] = {"type": "object", "properties": {"a": {"type": "object"}}, "required": []}
    assert len(violations(free)) == 3
    root = Path(__file__).parent.parent.parent / "pddlego"
    holders = [
        path.name for path in root.rglob("*.py") if "schema=" in path.read_text() and "Request(" in path.read_text()
    ]
    assert set(holders) <= {"problems.py", "doctor.py"}, "a new schema belongs in this test"


def test_what_one_learns_all_know(model_server: ModelServer) -> None:
    model_server.replies = [ENDPOINTS["Gemini"].reply]
    dialects = Dialects()
    for number in range(3):
        learned = dialects.of(model_server.url, "m")
        client = OpenAIModel("m", KEY, model_server.url, Sampling(seed=number), learned=learned)
        assert client.complete(asked([])).attempts == (2 if number == 0 else 1)


def test_a_remedy_that_is_not_taken_is_said(model_server: ModelServer) -> None:
    model_server.replies = [ENDPOINTS["Anthropic"].reply]
    client = OpenAIModel("m", KEY, model_server.url, Sampling(0.5))
    assert client.complete(asked([])).not_taken == ()
    warm = replace(asked([]), temperature_increase=0.3, max_tokens=100)
    assert client.complete(warm).not_taken == ("temperature",)


BROKEN = {
    "in the middle": lines(chunk({"content": "half of"})),
    "with an error": lines(chunk({"content": "half of"}), 'data: {"error": {"message": "overloaded", "code": 529}}'),
    "with the error of an older llama.cpp": lines('error: {"code": 500, "message": "Context size"}', "data: [DONE]"),
    "before anything": lines(": keep-alive"),
}


@pytest.mark.parametrize("how", BROKEN)
def test_a_stream_that_breaks_off_is_tried_again_and_ends_typed(model_server: ModelServer, how: str) -> None:
    text: list[RetryNotice | Delta] = []
    model_server.replies = [BROKEN[how], streamed(used(), {"stream_options": {"include_usage": True}})]
    client = OpenAIModel("m", KEY, model_server.url, sleep=lambda _: None, attempts=3)
    result = client.complete(asked(text))
    assert (result.text, result.attempts) == (TEXT, 2)
    assert [item.tries for item in text if isinstance(item, RetryNotice)] == [1]
    model_server.replies = [BROKEN[how]]
    with pytest.raises(ModelError, match="after 3 tries") as caught:
        client.complete(asked([]))
    reasons = {"with an error": "overloaded.", "with the error of an older llama.cpp": "Context size."}
    assert reasons.get(how, "middle of an answer") in caught.value.reason


HALF = "look around"
FINISHED = {
    "stop": "stop",
    "STOP": "stop",
    "eos": "stop",
    "end_turn": "stop",
    "stop_sequence": "stop",
    "length": "length",
    "max_tokens": "length",
    "MAX_TOKENS": "length",
    "model_length": "length",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "content_filter": "content_filter",
    "SAFETY": "content_filter",
    "sensitive": "content_filter",
    "": "stop",
    "null": "stop",
}
FAILED = [
    "error",
    "network_error",
    "abort",
    "insufficient_system_resource",
    "model_context_window_exceeded",
    "timeout",
    "cancelled",
    "unknown",
    "other",
    "ERROR",
    f"Bearer {KEY} {'x' * 1000}",
]


def _ended(reason: str, streams: bool, text: str = HALF) -> Reply:
    if streams:
        return lines(chunk({"content": text}), chunk({}, reason), "data: " + json.dumps(used()), "data: [DONE]")
    return answer(text, reason)


@pytest.mark.slow
@pytest.mark.parametrize("streams", [True, False])
@pytest.mark.parametrize("reason", FINISHED)
def test_a_reason_to_stop_that_means_a_finished_answer(model_server: ModelServer, reason: str, streams: bool) -> None:
    model_server.replies = [_ended(reason, streams)]
    result = OpenAIModel("m", KEY, model_server.url, attempts=1).complete(asked([]))
    assert (result.text, result.finish) == (HALF, FINISHED[reason])


@pytest.mark.parametrize("streams", [True, False])
@pytest.mark.parametrize("reason", FAILED)
def test_any_other_reason_is_a_failed_request(model_server: ModelServer, reason: str, streams: bool) -> None:
    model_server.replies = [_ended(reason, streams), answer(TEXT)]
    text: list[RetryNotice | Delta] = []
    limiter = SharedLimiter(1)
    result = OpenAIModel("m", KEY, model_server.url, sleep=lambda _: None, limiter=limiter).complete(asked(text))
    assert (result.text, result.attempts) == (TEXT, 2)
    [notice] = [item for item in text if isinstance(item, RetryNotice)]
    assert KEY not in notice.reason
    assert reason.split()[0] in notice.reason
    assert (limiter.spent.tokens or 0) >= OUTPUT_ESTIMATE, "half an answer is paid for"
    model_server.replies = [_ended(reason, streams)]
    with pytest.raises(ModelError) as caught:
        OpenAIModel("m", KEY, model_server.url, sleep=lambda _: None, attempts=2).complete(asked([]))
    assert KEY not in caught.value.sentence
    assert "--no-stream" not in caught.value.next_step
    assert ("larger context" in caught.value.next_step) is ("context" in reason)


def test_a_failure_is_not_undone_by_a_later_chunk(model_server: ModelServer) -> None:
    broken = lines(chunk({"content": HALF}, "error"), chunk({}, "stop"), "data: [DONE]")
    model_server.replies = [broken, answer(TEXT)]
    assert OpenAIModel("m", KEY, model_server.url, sleep=lambda _: None).complete(asked([])).text == TEXT


EVENTS = streamed(used(), {"stream_options": {"include_usage": True}}, thought="Hm.").body
SPREAD = "".join(
    "data: " + json.dumps(json.loads(line[6:]), indent=1).replace("\n", "\ndata: ") + "\n\n"
    for line in EVENTS.split("\n\n")
    if line.startswith("data: {")
)
OTHERS = "".join(
    event + "\n\n" + 'data: {"choices": [{"index": 1, "delta": {"content": "no"}, "finish_reason": "length"}]}\n\n'
    for event in EVENTS.split("\n\n")
    if event
)
BODIES = {
    "events": EVENTS,
    "CR": EVENTS.replace("\n", "\r"),
    "CRLF": EVENTS.replace("\n", "\r\n"),
    "a byte order mark": "\ufeff" + EVENTS,
    "a comment": ": hello\n\n" + EVENTS,
    "blank lines": "\n\n\n" + EVENTS,
    "names of events": EVENTS.replace("data: ", "event: message\nid: 7\nretry: 10\ndata: "),
    "no blank behind the colon": EVENTS.replace("data: ", "data:"),
    "several lines of data": SPREAD + "data: [DONE]\n\n",
    "several lines of data, no end": SPREAD.rstrip("\n"),
    "chunks of another choice": OTHERS,
    "JSON": answer(TEXT).body,
    "JSON behind blanks": " \n\n" + answer(TEXT).body,
    "JSON in lines": json.dumps(json.loads(answer(TEXT).body), indent=2),
    "JSON and the end of a stream": answer(TEXT).body + "\n\ndata: [DONE]\n\n",
}
KINDS = [
    "text/event-stream",
    "Text/Event-Stream; Charset=UTF-8",
    "application/json",
    "text/plain",
    "application/octet-stream",
    "",
]


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("body", BODIES)
def test_a_body_is_read_whatever_it_is_called(model_server: ModelServer, body: str, kind: str) -> None:
    model_server.replies = [Reply(body=BODIES[body], headers={"content-type": kind})]
    for streams in (True, False):
        client = OpenAIModel("m", KEY, model_server.url, Sampling(streams=streams), attempts=1)
        result = client.complete(asked([]))
        assert (result.text, result.finish, result.tokens_in) == (TEXT, "stop", 100)


def test_events_of_another_type_are_shown_as_they_come(model_server: ModelServer) -> None:
    came = threading.Event()
    first, rest = chunk({"content": "a"}) + "\n\n", chunk({"content": "b"}, "stop") + "\n\n"
    model_server.replies = [Reply(headers={"content-type": "text/plain"}, pieces=(first, came, rest))]
    request = replace(asked([]), report=lambda update: came.set())
    assert OpenAIModel("m", KEY, model_server.url, attempts=1).complete(request).text == "ab"
    assert came.is_set()


def test_a_stream_that_is_cut_in_a_line(model_server: ModelServer) -> None:
    whole = streamed(used(), {})
    model_server.replies = [replace(whole, cut=len(whole.body) // 2), whole]
    client = OpenAIModel("m", KEY, model_server.url, sleep=lambda _: None)
    result = client.complete(asked([]))
    assert (result.text, result.attempts, result.estimated) == (TEXT, 2, True)


def test_a_line_that_never_ends_has_an_end(model_server: ModelServer) -> None:
    model_server.replies = [lines(chunk({"content": "x" * 10_000_000}))]
    client = OpenAIModel("m", KEY, model_server.url, sleep=lambda _: None)
    with pytest.raises(ModelError, match="longer than") as caught:
        client.complete(asked([]))
    assert len(model_server.requests) == 1, "the same would come again"
    assert caught.value.next_step


def test_a_key_that_is_echoed_in_pieces_is_not_told(model_server: ModelServer) -> None:
    text = f"Your key is {KEY}, and so on."
    parts = [chunk({"content": text[i : i + 3]}) for i in range(0, len(text), 3)]
    model_server.replies = [lines(*parts, chunk({}, "stop"), "data: [DONE]")]
    told: list[RetryNotice | Delta] = []
    result = OpenAIModel("m", KEY, model_server.url).complete(asked(told))
    assert result.text == "Your key is ***, and so on."
    assert "".join(item.text for item in told if isinstance(item, Delta)) == result.text


@pytest.mark.parametrize(
    ("usage", "result"),
    [
        ({}, TokenCounts()),
        ({"usage": None}, TokenCounts()),
        ({"usage": {"prompt_tokens": 5, "completion_tokens": 7}}, TokenCounts(5, 7)),
        ({"usage": {"prompt_tokens": 5, "completion_tokens": 7, "total_tokens": 20}}, TokenCounts(5, 15, 0, 8)),
        ({"usage": {"prompt_tokens": True, "completion_tokens": "7"}}, TokenCounts()),
        (
            {"usage": {"prompt_tokens": 5, "completion_tokens": 7, "prompt_tokens_details": {"cached_tokens": 9}}},
            TokenCounts(5, 7, 5),
        ),
    ],
)
def test_usage(usage: dict[str, Any], result: TokenCounts) -> None:
    assert usage_of(usage) == result


def test_a_request_that_is_too_long_costs_the_next_one_no_bound(model_server: ModelServer) -> None:

    for text in ("This model's maximum context length is 8192 tokens", "max_tokens is too large: 500"):
        model_server.replies = [fault(400, text, "context_length_exceeded" if "context" in text else None)]
        client = OpenAIModel("m", KEY, model_server.url, Sampling(max_tokens=500, streams=False))
        with pytest.raises(ModelError):
            client.complete(asked([]))
        model_server.replies = [answer(TEXT)]
        client.complete(asked([]))
        assert model_server.requests[-1]["max_tokens"] == 500
        assert model_server.requests[-1]["response_format"]["json_schema"]["strict"]


@pytest.mark.parametrize("text", ["upstream error: stream closed", "database schema locked"])
def test_what_may_pass_teaches_nothing(model_server: ModelServer, text: str) -> None:

    whole = streamed(used(), {"stream_options": {"include_usage": True}})
    model_server.replies = [fault(500, text), whole]
    client = OpenAIModel("m", KEY, model_server.url, sleep=lambda _: None)
    assert client.complete(asked([])).text == TEXT
    assert set(model_server.requests[0]) == set(model_server.requests[1])


def test_a_guess_costs_only_what_it_was_right_about(model_server: ModelServer) -> None:

    def no_seed(body: dict[str, Any]) -> Any:
        return fault(400, "Bad request") if "seed" in body else answer(TEXT)

    model_server.replies = [no_seed]
    client = OpenAIModel("m", KEY, model_server.url, Sampling(0.5, seed=1, extra={"a": 1, "b": 2}, streams=False))
    client.complete(asked([]))
    client.complete(asked([]))
    usual = {"model", "messages", "temperature", "response_format", "max_tokens"}
    assert set(model_server.requests[-1]) == {*usual, "a", "b"}
    model_server.replies = [fault(400, "Your credit balance is too low")]
    before = len(model_server.requests)
    with pytest.raises(ModelError, match="credit"):
        client.complete(asked([]))
    assert len(model_server.requests) == before + 1


def test_lines_end_where_lines_end(model_server: ModelServer) -> None:
    text = "a \u2028b\u0085 c\x0b d"
    raw = [chunk({"content": item}).replace("\\u2028", "\u2028").replace("\\u0085", "\u0085") for item in (text, "!")]
    model_server.replies = [lines(*raw, chunk({}, "stop"), "data: [DONE]")]
    assert OpenAIModel("m", KEY, model_server.url).complete(asked([])).text == text + "!"
    assert list(lines_of([b"a\r", b"\nb\n\xc3", b"\xa4\rc"])) == ["a", "b", "\u00e4", "c"]


def test_a_piece_that_cannot_be_read_is_no_answer(model_server: ModelServer) -> None:
    model_server.replies = [lines(chunk({"content": "a"}), "data: {broken", chunk({"content": "b"}, "stop"))]
    with pytest.raises(ModelError, match="cannot be read"):
        OpenAIModel("m", KEY, model_server.url, attempts=2, sleep=lambda _: None).complete(asked([]))
    assert len(model_server.requests) == 2


def test_a_stream_may_refuse_an_option_as_a_status_does(model_server: ModelServer) -> None:
    def picky(body: dict[str, Any]) -> Any:
        if "temperature" in body:
            return lines('data: {"error": "temperature is not supported"}')
        return lines("data: []", chunk({"content": TEXT}, "stop"), "data: [DONE]")

    model_server.replies = [picky]
    client = OpenAIModel("m", KEY, model_server.url)
    assert client.complete(asked([])).text == TEXT
    assert client.complete(asked([])).attempts == 1


@pytest.mark.parametrize(
    "pair",
    [
        'x={"api_key": "abc"}',
        'headers={"Authorization": "Bearer x"}',
        "token=abc",
        "k=sk-abcdefgh",
        "x=NaN",
        "x=[1e999]",
    ],
)
def test_no_secret_and_nothing_that_json_does_not_have_is_sent_along(pair: str) -> None:
    with pytest.raises(UsageError):
        EndpointOptions.model_validate({"extra_body": [pair]})


def test_fields_for_one_endpoint() -> None:
    pairs = (
        "chat_template_kwargs.enable_thinking=false",
        "top_k=20",
        "mode=fast",
        "thinking_tokens=5",
        "cache_key=a",
    )
    result = EndpointOptions.model_validate({"extra_body": pairs}).extra_body
    assert result["chat_template_kwargs"] == {"enable_thinking": False}
    assert (result["top_k"], result["mode"], result["thinking_tokens"]) == (20, "fast", 5)
    for wrong in ("a", "=1", "temperature=1", "a..b=1"):
        with pytest.raises(UsageError):
            EndpointOptions.model_validate({"extra_body": [wrong]})


@pytest.mark.parametrize(("window", "sent"), [(4_096, {"type": "string"}), (None, {"type": "object"})])
def test_a_narrow_schema_is_sent_to_servers_that_sample_freely(
    model_server: ModelServer, window: int | None, sent: object
) -> None:
    """vLLM names the window in its list of models; other endpoints compile each new schema."""
    model_server.models, model_server.window = ["m"], window
    client = OpenAIModel("m", KEY, model_server.url, learned=Dialects().of(model_server.url, "m"))
    message = (Message("user", "What?"),)
    client.complete(Request("edit", message, schema={"type": "object"}, narrow={"type": "string"}))
    assert model_server.requests[-1]["response_format"]["json_schema"]["schema"] == sent
