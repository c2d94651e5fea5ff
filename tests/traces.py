"""Traces of events, a tenth of a second apart, and what their requests have in common."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

from pddlego.episode.events import Event
from pddlego.episode.trace import Trace


def trace_of(events: Iterable[Event]) -> Trace:
    return Trace((event, number / 10) for number, event in enumerate(events))


def shared_beginning(texts: Sequence[str]) -> float:
    """The share of the characters of all texts with which the text before begins, too."""
    shared = 0
    for before, text in pairwise(texts):
        pairs = enumerate(zip(before, text, strict=False))
        shared += next((number for number, (old, new) in pairs if old != new), min(len(before), len(text)))
    return shared / max(1, sum(map(len, texts)))
