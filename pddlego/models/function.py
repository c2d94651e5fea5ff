"""A model of a Python program: a function of messages, or an object that completes requests."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from pddlego.errors import ModelError
from pddlego.models.base import Completion, Message, Model, Request

Answer = Callable[[list[Message]], str]
"""Answers the messages of a request. Several threads may call it at once."""

PREFIX = "python:"
"""How the name of a model that was given as a function or an object begins."""


@dataclass(frozen=True)
class OwnModel:
    """Asks the user's function or object. What it raises ends the episode as a model error."""

    asked: Answer | Model
    name: str
    description: Mapping[str, Any] = field(default_factory=dict)

    def complete(self, request: Request) -> Completion:
        """Raises `ModelError` if the function fails or returns something else than a text."""
        began = time.monotonic()
        try:
            answer = self._answer(request)
        except ModelError:
            raise
        except Exception as error:
            raise ModelError(f"{self.name} failed", f"{type(error).__name__}: {error}") from error
        if isinstance(answer, str):
            answer = Completion(answer)
        if not isinstance(answer, Completion):
            raise ModelError(f"{self.name} returned {type(answer).__name__}", "An answer is a str.")
        return replace(answer, seconds=answer.seconds or time.monotonic() - began)

    def _answer(self, request: Request) -> object:
        if callable(self.asked):
            return self.asked(list(request.messages))
        return self.asked.complete(request)


def own_model(asked: Answer | Model) -> OwnModel:
    """The model, under the name of the function or the object."""
    name = getattr(asked, "__name__", "") or getattr(asked, "name", "") or type(asked).__name__
    return OwnModel(asked, f"{PREFIX}{name}")
