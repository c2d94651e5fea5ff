"""Chat completions of OpenAI-compatible endpoints: retries, connections, limits of replies, streaming."""

from __future__ import annotations

import contextlib
import json
import math
import os
import queue
import random
import re
import socket
import ssl
import threading
import time
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit

import httpx2

from pddlego.errors import BudgetSpentError, ModelError, NoEndpointError, NoTimeLeftError, RefusedError, UsageError
from pddlego.models.base import ATTEMPTS, Completion, Delta, Request, RetryNotice
from pddlego.models.credentials import check_key, check_url, secrets_of, split_query, without_credentials
from pddlego.models.dialect import (
    CHECK_KEY,
    EVERYTHING,
    FIELDS,
    OBJECT,
    REFUSALS,
    REFUSED_CONTENT,
    SCHEMA,
    STRICT,
    SYSTEM,
    Dialect,
    Learned,
    Sampling,
    advice_on,
    is_about_access,
    is_about_room,
    is_about_system,
    says_nothing_of_options,
    sent_messages,
)
from pddlego.models.limiter import Permit, RequestLimiter, SharedLimiter, TurnedAwayError
from pddlego.models.replies import (
    BrokenOffError,
    FailedAnswerError,
    NoReplyError,
    Reply,
    ReplyStream,
    ReportedError,
    body_of,
    error_of,
    lines_of,
    listed_models,
    read_reply,
    samples_freely,
    window_in,
    window_of_server,
)
from pddlego.util.limits import SLICE, Clock

if TYPE_CHECKING:
    import openai
    import tenacity


Wanted = Callable[[], bool]
"""Whether an answer is still needed."""

_MAX_WAIT = 120.0
"""Maximum seconds of a Retry-After header; a longer wait ends the call."""

_TOO_MUCH = re.compile(r"context[_ ]?(length|window|size)|too many tokens|prompt is too long", re.IGNORECASE)


def _is_transient(error: BaseException) -> bool:
    """Whether the same request may succeed later."""
    import openai

    if isinstance(error, openai.APIStatusError):
        if (_retry_after(error) or 0.0) > _MAX_WAIT or getattr(error, "code", None) == "insufficient_quota":
            return False
        return error.status_code in _PASSING or error.status_code >= 500
    if _is_too_long(error) or _CERTIFICATE in str(error.__cause__):
        return False
    return isinstance(error, openai.APIConnectionError)  # also time-outs


def _is_too_much(error: BaseException) -> bool:
    """Whether the error says that the request is longer than the context of the model."""
    text = f"{getattr(error, 'code', '')} {getattr(error, 'message', error)} {error_of(getattr(error, 'body', None))}"
    return getattr(error, "status_code", None) == 413 or bool(_TOO_MUCH.search(text))


def _is_too_long(error: BaseException) -> bool:
    """Whether the endpoint sent more than `MAX_REPLY`."""
    return isinstance(error.__cause__, _TooLongError)


def _wait_before_next(state: tenacity.RetryCallState) -> float:
    """Seconds until the next attempt: as the endpoint asks, or else 1, 2, 4 … 60, with random variation."""
    error = state.outcome.exception() if state.outcome else None
    seconds = _retry_after(error) if error is not None else None
    if seconds is not None:
        return min(seconds, _MAX_WAIT)
    return min(60.0, 2.0 ** (state.attempt_number - 1)) * random.uniform(0.75, 1.25)


def _retry_after(error: BaseException) -> float | None:
    """Seconds from the header `Retry-After`, a number or a date; None if it is missing or invalid."""
    from email.utils import parsedate_to_datetime

    response = getattr(error, "response", None)
    value = response.headers.get("retry-after") if response is not None else None
    if not value:
        return None
    try:
        seconds = float(value)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(value).timestamp() - time.time()
        except ValueError:
            return None
    return seconds if seconds > 0 else None


def explain(error: openai.OpenAIError) -> tuple[str, str]:
    """The reason of an error, and advice."""
    import openai

    if isinstance(error, openai.APITimeoutError):
        silence = "No part of an answer came for longer than the time-out"
        reason = error.__cause__ if isinstance(error.__cause__, TimeoutError) else silence
        return f"{reason}.", "Raise --model-timeout, or try a faster model."
    if _is_too_long(error):
        return f"{error.__cause__}.", "Is --base-url an OpenAI-compatible endpoint?"
    if isinstance(error.__cause__, FailedAnswerError):
        return f"{error.__cause__}.", _TOO_LONG if _TOO_MUCH.search(str(error.__cause__)) else "Try again later."
    if isinstance(error.__cause__, BrokenOffError):
        return f"{error.__cause__}.", "Try again later, or set PDDLEGO_STREAM=false."
    if isinstance(error, openai.APIConnectionError):
        reason = str(error.__cause__ or error).rstrip(".")
        return f"No connection: {reason}.", next((advice for part, advice in _TLS.items() if part in reason), _NETWORK)
    text = _reason(error)
    if _is_too_much(error):
        return text, _TOO_LONG
    status = getattr(error, "status_code", 500)
    if status in _ADVICE and advice_on(error) != REFUSED_CONTENT:
        return text, _ADVICE[status]
    if status < 400:
        return text, _elsewhere(error)
    if status < 500 and (advice := advice_on(error)):
        return text, advice
    if isinstance(error.__cause__, ReportedError) and status < 500:
        return text, _SAME_AGAIN
    if status == 404:
        return text, "Check the name of the model and --base-url."
    if status < 500:
        return text, "Check the name of the model, --base-url and the options: the same request will not pass later."
    return text, "Try again later."


_TOO_LONG = "The request is too long for the model: choose one with a larger context, or a smaller game."
_NETWORK = "Check --base-url and the network; is the server running?"
_CERTIFICATE = "CERTIFICATE_VERIFY_FAILED"
_TLS = {
    _CERTIFICATE: "If you trust the server, set SSL_CERT_FILE to a file with its certificate or that of its authority,"
    " or SSL_CERT_DIR to a folder of such files.",
    "[SSL": "Does the server speak TLS? Check http or https in --base-url.",
}
"""The advice on a failed TLS connection, by a part of the reason."""


def _elsewhere(error: openai.OpenAIError) -> str:
    """The advice on a redirection: the address for `--base-url`."""
    response: Any = getattr(error, "response", None)
    asked = str(response.request.url)
    address = without_credentials(urljoin(asked, response.headers.get("location") or "/")) or ""
    if not _WHOLE.search(address):
        return "The endpoint sends to another page: check --base-url."
    query = " with the same query" if urlsplit(asked).query else ""
    return f"The endpoint sends elsewhere: use --base-url {address.removesuffix('/chat/completions')}{query}"


_WHOLE = re.compile(r"/chat/completions/?\Z")
"""The end of the address of requests, which `--base-url` may have: some servers need the slash."""


_ADVICE = {
    401: CHECK_KEY,
    402: "Check your account at the provider: its credit or its plan does not allow this request.",
    403: "The key may not use this model: choose another, or ask for access.",
    429: "Wait, or raise your limits at the provider.",
}
"""The advice on an error with this status."""

_PASSING = (408, 409, 429)
"""Statuses below 500 with which the same request may succeed later."""

_SAME_AGAIN = "The same request will not pass later: check your account, the name of the model and the options."
"""The advice on an error that the endpoint itself reported."""


def _reason(error: openai.OpenAIError) -> str:
    """The error message of the endpoint, as a sentence."""
    response = getattr(error, "response", None)
    text = error_of(getattr(error, "body", None)) or (response.text if response is not None else "") or str(error)
    where = response.headers.get("location") if response is not None else None
    text = " ".join(re.sub(r"<[^>]*>", " ", text).split()) + (f" Location: {where}" if where else "")
    return f"{text[:300].rstrip(' .')}." if text else "It gave no reason."


_THIS_MACHINE = ("127.0.0.1", "localhost", "::1")
_CONNECTING = 30.0
"""Maximum seconds to connect to an endpoint."""

_ASKING, _TIMES = 5.0, 2
"""Maximum seconds to wait until an endpoint describes itself, and how often it is asked if it does not."""

_CLOSING = 5.0
"""Maximum seconds to wait until an abandoned request is closed."""


def _certificates() -> ssl.SSLContext:
    """The trusted certificates: those of SSL_CERT_FILE and SSL_CERT_DIR, or the system's. Raises `ModelError`."""
    try:
        context = httpx2.create_ssl_context()
        if folder := os.environ.get("SSL_CERT_DIR"):  # left out by the library if there is a file
            context.load_verify_locations(capath=folder)
        return context
    except OSError as error:
        name = next(filter(os.environ.get, ("SSL_CERT_FILE", "SSL_CERT_DIR")), "The system's certificates")
        what, reason = "The trusted certificates cannot be read", f"{name} {os.environ.get(name, '')}: {error}."
        raise ModelError(what, reason, f"Set {name} to certificates in the PEM format, or unset it.") from error


class _Client:
    """A client with the network stream of its requests. After `give_up`, it sends nothing any more."""

    def __init__(self, options: Mapping[str, Any]) -> None:
        import openai

        address = urlsplit(options["base_url"] or "")
        # openai 2 has one client for httpx and one for httpx2; openai 3 has only the latter
        client = getattr(openai, "DefaultHttpx2Client", openai.DefaultHttpxClient)
        http = client(
            event_hooks={"request": [self._watch], "response": [bound]},
            headers={"accept-encoding": "identity"},
            trust_env=address.hostname not in _THIS_MACHINE,  # no proxy reaches a server of this machine
            verify=_certificates() if address.scheme != "http" else True,
            follow_redirects=False,  # the messages are for the endpoint that the user named
        )
        self.client = openai.OpenAI(http_client=http, **options)
        self.stream: Any = None
        self._path = address.path if _WHOLE.search(address.path) else ""
        self.has_sent = False
        self._given_up = threading.Event()

    def give_up(self) -> None:
        """Close the connection, even during a read. A connection that is still being made is never used."""
        self._given_up.set()
        if self.stream is not None:
            with contextlib.suppress(OSError, AttributeError):
                self.stream.get_extra_info("socket").shutdown(socket.SHUT_RDWR)
        with contextlib.suppress(OSError, RuntimeError):
            self.client.close()

    def _watch(self, request: httpx2.Request) -> None:
        """Remember the network stream when it is opened. Later requests use the same one while it is open."""

        def trace(event: str, info: Mapping[str, Any]) -> None:
            if event in ("connection.connect_tcp.complete", "connection.start_tls.complete"):
                self.stream = info.get("return_value")
            if event.endswith("send_request_headers.started") and info["request"].method != b"CONNECT":
                self.has_sent = True
            if self._given_up.is_set():
                raise httpx2.ConnectError("the request was given up")

        if self._path and request.method == "POST":
            request.url = request.url.copy_with(path=self._path)
        request.extensions["trace"] = trace


class _Connection:
    """A connection to an endpoint, for one request at a time. It is replaced after an abandoned request."""

    def __init__(
        self, api_key: str, address: str | None, query: Mapping[str, str], timeout: float, clock: Clock
    ) -> None:
        self._options: dict[str, Any] = {
            "api_key": api_key or "none",
            "base_url": address,
            "default_query": query,
            "timeout": httpx2.Timeout(timeout + 5.0, connect=min(timeout, _CONNECTING)),  # `within` ends it before
            "max_retries": 0,
        }
        self._client: _Client | None = None
        self._clock = clock
        self.has_sent = False
        """Whether the last request may have reached the endpoint."""

    @property
    def client(self) -> openai.OpenAI:
        """The client, which keeps its connection open for the next request."""
        return self._opened().client

    def _opened(self) -> _Client:
        if self._client is None:
            self._client = _Client(self._options)
        return self._client

    def within(
        self, silence: float, seconds: float, stream: ReplyStream, call: Callable[[], Any], wanted: Wanted
    ) -> Any:
        """The result of `call`, which uses the client, and fills the `stream` if the answer is streamed.

        The call may take so many `seconds`, at most `silence` seconds without a new part of the answer, and at most
        `_TIMES_SILENCE` times as long together. Comments and empty chunks, with which some servers keep a connection
        open, are not parts. Raises `openai.APITimeoutError` at the end of any of these times, and `KeyboardInterrupt`
        if the result is not `wanted` any more; in all these cases, closes the connection.
        """
        import openai

        done: queue.SimpleQueue[tuple[Any, BaseException | None]] = queue.SimpleQueue()
        self.has_sent, client = False, self._opened()
        client.has_sent, stream.heard = False, self._clock()  # to open a client takes time, too
        end = stream.heard + max(0.01, min(seconds, _TIMES_SILENCE * silence))

        def work() -> None:
            try:
                done.put((call(), None))
            except BaseException as error:  # noqa: BLE001 -- raised again below, in the thread that asked
                done.put((None, error))

        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        try:
            while True:
                try:
                    until = min(end, stream.heard + silence)
                    result, error = done.get(timeout=max(0.0, min(SLICE, until - self._clock())))
                    break
                except queue.Empty:
                    if not wanted():
                        raise KeyboardInterrupt from None
                    if (now := self._clock()) >= min(end, stream.heard + silence):
                        request: Any = None
                        endless = TimeoutError(f"The answer was still arriving after {_TIMES_SILENCE * silence:.0f} s")
                        raise openai.APITimeoutError(request=request) from (
                            endless if now < stream.heard + silence else None
                        )
        except BaseException:
            self._give_up(thread)
            raise
        finally:
            self.has_sent = client.has_sent
        if error is not None:
            raise error
        return result

    def _give_up(self, thread: threading.Thread) -> None:
        """Close the connection that the thread waits for."""
        client, self._client = self._client, None
        if client is not None:
            client.give_up()
            if client.stream is not None:
                thread.join(_CLOSING)


_TIMES_SILENCE = 10
"""How many times longer a whole streamed answer may take than the maximum time without a new part of it."""

MAX_REPLY = 16 * 2**20
"""Maximum bytes of a reply. Useful replies have at most some hundred thousand."""

_MAX_LINE = 2**20
"""Maximum bytes of one line of a stream; a line usually has a few words."""


class _TooLongError(httpx2.ReadError):
    """A reply that exceeds `MAX_REPLY`, or has a line that exceeds `_MAX_LINE`, or has an unknown encoding."""


class _Bounded(httpx2.SyncByteStream):
    """A stream with limits on its bytes, which are counted after unpacking."""

    def __init__(self, stream: httpx2.SyncByteStream, packed: bool, in_lines: bool) -> None:
        self._stream = stream
        self._in_lines, self._line = in_lines and not packed, 0
        self._unpacker = zlib.decompressobj(wbits=zlib.MAX_WBITS | 32) if packed else None
        self._left = MAX_REPLY

    def __iter__(self) -> Iterator[bytes]:
        for part in self._stream:
            self._left -= self._length(part)
            if self._left < 0:
                raise _TooLongError(f"The reply is longer than {MAX_REPLY // 2**20} MiB")
            if self._in_lines:
                self._count_lines(part)
            yield part

    def _count_lines(self, part: bytes) -> None:
        last = part.rfind(b"\n")
        self._line = self._line + len(part) if last < 0 else len(part) - last - 1
        if max(self._line, *(len(line) for line in part.split(b"\n"))) > _MAX_LINE:
            raise _TooLongError(f"A line of the stream is longer than {_MAX_LINE // 2**20} MiB")

    def close(self) -> None:
        self._stream.close()

    def _length(self, part: bytes) -> int:
        if self._unpacker is None:
            return len(part)
        try:
            return len(self._unpacker.decompress(part))
        except zlib.error:  # reported when the reply is read
            return len(part)


def bound(response: httpx2.Response) -> None:
    """A response hook of an `httpx2` client that limits the length of replies."""
    packing = response.headers.get("content-encoding", "identity").strip().lower()
    if packing not in ("identity", "gzip", "deflate"):
        raise _TooLongError(f"The reply has the unexpected encoding {packing[:20]}")
    if isinstance(response.stream, httpx2.SyncByteStream):
        response.stream = _Bounded(response.stream, packing != "identity", _is_stream(response))


def _is_stream(response: Any) -> bool:
    """Whether a reply says that it is a stream of events."""
    return "event-stream" in response.headers.get("content-type", "").lower()


class _StreamReporter:
    """Reports the parts of a streamed answer as they are received, without secrets that the endpoint may echo."""

    def __init__(self, report: Callable[[Delta], None], secrets: Collection[str]) -> None:
        self._report, self._secrets = report, secrets
        self._reported = [0, 0]

    def report_new(self, stream: ReplyStream, everything: bool = False) -> None:
        """Report new text and reasoning; unless `everything` is reported, without a possible beginning of a secret."""
        new = []
        for number, text in enumerate((stream.text, stream.reasoning)):
            begin, end = self._reported[number], len(text) if everything else len(text) - self._held_back(text)
            new.append(masked(text[begin:end], self._secrets) if end > begin else "")
            self._reported[number] = max(begin, end)
        if any(new):
            self._report(Delta(*new))

    def _held_back(self, text: str) -> int:
        """Characters at the end that may be the beginning of a secret."""
        beginnings = (secret[:number] for secret in self._secrets for number in range(1, len(secret)))
        return max((len(beginning) for beginning in beginnings if text.endswith(beginning)), default=0)


def masked(text: str, secrets: Collection[str]) -> str:
    """The text with `***` in place of each secret."""
    for secret in secrets:
        text = text.replace(secret, "***")
    return text


_LONGEST_FINISH = 40
"""Maximum characters of an endpoint's reason to stop."""


class OpenAIModel:
    """A language model behind an OpenAI-compatible endpoint.

    Requests that may succeed later (lost connections, incomplete streams, 429, 5xx) are sent up to `attempts` times,
    with growing waits or as Retry-After says; a request that ended in silence is sent twice. Fields that the endpoint
    rejects are left out from then on (`Dialect`) and reported. The key is never part of a text. Every request,
    including retries, passes the `limiter` before it is sent.
    """

    is_remote = True

    def __init__(
        self,
        name: str,
        api_key: str | None = None,
        base_url: str | None = None,
        sampling: Sampling | None = None,
        timeout: float = 120.0,
        attempts: int = ATTEMPTS,
        sleep: Callable[[float], None] | None = None,
        limiter: RequestLimiter | None = None,
        learned: Learned | None = None,
        clock: Clock = time.monotonic,
    ) -> None:
        api_key = (api_key or "").strip()
        check_key(name, api_key, base_url)
        check_url(base_url)
        self.name = name
        self._base_url = base_url
        self._secrets = secrets_of(api_key, base_url)
        if any(secret in name for secret in self._secrets):
            raise UsageError("The name of the model is a key", "It holds the key itself.", "Give the model's name.")
        self._sampling = sampling or Sampling()
        self._learned = learned or Learned()
        self._attempts = attempts
        self._timeout = timeout
        self._limiter: RequestLimiter = limiter or SharedLimiter(1, clock=clock)
        self._sleep, self._clock = sleep, clock
        address, query = split_query(base_url)
        self._connection = _Connection(api_key, address, query, timeout, clock)

    @property
    def description(self) -> Mapping[str, Any]:
        return {"model": self.name, "base_url": without_credentials(self._base_url), **self._sampling.named()}

    def complete(self, request: Request) -> Completion:
        """Ask the endpoint. Raises `ModelError`, without secrets, if it does not answer."""
        import openai

        started = self._clock()
        sent, failures = [0], list[openai.OpenAIError]()
        deadline = started + (math.inf if request.seconds is None else request.seconds)
        try:
            reply, not_taken = self._retrying(request, deadline, failures)(self._send, request, deadline, sent)
        except BudgetSpentError as error:
            error.sent = sent[0]
            raise
        except openai.OpenAIError as error:
            if isinstance(error, openai.APITimeoutError) and self._clock() >= deadline:
                raise self._too_late(failures, sent[0]) from None
            raise self._failure(error, sent[0]) from None
        except ConnectionError as error:
            if self._clock() < deadline:
                raise
            raise self._too_late(failures, sent[0], isinstance(error, TurnedAwayError)) from None
        except ReportedError as error:
            kind = RefusedError if is_about_access(error) else ModelError
            raise kind(f"{self.name} gave no answer", f"{self._clean(str(error))}.", _SAME_AGAIN) from None
        except NoReplyError as error:
            raise self._no_answer(self._clean(str(error))) from None
        except (ValueError, RecursionError) as error:  # a reply that claims to be JSON and is not
            raise self._no_answer(f"The endpoint's reply is not JSON ({type(error).__name__})") from None
        if reply.fills_context(self._limit(request)):
            counts = f"the prompt takes {reply.usage.came} tokens and leaves {reply.usage.went} for the answer"
            what, advice = (
                f"{self.name} gave an empty answer",
                "Give the model a larger context, or play a smaller game.",
            )
            raise ModelError(what, f"Its context is full: {counts}.", advice)
        return self._completion(request, reply, self._clock() - started, sent[0], not_taken)

    def _limit(self, request: Request) -> int | None:
        """The maximum tokens of the answer that is sent; None if none is."""
        limits = [limit for limit in (request.max_tokens, self._sampling.max_tokens) if limit is not None]
        return min(limits, default=None)

    def listed(self) -> tuple[str, ...]:
        """The names of the endpoint's models; empty if it does not list them."""
        names = (entry.get("id") for body in self._about() for entry in listed_models(body))
        return tuple(name for name in names if isinstance(name, str))

    @property
    def window(self) -> int | None:
        """The maximum tokens of a request with its answer, as the endpoint says; None if it does not."""
        self._ask_about_server()
        return self._learned.window

    def _ask_about_server(self) -> None:
        """Learn the window, and whether the server samples freely, unless it was asked for them before."""
        if self._learned.window is None and self._learned.asked < _TIMES:
            self._learned.asked += 1
            for body in self._about():
                self._learned.window = self._learned.window or window_of_server(body, self.name)
                self._learned.samples_freely = self._learned.samples_freely or samples_freely(body)

    def _about(self) -> Iterator[Any]:
        """The descriptions of a server: llama.cpp's properties, and the list of models."""
        import openai

        address = (split_query(self._base_url)[0] or "").rstrip("/")
        for place in (f"{address.removesuffix('/v1')}/props", "/models")[0 if address else 1 :]:
            get = partial(self._connection.client.get, place, cast_to=httpx2.Response)
            try:
                response = self._connection.within(_ASKING, _ASKING, ReplyStream(clock=self._clock), get, lambda: True)
                self._learned.asked = _TIMES
                yield json.loads(response.text)
            except (openai.OpenAIError, ValueError, RecursionError):
                continue

    def _too_late(self, failures: Sequence[openai.OpenAIError], sent: int, turned_away: bool = False) -> ModelError:
        """The error at the end of the episode's time, with the reason of the last failed attempt if there was one."""
        if failures:
            return self._failure(failures[-1], sent)
        if turned_away:
            reason = "The endpoint turned other requests away (429) until the episode's time was up."
            return ModelError(f"{self.name} was not asked", reason, "Wait, or raise your limits at the provider.")
        if not sent:
            return NoTimeLeftError(f"{self.name} was not asked", "The time was up before there was a place for it.")
        return NoTimeLeftError(f"{self.name} did not answer", "The episode's time was up.", "Raise --max-seconds.")

    def _send(self, request: Request, deadline: float, sent: list[int]) -> tuple[Reply, tuple[str, ...]]:
        """Send the request until the endpoint accepts its fields, counting in `sent`, until the `deadline`.

        A field that an error names is left out, and the request is sent again. If an error names no field, fields are
        left out in turn, and the endpoint's dialect changes only when a request succeeds. Returns the reply and the
        names of changed options that the endpoint rejects.
        """
        import openai

        dialect, keep = self._learned.dialect, True
        if request.narrow is not None:
            self._ask_about_server()
            request = request.narrowed if self._learned.samples_freely else request
        unexplained: openai.APIStatusError | None = None
        guesses: list[tuple[Dialect, str]] = []
        while True:
            arguments = dialect.arguments(self._sampling, request)
            try:
                with self._limiter.admit_request(self.name, self._within(request, deadline)) as permit:
                    sent[0] += 1
                    reply = self._permitted(permit, deadline - self._clock(), arguments, request)
                    if keep and unexplained is not None:  # the guess was right
                        self._learned.dialect = dialect
                    return reply, dialect.not_taken(request, arguments)
            except (openai.APIConnectionError, ReportedError) as error:
                cause = error if isinstance(error, ReportedError) else error.__cause__
                if not isinstance(cause, (BrokenOffError, ReportedError)):
                    raise
                # Some endpoints report a rejected field in the reply, and not with a status.
                fields = {name: value for name, value in arguments.items() if not name.startswith("stream")}
                dialect, what = dialect.learned(cause, fields)
                if not what:
                    raise
                self._learned.dialect = dialect
                request.report(self._left_out(error, f"does not take {_named(what)}, which is left out now", sent))
            except openai.APIStatusError as error:
                if not _is_refusal(error):
                    raise
                if _is_too_much(error) or is_about_room(error):
                    self._learned.window = window_in(error_of(error.body) or str(error)) or self._learned.window
                    what = next((name for name in FIELDS if name in arguments), "")
                    if not what:
                        raise unexplained or error from None
                    if dialect.more_room and arguments[what] != self._sampling.max_tokens:
                        self._learned.dialect = dialect = replace(dialect, more_room=False)
                    else:  # a shorter request may have room for the usual limit, so the dialect stays
                        dialect, keep = dialect.without(what), False
                else:
                    dialect, what = dialect.learned(error, arguments)
                    if what and unexplained is None and keep:
                        self._learned.dialect = dialect
                if what:
                    request.report(self._left_out(error, f"does not take {_named(what)}, which is left out now", sent))
                    continue
                if unexplained is None and error.status_code < 500 and says_nothing_of_options(error):
                    unexplained, guesses = error, dialect.guesses(arguments)
                if unexplained is None or not guesses:
                    raise unexplained or error from None
                dialect, what = guesses.pop(0)
                request.report(self._left_out(error, f"does not say why; it is asked without {_named(what)}", sent))

    def _within(self, request: Request, deadline: float) -> Request:
        """The request with the deadline as its limit of time."""
        left = None if request.seconds is None else deadline - self._clock()
        return replace(request, seconds=left, wanted=lambda: request.wanted() and self._clock() < deadline)

    def _left_out(self, error: Exception, what: str, sent: list[int]) -> RetryNotice:
        status = f"{error.status_code}: " if hasattr(error, "status_code") else ""
        sentence = error_of(getattr(error, "body", None)) or str(error.__cause__ or "")
        quoted = f" ('{self._clean(sentence)}')" if sentence else ""
        return RetryNotice(f"{status}the endpoint {what}{quoted}", min(sent[0], self._attempts), self._attempts, 0.0)

    def _exchange(self, arguments: Mapping[str, Any], request: Request, stream: ReplyStream) -> Reply:
        """Send the request and read the reply, a streamed one into `stream` as it is received."""
        import openai

        messages: Any = sent_messages(request, SYSTEM in arguments)
        fields = {name: value for name, value in arguments.items() if name != SYSTEM}
        create = self._connection.client.chat.completions.with_streaming_response.create
        try:
            with create(model=self.name, messages=messages, extra_body=fields) as response:
                body = body_of(response.iter_bytes(), _is_stream(response))
                if not isinstance(body, Iterator):
                    return read_reply(body)
                reporter = _StreamReporter(request.report, self._secrets)
                longest = self._limit(request) or request.longest
                for line in lines_of(body):
                    if stream.take(line):
                        reporter.report_new(stream)
                    if stream.cut(longest):
                        break
                reporter.report_new(stream, everything=True)
                return stream.whole()
        except ReportedError as error:
            if error.status is None:
                raise
            headers = {name: text for name in ("retry-after",) if (text := response.headers.get(name))}
            own: Any = httpx2.Response(error.status, headers=headers, request=response.http_request)
            raise openai.APIStatusError(str(error), response=own, body=error.body) from error
        except (httpx2.RequestError, BrokenOffError, FailedAnswerError) as error:
            unknown: Any = None
            raise openai.APIConnectionError(request=unknown) from error

    def _permitted(self, permit: Permit, seconds: float, arguments: Mapping[str, Any], request: Request) -> Reply:
        """Send one request, and report its usage, or its rejection by the endpoint, to the permit."""
        import openai

        stream = ReplyStream(clock=self._clock)
        exchange = partial(self._exchange, arguments, request, stream)
        try:
            reply: Reply = self._connection.within(
                self._timeout, seconds, stream, exchange, lambda: permit.wanted and request.wanted()
            )
        except BaseException as error:
            if isinstance(error, openai.APIStatusError):
                pause = _retry_after(error)
                wait = min(_MAX_WAIT, 1.0 if pause is None else pause) if error.status_code == 429 else 0.0
                is_key = self._kind(error) is RefusedError and explain(error)[1] == CHECK_KEY
                permit.refused(math.inf if is_key else wait)
            elif not self._connection.has_sent:
                permit.refused(0.0)
            if stream.reply().characters:
                permit.used(*stream.reply().tokens(request), whole=False)
            raise
        permit.used(*reply.tokens(request), whole=True)
        return reply

    def _retrying(self, request: Request, deadline: float, failures: list[openai.OpenAIError]) -> tenacity.Retrying:
        """The retry policy. It appends each failure but the last to `failures`, and reports it."""
        import openai
        import tenacity

        def is_second_silence(error: BaseException) -> bool:
            silences = (openai.APITimeoutError,)
            return isinstance(error, silences) and any(isinstance(failure, silences) for failure in failures)

        def is_last(state: tenacity.RetryCallState) -> bool:
            return state.attempt_number >= self._attempts or self._clock() + state.upcoming_sleep >= deadline

        def report(state: tenacity.RetryCallState) -> None:
            error = state.outcome.exception() if state.outcome else None
            if isinstance(error, openai.OpenAIError):
                failures.append(error)
                wait = state.next_action.sleep if state.next_action else 0.0
                request.report(RetryNotice(self._brief(error), state.attempt_number, self._attempts, wait))

        return tenacity.Retrying(
            retry=tenacity.retry_if_exception(lambda error: _is_transient(error) and not is_second_silence(error)),
            wait=_wait_before_next,
            stop=is_last,
            before_sleep=report,
            sleep=self._sleep or partial(self._pause, request.wanted),
            reraise=True,
        )

    def _pause(self, wanted: Wanted, seconds: float) -> None:
        """Wait before the next attempt. Raises `KeyboardInterrupt` if the answer is no longer needed."""
        end = self._clock() + seconds
        while (left := end - self._clock()) > 0:
            if not wanted():
                raise KeyboardInterrupt
            self._limiter.sleep(min(left, SLICE))

    def _brief(self, error: openai.OpenAIError) -> str:
        """The status and the reason of an error, on one line."""
        import openai

        status = f"{error.status_code}: " if isinstance(error, openai.APIStatusError) else ""
        return self._clean(f"{status}{explain(error)[0]}").rstrip(".")

    def _completion(
        self, request: Request, reply: Reply, seconds: float, tries: int, not_taken: tuple[str, ...]
    ) -> Completion:
        usage = reply.usage
        tokens_in, tokens_out, _ = reply.tokens(request)
        return Completion(
            masked(reply.text, self._secrets),
            tokens_in=tokens_in,
            tokens_out=tokens_out,
            tokens_cached=usage.cached,
            tokens_reasoning=usage.reasoning,
            seconds=seconds,
            attempts=tries,
            estimated=(tokens_in, tokens_out) != (usage.came, usage.went),
            finish=self._clean(reply.finish or "stop")[:_LONGEST_FINISH],
            reasoning=masked(reply.reasoning, self._secrets),
            not_taken=not_taken,
        )

    def _no_answer(self, reason: str) -> ModelError:
        return ModelError(f"{self.name} gave no answer", f"{reason}.", "Is --base-url an OpenAI-compatible endpoint?")

    def _failure(self, error: openai.OpenAIError, tries: int) -> ModelError:
        import openai

        where = without_credentials(self._base_url) or "the OpenAI endpoint"
        after = f" after {tries} tries" if tries > 1 else ""
        reason, advice = explain(error)
        bare = isinstance(error, openai.NotFoundError) and not advice_on(error)
        if bare and self._base_url and not re.search(r"/v\d", self._base_url):
            advice = (
                "Most servers have their API under /v1: does --base-url end with it? Or check the name of the model."
            )
        if isinstance(error, openai.APIStatusError):
            what = f"{where} answered {error.status_code} to {self.name}{after}"
        else:
            what = f"{where} did not answer to {self.name}{after}"
        return self._kind(error)(self._clean(what), self._clean(reason), self._clean(advice))

    def _kind(self, error: openai.OpenAIError) -> type[ModelError]:
        """The class of a final error: whether other requests would fail for the same reason."""
        import openai

        if not isinstance(error, openai.APIStatusError):
            return ModelError if self._connection.has_sent else NoEndpointError
        if error.code == "insufficient_quota":
            return RefusedError
        status = error.status_code
        if status in _PASSING or status >= 500 or _is_too_much(error) or advice_on(error) == REFUSED_CONTENT:
            return ModelError
        is_json = "json" in error.response.headers.get("content-type", "") or isinstance(error.__cause__, ReportedError)
        if is_about_access(error) or (is_json and status in REFUSALS):
            return RefusedError
        return NoEndpointError if status < 400 or status in REFUSALS else ModelError

    def _clean(self, text: str) -> str:
        """The text on one line, without secrets."""
        text = re.sub(r"\bsk-[\w*-]{6,}", "sk-***", masked(text, self._secrets))
        return " ".join(re.sub(r"(?i)\b(bearer|basic) [^\s'\"]+", r"\1 ***", text).split())[:300]


def _named(what: str) -> str:
    """The description of a response format or a field that is left out, for notices."""
    if what in (EVERYTHING, SYSTEM):
        return what if what == EVERYTHING else "the system role (its text begins the first user message)"
    return f"a {what} for answers" if what in (STRICT, SCHEMA, OBJECT) else f"'{what}'"


def _is_refusal(error: openai.APIStatusError) -> bool:
    """Whether an error may mean that a field is rejected; an error 5xx only if it is about the response format or the
    system role."""
    if error.status_code in (400, 422) or (error.status_code >= 500 and is_about_system(error)):
        return True
    return error.status_code in (500, 501) and bool(re.search(r"response_format|json_(object|schema)", str(error)))
