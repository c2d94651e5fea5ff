"""Every way in which an endpoint can fail, one line each: the real client against a real server."""

from __future__ import annotations

import json
import re
import socket
import threading
from dataclasses import dataclass, replace
from email.utils import formatdate
from typing import Any

import pytest

from pddlego.episode import events as ev
from pddlego.errors import ModelError, NoEndpointError, NoTimeLeftError, RefusedError
from pddlego.methods.textgames.settings import GameSetting
from pddlego.models import Completion, Message, Request
from pddlego.models.dialect import Sampling
from pddlego.models.limiter import SharedLimiter
from pddlego.models.openai import MAX_REPLY, OpenAIModel
from pddlego.pddl import EDIT_SCHEMA
from pddlego.planning import ProcessPlanner
from tests.clock import FakeClock, Silence
from tests.methods.textgames.grid_house import small_house
from tests.methods.textgames.playing import of, play
from tests.methods.textgames.situations import situation_with
from tests.model_server import ModelServer, Reply, answer, fault
from tests.models.endpoints import chunk, lines, used
from tests.scale import PATIENCE, scaled

KEY = "sk-canary-0123456789abcdef"
TRIES = 3


@dataclass(frozen=True)
class Case:
    """What the endpoint does, as long as it is asked; then it answers.

    `text` is in the error that ends the call; without it the call is tried again and succeeds. `requests` counts what
    is sent until the end, `wait` the seconds before the second try. `kind` is the class of the error.
    """

    name: str
    reply: Reply
    text: str = ""
    requests: int = 2
    wait: tuple[float, float] = (0.7, 1.3)
    kind: type[ModelError] = ModelError


def refused(name: str, reply: Reply, text: str) -> Case:
    """Every request would be refused."""
    return Case(name, reply, text, 1, kind=RefusedError)


def no_endpoint(name: str, reply: Reply, text: str) -> Case:
    """There may be no endpoint at the address."""
    return Case(name, reply, text, 1, kind=NoEndpointError)


def shaped(message: dict[str, Any], finish: str = "stop", **more: Any) -> Reply:
    body = json.loads(answer("").body)
    body["choices"][0] |= {"message": {"role": "assistant", **message}, "finish_reason": finish}
    return Reply(body=json.dumps(body | more))


def reported(code: int | str, message: str = "not now") -> Reply:
    """An error in a reply whose status is 200."""
    return Reply(body=json.dumps({"error": {"message": message, "code": code}}))


def missing(*names: str) -> str:
    """FastAPI's error about missing fields."""
    return json.dumps(
        {"detail": [{"type": "missing", "loc": ["body", name], "msg": "Field required"} for name in names]}
    )


HTML = {"content-type": "text/html"}
IN_AN_HOUR = formatdate(4_000_000_000, usegmt=True)

CLOCK = FakeClock()
TIMEOUT = PATIENCE
SILENT = Silence(CLOCK, TIMEOUT)

CASES = [
    # what passes is tried again
    Case("connection reset", Reply(reset=True)),
    Case("connection closed without a word", Reply(drop=True)),
    Case("a stream that ends in the middle", replace(answer("{}"), cut=20)),
    Case("408 request timeout", fault(408, "too slow")),
    Case("429 without Retry-After", fault(429, "slow down")),
    Case("429 with Retry-After in seconds", fault(429, "slow down", headers={"retry-after": "5"}), wait=(5, 5)),
    Case("429 with Retry-After as a date", fault(429, "slow", headers={"retry-after": formatdate(0)})),
    Case("429 with a Retry-After of nothing", fault(429, "slow down", headers={"retry-after": "0"})),
    Case("429 with a Retry-After of no number", fault(429, "slow down", headers={"retry-after": "nan"})),
    Case("429 with a Retry-After that is none", fault(429, "slow down", headers={"retry-after": "soon"})),
    Case("500 internal error", fault(500, "oops")),
    Case("502 bad gateway with a page", Reply(502, "<html>Bad Gateway</html>", HTML)),
    Case("503 unavailable", fault(503, "busy")),
    Case("429 within a 200", reported(429)),
    Case("408 within a 200", reported(408)),
    Case("503 within a 200, as a text", reported("503")),
    Case("busy within a 200, in words", reported("rate_limit_exceeded")),
    Case("overloaded within a 200", Reply(body='{"error": {"type": "overloaded_error", "message": "Overloaded"}}')),
    Case("Google's list within a 200", Reply(body='[{"error": {"code": 503, "status": "UNAVAILABLE"}}]')),
    Case("an error without a frame", Reply(body='{"object": "error", "message": "busy", "code": 429}')),
    Case("OpenRouter's error in a choice", shaped({"content": ""}, "error", error={"code": 502, "message": "no"})),
    Case("429 in a stream", lines('data: {"error": {"code": 429, "message": "slow down"}}')),
    Case("502 in the middle of a stream", lines(chunk({"content": "{"}), chunk({}, "error", error={"code": 502}))),
    # what does not pass ends the call at once, in words
    Case("slow first byte", answer("{}", hold=SILENT), "longer than the time-out", 2),
    Case("a stream that stops", replace(answer("{}"), cut=20, stall=SILENT), "longer than the time-out", 2),
    refused("401 wrong key", fault(401, "Incorrect API key"), "Check OPENAI_API_KEY"),
    refused("403 forbidden", fault(403, "not for you"), "may not use this model"),
    refused("404 no such model", fault(404, "The model `m` does not exist"), "Check the name of the model"),
    Case("413 too large", Reply(413, "<html>Too Large</html>", HTML), "larger context", 1),
    Case("400 context too long", fault(400, "too much", "context_length_exceeded"), "larger context", 1),
    Case("400 for another reason", fault(400, "messages: wrong role"), "wrong role", 8),
    refused("429 quota spent", fault(429, "You exceeded your quota", "insufficient_quota"), "quota"),
    Case("429 for hours", fault(429, "slow down", headers={"retry-after": "7200"}), "answered 429", 1),
    Case("409 conflict", fault(409, "another request holds the lock")),
    Case("503 until a late date", fault(503, "busy", headers={"retry-after": IN_AN_HOUR}), "answered 503", 1),
    Case("HTML instead of JSON", Reply(200, "<html>Welcome</html>", HTML), "gave no answer", 1),
    refused("an error with 200", Reply(body='{"error": {"message": "out of credits"}}'), "out of credits"),
    refused("402 within a 200", reported(402, "Insufficient credits"), "Insufficient credits"),
    refused("403 within a 200", reported(403, "Key limit exceeded"), "Key limit exceeded"),
    refused("404 within a 200", reported(404, "No endpoints found"), "No endpoints found"),
    refused("an unknown error within a 200", reported(1211, "Unknown model"), "Unknown model"),
    refused("402 in a stream", lines('data: {"error": {"code": 402, "message": "Pay first"}}'), "Pay first"),
    Case("400 with a bare text", Reply(400, '{"error": "no such template"}'), "no such template.", 8),
    refused("400 without a model", fault(400, "No models loaded. Please load one."), "Load the model in the server"),
    refused("400 with an old key", Reply(400, '[{"error": {"message": "API key expired."}}]'), "Check OPENAI_API_KEY"),
    refused("400 with a wrong key", fault(400, "API key not valid. Pass a valid one."), "Check OPENAI_API_KEY"),
    refused("400 for the account", fault(400, "Your credit balance is too low"), "Check your account"),
    refused("400 for the name", fault(400, "foo is not a valid model ID"), "Check the name of the model"),
    refused("400 for the place", fault(400, "User location is not supported"), "does not serve your region"),
    refused("400 for a crash", fault(400, "The model has crashed without a word"), "Load the model in the server"),
    refused("402 no credit", fault(402, "More credits, or fewer max_tokens"), "Check your account"),
    Case("403 for this content", fault(403, "Your input was flagged"), "another model may accept it", 1),
    no_endpoint("404 with a page", Reply(404, "<b>Not Found</b>", HTML), "Not Found"),
    refused("404 without a model", fault(404, "No models loaded. Please load one."), "Load the model in the server"),
    refused("422 with a place", Reply(422, missing("user_id")), "user_id: Field required. Send it with --extra-body"),
    refused("422 with two places", Reply(422, missing("a", "b")), "a: Field required; b: Field required."),
    no_endpoint("401 with a page", Reply(401, "<b>Who are you?</b>", HTML), "Who are you?"),
    no_endpoint("307 to elsewhere", Reply(307, "", {"location": "http://127.0.0.1:1/v2"}), "http://127.0.0.1:1/v2"),
    Case("packed twice", Reply(body="{}", headers={"content-encoding": "gzip, gzip"}), "encoding gzip, gzip", 1),
    Case("JSON that is no completion", Reply(body='{"error": "none"}'), "gave no answer", 1),
    Case("JSON that breaks off", Reply(body='{"choices": [{"mess'), "not JSON", 1),
    Case("JSON without end", Reply(body="[" * 100_000), "not JSON", 1),
    Case("empty choices", shaped({"content": "x"}, choices=[]), "holds no choices", 1),
    Case("a reply of 20 MiB", Reply(body=" " * (MAX_REPLY + 2**22)), "longer than 16 MiB", 1),
]


@pytest.fixture
def request_(coin: GameSetting) -> Request:
    situation = situation_with("coin", "", coin.start.domain, coin.start.problem)
    return Request("edit", (Message("user", "What?"),), situation, EDIT_SCHEMA)


def test_there_are_more_than_24() -> None:
    assert len({item.name for item in CASES}) == len(CASES) == 64


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_failure(model_server: ModelServer, request_: Request, case: Case) -> None:
    waits: list[float] = []

    def sleep(seconds: float) -> None:
        waits.append(seconds)
        CLOCK.advance(seconds + 1.0)  # also to the end of the pause after a 429

    model = OpenAIModel("m", KEY, model_server.url, timeout=TIMEOUT, attempts=TRIES, sleep=sleep, clock=CLOCK)
    model_server.replies = [case.reply] if case.text else [case.reply, answer("{}")]
    if case.text:
        with pytest.raises(ModelError) as caught:
            model.complete(request_)
        assert case.text in caught.value.sentence
        assert type(caught.value) is case.kind
        assert KEY not in caught.value.sentence
        assert caught.value.next_step
        assert "200" not in case.name or not re.search("--base-url|--no-stream", caught.value.next_step)
    else:
        result = replace(model.complete(request_), seconds=0.0)
        assert result == Completion("{}", 100, 20, 64, attempts=case.requests)
        assert case.wait[0] <= waits[0] <= case.wait[1]
    assert len(model_server.requests) == case.requests


OUTAGES = {
    "a server error": fault(500, "oops"),
    "busy": fault(503, "busy"),
    "turned away": fault(429, "slow down", headers={"retry-after": "0.01"}),
    "turned away for longer than there is time": fault(429, "slow down", headers={"retry-after": "40"}),
    "a broken stream": lines(chunk({"content": "{"})),
    "an error in a stream": lines('data: {"error": {"code": 502, "message": "upstream"}}'),
    "a lost connection": Reply(drop=True),
}


@pytest.mark.parametrize("waits", [True, False], ids=["between two tries", "in the last try"])
@pytest.mark.parametrize("name", scaled(["a server error", "a broken stream"], list(OUTAGES)))
def test_time_that_is_up_while_the_endpoint_fails_is_the_endpoint_s_failure(
    model_server: ModelServer, request_: Request, name: str, waits: bool
) -> None:
    """With every try, or with all but the last one, which is cut short."""
    clock = FakeClock(step=0.001)
    last = answer("{}", hold=Silence(clock, 30.0))
    model_server.replies = [OUTAGES[name]] if waits else [OUTAGES[name], last]
    with pytest.raises(ModelError) as caught:
        OpenAIModel("m", KEY, model_server.url, sleep=clock.advance, clock=clock).complete(
            replace(request_, seconds=30.0)
        )
    assert not isinstance(caught.value, NoTimeLeftError)
    assert "model-timeout" not in caught.value.next_step


def test_the_time_of_a_request_begins_before_it_is_sent(
    model_server: ModelServer, request_: Request, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also on a busy machine, where the request may be sent before the thread that waits for it goes on."""
    has_passed = threading.Event()

    class Clock(FakeClock):
        def advance(self, seconds: float) -> None:
            super().advance(seconds)
            has_passed.set()

    class LateThread(threading.Thread):
        def start(self) -> None:
            super().start()
            has_passed.wait(PATIENCE)

    clock = Clock(step=0.001)
    monkeypatch.setattr(threading, "Thread", LateThread)
    model_server.replies = [answer("{}", hold=Silence(clock, 30.0))]
    with pytest.raises(NoTimeLeftError):
        OpenAIModel("m", KEY, model_server.url, clock=clock).complete(replace(request_, seconds=30.0))


def test_a_request_that_is_never_sent_because_others_are_turned_away(
    model_server: ModelServer, request_: Request
) -> None:
    limiter = SharedLimiter(1)
    limiter.hold(PATIENCE)
    clock = FakeClock(step=1.0)
    with pytest.raises(ModelError, match="was not asked") as caught:
        OpenAIModel("m", KEY, model_server.url, limiter=limiter, clock=clock).complete(replace(request_, seconds=1.0))
    assert not isinstance(caught.value, NoTimeLeftError)


@pytest.mark.parametrize(
    ("text", "finish", "tokens", "most", "is_full"),
    [
        ("", "length", 1, None, True),
        (" \n", "length", 0, 500, True),
        ("", "length", 1, 1, False),  # the limit of the answer itself
        ("", "length", 300, None, False),  # reasoning that is not shown
        ("{", "length", 1, None, False),
        ("", "stop", 1, None, False),
    ],
)
@pytest.mark.parametrize("streams", [True, False])
def test_an_empty_answer_of_a_full_context_is_an_error(
    model_server: ModelServer,
    request_: Request,
    text: str,
    finish: str,
    tokens: int,
    most: int | None,
    is_full: bool,
    streams: bool,
) -> None:
    usage = used(4000, tokens)
    streamed = lines(
        chunk({"content": text}), chunk({}, finish), f"data: {json.dumps({'choices': [], **usage})}", "data: [DONE]"
    )
    model_server.replies = [streamed if streams else shaped({"content": text}, finish, **usage)]
    model = OpenAIModel("m", KEY, model_server.url, sampling=Sampling(max_tokens=most))
    if is_full:
        with pytest.raises(ModelError, match="context is full: the prompt takes 4000 tokens"):
            model.complete(request_)
    else:
        assert model.complete(request_).finish == finish
    assert len(model_server.requests) == 1


@pytest.mark.parametrize(
    ("path", "names_it"), [("", True), ("/", True), ("/api", True), ("/v1", False), ("/api/v4", False)]
)
def test_a_url_without_v1_that_is_not_found(
    model_server: ModelServer, request_: Request, path: str, names_it: bool
) -> None:
    model_server.replies = [fault(404, "Not Found")]
    with pytest.raises(ModelError) as caught:
        OpenAIModel("m", KEY, model_server.url.removesuffix("/v1") + path).complete(request_)
    assert ("under /v1" in caught.value.next_step) is names_it


@pytest.mark.slow
@pytest.mark.parametrize(
    ("place", "advice"),
    [
        ("{server}/v1/chat/completions", "use --base-url {server}/v1"),
        ("/other/v1/chat/completions/", "use --base-url {server}/other/v1/chat/completions/"),
        ("https://127.0.0.1:1/v2/chat/completions?key=a", "use --base-url https://127.0.0.1:1/v2"),
        ("https://me:secret@127.0.0.1:1/v2/chat/completions", "use --base-url https://127.0.0.1:1/v2"),
        ("/login", "another page"),
        ("", "another page"),
        ("/old/v1/chat/completions/", "use --base-url {server}/old/v1/chat/completions/"),
    ],
)
@pytest.mark.parametrize("status", [301, 307, 308])
def test_a_redirection_names_the_address_that_works(
    model_server: ModelServer, request_: Request, status: int, place: str, advice: str
) -> None:
    server = model_server.url.removesuffix("/v1")
    model_server.replies = [Reply(status, "", {"location": place.format(server=server)} if place else {}), answer("{}")]
    with pytest.raises(ModelError) as caught:
        OpenAIModel("m", KEY, f"{server}/old/v1").complete(request_)
    assert caught.value.next_step.rstrip(".").endswith(advice.format(server=server)) or "use" not in advice
    assert advice.format(server=server) in caught.value.next_step
    assert len(model_server.requests) == 1
    if advice.startswith("use --base-url {server}"):
        address = caught.value.next_step.rpartition(" ")[2].rstrip(".")
        assert OpenAIModel("m", KEY, address).complete(request_).text == "{}"
        assert model_server.paths[-1] == place.format(server="")


@pytest.mark.parametrize("streams", [True, False])
def test_only_reasoning_says_so(
    coin: GameSetting, planner: ProcessPlanner, model_server: ModelServer, streams: bool
) -> None:
    thought = lines(chunk({"reasoning": "Hm."}), chunk({}, "stop"), "data: [DONE]")
    model_server.replies = [thought if streams else shaped({"content": None, "reasoning_content": "Hm."})]
    events = play(coin, planner, small_house(), OpenAIModel("m", KEY, model_server.url), retries=1)
    assert [item.feedback.category for item in of(events, ev.Rejected)] == ["only reasoning"] * 2
    notes = [item.completion.note for item in of(events, ev.Answered)]
    assert all("only reasoning" in note and "--reasoning-effort none" in note for note in notes)


@pytest.mark.parametrize("end", ["", "/", "/chat/completions", "/chat/completions/"])
def test_the_whole_address_of_requests_is_an_address(model_server: ModelServer, request_: Request, end: str) -> None:
    OpenAIModel("m", KEY, f"{model_server.url}{end}?version=1").complete(request_)
    assert model_server.paths == [f"/v1/chat/completions{'/' if end.endswith('s/') else ''}?version=1"]


def test_connection_refused(request_: Request) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
    waits: list[float] = []
    with pytest.raises(ModelError, match="after 3 tries") as caught:
        OpenAIModel("m", KEY, url, attempts=TRIES, sleep=waits.append).complete(request_)
    assert "No connection" in caught.value.reason
    assert len(waits) == 2


def _call(text: str) -> dict[str, Any]:
    return {"id": "1", "type": "function", "function": {"name": "edit", "arguments": text}}


def complete(server: ModelServer, request: Request, reply: Reply) -> Completion:
    server.replies = [reply]
    return OpenAIModel("m", KEY, server.url, attempts=1).complete(request)


@pytest.mark.parametrize(
    ("reply", "text", "finish"),
    [
        (shaped({"content": None, "tool_calls": [_call('{"init": {}}')]}, "tool_calls"), '{"init": {}}', "tool_calls"),
        (shaped({"content": None, "tool_calls": []}), "", "stop"),
        (shaped({"content": None, "refusal": "I cannot."}), "I cannot.", "stop"),
        (shaped({"content": "{}", "reasoning_content": "Let me see."}), "{}", "stop"),
        (shaped({"content": [{"type": "text", "text": "{"}, {"type": "text", "text": "}"}]}), "{}", "stop"),
        (shaped({"content": [{"type": "image"}]}), "", "stop"),
        (shaped({"content": "{}"}, "eos"), "{}", "stop"),
        (shaped({"content": "{}"}, "STOP"), "{}", "stop"),
        (shaped({"content": "{"}, "max_tokens"), "{", "length"),
        (shaped({"content": ""}, "content_filter: PROHIBITED_CONTENT"), "", "content_filter"),
        (shaped({"content": "{", "role": "user"}, "length"), "{", "length"),
        (shaped({"content": ""}, "content_filter"), "", "content_filter"),
    ],
)
def test_an_answer_in_another_shape(
    model_server: ModelServer, request_: Request, reply: Reply, text: str, finish: str
) -> None:
    result = complete(model_server, request_, reply)
    assert (result.text, result.finish) == (text, finish)


def test_a_packed_reply_has_a_limit_of_its_own(model_server: ModelServer, request_: Request) -> None:
    """A server may pack what nobody asked it to pack; a million blanks become a thousand bytes."""
    import gzip

    for length, good in ((1000, True), (MAX_REPLY * 4, False)):
        body = gzip.compress(answer("{}").body.encode() + b" " * length).decode("latin-1")
        model_server.replies = [Reply(body=body, headers={"content-encoding": "gzip"}, coding="latin-1")]
        model = OpenAIModel("m", KEY, model_server.url, attempts=1)
        if good:
            assert model.complete(request_).text == "{}"
        else:
            with pytest.raises(ModelError, match="longer than 16 MiB"):
                model.complete(request_)


def test_what_a_filter_withheld_is_asked_for_again_in_words(
    coin: GameSetting, planner: ProcessPlanner, model_server: ModelServer
) -> None:
    model_server.replies = [shaped({"content": ""}, "content_filter")]
    events = play(coin, planner, small_house(), OpenAIModel("m", KEY, model_server.url), retries=1)
    assert [item.feedback.category for item in of(events, ev.Rejected)] == ["content filter"] * 2
    assert "content filter withheld" in model_server.requests[1]["messages"][-1]["content"]
