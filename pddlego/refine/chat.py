"""One conversation that grows: every question is sent with all questions and answers before it."""

from __future__ import annotations

from collections.abc import Generator

from pddlego.errors import ModelError, RecordEndedError
from pddlego.events import Event
from pddlego.models.base import Message, Model, Request
from pddlego.refine.ask import ask
from pddlego.refine.usage import Meter


class Chat:
    """A conversation with a model within an episode's limits."""

    def __init__(self, model: Model, meter: Meter) -> None:
        self.messages: tuple[Message, ...] = ()
        self._model, self._meter = model, meter

    def say(
        self, purpose: str, text: str, attempt: int = 0, context: object = None, limit: str = ""
    ) -> Generator[Event, None, str]:
        """Ask the next question; returns the answer. `attempt` counts the tries at the same question from 0.

        `context` is that of the request, for built-in models. `limit` names the option whose limit the last answer
        exceeded. Raises `ModelError` with it where a record ends.
        """
        asked = (*self.messages, Message("user", text))
        try:
            answer = yield from ask(self._model, Request(purpose, asked, context), self._meter, attempt)
        except RecordEndedError as error:
            if not limit:
                raise
            advice = f"Raise {limit.partition(' ')[0]}, or: {error.next_step}"
            raise ModelError(f"A limit was exceeded: {limit}", error.why, advice) from error
        self.messages = (*asked, Message("assistant", answer.text))
        return answer.text
