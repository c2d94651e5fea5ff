"""Requests and answers in the types of Inspect."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
    ContentReasoning,
    GenerateConfig,
    ModelOutput,
    ResponseSchema,
)
from inspect_ai.util import JSONSchema

from pddlego.errors import ModelError, RefusedError, message_of
from pddlego.models.base import Completion, Request
from pddlego.models.dialect import HOTTEST, REFUSALS, REFUSED_CONTENT, advice_on
from pddlego.models.replies import Reply, TokenCounts
from pddlego.util.text import writable

_CUT_OFF = ("max_tokens", "model_length")
"""Inspect's reasons to stop that OpenAI calls `length`."""


def messages_of(request: Request) -> list[ChatMessage]:
    """The messages of a request in Inspect's types."""
    kinds = {"system": ChatMessageSystem, "user": ChatMessageUser, "assistant": ChatMessageAssistant}
    return [kinds[message.role](content=message.content) for message in request.messages]


def config_of(request: Request, temperature: float | None) -> GenerateConfig:
    """The options that a request changes. `temperature` is the one without the request."""
    values: dict[str, Any] = {}
    if request.temperature_increase and temperature is not None:
        values["temperature"] = min(max(HOTTEST, temperature), temperature + request.temperature_increase)
    if request.max_tokens is not None:
        values["max_tokens"] = request.max_tokens
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
