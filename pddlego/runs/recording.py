"""Follows an episode: every event with its time, to everybody who listens."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterable, Sequence

from pddlego.events import Ended, Event, Judged

Listener = Callable[[Event, float], None]
"""Called with every event and the seconds that the episode had taken, in order."""


class Timed:
    """Events of an episode, with the seconds that it had taken when the last of them happened.

    Time stands still while an event is looked at. An episode that knows its own time says it with its `clock`; without
    one the time is taken here, and what a person took to judge is no part of it.
    """

    def __init__(self, events: Iterable[Event], clock: Callable[[], float] | None = None) -> None:
        self._events = _generator(events)
        self._clock = clock
        self.seconds = 0.0

    def __iter__(self) -> Timed:
        return self

    def __next__(self) -> Event:
        return self._happened(lambda: next(self._events))

    def throw(self, error: BaseException) -> Event:
        """Raise an error inside the episode; the next event."""
        return self._happened(lambda: self._events.throw(error))

    def close(self) -> None:
        """Stop the episode."""
        self._events.close()

    def _happened(self, wait: Callable[[], Event]) -> Event:
        began = time.monotonic()
        event = wait()
        if self._clock is not None:
            self.seconds = max(self.seconds, self._clock())
        else:
            self.seconds += time.monotonic() - began - (event.seconds if isinstance(event, Judged) else 0.0)
        return event


def _generator(events: Iterable[Event]) -> Generator[Event, None, None]:
    """The events as a generator, into which an error can be thrown."""
    return events if isinstance(events, Generator) else (event for event in events)


def follow(events: Iterable[Event], listeners: Iterable[Listener]) -> Ended:
    """Hand every event to every listener, in order, with the seconds that the episode took (see `Timed`).

    Returns the last one. An interrupt that arrives while a listener works is passed on to the agent, which then ends
    its episode properly. Raises whatever the episode or a listener raises, `TypeError` for what is no event, and
    `RuntimeError` for an episode without an end: whoever calls this is the border of the episode.
    """
    listening = list(listeners)
    source = events if isinstance(events, Timed) else Timed(events)
    try:
        return _followed(source, listening)
    finally:
        source.close()  # also where a listener failed: no game is left open


def _followed(source: Timed, listening: Sequence[Listener]) -> Ended:
    last: Event | None = None
    pending: KeyboardInterrupt | None = None
    while True:
        try:
            event = source.throw(pending) if pending is not None else next(source)
        except StopIteration:
            break
        pending = None
        last = event
        if not isinstance(event, Event):
            raise TypeError(f"an episode yields events, and here {event!r:.60}")
        try:
            for listen in listening:
                listen(event, source.seconds)
        except KeyboardInterrupt as error:
            pending = None if isinstance(event, Ended) else error
        if isinstance(event, Ended):
            next(source, None)  # what it does after its last event: it puts away what it used
            return event
    raise RuntimeError("an episode ends with 'ended'" + (f", and not with '{last.type}'" if last else ""))
