"""Endpoints as their public documentation and reports describe them: what each takes, refuses, and how it counts.

`docs/endpoints.md` is the table of them, with sources. An endpoint is a function from the body of a request to a reply.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.model_server import Reply

Body = dict[str, Any]
TEXT = '{"objects": {}, "init": {}}'


def refusal(message: str, status: int = 400, **more: Any) -> Reply:
    """OpenAI's form of an error."""
    error = {"message": message, "type": "invalid_request_error", "param": None, "code": None, **more}
    return Reply(status, json.dumps({"error": error}))


def whole(usage: Body, text: str = TEXT, **message: Any) -> Reply:
    choice = {"index": 0, "message": {"role": "assistant", "content": text, **message}, "finish_reason": "stop"}
    return Reply(body=json.dumps({"id": "x", "object": "chat.completion", "choices": [choice], **usage}))


def lines(*parts: str) -> Reply:
    """A stream of these lines."""
    return Reply(body="".join(f"{part}\n\n" for part in parts), headers={"content-type": "text/event-stream"})


def chunk(delta: Body, finish: str | None = None, **more: Any) -> str:
    return "data: " + json.dumps({"choices": [{"index": 0, "delta": delta, "finish_reason": finish}], **more})


def streamed(usage: Body, asked: Body, thought: str = "", name: str = "reasoning_content") -> Reply:
    """The answer in pieces; the usage in a last chunk without choices, where it was asked for."""
    parts = [chunk({"role": "assistant", "content": None})]
    parts += [chunk({name: thought[i : i + 7]}) for i in range(0, len(thought), 7)]
    parts += [chunk({"content": TEXT[i : i + 9]}) for i in range(0, len(TEXT), 9)]
    parts.append(chunk({}, "stop"))
    if (asked.get("stream_options") or {}).get("include_usage"):
        parts.append("data: " + json.dumps({"choices": [], **usage}))
    return lines(*parts, "data: [DONE]")


def answered(asked: Body, usage: Body, **more: Any) -> Reply:
    return streamed(usage, asked, **more) if asked.get("stream") else whole(usage)


def used(came: int = 100, went: int = 20, **more: Any) -> Body:
    return {"usage": {"prompt_tokens": came, "completion_tokens": went, "total_tokens": came + went, **more}}


def schema_of(asked: Body) -> Any:
    return (asked.get("response_format") or {}).get("json_schema", {}).get("schema")


def violations(schema: Any, where: str = "#") -> list[str]:
    """Where a schema breaks the rules of strict structured output."""
    if isinstance(schema, list):
        return [fault for part in schema for fault in violations(part, where)]
    if not isinstance(schema, dict):
        return []
    result = [fault for name, part in schema.items() for fault in violations(part, f"{where}/{name}")]
    if schema.get("type") == "object":
        if schema.get("additionalProperties") is not False:
            result.append(f"{where}: additionalProperties")
        if set(schema.get("required", ())) != set(schema.get("properties", {})):
            result.append(f"{where}: required")
    return result


OPENAI_FIELDS = {"model", "messages", "temperature", "seed", "max_tokens", "max_completion_tokens", "response_format"}
OPENAI_FIELDS |= {"stream", "stream_options", "reasoning_effort"}


def _openai(asked: Body) -> Reply | None:
    """What every model of OpenAI refuses."""
    unknown = sorted(set(asked) - OPENAI_FIELDS)
    if unknown:
        return refusal(f"Unrecognized request argument supplied: {unknown[0]}")
    faults = violations(schema_of(asked) or {})
    if faults and asked["response_format"]["json_schema"].get("strict"):
        text = f"Invalid schema for response_format 'edit': In context=(), '{faults[0]}' is required to be supplied."
        return refusal(text, param="response_format")
    return None


def openai_4o(asked: Body) -> Reply:
    if "reasoning_effort" in asked:
        return refusal("Unrecognized request argument supplied: reasoning_effort")
    details: Body = {
        "prompt_tokens_details": {"cached_tokens": 64},
        "completion_tokens_details": {"reasoning_tokens": 0},
    }
    return _openai(asked) or answered(asked, used(**details))


def openai_reasoning(asked: Body) -> Reply:
    if asked.get("temperature", 1) != 1:
        text = "Unsupported value: 'temperature' does not support 0.5 with this model. Only the default is supported."
        return refusal(text, param="temperature", code="unsupported_value")
    if "max_tokens" in asked:
        text = (
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
        )
        return refusal(text, param="max_tokens", code="unsupported_parameter")
    if asked.get("stream"):
        text = "Your organization must be verified to stream this model."
        return refusal(text, param="stream", code="unsupported_value")
    return _openai(asked) or answered(asked, used(completion_tokens_details={"reasoning_tokens": 12}))


def openai_old(asked: Body) -> Reply:
    kind = (asked.get("response_format") or {}).get("type")
    if kind == "json_schema":
        text = "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model."
        return refusal(text, param="response_format")
    if kind == "json_object" and "json" not in json.dumps(asked["messages"]).lower():
        return refusal(
            "'messages' must contain the word 'json' in some form, to use 'response_format'.", param="messages"
        )
    return _openai(asked) or answered(asked, used())


def anthropic(asked: Body) -> Reply:
    kind = (asked.get("response_format") or {}).get("type")
    if kind == "json_object":
        return refusal("response_format.type: Input should be 'json_schema'", code="invalid_request_error")
    if violations(schema_of(asked) or {}):
        return refusal("output_config.format.schema: For 'object' type, 'additionalProperties' must be set to false")
    if "temperature" in asked:
        return refusal("`temperature` is deprecated for this model.")
    return answered(asked, used(prompt_tokens_details={}, completion_tokens_details={}))


def gemini(asked: Body) -> Reply:
    if "seed" in asked:
        text = 'Invalid JSON payload received. Unknown name "seed": Cannot find field.'
        return Reply(400, json.dumps([{"error": {"code": 400, "message": text, "status": "INVALID_ARGUMENT"}}]))
    usage = used()
    usage["usage"]["total_tokens"] = 100 + 20 + 30  # thoughts are in the total only
    return answered(asked, usage)


def vllm(asked: Body) -> Reply:
    if "stream_options" in asked and not asked.get("stream"):
        return refusal("Stream options can only be defined when `stream=True`.")
    return answered(asked, used(prompt_tokens_details=None), thought="Let me see the map.", name="reasoning")


def llama_cpp(asked: Body) -> Reply:
    usage = {**used(), "timings": {"cache_n": 48, "prompt_n": 52, "predicted_n": 20}}
    return answered(asked, usage, thought="Let me see the map.")


def llama_cpp_python(asked: Body) -> Reply:
    if (asked.get("response_format") or {}).get("type") == "json_schema":
        return refusal(
            "[{'loc': ('body', 'response_format', 'type'), 'msg': \"Input should be 'text' or 'json_object'\"}]", 500
        )
    return answered(asked, used())


def ollama(asked: Body) -> Reply:
    if asked.get("reasoning_effort") not in (None, "high", "medium", "low", "none"):
        text = f'invalid reasoning value: \'{asked["reasoning_effort"]}\' (must be "high", "medium", "low", or "none")'
        return refusal(text)
    return answered(asked, used(), thought="Let me see the map.", name="reasoning")


def deepseek(asked: Body) -> Reply:
    if (asked.get("response_format") or {}).get("type") == "json_schema":
        text = "Failed to deserialize the JSON body into the target type: response_format: response_format.type "
        return refusal(text + "`json_schema` is unavailable now at line 1 column 1193", 422)
    usage = used(prompt_cache_hit_tokens=64, prompt_cache_miss_tokens=36)
    return answered(asked, usage, thought="Let me see the map.")


def openrouter(asked: Body) -> Reply:
    if not asked.get("stream"):
        return whole(used())
    reply = streamed(used(), asked, thought="Let me see the map.", name="reasoning")
    return Reply(body=": OPENROUTER PROCESSING\n\n" + reply.body, headers=reply.headers)


def xai(asked: Body) -> Reply:
    usage = used(completion_tokens_details={"reasoning_tokens": 30})
    usage["usage"]["total_tokens"] = 150
    return answered(asked, usage)


@dataclass(frozen=True)
class Endpoint:
    """One of them, how many requests the first question takes, and what must come of it and not be sent at last."""

    reply: Callable[[Body], Reply]
    first: int = 1
    left_out: tuple[str, ...] = ()
    form: str | None = "json_schema"
    strict: bool | None = True
    tokens: tuple[int, int, int, int] = (100, 20, 0, 0)
    reasoning: str = ""
    options: Body = field(default_factory=dict)


THOUGHT = "Let me see the map."
ENDPOINTS = {
    "OpenAI, gpt-4o": Endpoint(openai_4o, tokens=(100, 20, 64, 0)),
    "OpenAI, gpt-4o with what only others know": Endpoint(
        openai_4o,
        3,
        ("reasoning_effort", "frobnicate"),
        options={"reasoning_effort": "low", "extra": {"frobnicate": 1}},
        tokens=(100, 20, 64, 0),
    ),
    "OpenAI, a reasoning model": Endpoint(
        openai_reasoning,
        4,
        ("temperature", "max_tokens", "stream", "stream_options"),
        tokens=(100, 20, 0, 12),
        options={"max_tokens": 500},
    ),
    "OpenAI, gpt-4": Endpoint(openai_old, 2, form="json_object", strict=None),
    "Anthropic": Endpoint(anthropic, 2, ("temperature",)),
    "Gemini": Endpoint(gemini, 2, ("seed",), tokens=(100, 50, 0, 30)),
    "vLLM": Endpoint(vllm, reasoning=THOUGHT),
    "vLLM, not streaming": Endpoint(vllm, options={"streams": False}),
    "llama.cpp": Endpoint(llama_cpp, tokens=(100, 20, 48, 0), reasoning=THOUGHT),
    "llama-cpp-python": Endpoint(llama_cpp_python, 2, form="json_object", strict=None),
    "Ollama": Endpoint(ollama, 2, ("reasoning_effort",), reasoning=THOUGHT, options={"reasoning_effort": "minimal"}),
    "DeepSeek": Endpoint(deepseek, 2, form="json_object", strict=None, tokens=(100, 20, 64, 0), reasoning=THOUGHT),
    "OpenRouter": Endpoint(openrouter, reasoning=THOUGHT),
    "xAI": Endpoint(xai, tokens=(100, 50, 0, 30)),
}
"""By the name in `docs/endpoints.md`."""
