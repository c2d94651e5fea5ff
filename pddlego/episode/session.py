"""An episode whose answers are pushed: it pauses at each request of its model, and goes on with the next answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol

from pddlego.episode.events import Asked, Ended, Event, Outcome
from pddlego.episode.trace import Trace
from pddlego.models.base import Completion, Model, Request


class PushedAnswers:
    """A model whose answers are pushed. `request` is the open request; the episode pauses before it is answered."""

    name = "environment"
    description: Mapping[str, Any] = {}

    def __init__(self) -> None:
        self.request: Request | None = None
        self.answer = ""

    def expect(self, request: Request) -> None:
        """Note the request that is about to be recorded."""
        self.request = request

    def complete(self, request: Request) -> Completion:
        """The pushed answer."""
        self.request = None
        return Completion(self.answer)


class Playing(Protocol):
    """The events of an episode while it is played. `seconds` is the episode's time at the last event."""

    seconds: float

    def __iter__(self) -> Iterator[Event]: ...

    def close(self) -> None:
        """Stop the episode."""


class Session:
    """Plays an episode until its model is asked, and after each answer until it is asked again.

    `play` starts the episode with a model. `request` is the open request; None when the episode has ended. Not
    thread-safe.
    """

    def __init__(self, play: Callable[[Model], Playing]) -> None:
        self._model = PushedAnswers()
        self._events = play(self._model)
        self.trace = Trace()
        self._go_on()

    @property
    def request(self) -> Request | None:
        return self._model.request

    def answer(self, text: str) -> None:
        """Answer the open request. Raises `ValueError` if no request is open."""
        if self.request is None:
            raise ValueError("the episode has ended")
        self._model.answer = text
        self._go_on()

    def close(self) -> None:
        """End the episode where it is, and close its game."""
        self._model.request = None
        self._events.close()

    def _go_on(self) -> None:
        for event in self._events:
            if not event.passing:
                self.trace.add(event, self._events.seconds)
            if isinstance(event, Asked):
                return
            if isinstance(event, Ended) and event.outcome is Outcome.INTERRUPTED:
                self._model.request = None
                raise KeyboardInterrupt
        self._model.request = None
