"""Models of Inspect's providers (`inspect:PROVIDER/NAME`), and conversions that the tasks for Inspect share."""

from __future__ import annotations

import asyncio
import os
import re
import threading
import time
from collections.abc import Mapping
from concurrent.futures import Future, wait
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar

from pddlego.errors import ModelError, NoTimeLeftError, RefusedError, UsageError, message_of
from pddlego.models.base import Completion, Delta, Request
from pddlego.models.dialect import HOTTEST, REFUSALS, REFUSED_CONTENT, Sampling, advice_on
from pddlego.models.limiter import RequestLimiter, SharedLimiter
from pddlego.models.replies import Reply, TokenCounts
from pddlego.util.limits import SLICE, Clock
from pddlego.util.text import writable

if TYPE_CHECKING:
    from inspect_ai.model import ChatMessage, GenerateConfig, Model, ModelOutput, StreamEvent

T = TypeVar("T")

_CUT_OFF = ("max_tokens", "model_length")
"""Inspect's reasons to stop that OpenAI calls `length`."""


class InspectModel:
    """A model of one of Inspect's providers. Inspect retries failed requests."""

    is_remote = True

    def __init__(
        self,
        name: str,
        base_url: str | None,
        sampling: Sampling,
        timeout: float,
        attempts: int,
        limiter: RequestLimiter | None = None,
        clock: Clock = time.monotonic,
    ) -> None:
        self.name = name
        self._sampling, self._timeout, self._clock = sampling, timeout, clock
        self._limiter: RequestLimiter = limiter or SharedLimiter(1)
        # OPENAI_BASE_URL is read by the provider that it is for, and must not reach the others.
        address = None if base_url == os.environ.get("OPENAI_BASE_URL") else base_url
        self._model = _provider_model(name, address, attempts)

    @property
    def description(self) -> Mapping[str, Any]:
        return {"model": self.name, **self._sampling.named()}

    def complete(self, request: Request) -> Completion:
        """Ask the provider. Raises `ModelError` if it does not answer, and `NoTimeLeftError` if the time is up."""
        began = self._clock()
        seconds = self._timeout if request.seconds is None else min(self._timeout, request.seconds)
        with self._limiter.admit_request(self.name, request) as permit:
            answer = asyncio.run_coroutine_threadsafe(self._generate(request), _loop())
            try:
                output = _result(answer, request, seconds, self._clock)
            except Exception as error:
                raise failure(self.name, error) from error
            if output is None:
                what = f"{self.name} did not answer within {seconds:.0f} seconds"
                raise NoTimeLeftError(what) if seconds == request.seconds else ModelError(what)
            completion = completion_of(output, request, self._clock() - began)
            permit.used(completion.tokens_in, completion.tokens_out, completion.tokens_cached)
        return completion

    async def _generate(self, request: Request) -> ModelOutput:
        async def report(event: StreamEvent) -> None:
            request.report(Delta(getattr(event, "text", ""), getattr(event, "reasoning", "")))

        config = config_of(request, self._sampling)
        streams = report if self._sampling.streams else None
        return await self._model.generate(messages_of(request), config=config, on_stream=streams)


def messages_of(request: Request) -> list[ChatMessage]:
    """The messages of a request in Inspect's types."""
    from inspect_ai.model import ChatMessageAssistant, ChatMessageSystem, ChatMessageUser

    kinds = {"system": ChatMessageSystem, "user": ChatMessageUser, "assistant": ChatMessageAssistant}
    return [kinds[message.role](content=message.content) for message in request.messages]


def config_of(request: Request, sampling: Sampling | None = None, temperature: float | None = None) -> GenerateConfig:
    """The options of a request. Without `sampling`, only those that it changes, from the usual `temperature`."""
    from inspect_ai.model import GenerateConfig, ResponseSchema
    from inspect_ai.util import JSONSchema

    usual = temperature if sampling is None else sampling.temperature
    values: dict[str, Any] = {}
    if sampling is not None:
        values = {"temperature": usual, "seed": sampling.seed, "reasoning_effort": sampling.reasoning_effort}
        values |= {"extra_body": dict(sampling.extra) or None, "max_tokens": sampling.max_tokens}
    if request.temperature_increase and usual is not None:
        values["temperature"] = min(max(HOTTEST, usual), usual + request.temperature_increase)
    if request.max_tokens is not None:
        values["max_tokens"] = min(request.max_tokens, values.get("max_tokens") or request.max_tokens)
    if request.schema:
        schema = JSONSchema.model_validate(_without_references(request.schema, request.schema.get("$defs", {})))
        values["response_schema"] = ResponseSchema(name="answer", json_schema=schema)
    return GenerateConfig(**values)


def _without_references(schema: Any, definitions: Mapping[str, Any]) -> Any:
    """A JSON schema with its references resolved: Inspect's schemas have none."""
    if isinstance(schema, list):
        return [_without_references(part, definitions) for part in schema]
    if not isinstance(schema, Mapping):
        return schema
    if "$ref" in schema:
        return _without_references(definitions[schema["$ref"].rpartition("/")[2]], definitions)
    return {name: _without_references(part, definitions) for name, part in schema.items() if name != "$defs"}


def completion_of(output: ModelOutput, request: Request, seconds: float) -> Completion:
    """Convert an answer of Inspect. Raises `ModelError` for an empty or a failed one."""
    from inspect_ai.model import ContentReasoning

    if output.empty:
        raise ModelError(f"{output.model} gave no answer", output.error or "")
    if output.error:  # the reason "unknown" proves nothing: it is also Inspect's name of no reason at all
        raise ModelError(f"{output.model} gave no whole answer", output.error)
    parts = output.message.content if isinstance(output.message.content, list) else []
    thoughts = [part for part in parts if isinstance(part, ContentReasoning)]
    thought = "\n".join((part.summary or "") if part.redacted else part.reasoning for part in thoughts)
    used, counts = output.usage, TokenCounts()
    if used is not None:
        cached = used.input_tokens_cache_read or 0
        came = used.input_tokens + cached + (used.input_tokens_cache_write or 0)
        counts = TokenCounts(came, used.output_tokens, cached, used.reasoning_tokens or 0)
    tokens_in, tokens_out, _ = Reply(output.completion, thought, usage=counts).tokens(request)
    return Completion(
        output.completion,
        tokens_in=tokens_in,
        tokens_out=tokens_out,
        tokens_cached=counts.cached,
        tokens_reasoning=counts.reasoning,
        seconds=seconds,
        estimated=(tokens_in, tokens_out) != (counts.came, counts.went),
        finish="length" if output.stop_reason in _CUT_OFF else output.stop_reason,
        reasoning=thought,
    )


def failure(name: str, error: BaseException) -> ModelError:
    """The `ModelError` for an exception of a provider."""
    reason = writable(" ".join(message_of(error).split())[:300])
    is_refusal = getattr(error, "status_code", None) in REFUSALS and advice_on(error) != REFUSED_CONTENT
    kind = RefusedError if is_refusal else ModelError
    return kind(f"{name} did not answer", f"{type(error).__name__}: {reason}")


def _provider_model(name: str, base_url: str | None, attempts: int) -> Model:
    """The model `inspect:PROVIDER/NAME`. Raises `UsageError` if Inspect cannot make it (no key, no package)."""
    try:
        from inspect_ai.model import GenerateConfig, get_model
    except ImportError as error:
        raise UsageError(f"{name} needs Inspect", f"{error}.", "Install it: pip install '.[inspect]'.") from error
    try:
        config = GenerateConfig(max_retries=attempts - 1)
        return get_model(name.partition(":")[2], base_url=base_url, config=config, memoize=False)
    except Exception as error:
        reason = " ".join(re.sub(r"\[/?[a-z ]+\]", "", str(getattr(error, "message", error))).split())
        raise UsageError(f"Inspect cannot use {name}", reason, "Example: inspect:openai/gpt-4o.") from error


def _result(answer: Future[T], request: Request, seconds: float, clock: Clock) -> T | None:
    """Wait for an answer; None if the time is up. Raises `KeyboardInterrupt` if it is no longer needed."""
    end = clock() + seconds
    try:
        while (left := end - clock()) > 0:
            if wait((answer,), timeout=min(SLICE, left)).done:
                return answer.result()
            if not request.wanted():
                raise KeyboardInterrupt
        return None
    finally:
        answer.cancel()


_LOCK = threading.Lock()
"""Held while the event loop is created, so that two threads do not create two."""


def _loop() -> asyncio.AbstractEventLoop:
    with _LOCK:
        return _only_loop()


@lru_cache(maxsize=1)
def _only_loop() -> asyncio.AbstractEventLoop:
    """The event loop of all requests, in a thread of its own: Inspect's connections belong to one loop."""
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="inspect", daemon=True).start()
    return loop
