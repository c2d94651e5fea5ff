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
from pddlego.models.limiter import SLICE, NoLimiter, Permit, RequestLimiter
from pddlego.models.retry import MAX_WAIT, explain, is_passing, is_too_much, retry_after, text_of, wait_before_next

if TYPE_CHECKING:
    import openai
    import tenacity

HOTTEST = 1.5
"""No temperature is raised beyond this: what comes out above it is seldom a file."""

LONGEST_FINISH = 40
"""Characters of an endpoint's reason to stop."""

_FORMATS = ("json_schema", "json_object", "text")


class OpenAIModel:
    """A language model behind an OpenAI-compatible endpoint.

    What is worth another try (timeouts, lost connections, 429, 5xx) is tried `attempts` times with growing waits; a
    Retry-After is honoured. What the endpoint does not support (a response format, a temperature, a seed) is left out
    from then on. `temperature` 1 is the paper's. The key is kept in this object and in no text. Every request, retries
    too, passes the `limiter` before it is sent.
    """

    def __init__(
        self,
        name: str,
        api_key: str | None = None,
        base_url: str | None = None,
        temperature: float = 1.0,
        seed: int | None = None,
        timeout: float = 120.0,
        attempts: int = 6,
        sleep: Callable[[float], None] | None = None,
        limiter: RequestLimiter | None = None,
        max_tokens: int | None = None,
    ) -> None:
        api_key = (api_key or "").strip()
        check_key(name, api_key, base_url)
        check_url(base_url)
        self._name = name
        self._base_url = base_url
        self._secrets = secrets_of(api_key, base_url)
        if any(secret in name for secret in self._secrets):
            raise UsageError("The name of the model is a key", "It holds the key itself.", "Give the model's name.")
        self._settings: dict[str, Any] = {"temperature": temperature}
        if seed is not None:
            self._settings["seed"] = seed
        if max_tokens is not None:
            self._settings["max_tokens"] = max_tokens
        self._max_tokens = max_tokens
        self._asked = dict(self._settings)
        self._formats = list(_FORMATS)
        self._refused: set[str] = set()
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
        return {"model": self._name, "base_url": without_credentials(self._base_url), **self._asked}

    def complete(self, request: Request) -> Completion:
        """Ask the endpoint. Raises `ModelError`, one readable line without secrets, when it does not answer."""
        import openai

        started = time.perf_counter()
        sent = [0]
        deadline = started + (math.inf if request.seconds is None else request.seconds)
        try:
            response = self._retrying(request, sent)(self._send, request, deadline, sent)
        except BudgetSpentError as error:
            error.sent = sent[0]
            raise
        except openai.OpenAIError as error:
            failure = self._failure(error, sent[0])
            too_late = request.seconds is not None and sent[0] < self._attempts and is_passing(error)
            raise OutOfTimeError(failure.what, failure.why, failure.next_step) if too_late else failure from None
        except ConnectionError:
            if time.perf_counter() < deadline:
                raise
            what = f"{self._name} was not asked"
            raise OutOfTimeError(what, "The time was up before there was a place for the request.") from None
        except (ValueError, RecursionError) as error:  # a reply that claims to be JSON and is not
            raise self._no_answer(f"The endpoint's reply is not JSON ({type(error).__name__})") from None
        return self._completion(request, response, time.perf_counter() - started, sent[0])

    def _send(self, request: Request, deadline: float, sent: list[int]) -> Any:
        """One try, counted in `sent` and ended at the `deadline`.

        What the endpoint refuses as unsupported is dropped, and the request sent again.
        """
        import openai

        while True:
            messages: Any = [{"role": each.role, "content": each.content} for each in request.messages]
            extra = self._extra(request)
            if request.schema is not None:
                extra |= self._response_format(request)
            client = self._connection.client
            create = partial(client.chat.completions.create, model=self._name, messages=messages, **extra)
            try:
                with self._limiter.admit_request(self._name, _within(request, deadline)) as permit:
                    sent[0] += 1
                    seconds = min(self._timeout, deadline - time.perf_counter())
                    return self._permitted(permit, seconds, create, lambda: permit.wanted and request.wanted())
            except (openai.BadRequestError, openai.UnprocessableEntityError) as error:
                if not self._drop_unsupported(error, extra):
                    raise

    def _permitted(self, permit: Permit, seconds: float, create: Callable[[], Any], wanted: Callable[[], bool]) -> Any:
        """One request with its permit, which learns what it used, or that it was turned away."""
        import openai

        try:
            response = self._connection.within(seconds, create, wanted)
        except openai.APIStatusError as error:
            pause = retry_after(error)
            permit.refused(min(MAX_WAIT, 1.0 if pause is None else pause) if error.status_code == 429 else 0.0)
            raise
        usage = getattr(response, "usage", None)
        came, went, cached = _usage(usage)
        if came is not None and went is not None:
            permit.used(came, went, cached)
        else:
            permit.answered()
        return response

    def _extra(self, request: Request) -> dict[str, Any]:
        """What is sent besides the messages."""
        extra = dict(self._settings)
        if request.temperature_increase and "temperature" in extra:
            usual = extra["temperature"]
            extra["temperature"] = min(max(HOTTEST, usual), usual + request.temperature_increase)
        if request.max_tokens is not None and "max_tokens" not in self._refused:
            extra["max_tokens"] = min(request.max_tokens, self._max_tokens or request.max_tokens)
        return extra

    def _response_format(self, request: Request) -> dict[str, Any]:
        form = self._formats[0]
        if form == "json_schema":
            schema = {"name": request.purpose, "schema": dict(request.schema or {}), "strict": False}
            return {"response_format": {"type": "json_schema", "json_schema": schema}}
        return {"response_format": {"type": "json_object"}} if form == "json_object" else {}

    def _drop_unsupported(self, error: openai.APIStatusError, sent: Mapping[str, Any]) -> bool:
        """Remember what the endpoint does not take. False if the error is about something else."""
        said = str(error).lower()
        if "response_format" in sent and re.search(r"response[_ ]format|json[_ ]?(schema|object|mode)|guided", said):
            self._formats.pop(0)
            return True
        for name in ("temperature", "seed", "max_tokens"):
            # More room than the model has is refused as a request that is too long.
            too_much = name == "max_tokens" and is_too_much(error)
            if name in sent and (name in said or too_much):
                self._settings.pop(name, None)
                self._refused.add(name)
                return True
        return False

    def _retrying(self, request: Request, sent: list[int]) -> tenacity.Retrying:
        import tenacity

        stop: Any = tenacity.stop_after_attempt(self._attempts)
        if request.seconds is not None:
            stop |= tenacity.stop_before_delay(request.seconds)

        def tell(state: tenacity.RetryCallState) -> None:
            error = state.outcome.exception() if state.outcome else None
            if isinstance(error, openai.OpenAIError):
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

        if isinstance(error, openai.APIStatusError):
            return self._clean(f"{error.status_code}: {explain(error)[0]}").rstrip(".")
        return self._clean(explain(error)[0]).rstrip(".")

    def _completion(self, request: Request, response: Any, seconds: float, tries: int) -> Completion:
        choices = getattr(response, "choices", None)
        first: Any = choices[0] if isinstance(choices, list) and choices else None
        if not hasattr(getattr(first, "message", None), "content"):
            said = getattr(response, "error", None)
            told = f": {self._clean(text_of(said))}" if said else ""
            raise self._no_answer(f"The endpoint's reply holds no choices{told}")
        text = self._masked(_said(first.message))
        usage = getattr(response, "usage", None)
        came, went, cached = _usage(usage)
        return Completion(
            text,
            tokens_in=request.characters // 4 if came is None else came,
            tokens_out=len(text) // 4 if went is None else went,
            tokens_cached=cached,
            seconds=seconds,
            attempts=tries,
            estimated=came is None or went is None,
            finish=self._clean(str(getattr(first, "finish_reason", None) or "stop"))[:LONGEST_FINISH],
            reasoning=self._masked(_thought(first.message)),
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

    def _masked(self, text: str) -> str:
        """The text without our own secrets, should the endpoint echo them."""
        for secret in self._secrets:
            text = text.replace(secret, "***")
        return text

    def _clean(self, text: str) -> str:
        """The text on one line, without the key."""
        text = self._masked(text)
        text = re.sub(r"\bsk-[\w*-]{6,}", "sk-***", text)
        return " ".join(re.sub(r"(?i)\b(bearer|basic) [^\s'\"]+", r"\1 ***", text).split())[:300]


def _within(request: Request, deadline: float) -> Request:
    """The request, wanted until the deadline and no longer."""
    left = None if request.seconds is None else deadline - time.perf_counter()
    return replace(request, seconds=left, wanted=lambda: request.wanted() and time.perf_counter() < deadline)


def _said(message: Any) -> str:
    """What a message says: its content, else the arguments of a tool that it calls, or why it refuses."""
    calls = getattr(message, "tool_calls", None)
    function = getattr(calls[0], "function", None) if isinstance(calls, list) and calls else None
    arguments = getattr(function, "arguments", None)
    if isinstance(arguments, dict):
        arguments = json.dumps(arguments)
    content = message.content
    if isinstance(content, list):  # of parts, each with a text
        content = "".join(str(each.get("text", "")) for each in content if isinstance(each, dict))
    for said in (content, arguments, getattr(message, "refusal", None)):
        if isinstance(said, str) and said.strip():
            return said
    return ""


def _thought(message: Any) -> str:
    """What the model thought, where the endpoint gives it apart: vLLM, DeepSeek and llama.cpp call it otherwise than
    OpenRouter and Ollama."""
    found = (getattr(message, name, None) for name in ("reasoning_content", "reasoning"))
    return next((each for each in found if isinstance(each, str)), "")


def _usage(usage: object) -> tuple[int | None, int | None, int]:
    """Tokens in, out, and of those in how many the endpoint had in its cache."""
    cached = _count(getattr(usage, "prompt_tokens_details", None), "cached_tokens") or 0
    return _count(usage, "prompt_tokens"), _count(usage, "completion_tokens"), cached


def _count(usage: object, name: str) -> int | None:
    """A number of tokens, if the endpoint gave one."""
    value = getattr(usage, name, None)
    return value if isinstance(value, int) and 0 <= value < 10**9 else None
