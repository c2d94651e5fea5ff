"""The program that a model wrote, out of a file or out of the journal of an episode."""

from __future__ import annotations

from pathlib import Path

from pddlego.errors import UsageError
from pddlego.methods.programs.describe import DESCRIBED
from pddlego.methods.programs.events import Evaluated, Written
from pddlego.runs.codec import Codec
from pddlego.runs.folders import find_journal
from pddlego.runs.journal import read_journal
from pddlego.util.files import read_text


def program_in(place: Path) -> str:
    """The text of a Python file, or the program that a run evaluated last. Raises `UsageError` and `JournalError`."""
    if place.is_file() and place.suffix != ".jsonl":
        return read_text(place)
    if not place.exists():
        raise UsageError(f"{place} holds no program", "There is no such file.", "Name a Python file, or a run folder.")
    events = read_journal(find_journal(place), Codec(lambda method: DESCRIBED)).events
    written = [event.text for event in events if isinstance(event, Written)]
    kept = [event.program for event in events if isinstance(event, Evaluated) and event.program]
    if not written:
        why = "No model wrote one in it."
        raise UsageError(f"{place} holds no program", why, "Name a Python file, or a run folder.")
    return (kept or written)[-1]
