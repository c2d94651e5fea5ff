"""Models of a Python program: a function from messages to an answer, or an object with a method `complete`."""

from __future__ import annotations

import hashlib
import inspect
import time
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import CodeType
from typing import Any

from pddlego.errors import ModelError, UsageError, message_of
from pddlego.models.base import Completion, Message, Model, Request
from pddlego.models.limiter import RequestLimiter
from pddlego.util.text import writable

Answer = Callable[[list[Message]], str]
"""A function that answers the messages of a request. Several threads may call it at once."""

PREFIX = "python:"
"""Prefix of the names of these models."""


@dataclass(frozen=True)
class OwnModel:
    """Asks the user's function or object. Its exceptions end the episode as model errors."""

    source: Answer | Model
    name: str
    limiter: RequestLimiter | None = None
    description: Mapping[str, Any] = field(default_factory=dict)

    @property
    def digest(self) -> str:
        """A digest of the function's code: another function of the same name is another model."""
        own = self.source if inspect.isfunction(self.source) else _call_of(self.source)
        code = getattr(getattr(type(self.source), "complete", None) or own, "__code__", None)
        return hashlib.sha256("\n".join(_text_of(code)).encode()).hexdigest()[:16] if code else ""

    def complete(self, request: Request) -> Completion:
        """Call the function. Raises `ModelError` if it fails or does not return a text."""
        if self.limiter is None:
            return self._completed(request)
        with self.limiter.admit_request(self.name, request) as permit:
            answer = self._completed(request)
            permit.used(answer.tokens_in, answer.tokens_out, answer.tokens_cached)
        return answer

    def _completed(self, request: Request) -> Completion:
        began = time.monotonic()
        try:
            answer = self._answer(request)
        except (ModelError, KeyboardInterrupt):
            raise
        except BaseException as error:  # asyncio.CancelledError is not an Exception
            place = traceback.extract_tb(error.__traceback__)[-1]
            where = f"{Path(place.filename).name}, line {place.lineno}"
            reason = writable(f"{type(error).__name__}: {message_of(error)} ({where})")
            raise ModelError(f"{self.name} failed", reason) from error
        if isinstance(answer, str):
            answer = Completion(answer)
        if not isinstance(answer, Completion):
            raise ModelError(f"{self.name} returned {type(answer).__name__}", "An answer is a str.")
        if not isinstance(answer.text, str):
            raise ModelError(f"{self.name} returned a Completion of {type(answer.text).__name__}", "Its text is a str.")
        return replace(answer, seconds=answer.seconds or time.monotonic() - began)

    def _answer(self, request: Request) -> object:
        complete = getattr(self.source, "complete", None)
        if complete is not None:
            return complete(request)
        assert callable(self.source), "checked by own_model"
        return self.source(list(request.messages))


def own_model(source: Answer | Model) -> OwnModel:
    """The model with the name of the function or the object. Raises `UsageError` for an object that cannot answer."""
    called = source if inspect.isroutine(source) else _call_of(source)
    waits = inspect.iscoroutinefunction(called) or inspect.isgeneratorfunction(called)
    if isinstance(source, type) or waits or not (callable(source) or callable(getattr(source, "complete", None))):
        reason = "A model is a name, a function from messages to a str, or an object with a method complete."
        raise UsageError(f"{source!r:.60} is not a model", reason, "Wrap it in a function that returns the answer.")
    name = getattr(source, "__name__", "") or getattr(source, "name", "") or type(source).__name__
    return OwnModel(source, f"{PREFIX}{name}")


def _text_of(code: CodeType) -> list[str]:
    """The bytecode, names and constants of a function, without its place in a file."""
    constants = [_text_of(value) if isinstance(value, CodeType) else [repr(value)] for value in code.co_consts]
    return [code.co_code.hex(), *code.co_names, *(line for lines in constants for line in lines)]


def _call_of(source: object) -> Any:
    """The method that calling an object runs; None for an object that cannot be called."""
    return inspect.getattr_static(type(source), "__call__", None)
