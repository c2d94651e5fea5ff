"""What an evaluation has spent, kept on disk: a line before each request is sent, and one when its cost is known.

A process that is killed with requests on their way leaves lines that were never put right: these count as what was
reserved for them, so that no continuation can spend more than the budget.
"""

from __future__ import annotations

import json
import threading
from io import FileIO
from pathlib import Path

from pddlego.errors import JournalError
from pddlego.journal import append, cannot_write, cut_unfinished_line
from pddlego.models.gate import Spending


class Ledger:
    """An append-only file. Safe for many threads. Raises `JournalError` when the disk does not take a line."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._entries = _read(path)
        try:
            self._file: FileIO = path.open("ab", buffering=0)
        except OSError as error:
            raise cannot_write(path, error) from error

    @property
    def spent(self) -> Spending:
        """All of it: requests sent, tokens and money used, or reserved where it is not known what was used."""
        with self._lock:
            entries = list(self._entries.values())
        return Spending(len(entries), sum(tokens for tokens, _ in entries), sum(cost for _, cost in entries))

    def sent(self, model: str, tokens: float, cost: float) -> int:
        """A request is about to be sent, for which this much is reserved. Returns its number."""
        with self._lock:
            number = len(self._entries) + 1
            self._write({"sent": number, "model": model, "tokens": tokens, "cost": cost})
            self._entries[number] = (tokens, cost)
        return number

    def settled(self, number: int, tokens: float, cost: float) -> None:
        """The request took this much."""
        with self._lock:
            self._write({"settled": number, "tokens": tokens, "cost": cost})
            self._entries[number] = (tokens, cost)

    def close(self) -> None:
        self._file.close()

    def _write(self, entry: dict[str, object]) -> None:
        append(self._file, self._path, (json.dumps(entry) + "\n").encode())


def _read(path: Path) -> dict[int, tuple[float, float]]:
    """The entries of a ledger by number; a last line that was cut short is removed. Raises `JournalError`.

    Requests are numbered without a gap, so that lines that were lost are noticed.
    """
    entries: dict[int, tuple[float, float]] = {}
    for number, line in enumerate(cut_unfinished_line(path).splitlines(), start=1):
        try:
            entry = json.loads(line)
            key = entry["sent"] if "sent" in entry else entry["settled"]
            if key != len(entries) + 1 if "sent" in entry else key not in entries:
                raise ValueError("lines are missing")
            entries[int(key)] = (_amount(entry["tokens"]), _amount(entry["cost"]))
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            why = f"Line {number} is no entry that can follow those before it."
            raise JournalError(f"{path} is damaged", why, "Restore it: it says what was spent.") from error
    return entries


def _amount(value: object) -> float:
    """A number that something may cost. Raises `ValueError`, `TypeError` for anything else."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < float("inf"):
        raise ValueError("not an amount")
    return float(value)
