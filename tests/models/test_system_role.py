"""Models without a system role: their chat template, or their provider, refuses messages with it."""

from __future__ import annotations

import json

import pytest

from pddlego.errors import ModelError
from pddlego.models import Message, Request
from pddlego.models.base import Delta, RetryNotice
from pddlego.models.dialect import Dialects, Sampling
from pddlego.models.openai import OpenAIModel
from tests.model_server import ModelServer, Reply, answer
from tests.models.endpoints import lines, refusal

REFUSED = [
    "System role not supported",
    'Error rendering prompt with jinja template: "System role not supported".',
    "While executing CallExpression at line 1 in source:\n ^\nError: Jinja Exception: System role not supported",
    "Template error: invalid operation: System role not supported (in <string>:1)",
    "Only user and assistant roles are supported!",
    "Only user, assistant and tool roles are supported, got system.",
    "Conversation roles must alternate user/assistant/user/assistant/...",
    "Unsupported value: 'messages[0].role' does not support 'system' with this model.",
    "Developer instruction is not enabled for models/gemma-3-27b-it",
    "role 'system' is not supported on this model",
    "invalid params, chat content has invalid message role: system (2013)",
    "message role not supported yet: system",
    "Unknown role: system",
    "This model doesn't support system messages. Try again without a system message.",
    "The chat template does not support a system prompt",
    "system_instruction is not supported",
    "messages.0.role: Input should be 'user' or 'assistant'",
    "Invalid role. Role must be one of: user, assistant",
    "Please use a valid role: user, model.",
    "The first message must be from the user",
    "Conversations must start with a user prompt",
    'messages: Unexpected role "system". The Messages API accepts a top-level `system` parameter',
]

OTHER = [
    "After the optional system message, conversation roles must alternate user/assistant/user/assistant/...",
    "The system is overloaded. It does not accept requests",
    "maximum context length is 4096 tokens, however you requested 5000",
]

QUESTIONS = (Message("system", "The rules."), Message("user", "What?"), Message("assistant", "A"), Message("user", "B"))
FOLDED = [("user", "The rules.\n\nWhat?"), ("assistant", "A"), ("user", "B")]


def asked(text: list[RetryNotice | Delta], *messages: Message) -> Request:
    return Request("edit", messages or QUESTIONS, report=text.append)


def sent(body: dict[str, object]) -> list[tuple[str, str]]:
    messages = body["messages"]
    assert isinstance(messages, list)
    return [(message["role"], message["content"]) for message in messages]


def client(server: ModelServer, dialects: Dialects | None = None) -> OpenAIModel:
    learned = (dialects or Dialects()).of(server.url, "m")
    return OpenAIModel("m", base_url=server.url, sleep=lambda _: None, learned=learned)


@pytest.mark.parametrize(
    ("sentence", "status"),
    [*((sentence, 400) for sentence in REFUSED), *((REFUSED[0], code) for code in (422, 500, 503))],
)
def test_the_text_goes_into_the_first_user_message(model_server: ModelServer, sentence: str, status: int) -> None:
    dialects, text = Dialects(), list[RetryNotice | Delta]()
    model_server.replies = [refusal(sentence, status), answer("yes")]
    assert client(model_server, dialects).complete(asked(text)).attempts == 2
    assert sent(model_server.requests[1]) == FOLDED and "system role" not in model_server.requests[1]
    (notice,) = (item for item in text if isinstance(item, RetryNotice))
    assert "the system role" in notice.reason and " ".join(sentence.split())[:30] in notice.reason
    assert client(model_server, dialects).complete(asked([])).attempts == 1
    assert sent(model_server.requests[2]) == FOLDED, "and other clients of the endpoint know it"


@pytest.mark.parametrize("sentence", OTHER)
def test_other_errors_say_nothing_of_it(model_server: ModelServer, sentence: str) -> None:
    text: list[RetryNotice | Delta] = []
    model_server.replies = [refusal(sentence, 500), answer("yes")]
    assert client(model_server).complete(asked(text)).attempts == 2
    assert sent(model_server.requests[1])[0] == ("system", "The rules.")


def error_in(reply: str) -> Reply:
    return {
        "a stream": lines('event: error\ndata: {"error": {"message": "System role not supported"}}'),
        "a stream, with a status": lines('data: {"error": {"message": "System role not supported", "code": 500}}'),
        "a body with status 200": Reply(body=json.dumps({"error": "System role not supported"})),
        "a bare body": Reply(500, json.dumps({"detail": "System role not supported"})),
    }[reply]


@pytest.mark.parametrize("reply", ["a stream", "a stream, with a status", "a body with status 200", "a bare body"])
def test_the_refusal_may_come_in(model_server: ModelServer, reply: str) -> None:
    model_server.replies = [error_in(reply), answer("yes")]
    assert client(model_server).complete(asked([])).text == "yes"
    assert sent(model_server.requests[1]) == FOLDED


def test_an_error_without_a_reason_may_mean_it(model_server: ModelServer) -> None:
    def reply(body: dict[str, object]) -> Reply:
        return refusal("Bad request") if ("system", "The rules.") in sent(body) else answer("yes")

    model_server.replies = [reply]
    assert client(model_server).complete(asked([])).text == "yes"


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        ((Message("user", "What?"),), [("user", "What?")]),
        ((Message("system", "The rules."),), [("user", "The rules.")]),
        ((Message("system", "a"), Message("system", "b"), Message("user", "c")), [("user", "a\n\nb\n\nc")]),
    ],
)
def test_every_request_has_its_messages(
    model_server: ModelServer, messages: tuple[Message, ...], expected: list[tuple[str, str]]
) -> None:
    model = client(model_server)
    model_server.replies = [refusal("System role not supported"), answer("yes")]
    model.complete(asked([]))
    model.complete(asked([], *messages))
    assert sent(model_server.requests[-1]) == expected


def test_an_endpoint_that_refuses_everything_is_quoted(model_server: ModelServer) -> None:
    model_server.replies = [refusal("System role not supported")]
    with pytest.raises(ModelError, match="answered 400") as caught:
        client(model_server).complete(asked([]))
    assert caught.value.reason == "System role not supported."


@pytest.mark.parametrize(
    "message",
    [
        "Unsupported parameter 'seed' for this model; see the system prompt guide",
        "seed is not supported when a system message is present",
    ],
)
def test_a_field_that_is_named_is_left_out_and_the_role_stays(model_server: ModelServer, message: str) -> None:
    quoted = {"detail": [{"msg": message, "input": {"messages": [{"role": "system", "content": "The rules."}]}}]}
    model_server.replies = [Reply(400, json.dumps(quoted)), answer("ok")]
    model = OpenAIModel("m", "key", model_server.url, sampling=Sampling(seed=7))
    assert model.complete(asked([])).text == "ok"
    first, second = model_server.requests
    assert "seed" in first and "seed" not in second
    assert sent(second) == sent(first)
