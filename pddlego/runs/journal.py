"""Journals: the events of an episode as lines of JSON, written as they happen and read back."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Generator, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from functools import lru_cache
from io import FileIO
from pathlib import Path
from typing import Any, cast

from pydantic import TypeAdapter

from pddlego.episode.events import COMMON, Ended, Event, Judged, Unknown
from pddlego.episode.trace import TimedEvent, Trace
from pddlego.errors import JournalError, PddlegoError, UsageError
from pddlego.runs.folders import JOURNAL
from pddlego.util.files import append, cannot_make, cannot_write, flush_to_disk, open_run_file, read_run_file

SCHEMA = 2
"""The version of the format of run folders. Folders with another version are refused."""

EventsOf = Callable[[str], Iterable[type[Event]]]
"""Returns the event classes of the method with a name. Raises `PddlegoError` if the method is not installed."""


class OtherSchemaError(ValueError):
    """A line was written by another version of pddlego."""


class Codec:
    """Parses the lines of journals. The event classes of a method are loaded at its first event.

    Without `events_of`, it knows only the events of all methods, which contain the answers.
    """

    def __init__(self, events_of: EventsOf = lambda method: ()) -> None:
        self._events_of = events_of
        self._known: dict[str, Mapping[str, type[Event]]] = {"": {event.type: event for event in COMMON}}

    def load_line(self, line: str | bytes) -> tuple[Event, float]:
        """The event of a line, and its seconds. Raises `ValueError`, `KeyError` or `TypeError` for an invalid line."""
        entry = json.loads(line)
        if isinstance(entry["v"], int) and entry["v"] != SCHEMA:
            raise OtherSchemaError(f"Its schema is {entry['v']}; this version reads schema {SCHEMA}.")
        return self.load(entry["event"], entry.get("method", "")), float(entry["t"])

    def load(self, value: Mapping[str, Any], method: str = "") -> Event:
        """The event in a JSON value. Raises `ValueError`, `KeyError` or `TypeError` for an invalid event."""
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
    """A line of a journal: the schema, the seconds since the start, the method of the event, and the event."""
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
    """Appends events to one file. Its methods raise `JournalError` if the file cannot be written."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            # Unbuffered: every line reaches the system at once, so that closing the file cannot fail.
            self._file: FileIO = open_run_file(path, "xb")
        except OSError as error:
            raise cannot_write(path, error) from error

    def write(self, event: Event, seconds: float) -> None:
        """Append `event`, which happened `seconds` after the start. `Ended` is flushed to the disk."""
        append(self._file, self.path, dump_line(event, seconds).encode())
        if isinstance(event, Ended):
            flush_to_disk(self._file, self.path)

    def close(self) -> None:
        self._file.close()


def save_journal(trace: Trace, folder: Path) -> Path:
    """Write a journal to a folder, which is created. Raises `PddlegoError` if it has one or cannot be written."""
    path = folder / JOURNAL
    if path.exists():
        raise UsageError(f"{path} exists", "A journal is not replaced.", "Name another folder.")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise cannot_make(folder, error) from error
    with closing(JournalWriter(path)) as journal:
        for event, seconds in trace.timed:
            journal.write(event, seconds)
    return path


def read_journal(path: Path, codec: Codec) -> Trace:
    """The episode in the whole lines of a journal.

    Raises `UsageError` if the file cannot be read, and `JournalError` if a line is invalid or from another version.
    """
    try:
        data = read_run_file(path)
    except OSError as error:
        raise UsageError(f"{path} cannot be read", f"{error.strerror}.", "Check the path.") from error
    lines = data.split(b"\n")[:-1]  # an unfinished line may follow the last newline
    return Trace(read_line(path, line, number, codec) for number, line in enumerate(lines, start=1))


def read_line(path: Path, line: bytes, number: int, codec: Codec) -> TimedEvent:
    """The event of a line of the journal at `path`, with its seconds. Raises `JournalError` for an invalid line."""
    try:
        return codec.load_line(line)
    except OtherSchemaError as error:
        what = f"{path} was written by another version of pddlego"
        raise JournalError(what, str(error), "Use the version that wrote it.") from error
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        reason = f"Line {number} is not an event ({type(error).__name__})."
        raise JournalError(f"{path} is damaged", reason, "Restore the file, or cut it before that line.") from error


def lines_after(path: Path, read: int) -> list[bytes]:
    """The whole lines of a run's file after byte `read`; empty if the file cannot be read."""
    try:
        with open_run_file(path, "rb") as file:
            file.seek(read)
            return file.readall().split(b"\n")[:-1]
    except OSError:
        return []


class JournalTail:
    """Reads a growing journal. Each `poll` returns the events of the whole lines that are new."""

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
"""A function that is called with every event of an episode, in order, and with the seconds since the start."""


class Timed:
    """An iterator over the events of an episode. `seconds` is the episode's time at the last event.

    The time during which the caller processes an event does not count. An episode with its own clock passes it as
    `clock`; otherwise the time is measured here, without the time of a person's decisions.
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
        """Raise an error inside the episode; returns the next event."""
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
    """Play an episode to its end: call every listener with every event and its seconds (see `Timed`).

    Returns the last event. An interrupt in a listener is raised inside the episode, which then ends properly. Raises
    the exceptions of the episode and of the listeners, `TypeError` for an object that is not an event, and
    `RuntimeError` for an episode without `Ended`; the caller must handle them.
    """
    listening = list(listeners)
    source = events if isinstance(events, Timed) else Timed(events)
    try:
        return _followed(source, listening)
    finally:
        source.close()  # also after an error of a listener, so that the game is closed


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
            next(source, None)  # let the episode release its resources
            return event
    raise RuntimeError("an episode ends with 'ended'" + (f", and not with '{last.type}'" if last else ""))
