"""Any endpoint that speaks OpenAI's chat completions: OpenAI itself, vLLM, Ollama, llama.cpp and the like."""

from __future__ import annotations

import json
import math
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from pddlego.errors import BudgetSpentError, ModelError, OutOfTimeError, UsageError
from pddlego.models.base import Completion, Request, Trouble
from pddlego.models.connection import Connection
from pddlego.models.credentials import check_key, check_url, secrets_of, split_query, without_credentials
from pddlego.models.dialect import (
    EVERYTHING,
    FIELDS,
    OBJECT,
    SCHEMA,
    STRICT,
    Dialect,
    Learned,
    Sampling,
    is_about_room,
    says_nothing_of_options,
)
from pddlego.models.limiter import SLICE, NoLimiter, Permit, RequestLimiter
from pddlego.models.replies import BrokenOffError, NoReplyError, Reply, Stream, lines_of, whole
from pddlego.models.retry import ATTEMPTS, MAX_WAIT, explain, is_passing, is_too_much, retry_after, wait_before_next
from pddlego.models.telling import Telling, masked

if TYPE_CHECKING:
    import openai
    import tenacity

LONGEST_FINISH = 40
"""Characters of an endpoint's reason to stop."""


class OpenAIModel:
    """A language model behind an OpenAI-compatible endpoint.

    What is worth another try (timeouts, lost connections, streams that break off, 429, 5xx) is tried `attempts` times
    with growing waits; a Retry-After is honoured. What the endpoint does not take is left out from then on (`Dialect`),
    and told. The key is kept in this object and in no text. Every request, retries too, passes the `limiter` before it
    is sent.
    """

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
    ) -> None:
        api_key = (api_key or "").strip()
        check_key(name, api_key, base_url)
        check_url(base_url)
        self._name = name
        self._base_url = base_url
        self._secrets = secrets_of(api_key, base_url)
        if any(secret in name for secret in self._secrets):
            raise UsageError("The name of the model is a key", "It holds the key itself.", "Give the model's name.")
        self._sampling = sampling or Sampling()
        self._learned = learned or Learned()
        self._attempts = attempts
        self._timeout = timeout
        self._limiter: RequestLimiter = limiter or NoLimiter()
        self._sleep = sleep
        address, query = split_query(base_url)
        self._connection = Connection(api_key, address, query, timeout)

    is_remote = True

    @property
    def name(self) -> str:
        return self._name

    @property
    def description(self) -> Mapping[str, Any]:
        return {"model": self._name, "base_url": without_credentials(self._base_url), **self._sampling.named()}

    def complete(self, request: Request) -> Completion:
        """Ask the endpoint. Raises `ModelError`, one readable line without secrets, when it does not answer."""
        import openai

        started = time.perf_counter()
        sent, failures = [0], list[BaseException]()
        deadline = started + (math.inf if request.seconds is None else request.seconds)
        try:
            reply, not_taken = self._retrying(request, failures)(self._send, request, deadline, sent)
        except BudgetSpentError as error:
            error.sent = sent[0]
            raise
        except openai.OpenAIError as error:
            failure = self._failure(error, sent[0])
            is_cut_short = isinstance(error, openai.APITimeoutError) and time.perf_counter() >= deadline
            outages = [failure for failure in (*failures, error) if not isinstance(failure, openai.RateLimitError)]
            works = not outages or (is_cut_short and outages == [error])
            too_late = request.seconds is not None and sent[0] < self._attempts and is_passing(error) and works
            raise OutOfTimeError(failure.what, failure.why, failure.next_step) if too_late else failure from None
        except ConnectionError:
            if time.perf_counter() < deadline:
                raise
            what = f"{self._name} was not asked"
            raise OutOfTimeError(what, "The time was up before there was a place for the request.") from None
        except NoReplyError as error:
            raise self._no_answer(self._clean(str(error))) from None
        except (ValueError, RecursionError) as error:  # a reply that claims to be JSON and is not
            raise self._no_answer(f"The endpoint's reply is not JSON ({type(error).__name__})") from None
        return self._completion(request, reply, time.perf_counter() - started, sent[0], not_taken)

    def _send(self, request: Request, deadline: float, sent: list[int]) -> tuple[Reply, tuple[str, ...]]:
        """One try, counted in `sent` and ended at the `deadline`; and what of the request the endpoint does not take.

        What the endpoint refuses is left out, and the request sent again. Where it does not say what it refuses that is
        a guess, and stays one until a request succeeds.
        """
        import openai

        dialect, keep = self._learned.dialect, True
        unsaid: openai.APIStatusError | None = None
        guesses: list[tuple[Dialect, str]] = []
        while True:
            arguments = dialect.arguments(self._sampling, request)
            try:
                with self._limiter.admit_request(self._name, _within(request, deadline)) as permit:
                    sent[0] += 1
                    seconds = min(self._timeout, deadline - time.perf_counter())
                    reply = self._permitted(permit, seconds, arguments, request)
                    if keep and unsaid is not None:  # what was guessed has helped
                        self._learned.dialect = dialect
                    return reply, dialect.not_taken(request, arguments)
            except openai.APIConnectionError as error:
                if not isinstance(error.__cause__, BrokenOffError):
                    raise
                # Some say with a stream what others say with a status.
                fields = {name: value for name, value in arguments.items() if not name.startswith("stream")}
                dialect, what = dialect.learned(error.__cause__, fields)
                if not what:
                    raise
                self._learned.dialect = dialect
                request.report(self._left_out(error, f"does not take {_named(what)}, which is left out now", sent))
            except openai.APIStatusError as error:
                if not _is_refusal(error):
                    raise
                if is_too_much(error) or is_about_room(error):
                    what = next((name for name in FIELDS if name in arguments), "")
                    if not what:
                        raise unsaid or error from None
                    if dialect.more_room and request.max_tokens is not None:
                        self._learned.dialect = dialect = replace(dialect, more_room=False)
                    else:  # a shorter request may have the usual room
                        dialect, keep = dialect.without(what), False
                else:
                    dialect, what = dialect.learned(error, arguments)
                    if what and unsaid is None and keep:
                        self._learned.dialect = dialect
                if what:
                    request.report(self._left_out(error, f"does not take {_named(what)}, which is left out now", sent))
                    continue
                if unsaid is None and error.status_code < 500 and says_nothing_of_options(error):
                    unsaid, guesses = error, dialect.guesses(arguments)
                if unsaid is None or not guesses:
                    raise unsaid or error from None
                dialect, what = guesses.pop(0)
                request.report(self._left_out(error, f"does not say why; it is asked without {_named(what)}", sent))

    def _left_out(self, error: openai.APIError, what: str, sent: list[int]) -> Trouble:
        status = f"{error.status_code}: " if hasattr(error, "status_code") else ""
        return Trouble(f"{status}the endpoint {what}", min(sent[0], self._attempts), self._attempts, 0.0)

    def _exchange(self, arguments: Mapping[str, Any], request: Request, stream: Stream) -> Reply:
        """Send the request and read the reply, as it comes where the endpoint streams: into `stream`."""
        import httpx2
        import openai

        messages: Any = [{"role": each.role, "content": each.content} for each in request.messages]
        create = self._connection.client.chat.completions.with_streaming_response.create
        try:
            with create(model=self._name, messages=messages, extra_body=dict(arguments)) as response:
                if "event-stream" not in response.headers.get("content-type", ""):
                    return whole(json.loads(response.read()))
                telling = Telling(request.report, self._secrets)
                for line in lines_of(response.iter_bytes()):
                    if stream.take(line):
                        telling.of(stream)
                    if stream.ended:
                        break
                telling.of(stream, everything=True)
                if stream.reply().finish is None:
                    raise BrokenOffError("The stream ended in the middle of an answer")
                return stream.reply()
        except (httpx2.RequestError, BrokenOffError) as error:
            nowhere: Any = None
            raise openai.APIConnectionError(request=nowhere) from error

    def _permitted(self, permit: Permit, seconds: float, arguments: Mapping[str, Any], request: Request) -> Reply:
        """One request with its permit, which learns what it used, or that it was turned away."""
        import openai

        stream = Stream()
        exchange = partial(self._exchange, arguments, request, stream)
        try:
            reply: Reply = self._connection.within(seconds, exchange, lambda: permit.wanted and request.wanted())
        except openai.APIStatusError as error:
            pause = retry_after(error)
            permit.refused(min(MAX_WAIT, 1.0 if pause is None else pause) if error.status_code == 429 else 0.0)
            raise
        except BaseException:
            if stream.reply().characters:
                permit.used(*stream.reply().tokens(request), whole=False)
            raise
        permit.used(*reply.tokens(request), whole=True)
        return reply

    def _retrying(self, request: Request, failures: list[BaseException]) -> tenacity.Retrying:
        """Make the retry policy. It appends each failure but the last to `failures`."""
        import tenacity

        stop: Any = tenacity.stop_after_attempt(self._attempts)
        if request.seconds is not None:
            stop |= tenacity.stop_before_delay(request.seconds)

        def tell(state: tenacity.RetryCallState) -> None:
            error = state.outcome.exception() if state.outcome else None
            if isinstance(error, openai.OpenAIError):
                failures.append(error)
                wait = state.next_action.sleep if state.next_action else 0.0
                request.report(Trouble(self._brief(error), state.attempt_number, self._attempts, wait))

        import openai

        return tenacity.Retrying(
            retry=tenacity.retry_if_exception(is_passing),
            wait=wait_before_next,
            stop=stop,
            before_sleep=tell,
            sleep=self._sleep or partial(self._pause, request.wanted),
            reraise=True,
        )

    def _pause(self, wanted: Callable[[], bool], seconds: float) -> None:
        """Wait before the next try. Raises `KeyboardInterrupt` when nobody waits for the answer any more."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            if not wanted():
                raise KeyboardInterrupt
            self._limiter.sleep(min(left, SLICE))

    def _brief(self, error: openai.OpenAIError) -> str:
        """What went wrong, in a few words."""
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
            finish=self._clean(reply.finish or "stop")[:LONGEST_FINISH],
            reasoning=masked(reply.reasoning, self._secrets),
            not_taken=not_taken,
        )

    def _no_answer(self, why: str) -> ModelError:
        return ModelError(f"{self._name} gave no answer", f"{why}.", "Is --base-url an OpenAI-compatible endpoint?")

    def _failure(self, error: openai.OpenAIError, tries: int) -> ModelError:
        import openai

        where = without_credentials(self._base_url) or "the OpenAI endpoint"
        after = f" after {tries} tries" if tries > 1 else ""
        why, advice = explain(error)
        if isinstance(error, openai.APIStatusError):
            what = f"{where} answered {error.status_code} to {self._name}{after}"
        else:
            what = f"{where} did not answer to {self._name}{after}"
        return ModelError(self._clean(what), self._clean(why), advice)

    def _clean(self, text: str) -> str:
        """The text on one line, without the key."""
        text = re.sub(r"\bsk-[\w*-]{6,}", "sk-***", masked(text, self._secrets))
        return " ".join(re.sub(r"(?i)\b(bearer|basic) [^\s'\"]+", r"\1 ***", text).split())[:300]


def _within(request: Request, deadline: float) -> Request:
    """The request, wanted until the deadline and no longer."""
    left = None if request.seconds is None else deadline - time.perf_counter()
    return replace(request, seconds=left, wanted=lambda: request.wanted() and time.perf_counter() < deadline)


def _named(what: str) -> str:
    """What is left out, in words: a form of answers, or a field."""
    if what == EVERYTHING:
        return what
    return f"a {what} for answers" if what in (STRICT, SCHEMA, OBJECT) else f"'{what}'"


def _is_refusal(error: openai.APIStatusError) -> bool:
    """Whether an endpoint may mean by a status that it does not take something: by 5xx only where it says what."""
    if error.status_code in (400, 422):
        return True
    return error.status_code in (500, 501) and bool(re.search(r"response_format|json_(object|schema)", str(error)))
