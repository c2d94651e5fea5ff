"""Language models behind endpoints, with the cache around them."""

from __future__ import annotations

from dataclasses import dataclass, field

from pddlego.models.base import CacheUse, Model
from pddlego.models.limiter import RequestLimiter


@dataclass(frozen=True)
class ModelOptions:
    """What determines the answers of a language model. The key is never shown. `repeat` is the repeat that is played:
    with a `cache` another one gets other answers. `max_tokens` is what an answer may have.
    """

    name: str = ""
    base_url: str | None = None
    api_key: str | None = field(default=None, repr=False)
    temperature: float = 1.0
    seed: int | None = None
    timeout: float = 120.0
    attempts: int = 6
    max_tokens: int | None = None
    cache: CacheUse = "off"
    repeat: int = 1


def make_endpoint(options: ModelOptions, limiter: RequestLimiter | None = None) -> Model:
    """The language model; what is sent passes the `limiter`. Raises `UsageError` for an unusable key or address."""
    from pddlego.models.openai import OpenAIModel

    model = OpenAIModel(
        options.name,
        api_key=options.api_key,
        base_url=options.base_url,
        temperature=options.temperature,
        seed=options.seed,
        timeout=options.timeout,
        attempts=options.attempts,
        limiter=limiter,
        max_tokens=options.max_tokens,
    )
    if options.cache == "off":
        return model
    from pddlego.models.cache import AnswerCache, CachedModel, default_path
    from pddlego.models.credentials import address_of

    cache = AnswerCache(default_path())
    return CachedModel(model, cache, options.cache, options.repeat, address_of(options.base_url))


def prepare_cache(use: CacheUse) -> None:
    """Make the cache if it is used. Raises `UsageError` if that is not possible."""
    if use != "off":
        from pddlego.models.cache import AnswerCache, default_path

        AnswerCache(default_path()).prepare()
