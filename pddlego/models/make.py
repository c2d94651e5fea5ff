"""From a model's name to the model."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from pddlego.errors import UsageError
from pddlego.models.base import CacheUse, Model, ScriptedModel
from pddlego.models.gate import Gate


@dataclass(frozen=True)
class ModelOptions:
    """What determines a model: `name` is a model's name, `reader`, `reader+noise:P`, `transcript:FILE`,
    or `none` for methods that ask nobody. The key is never shown. `repeat` is the repeat that is played: with a `cache`
    another one gets other answers. `max_tokens` is what an answer may have.
    """

    name: str = "reader"
    base_url: str | None = None
    api_key: str | None = field(default=None, repr=False)
    temperature: float = 1.0
    seed: int | None = None
    timeout: float = 120.0
    attempts: int = 6
    max_tokens: int | None = None
    cache: CacheUse = "off"
    repeat: int = 1


def is_free(name: str) -> bool:
    """Whether a model of this name sends nothing to an endpoint."""
    return name in ("none", "reader") or name.startswith(("transcript:", "reader+noise:"))


def make_model(options: ModelOptions, gate: Gate | None = None) -> Model:
    """The model; what it sends to an endpoint passes the `gate`.

    Raises `UsageError` for a key, an address or a transcript that cannot be used.
    """
    if options.name == "none":
        return ScriptedModel(("",), "none")
    if options.name == "reader":
        from pddlego.models.reader import ReaderModel

        return ReaderModel()
    if options.name.startswith("reader+") and not options.name.startswith("reader+noise:"):
        why = "The built-in ones are reader, and reader+noise:P, which errs on purpose."
        raise UsageError(f"There is no model {options.name}", why, "Example: reader+noise:0.1,seed=3.")
    if options.name.startswith("reader+"):
        from pddlego.models.reader.noise import parse_noise

        return parse_noise(options.name, options.seed or 0)
    if options.name.startswith("transcript:"):
        from pddlego.journal import read_episode, recorded_calls
        from pddlego.models.transcript import TranscriptModel
        from pddlego.run_folders import find_journal

        path = find_journal(Path(options.name.partition(":")[2]))
        return TranscriptModel(recorded_calls(read_episode(path).events), str(path))
    from pddlego.models.openai import OpenAIModel

    model = OpenAIModel(
        options.name,
        options.api_key,
        options.base_url,
        options.temperature,
        options.seed,
        options.timeout,
        options.attempts,
        gate=gate,
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
