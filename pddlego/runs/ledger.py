"""What an evaluation has spent, kept on disk: a line before each request is sent, and one when its cost is known.

A process that is killed with requests on their way leaves lines that were never put right: these count as what was
reserved for them, so that no continuation can spend more than the budget.
"""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass, replace
from io import FileIO
from pathlib import Path

from pddlego.errors import JournalError
from pddlego.models.limiter import Spending
from pddlego.util.files import append, cannot_read, cannot_write, cut_unfinished_line, open_run_file, read_run_file

LEDGER = "ledger.jsonl"
"""The file in a run folder."""


@dataclass(frozen=True)
class LedgerEntry:
    """A request for a cell (its label, `origin`): what it took, or what was reserved for it if that is unknown (it was
    not `answered`)."""

    model: str
    tokens: float
    cost: float
    origin: str = ""
    answered: bool = False


class Ledger:
    """An append-only file. Safe for many threads. Raises `JournalError` when the disk does not take a line.

    `warnings` name the lines that could not be read; these do not stop the run.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        cut_unfinished_line(path)
        self._entries, self.warnings = read_ledger(path)
        try:
            self._file: FileIO = open_run_file(path, "ab")
        except OSError as error:
            raise cannot_write(path, error) from error

    @property
    def spent(self) -> Spending:
        """All of it: requests sent, tokens and money used, or reserved where it is not known what was used."""
        with self._lock:
            entries = list(self._entries.values())
        return Spending(len(entries), sum(entry.tokens for entry in entries), sum(entry.cost for entry in entries))

    def sent(self, model: str, tokens: float, cost: float, origin: str = "") -> int:
        """A request is about to be sent for a cell (its label, `origin`), and this much is reserved for it.

        Returns its number.
        """
        with self._lock:
            number = len(self._entries) + 1
            self._write({"sent": number, "model": model, "tokens": tokens, "cost": cost, "for": origin})
            self._entries[number] = LedgerEntry(model, tokens, cost, origin)
        return number

    def settled(self, number: int, tokens: float, cost: float, answered: bool = True) -> None:
        """The request took this much, or may have where it was not `answered`."""
        with self._lock:
            self._write({"settled": number, "tokens": tokens, "cost": cost, "answered": answered})
            self._entries[number] = replace(self._entries[number], tokens=tokens, cost=cost, answered=answered)

    def close(self) -> None:
        self._file.close()

    def _write(self, entry: dict[str, object]) -> None:
        append(self._file, self.path, (json.dumps(entry) + "\n").encode())


def read_ledger(path: Path) -> tuple[dict[int, LedgerEntry], tuple[str, ...]]:
    """The requests of a ledger by number up to its last whole line, and warnings on unreadable lines.

    A line that says wrongly what was used is left out: the request counts as what was reserved for it. A line that
    cannot be read may have been a request: one whose number is missing counts as the most that any other took. Requests
    are numbered without a gap; where more are missing than lines are damaged, lines were lost: `JournalError`.
    """
    entries: dict[int, LedgerEntry] = {}
    warnings: list[str] = []
    missing: list[int] = []
    try:
        data = read_run_file(path) if path.exists() else b""
    except OSError as error:
        raise cannot_read(path, error) from error
    for number, line in enumerate(data[: data.rfind(b"\n") + 1].split(b"\n")[:-1], start=1):
        where = f"{path}, line {number}"
        try:
            entry = json.loads(line)
            is_request = "sent" in entry
            key = int(entry["sent"] if is_request else entry["settled"])
        except (ValueError, KeyError, TypeError, ArithmeticError, RecursionError):
            warnings.append(f"{where}: it is damaged; what it said counts as the most that a request took.")
            continue
        expected = len(entries) + len(missing) + 1
        if (key < expected or key - expected > len(warnings)) if is_request else key not in entries and not missing:
            reason = f"Line {number} is not an entry that can follow those before it."
            raise JournalError(f"{path} is damaged", reason, "Restore it: it says what was spent.")
        try:
            amounts = _amount(entry["tokens"]), _amount(entry["cost"])
        except (ValueError, KeyError, TypeError, ArithmeticError):
            if is_request:
                missing.append(key)
            warnings.append(f"{where}: no amount of tokens or money; what was reserved counts as spent.")
            continue
        if is_request:
            missing += range(expected, key)
            entries[key] = LedgerEntry(str(entry.get("model", "")), *amounts, str(entry.get("for", "")))
        elif key in entries:
            answered = bool(entry.get("answered", True))
            entries[key] = replace(entries[key], tokens=amounts[0], cost=amounts[1], answered=answered)
    if warnings and not entries and not missing:
        raise JournalError(f"{path} is damaged", "No line of it can be read.", "Restore it: it says what was spent.")
    known = entries.values()
    most = LedgerEntry(
        "", max((entry.tokens for entry in known), default=0.0), max((entry.cost for entry in known), default=0.0)
    )
    return entries | dict.fromkeys(missing, most), tuple(warnings)


def _amount(value: object) -> float:
    """A number that something may cost. Raises `ValueError`, `TypeError` for anything else."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < float("inf"):
        raise ValueError("not an amount")
    return float(value)
