"""Keeps an episode while it is played: its journal, and in the end its line among the results."""

from __future__ import annotations

from dataclasses import replace

from pddlego.events import Event
from pddlego.runs.cells import Cell
from pddlego.runs.store import Store
from pddlego.runs.summary import Summary, summarize
from pddlego.util.files import digest


class Recorder:
    """A new attempt at a cell. Raises `JournalError` when the disk does not take what happens."""

    def __init__(self, cell: Cell, store: Store) -> None:
        self._cell, self._store = cell, store
        self._attempt, self._journal = store.begin(cell)
        self._events: list[Event] = []

    def keep(self, event: Event, seconds: float) -> None:
        """Something happened, so many seconds after the start."""
        self._journal.write(event, seconds)
        if not event.passing:
            self._events.append(event)

    def close(self) -> None:
        """Nothing more happens."""
        self._journal.close()

    def record(self) -> Summary:
        """What came of it, which is on the disk when this returns."""
        measured = summarize(self._cell, self._attempt, self._events, self._store.measure_of(self._cell))
        summary = replace(measured, digest=digest(self._journal.path))
        self._store.record(summary)
        return summary
