"""How episodes are kept on disk: one append-only JSONL file for each.

Every event is one line, flushed when it happens. Whatever happens to the process, what was written can be read up to
the last whole line.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from io import FileIO
from pathlib import Path

from pddlego.errors import JournalError, UsageError
from pddlego.events import Answered, Asked, Ended, Event, Started
from pddlego.models.transcript import RecordedCall
from pddlego.runs.codec import Codec, OtherSchemaError, dump_line
from pddlego.util.files import append, cannot_write, flush_to_disk, open_run_file, read_run_file

TimedEvent = tuple[Event, float]
"""An event with the seconds since the start."""


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


@dataclass(frozen=True)
class Journal:
    """An episode read back: its events with their times."""

    path: Path
    timed: tuple[TimedEvent, ...]

    @property
    def events(self) -> tuple[Event, ...]:
        return tuple(event for event, _ in self.timed)

    @property
    def started(self) -> Started | None:
        """How it began; None where its first line says something else."""
        first = self.timed[0][0] if self.timed else None
        return first if isinstance(first, Started) else None

    @property
    def complete(self) -> bool:
        """Whether its last event is there."""
        return bool(self.timed) and isinstance(self.timed[-1][0], Ended)


def recorded_calls(events: Iterable[Event]) -> list[RecordedCall]:
    """The answered questions in order, as a transcript."""
    asked: Asked | None = None
    found: list[RecordedCall] = []
    for event in events:
        if isinstance(event, Asked):
            asked = event
        elif isinstance(event, Answered) and asked is not None:
            found.append(RecordedCall(asked.purpose, asked.messages, event.completion))
    return found


def read_journal(path: Path, codec: Codec) -> Journal:
    """Read a journal up to its last whole line.

    Raises `UsageError` if the file cannot be opened, and `JournalError` if it is from another version or holds a line
    that is no event before its last one.
    """
    try:
        data = read_run_file(path)
    except OSError as error:
        raise UsageError(f"{path} cannot be read", f"{error.strerror}.", "Check the path.") from error
    lines = data.split(b"\n")[:-1]  # what follows the last newline is a line that was never finished
    return Journal(path, tuple(read_line(path, line, number, codec) for number, line in enumerate(lines, start=1)))


def read_line(path: Path, line: bytes, number: int, codec: Codec) -> TimedEvent:
    """A line of the journal at `path`: the event and the seconds since the start. Raises `JournalError`."""
    try:
        return codec.load_line(line)
    except OtherSchemaError as error:
        what = f"{path} was written by another version of pddlego"
        raise JournalError(what, str(error), "Use the version that wrote it.") from error
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        why = f"Line {number} is no event ({type(error).__name__})."
        raise JournalError(f"{path} is damaged", why, "Restore the file, or cut it before that line.") from error
