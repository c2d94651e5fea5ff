"""Creates the models of endpoints from options, with the cache of answers if it is used."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pydantic import ConfigDict, field_serializer, field_validator

from pddlego.errors import UsageError
from pddlego.models.base import ATTEMPTS, LONGEST, TEMPERATURE, THINKING, CacheUse, Model, is_local
from pddlego.models.credentials import address_of, without_credentials
from pddlego.util.options import Flag, Options, option

if TYPE_CHECKING:
    from pddlego.models.dialect import Dialects, Sampling
    from pddlego.models.limiter import RequestLimiter
    from pddlego.models.local import LocalServers

_RETIRED = "inspect:"
"""Prefix of models of Inspect's providers, which `make_endpoint` refuses."""

_TAKEN = {
    "model": "Use --model.",
    "messages": "Change the prompts.",
    "temperature": "Use --temperature.",
    "max_tokens": "Use --max-answer-tokens.",
    "max_completion_tokens": "Use --max-answer-tokens.",
    "reasoning_effort": "Use --reasoning-effort.",
    "seed": "It is that of the episode.",
    "response_format": "It is that of the mode.",
    "stream": "Set PDDLEGO_STREAM=false.",
    "stream_options": "Set PDDLEGO_STREAM=false.",
    "n": "One answer is read.",
}
"""Fields of a request that `extra_body` may not set, with advice on each."""


class Endpoint(Options):
    """The options of a language model and its endpoint. `timeout` is in seconds without a new part of an answer."""

    model_config = ConfigDict(title="Model")

    base_url: str | None = option(
        None,
        "URL of an OpenAI-compatible server.",
        Flag(variable="OPENAI_BASE_URL"),
    )
    temperature: float | None = option(
        None, "Sampling temperature.", Flag(default=f"{TEMPERATURE:g}, or that of the method"), ge=0, le=10
    )
    reasoning_effort: str | None = option(
        None,
        "none, low, medium, high, …",
        Flag(default="the model's"),
        pattern=r"^[a-z]{1,20}$",
    )
    extra_body: dict[str, Any] = option(
        {},
        "An additional field of the request. Repeatable.",
        Flag(metavar="KEY=VALUE", repeatable=True),
    )
    stream: bool = option(True, "Stream answers as they are generated.", Flag(affects_episodes=False, typed=False))
    cache: CacheUse = option("off", "Cached answers: off, use or refresh.", Flag(affects_episodes=False))
    timeout: float = option(
        600.0,
        "Seconds without a new part of an answer.",
        Flag(affects_episodes=False),
        name="model_timeout",
        gt=0,
        le=86_400,
    )
    max_tokens: int | None = option(
        None,
        "Tokens per answer: sent to the model and reserved.",
        Flag(default=f"ended after {LONGEST:,}, or {THINKING:,} and the length of a file"),
        name="max_answer_tokens",
        ge=1,
    )

    @field_validator("extra_body", mode="before")
    @classmethod
    def _parsed(cls, value: object) -> object:
        if isinstance(value, str):
            value = [part for part in value.split(",") if part.strip()]
        fields = _parse_extra_body(map(str, value)) if isinstance(value, (tuple, list)) else value
        if isinstance(fields, Mapping):
            _check_extra_body(fields)
        return fields

    @field_serializer("base_url")
    def _without_credentials(self, value: str | None) -> str | None:
        return without_credentials(value)


def _new_dialects() -> Dialects:
    from pddlego.models.dialect import Dialects

    return Dialects()


def _new_servers() -> LocalServers:
    from pddlego.models.local import LocalServers

    return LocalServers()


@dataclass(frozen=True)
class Access:
    """The API key, which is never shown, the dialects of the endpoints that this process has used, and its servers."""

    key: str | None = field(default=None, repr=False)
    dialects: Dialects = field(default_factory=_new_dialects, compare=False, repr=False)
    servers: LocalServers = field(default_factory=_new_servers, compare=False, repr=False)


def make_endpoint(
    name: str,
    options: Endpoint,
    access: Access,
    limiter: RequestLimiter | None = None,
    *,
    seed: int | None = None,
    repeat: int = 1,
    attempts: int = ATTEMPTS,
) -> Model:
    """The language model with this name. The `limiter` admits every request.

    Each `repeat` has cached answers of its own. Raises `UsageError` for an unusable key, address or file, and
    `ModelError` for a file that cannot be downloaded.
    """
    sampling = _sampling(options, seed)
    model: Model
    if name.startswith(_RETIRED):
        provider = name.removeprefix(_RETIRED)
        advice = f"Use --base-url with the provider's address, or 'inspect eval pddlego/GAME --model {provider}'."
        raise UsageError(f"Models of Inspect ({name}) were removed. {advice}")
    from pddlego.models.openai import OpenAIModel

    def connect(base_url: str | None, key: str | None) -> OpenAIModel:
        return OpenAIModel(
            name,
            api_key=key,
            base_url=base_url,
            sampling=sampling,
            timeout=options.timeout,
            attempts=attempts,
            limiter=limiter,
            learned=access.dialects.of(base_url or "", name),
        )

    if is_local(name):
        from pddlego.models.local import LocalModel, model_file

        model = LocalModel(
            name,
            model_file(name),
            sampling.named(),
            access.servers,
            lambda address: connect(f"{address}/v1", None),
        )
    else:
        model = connect(options.base_url, access.key)
    if options.cache == "off":
        return model
    from pddlego.models.cache import AnswerCache, CachedModel, default_path

    cache = AnswerCache(default_path())
    address = "" if is_local(name) else address_of(options.base_url)
    return CachedModel(model, cache, options.cache, repeat, address)


def _sampling(options: Endpoint, seed: int | None) -> Sampling:
    from pddlego.models.dialect import Sampling

    return Sampling(
        temperature=TEMPERATURE if options.temperature is None else options.temperature,
        seed=seed,
        max_tokens=options.max_tokens,
        reasoning_effort=options.reasoning_effort,
        extra=options.extra_body,
        streams=options.stream,
    )


def _parse_extra_body(pairs: Iterable[str]) -> dict[str, Any]:
    """The fields in `KEY=VALUE` pairs. A value is JSON or else a text; `a.b=1` is `{"a": {"b": 1}}`.

    Raises `UsageError` for a pair that cannot be parsed.
    """
    values: dict[str, Any] = {}
    for pair in pairs:
        name, sign, text = pair.partition("=")
        keys = name.strip().split(".")
        if not sign or not all(keys):
            reason = "Write KEY=VALUE."
            raise UsageError(f"'{pair}' is not a field", reason, "Example: chat_template_kwargs.enable_thinking=false.")
        fields = values
        for key in keys[:-1]:
            inner = fields.setdefault(key, {})
            if not isinstance(inner, dict):
                raise UsageError(f"'{pair}' does not fit", f"'{key}' has a value already.", "Give it once.")
            fields = inner
        fields[keys[-1]] = _read_value(text)
    return values


def _check_extra_body(fields: Mapping[str, Any]) -> None:
    """Raise `UsageError` for a field that has an option of its own, looks like a secret, or is not JSON."""
    for name, value in fields.items():
        if name in _TAKEN:
            raise UsageError(f"'{name}' cannot be set so", "pddlego sends it itself.", _TAKEN[name])
        try:
            text = json.dumps(value, allow_nan=False, ensure_ascii=False)
            f"{name}{text}".encode()
        except (TypeError, ValueError) as error:
            raise UsageError(f"'{name}' has no value that JSON has", f"{error}.", "Give another value.") from error
        if _looks_secret(name, text):
            reason = "Fields are saved in the run folder, which must not hold secrets."
            raise UsageError(f"'{name}' looks like a secret", reason, "Set OPENAI_API_KEY.")


def _read_value(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _looks_secret(name: str, text: str) -> bool:
    """Whether the name of a field, or a name inside of its value, is a usual name of secrets."""
    names = [name, *re.findall(r'"([^"]*)"\s*:', text)]
    secret = r"(^|[^a-z])((api|access|secret)[^a-z]?key|secret|password|authorization|token)($|[^a-z])"
    return any(re.search(secret, name.lower()) for name in names) or bool(re.search(r"\bsk-", text))


def prepare_cache(use: CacheUse) -> None:
    """Create the cache if it is used. Raises `UsageError` if that fails."""
    if use != "off":
        from pddlego.models.cache import AnswerCache, default_path

        AnswerCache(default_path()).prepare()
