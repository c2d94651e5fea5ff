"""Journals: the events of an episode as lines of JSON, written as they happen and read back."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Generator, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from io import FileIO
from pathlib import Path
from typing import Any, cast

from pydantic import TypeAdapter

from pddlego.episode.events import COMMON, Answered, Asked, Ended, Event, Judged, Unknown
from pddlego.episode.trace import TimedEvent, Trace
from pddlego.errors import JournalError, PddlegoError, UsageError
from pddlego.models.transcript import RecordedCall
from pddlego.util.files import append, cannot_write, flush_to_disk, open_run_file, read_run_file

SCHEMA = 2
"""Version of a run folder. It grows when another reader would misread it; a folder of another schema is refused."""

EventsOf = Callable[[str], Iterable[type[Event]]]
"""The events of a method by its name. Raises `PddlegoError` for one that is not installed."""


def _no_methods(name: str) -> Iterable[type[Event]]:
    """Reads only events that every method has: recorded answers need no others."""
    return ()


class OtherSchemaError(ValueError):
    """A line was written by another version of pddlego."""


class Codec:
    """Reads lines. The events of a method are looked for when the first of them comes."""

    def __init__(self, events_of: EventsOf = _no_methods) -> None:
        self._events_of = events_of
        self._known: dict[str, Mapping[str, type[Event]]] = {"": {event.type: event for event in COMMON}}

    def load_line(self, line: str | bytes) -> tuple[Event, float]:
        """The event of a line and its time. Raises `ValueError`, `KeyError` or `TypeError` if it holds none."""
        entry = json.loads(line)
        if isinstance(entry["v"], int) and entry["v"] != SCHEMA:
            raise OtherSchemaError(f"Its schema is {entry['v']}; this version reads schema {SCHEMA}.")
        return self.load(entry["event"], entry.get("method", "")), float(entry["t"])

    def load(self, value: Mapping[str, Any], method: str = "") -> Event:
        """The event that a JSON value holds. Raises `ValueError`, `KeyError` or `TypeError` if it holds none."""
        fields = dict(value)
        name = str(fields.pop("type"))
        known = self._of(str(method))
        if not known:
            return Unknown(str(method), name, fields)
        if name not in known:
            raise ValueError(f"unknown event '{name}'")
        event: Event = _adapter(known[name]).validate_python(fields)
        return event

    def _of(self, method: str) -> Mapping[str, type[Event]]:
        if method not in self._known:
            try:
                self._known[method] = {event.type: event for event in self._events_of(method)}
            except PddlegoError:
                self._known[method] = {}
        return self._known[method]


def dump_line(event: Event, seconds: float) -> str:
    """A line of a journal: the schema, when it happened in seconds after the start, whose event it is, and itself."""
    owner = event.owner if isinstance(event, Unknown) else event.method
    method = f'"method":{json.dumps(owner)},' if owner else ""
    return f'{{"v":{SCHEMA},"t":{seconds:.3f},{method}"event":{dump_event(event)}}}\n'


def dump_event(event: Event) -> str:
    """The event as one line of JSON."""
    if isinstance(event, Unknown):
        return json.dumps(event_value(event))
    fields = _adapter(type(event)).dump_json(event).decode()
    return f'{{"type":{json.dumps(event.type)}{"," * (fields != "{}")}{fields[1:]}'


def event_value(event: Event) -> dict[str, Any]:
    """The event as a JSON value."""
    if isinstance(event, Unknown):
        return {"type": event.name, **event.values}
    return {"type": event.type, **_adapter(type(event)).dump_python(event, mode="json")}


def _adapter(kind: type[Event]) -> TypeAdapter[Any]:
    return _made(cast(Hashable, kind))


@lru_cache(maxsize=64)
def _made(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


class JournalWriter:
    """Appends events to one file. Raises `JournalError` when the disk does not take them."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            # Unbuffered: every line is with the system at once, and nothing is left to fail when the file is closed.
            self._file: FileIO = open_run_file(path, "xb")
        except OSError as error:
            raise cannot_write(path, error) from error

    def write(self, event: Event, seconds: float) -> None:
        """Append `event`, which happened `seconds` after the start. The last one is on the disk when this returns."""
        append(self._file, self.path, dump_line(event, seconds).encode())
        if isinstance(event, Ended):
            flush_to_disk(self._file, self.path)

    def close(self) -> None:
        self._file.close()


def recorded_calls(events: Iterable[Event]) -> list[RecordedCall]:
    """The answered questions in order, as a transcript."""
    asked: Asked | None = None
    calls: list[RecordedCall] = []
    for event in events:
        if isinstance(event, Asked):
            asked = event
        elif isinstance(event, Answered) and asked is not None:
            calls.append(RecordedCall(asked.purpose, asked.messages, event.completion))
    return calls


def read_journal(path: Path, codec: Codec) -> Trace:
    """Read the episode of a journal up to its last whole line.

    Raises `UsageError` if the file cannot be opened, and `JournalError` if it is from another version or an
    invalid line before its last one.
    """
    try:
        data = read_run_file(path)
    except OSError as error:
        raise UsageError(f"{path} cannot be read", f"{error.strerror}.", "Check the path.") from error
    lines = data.split(b"\n")[:-1]  # what follows the last newline is a line that was never finished
    return Trace(read_line(path, line, number, codec) for number, line in enumerate(lines, start=1))


def read_line(path: Path, line: bytes, number: int, codec: Codec) -> TimedEvent:
    """A line of the journal at `path`: the event and the seconds since the start. Raises `JournalError`."""
    try:
        return codec.load_line(line)
    except OtherSchemaError as error:
        what = f"{path} was written by another version of pddlego"
        raise JournalError(what, str(error), "Use the version that wrote it.") from error
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        reason = f"Line {number} is not an event ({type(error).__name__})."
        raise JournalError(f"{path} is damaged", reason, "Restore the file, or cut it before that line.") from error


def lines_after(path: Path, read: int) -> list[bytes]:
    """The whole lines of a file of a run after byte `read`; none if it cannot be read."""
    try:
        with open_run_file(path, "rb") as file:
            file.seek(read)
            return file.readall().split(b"\n")[:-1]
    except OSError:
        return []


class JournalTail:
    """What was added to a journal since it was last looked at. Whole lines only."""

    def __init__(self, path: Path, codec: Codec) -> None:
        self.path = path
        self._codec = codec
        self._read = 0
        self._lines = 0

    def poll(self) -> Iterator[TimedEvent]:
        """New events with the seconds since the start. Raises `JournalError` for an invalid line."""
        for line in lines_after(self.path, self._read):
            self._read += len(line) + 1
            self._lines += 1
            yield read_line(self.path, line, self._lines, self._codec)


Listener = Callable[[Event, float], None]
"""Called with every event and the seconds that the episode had taken, in order."""


class Timed:
    """Events of an episode, with the seconds that it had taken when the last of them happened.

    The clock is paused while an event is processed. An episode with its own clock passes it as `clock`; otherwise the
    time is measured here, without the time that a person took.
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
    """A generator of the events, into which an error can be thrown. What is not iterable fails in its first step."""
    if isinstance(events, Generator):
        return events

    def events_in_order() -> Generator[Event, None, None]:
        yield from events

    return events_in_order()


def follow(events: Iterable[Event], listeners: Iterable[Listener]) -> Ended:
    """Hand every event to every listener, in order, with the seconds that the episode took (see `Timed`).

    Returns the last one. An interrupt that arrives while a listener works is passed on to the agent, which then ends
    its episode properly. Raises whatever the episode or a listener raises, `TypeError` for what is not an event, and
    `RuntimeError` for an episode without an end: the caller is the border of the episode.
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
