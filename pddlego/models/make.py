"""From a model's name to the model."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from pddlego.models.base import Model, ScriptedModel


@dataclass(frozen=True)
class ModelOptions:
    """What determines a model: `name` is a model's name, `reader`, `transcript:FILE`, or
    `none` for methods that ask nobody. The key is never shown."""

    name: str = "reader"
    base_url: str | None = None
    api_key: str | None = field(default=None, repr=False)
    temperature: float = 1.0
    seed: int | None = None
    timeout: float = 120.0
    attempts: int = 6


def make_model(options: ModelOptions) -> Model:
    """The model. Raises `UsageError` for a key, an address or a transcript that cannot be used."""
    if options.name == "none":
        return ScriptedModel(("",), "none")
    if options.name == "reader":
        from pddlego.models.reader import ReaderModel

        return ReaderModel()
    if options.name.startswith("transcript:"):
        from pddlego.journal import find_episode, read_episode
        from pddlego.models.transcript import TranscriptModel

        path = find_episode(Path(options.name.partition(":")[2]))
        return TranscriptModel(read_episode(path).calls(), str(path))
    from pddlego.models.openai import OpenAIModel

    return OpenAIModel(
        options.name,
        options.api_key,
        options.base_url,
        options.temperature,
        options.seed,
        options.timeout,
        options.attempts,
    )
