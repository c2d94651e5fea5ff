"""An episode as one value: its events with their seconds, and the steps, requests and usage that result from them.

Summaries, tables, screens, pages, the Python interface, training data and replay are functions of a `Trace`. A method
adds functions of its own. Ask a `Trace`, not its events: what two callers need is a method here.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, TypeVar, cast

from pddlego.episode.events import (
    Accepted,
    Answered,
    Asked,
    Ended,
    Event,
    Judged,
    Rejected,
    Retrying,
    Started,
    Streamed,
    Usage,
    step_of,
)
from pddlego.models.base import CHARACTERS_PER_TOKEN, Completion, Message, Request, RetryNotice
from pddlego.pddl import Problem, parse_problem
from pddlego.util.text import shown_command

E = TypeVar("E", bound=Event)

TimedEvent = tuple[Event, float]
"""An event with the seconds since the start of the episode."""

_MOST_TEXT, _MOST_REASONING = 100_000, 20_000
"""Characters of a streamed answer that are kept until it is complete."""


@dataclass(frozen=True)
class OpenRequest:
    """A request without a complete answer. `text` and `reasoning` are the streamed part of the answer.

    `tokens` estimates the length of that part; `usual` is the median time of earlier answers for the same purpose, in
    seconds, or None for the first.
    `trouble` is the last failed attempt if nothing was received after it. `sent_at` and `tried_at` are the times of the
    request and of that failure, in seconds since the start.
    """

    purpose: str
    sent_at: float
    text: str = ""
    reasoning: str = ""
    tokens: int = 0
    usual: float | None = None
    trouble: RetryNotice | None = None
    tried_at: float = 0.0


@dataclass(frozen=True)
class Call:
    """An answered request. `number` counts from 1, `attempt` counts retries from 0, and `step` is that of the answer.

    `verdict` is the event that accepted or rejected the answer, or the response to its command (of several commands,
    the last that was refused, or else the first); None without one. Answers in the same attempt, as in mode
    `full+steps`, share it. `replaced`: a person replaced the answer, so the verdict is about the replacement. `place`
    and `judged_at` are indices in the trace.
    """

    number: int
    step: int
    purpose: str
    attempt: int
    messages: tuple[Message, ...]
    completion: Completion
    place: int
    verdict: Event | None = None
    judged_at: int = -1
    replaced: bool = False

    @property
    def request(self) -> Request:
        return Request(self.purpose, self.messages)

    @property
    def accepted(self) -> bool | None:
        """Whether the answer was accepted; None if the episode does not say."""
        if self.verdict is None or self.replaced:
            return None
        return not (isinstance(self.verdict, Rejected) or getattr(self.verdict, "refused", False))

    @property
    def feedback(self) -> str:
        """Why the answer was rejected; empty if it was not."""
        return self.verdict.feedback.message if isinstance(self.verdict, Rejected) and not self.replaced else ""


@dataclass(frozen=True)
class Step:
    """One step of an episode: its number, and the events from the response to a command until the next command.

    `before` is the episode up to the response, `after` is the episode up to the next command. The first step has the
    number 0 and no command.
    """

    number: int
    events: tuple[Event, ...]
    before: Trace
    after: Trace

    @property
    def done(self) -> Event | None:
        """The last event with a command in the step; None without one."""
        return next((event for event in reversed(self.events) if hasattr(event, "command")), None)

    @property
    def command(self) -> str | None:
        """The command of the step, such as a command to a game; None if the step has no command."""
        return getattr(self.done, "command", None)

    @property
    def response(self) -> str:
        """The response of the game to the command; empty for methods without games."""
        return str(getattr(self.done, "text", ""))

    @property
    def calls(self) -> list[Call]:
        """The requests that were answered in the step."""
        return [call for call in self.after.calls if call.step == self.number]

    @property
    def problem(self) -> Problem | None:
        """The agent's PDDL problem after the step; None in modes without problems and before the first problem."""
        accepted = self.after.last(Accepted, where=lambda event: event.kind == "problem")
        return parse_problem(accepted.text) if accepted is not None else None

    @property
    def plan(self) -> tuple[str, ...] | None:
        """The actions of the agent's plan after the step; None in modes without plans and before the first plan."""
        plans = (event.plan_actions for event in reversed(self.after.events))
        return next((actions for actions in plans if actions is not None), None)

    def __repr__(self) -> str:
        return f"<Step {self.number}: {shown_command(self.command)}>"


class Trace:
    """The events of an episode with their seconds. A trace that grows shares its events with its prefixes (`until`)."""

    def __init__(self, timed: Iterable[TimedEvent] = ()) -> None:
        self._events: list[Event] = []
        self._seconds: list[float] = []
        self._places: dict[type[Event], list[int]] = {}
        self._begins: list[tuple[int, int]] = []  # the number of each step, and the place of its first event
        self._complete_steps: list[Step] = []
        self._calls: list[Call] = []
        self._attempt = 0  # the index of the first call of the last attempt
        self._end: int | None = None  # the number of events of a prefix; None for a trace that can grow
        for event, seconds in timed:
            self.add(event, seconds)

    def add(self, event: Event, seconds: float) -> None:
        """Append an event, which happened `seconds` after the start of the episode."""
        assert self._end is None, "a prefix does not grow"
        place, number = len(self._events), step_of(event)
        self._events.append(event)
        self._seconds.append(seconds)
        self._places.setdefault(type(event), []).append(place)
        if not self._begins or (number is not None and number > self._begins[-1][0]):
            self._begins.append((number or 0, place))
        if isinstance(event, Answered):
            self._add_call(event, place)
        elif self._calls:
            is_open = self._calls[-1].verdict is None or isinstance(event, (Accepted, Rejected))
            if is_open or (getattr(event, "continues", False) and getattr(event, "refused", False)):
                self._judge_calls(event, place)

    def _add_call(self, answered: Answered, place: int) -> None:
        asked_at = self.place(Asked)
        if asked_at < 0:
            return
        asked, last = cast(Asked, self._events[asked_at]), self._calls[-1] if self._calls else None
        if last is None or (last.place, last.purpose, last.attempt) != (asked_at - 1, asked.purpose, asked.attempt):
            self._attempt = len(self._calls)
        about = asked.purpose, asked.attempt, asked.messages, answered.completion
        self._calls.append(Call(answered.call, self._begins[-1][0], *about, place=place))

    def _judge_calls(self, event: Event, place: int) -> None:
        """Update the verdict on the last attempt.

        `Accepted` and `Rejected` are final; of several in a row the last counts. Without one, the response to a command
        is the verdict.
        """
        last, changes = self._calls[-1], dict[str, Any]()
        if isinstance(event, (Accepted, Rejected)):
            is_first = not isinstance(last.verdict, (Accepted, Rejected)) or last.judged_at == place - 1
            is_verdict = is_first and getattr(event, "source", "model") == "model"
        else:
            is_verdict = getattr(event, "command", None) is not None
        if is_verdict:
            changes = {"verdict": event, "judged_at": place}
        elif isinstance(event, Judged) and event.decision == "replaced":
            changes = {"replaced": True}
        if changes:
            self._calls[self._attempt :] = [replace(call, **changes) for call in self._calls[self._attempt :]]

    def until(self, end: int) -> Trace:
        """The first `end` events as a trace, which does not grow."""
        part = copy(self)
        part._end = end
        return part

    def with_events(self, events: Iterable[Event]) -> Trace:
        """A copy with more events, which have the time of the last event."""
        return Trace([*self.timed, *((event, self.seconds) for event in events)])

    def with_checks(self, after: Callable[[Event], Iterable[Event]]) -> Trace:
        """A copy in which each event is followed by the events that `after` returns for it, with the same time."""
        return Trace((new, seconds) for event, seconds in self.timed for new in (event, *after(event)))

    def without(self, *kinds: type[Event]) -> Trace:
        """A copy without the events of these classes."""
        return Trace((event, seconds) for event, seconds in self.timed if not isinstance(event, kinds))

    def __len__(self) -> int:
        return len(self._events) if self._end is None else self._end

    @property
    def events(self) -> tuple[Event, ...]:
        return tuple(self._events[: len(self)])

    @property
    def timed(self) -> tuple[TimedEvent, ...]:
        return tuple(zip(self._events[: len(self)], self._seconds, strict=False))

    @property
    def seconds(self) -> float:
        """The time of the last event, in seconds since the start; 0 without events."""
        return self._seconds[len(self) - 1] if len(self) else 0.0

    def all(self, kind: type[E]) -> list[E]:
        """All events of a class, in their order."""
        places = self._places.get(kind, [])
        return [cast(E, self._events[place]) for place in places[: bisect_left(places, len(self))]]

    def place(self, *kinds: type[E], where: Callable[[E], bool] = lambda event: True) -> int:
        """The place, from 0, of the last event of these classes for which `where` is true; -1 without one."""
        return max((self._last_place(kind, where) for kind in kinds), default=-1)

    def _last_place(self, kind: type[E], where: Callable[[E], bool]) -> int:
        places = self._places.get(kind, [])
        before = reversed(places[: bisect_left(places, len(self))])
        return next((place for place in before if where(cast(E, self._events[place]))), -1)

    def last(self, kind: type[E], where: Callable[[E], bool] = lambda event: True) -> E | None:
        """The last event of a class for which `where` is true; None without one."""
        place = self.place(kind, where=where)
        return None if place < 0 else cast(E, self._events[place])

    def since(self, place: int) -> list[Event]:
        """The events after the one at a place; all of them for -1."""
        return self._events[place + 1 : len(self)]

    def seconds_at(self, place: int) -> float:
        """The time of the event at a place, in seconds since the start."""
        return self._seconds[place]

    @property
    def started(self) -> Started | None:
        """The first event if it is `Started`; else, and without events, None."""
        first = self._events[0] if len(self) else None
        return first if isinstance(first, Started) else None

    @property
    def begun(self) -> Started:
        """The first event of an episode that is known to have begun, such as a recorded one."""
        started = self.started
        assert started is not None, "the episode has begun"
        return started

    @property
    def ended(self) -> Ended | None:
        """The event `Ended`; None while the episode is running."""
        return self.last(Ended)

    @property
    def steps(self) -> Sequence[Step]:
        """The steps; the last one may be incomplete."""
        begins = [begin for begin in self._begins if begin[1] < len(self)]
        for index in range(len(self._complete_steps), len(begins) - 1):
            self._complete_steps.append(self._step(*begins[index], end=begins[index + 1][1]))
        last = [self._step(*begins[-1], end=len(self))] if begins else []
        return [*self._complete_steps[: max(0, len(begins) - 1)], *last]

    def _step(self, number: int, begin: int, end: int) -> Step:
        before = self.until(begin + bool(number))
        return Step(number, tuple(self._events[begin:end]), before, self.until(end))

    @property
    def calls(self) -> list[Call]:
        """The answered requests, in order, each with the verdict so far."""
        calls = self._calls[: bisect_left(self._calls, len(self), key=lambda call: call.place)]
        return [call if call.judged_at < len(self) else replace(call, verdict=None) for call in calls]

    def call_before(self, verdict: Event) -> Call | None:
        """The last answered request with this verdict; None without one."""
        judged = (call for call in reversed(self._calls) if call.judged_at < len(self))
        return next((call for call in judged if call.verdict == verdict), None)

    def step(self, number: int) -> Step | None:
        """The step with a number; None if there is no such step."""
        return next((step for step in self.steps if step.number == number), None)

    @property
    def usage(self) -> Usage:
        """The usage: that of `Ended`, or while the episode is running, the sums over its events without wall time."""
        if self.ended is not None:
            return self.ended.usage
        used = Usage(steps=max((number for number, place in self._begins if place < len(self)), default=0))
        for answered in self.all(Answered):
            used = used.with_answer(answered.completion)
        asked = self.all(Asked)
        return replace(
            used,
            refused=sum(bool(getattr(event, "refused", False)) for event in self.events),
            calls=asked[-1].call if asked else 0,
            characters=sum(event.characters for event in asked),
        )

    @property
    def is_estimated(self) -> bool:
        """Whether the tokens of any answer are an estimate."""
        return any(answered.completion.estimated for answered in self.all(Answered))

    @property
    def request(self) -> OpenRequest | None:
        """The request without a complete answer; None if every request was answered."""
        place = self.place(Asked)
        if place <= self.place(Answered, Ended):
            return None
        asked, failed = cast(Asked, self._events[place]), self.place(Retrying)
        streamed = [event for event in self.since(max(place, failed)) if isinstance(event, Streamed)]
        text, reasoning = "".join(event.text for event in streamed), "".join(event.reasoning for event in streamed)
        request = OpenRequest(
            asked.purpose,
            self._seconds[place],
            text[:_MOST_TEXT],
            reasoning[-_MOST_REASONING:],
            (len(text) + len(reasoning)) // CHARACTERS_PER_TOKEN,
            self._usual_seconds(asked.purpose),
        )
        if failed < place or streamed:
            return request
        return replace(request, trouble=cast(Retrying, self._events[failed]).trouble, tried_at=self._seconds[failed])

    def _usual_seconds(self, purpose: str) -> float | None:
        answers = (call.completion for call in self.calls if call.purpose == purpose)
        seconds = [answer.seconds for answer in answers if not answer.from_cache]
        return sorted(seconds)[len(seconds) // 2] if seconds else None


def first_difference(left: Sequence[Step], right: Sequence[Step]) -> int | None:
    """The index of the first step at which the commands of two episodes differ; None if all commands are equal."""
    for index, (one, other) in enumerate(zip(left, right, strict=False)):
        if one.command != other.command:
            return index
    return min(len(left), len(right)) if len(left) != len(right) else None
