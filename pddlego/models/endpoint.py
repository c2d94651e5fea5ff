"""Language models behind endpoints, with the cache around them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pddlego.errors import UsageError
from pddlego.models.base import CacheUse, Model
from pddlego.models.dialect import Dialects, Sampling
from pddlego.models.limiter import RequestLimiter

TAKEN = {
    "model": "Use --model.",
    "messages": "Change the prompts.",
    "temperature": "Use --temperature.",
    "max_tokens": "Use --max-answer-tokens.",
    "max_completion_tokens": "Use --max-answer-tokens.",
    "reasoning_effort": "Use --reasoning-effort.",
    "seed": "It is that of the episode.",
    "response_format": "It is that of the mode.",
    "stream": "Use --no-stream.",
    "stream_options": "Use --no-stream.",
    "n": "One answer is read.",
}
"""Fields that are sent anyway, and what sets each."""


@dataclass(frozen=True)
class ModelOptions:
    """What determines the answers of a language model. The key is never shown. `repeat` is the repeat that is played:
    with a `cache` another one gets other answers. `max_tokens` is what an answer may have. `extra_body` are fields that
    only some endpoints know. `dialects` is what was learned of endpoints, for all who share these options. Many fields,
    because each is an option of its own.
    """

    name: str = ""
    base_url: str | None = None
    api_key: str | None = field(default=None, repr=False)
    temperature: float = 1.0
    seed: int | None = None
    timeout: float = 120.0
    attempts: int = 6
    max_tokens: int | None = None
    reasoning_effort: str | None = None
    extra_body: Mapping[str, Any] = field(default_factory=dict)
    stream: bool = True
    cache: CacheUse = "off"
    repeat: int = 1
    dialects: Dialects = field(default_factory=Dialects, compare=False, repr=False)


def make_endpoint(options: ModelOptions, limiter: RequestLimiter | None = None) -> Model:
    """The language model; what is sent passes the `limiter`. Raises `UsageError` for an unusable key or address."""
    from pddlego.models.openai import OpenAIModel

    model = OpenAIModel(
        options.name,
        api_key=options.api_key,
        base_url=options.base_url,
        sampling=Sampling(
            temperature=options.temperature,
            seed=options.seed,
            max_tokens=options.max_tokens,
            reasoning_effort=options.reasoning_effort,
            extra=options.extra_body,
            streams=options.stream,
        ),
        timeout=options.timeout,
        attempts=options.attempts,
        limiter=limiter,
        learned=options.dialects.of(options.base_url or "", options.name),
    )
    if options.cache == "off":
        return model
    from pddlego.models.cache import AnswerCache, CachedModel, default_path
    from pddlego.models.credentials import address_of

    cache = AnswerCache(default_path())
    return CachedModel(model, cache, options.cache, options.repeat, address_of(options.base_url))


def parse_extra_body(pairs: Iterable[str]) -> dict[str, Any]:
    """Fields for an endpoint from `KEY=VALUE`: a value that is JSON is that, any other is a text; `a.b=1` is nested.

    Raises `UsageError` for what is no such pair, and for a field that has an option of its own.
    """
    found: dict[str, Any] = {}
    for pair in pairs:
        name, sign, text = pair.partition("=")
        keys = name.strip().split(".")
        if not sign or not all(keys):
            why = "Write KEY=VALUE."
            raise UsageError(f"'{pair}' is no field", why, "Example: chat_template_kwargs.enable_thinking=false.")
        if _looks_secret(name, text):
            why = "Fields are kept in the run folder, where no secret may stand."
            raise UsageError(f"'{name}' looks like a secret", why, "Set OPENAI_API_KEY.")
        if keys[0] in TAKEN:
            raise UsageError(f"'{keys[0]}' cannot be set so", "pddlego sends it itself.", TAKEN[keys[0]])
        value = _read_value(text)
        try:
            json.dumps([name, value], allow_nan=False, ensure_ascii=False).encode()
        except ValueError as error:
            raise UsageError(f"'{name}' has no value that JSON has", f"{error}.", "Give another value.") from error
        place = found
        for key in keys[:-1]:
            inner = place.setdefault(key, {})
            if not isinstance(inner, dict):
                raise UsageError(f"'{pair}' does not fit", f"'{key}' has a value already.", "Give it once.")
            place = inner
        place[keys[-1]] = value
    return found


def _read_value(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _looks_secret(name: str, text: str) -> bool:
    """Whether a field holds what nobody should read: by the words of its name, or of a name inside of its value."""
    names = [name, *re.findall(r'"([^"]*)"\s*:', text)]
    secret = r"(^|[^a-z])((api|access|secret)[^a-z]?key|secret|password|authorization|token)($|[^a-z])"
    return any(re.search(secret, name.lower()) for name in names) or bool(re.search(r"\bsk-", text))


def prepare_cache(use: CacheUse) -> None:
    """Make the cache if it is used. Raises `UsageError` if that is not possible."""
    if use != "off":
        from pddlego.models.cache import AnswerCache, default_path

        AnswerCache(default_path()).prepare()
