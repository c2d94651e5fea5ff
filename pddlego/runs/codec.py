"""Events as lines of JSON and back. Every method brings events of its own; what is not installed stays readable."""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Iterable, Mapping
from functools import lru_cache
from typing import Any, cast

from pydantic import TypeAdapter

from pddlego.errors import PddlegoError
from pddlego.events import COMMON, Event, Unknown

SCHEMA = 2
"""Version of a run folder. It grows when another reader would misread it; a folder of another schema is refused."""

EventsOf = Callable[[str], Iterable[type[Event]]]
"""The events of a method by its name. Raises `PddlegoError` for one that is not installed."""


def no_methods(name: str) -> Iterable[type[Event]]:
    """Knows no method: whoever asks models again needs nothing but what happens everywhere."""
    return ()


class OtherSchemaError(ValueError):
    """A line was written by another version of pddlego."""


class Codec:
    """Reads lines. The events of a method are looked for when the first of them comes."""

    def __init__(self, events_of: EventsOf = no_methods) -> None:
        self._events_of = events_of
        self._known: dict[str, Mapping[str, type[Event]]] = {"": {each.type: each for each in COMMON}}

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
            raise ValueError(f"there is no event '{name}'")
        found: Event = _adapter(known[name]).validate_python(fields)
        return found

    def _of(self, method: str) -> Mapping[str, type[Event]]:
        if method not in self._known:
            try:
                self._known[method] = {each.type: each for each in self._events_of(method)}
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
