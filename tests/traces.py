"""Traces of events, a tenth of a second apart."""

from __future__ import annotations

from collections.abc import Iterable

from pddlego.episode.events import Event
from pddlego.episode.trace import Trace


def trace_of(events: Iterable[Event]) -> Trace:
    return Trace((event, number / 10) for number, event in enumerate(events))
