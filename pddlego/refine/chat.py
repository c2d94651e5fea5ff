"""One conversation that grows: every question is sent with all questions and answers before it."""

from __future__ import annotations

from collections.abc import Generator

from pddlego.events import Event
from pddlego.models.base import Message, Model, Request
from pddlego.refine.ask import ask
from pddlego.refine.usage import Meter


class Chat:
    """A conversation with a model within an episode's limits."""

    def __init__(self, model: Model, meter: Meter) -> None:
        self.messages: tuple[Message, ...] = ()
        self._model, self._meter = model, meter

    def say(self, purpose: str, text: str, attempt: int = 0) -> Generator[Event, None, str]:
        """Ask the next question; returns the answer. `attempt` counts the tries at the same question from 0."""
        asked = (*self.messages, Message("user", text))
        answer = yield from ask(self._model, Request(purpose, asked), self._meter, attempt)
        self.messages = (*asked, Message("assistant", answer.text))
        return answer.text
