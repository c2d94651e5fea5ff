"""A recorded run as a model: the same questions get the same answers, and any other question is an error."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pddlego.errors import ModelError, RecordEndedError
from pddlego.models.base import Completion, Message, Request


@dataclass(frozen=True)
class RecordedCall:
    """One question with its answer, as a journal holds it."""

    purpose: str
    messages: tuple[Message, ...]
    completion: Completion


class TranscriptModel:
    """Answers from recorded calls, in their order."""

    def __init__(self, calls: Sequence[RecordedCall], source: str, name: str = "transcript") -> None:
        self._name = name
        self._calls = tuple(calls)
        self._next = 0
        self._source = source

    @property
    def name(self) -> str:
        return self._name

    @property
    def description(self) -> Mapping[str, Any]:
        return {"source": self._source, "calls": len(self._calls)}

    def complete(self, request: Request) -> Completion:
        """The recorded answer. Raises `ModelError` with the first difference if the question is another one."""
        if self._next >= len(self._calls):
            raise RecordEndedError(
                "The transcript is at its end",
                f"{self._source} holds {len(self._calls)} answers, and one more was asked for ({request.purpose}).",
                "Play with the settings and the seed of the recorded run.",
            )
        call = self._calls[self._next]
        difference = _difference(call, request)
        if difference:
            raise ModelError(
                f"Request {self._next + 1} differs from the transcript",
                difference,
                "Play with the settings, prompts and seed of the recorded run.",
            )
        self._next += 1
        return call.completion


def _difference(call: RecordedCall, request: Request) -> str:
    if call.purpose != request.purpose:
        return f"It was recorded for '{call.purpose}' and is asked for '{request.purpose}'."
    for number, (old, new) in enumerate(zip(call.messages, request.messages, strict=False), start=1):
        if old.role != new.role:
            return f"Message {number} was from {old.role} and is from {new.role}."
        for line, (before, after) in enumerate(zip(_lines(old), _lines(new), strict=False), start=1):
            if before != after:
                return f"Message {number} ({old.role}), line {line}: recorded '{before[:80]}', now '{after[:80]}'."
        if old.content != new.content:
            return (
                f"Message {number} ({old.role}) has {len(_lines(old))} lines in the record and {len(_lines(new))} now."
            )
    if len(call.messages) != len(request.messages):
        return f"It was recorded with {len(call.messages)} messages and has {len(request.messages)} now."
    return ""


def _lines(message: Message) -> list[str]:
    return message.content.split("\n")
