"""Asks a model within an episode, once or in a conversation. Requests, retries and answers become events."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Generator
from dataclasses import replace
from queue import Empty, SimpleQueue

from pddlego.episode.budget import Budget
from pddlego.episode.events import Answered, Asked, Event, Retrying, Streamed
from pddlego.errors import BudgetSpentError, ModelError, NoTimeLeftError, RecordEndedError
from pddlego.models.base import Completion, Delta, Expects, Message, Model, Request, RetryNotice, is_remote, note_on
from pddlego.util.limits import SLICE
from pddlego.util.text import writable

MAX_ANSWER = 200_000
"""Maximum characters of a recorded answer; the longest useful answers are problem files of several thousand."""


OFTEN = 0.1
"""Seconds between two events about a streamed answer."""


def ask(model: Model, request: Request, budget: Budget, attempt: int = 0) -> Generator[Event, None, Completion]:
    """Send a request within the limits of the episode. `attempt` counts the attempts at the same question from 0.

    Raises `EpisodeOver` if a limit allows no call, and `ModelError` if the model does not answer.
    """
    budget.check_call()
    call = budget.usage.calls + 1
    if isinstance(model, Expects):
        model.expect(request)
    yield Asked(
        call=call,
        purpose=request.purpose,
        attempt=attempt,
        messages=request.messages,
        characters=request.characters,
        temperature_increase=request.temperature_increase,
        max_tokens=request.max_tokens,
    )
    budget.asked(request.characters)
    try:
        answer = yield from completed(model, replace(request, seconds=budget.seconds_left, attempt=attempt), call)
    except BudgetSpentError as error:
        if not error.sent:
            budget.not_sent(request.characters)
        raise
    except NoTimeLeftError:
        budget.check_time(too_short=True)
        raise
    text, reasoning = writable(answer.text[:MAX_ANSWER]), writable(answer.reasoning[:MAX_ANSWER])
    answer = replace(answer, text=text, reasoning=reasoning)
    notes = (note for note in (request.note, note_on(answer)) if note not in answer.note)  # a recorded answer has them
    answer = replace(answer, note="; ".join(filter(None, (*notes, answer.note))), window=request.window)
    budget.answered(answer)
    yield Answered(call, answer)
    return answer


def completed(model: Model, request: Request, call: int) -> Generator[Retrying | Streamed, None, Completion]:
    """The answer of the model. Failed tries and streamed parts become events of the `call` as they are received.

    Raises the exceptions of the model. A remote model is asked in a thread of its own. A caller that stops iterating,
    or throws an exception into this generator, abandons the request, and the model closes it.
    """
    if not is_remote(model):
        return model.complete(request)
    arrived: SimpleQueue[RetryNotice | Delta | Completion | BaseException] = SimpleQueue()
    abandoned = threading.Event()
    watched = replace(request, report=arrived.put, wanted=lambda: not abandoned.is_set() and request.wanted())

    def work() -> None:
        try:
            arrived.put(model.complete(watched))
        except BaseException as error:  # noqa: BLE001 -- raised again below, in the thread that asked
            arrived.put(error)

    threading.Thread(target=work, daemon=True).start()
    text, reasoning, last_sent, shown = "", "", time.monotonic(), 0
    try:
        while True:
            update: RetryNotice | Delta | Completion | BaseException | None = None
            with contextlib.suppress(Empty):  # with a time-out, because signals are handled only between two calls
                update = arrived.get(timeout=min(SLICE, OFTEN))
            if isinstance(update, Delta) and shown < MAX_ANSWER:
                text, reasoning = text + writable(update.text), reasoning + writable(update.reasoning)
                shown += len(update.text) + len(update.reasoning)
            if (text or reasoning) and (not isinstance(update, Delta) or time.monotonic() - last_sent >= OFTEN):
                yield Streamed(call, text, reasoning)
                text, reasoning, last_sent = "", "", time.monotonic()
            if update is None or isinstance(update, Delta):
                continue
            if isinstance(update, Completion):
                return update
            if isinstance(update, BaseException):
                raise update
            yield Retrying(call, replace(update, reason=writable(update.reason)))
    finally:
        abandoned.set()


class Chat:
    """A conversation with a model within an episode's limits."""

    def __init__(self, model: Model, budget: Budget) -> None:
        self.messages: tuple[Message, ...] = ()
        self._model, self._budget = model, budget

    def say(
        self, purpose: str, text: str, attempt: int = 0, context: object = None, limit: str = ""
    ) -> Generator[Event, None, str]:
        """Ask the next question; returns the answer. `attempt` counts the attempts at the same question from 0.

        `context` is the request's object for built-in models. `limit` names the option whose limit the last answer
        exceeded: if recorded answers end here, the `ModelError` advises to raise that limit.
        """
        asked = (*self.messages, Message("user", text))
        try:
            answer = yield from ask(self._model, Request(purpose, asked, context), self._budget, attempt)
        except RecordEndedError as error:
            if not limit:
                raise
            advice = f"Raise {limit.partition(' ')[0]}, or: {error.next_step}"
            raise ModelError(f"A limit was exceeded: {limit}", error.reason, advice) from error
        self.messages = (*asked, Message("assistant", answer.text))
        return answer.text
