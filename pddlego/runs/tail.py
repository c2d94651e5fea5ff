"""Follows journals that another process writes: without a server, over ssh, after a crash."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from io import BufferedReader
from pathlib import Path
from typing import Any

from pddlego.episode.events import Event, Outcome
from pddlego.errors import UsageError
from pddlego.runs.folders import EPISODES
from pddlego.runs.journal import Codec, read_line
from pddlego.util.files import open_run_file

CHUNK = 1 << 12
"""Bytes that are read from the end of a journal to see how far it is."""

_STEP = b'"step":'
"""What lines that move an episode on hold. A text that holds it, too, does no harm: it is only looked at."""

_SILENT = 60.0
"""Seconds without an event after which an episode is not called running any more."""


class JournalTail:
    """What was added to a journal since it was last looked at. Whole lines only."""

    def __init__(self, path: Path, codec: Codec) -> None:
        self.path = path
        self._codec = codec
        self._read = 0
        self._lines = 0

    def poll(self) -> Iterator[tuple[Event, float]]:
        """New events with the seconds since the start. Raises `JournalError` for an invalid line."""
        for line in _new_lines(self.path, self._read):
            self._read += len(line) + 1
            self._lines += 1
            yield read_line(self.path, line, self._lines, self._codec)


@dataclass(frozen=True)
class EpisodeStatus:
    """An episode at a glance: how far it is, and how it ended (None while it runs). `changed` is when it last grew.

    `most` is the steps that it may take (0: no limit). `read` is how many bytes of its journal this was seen in.
    `calls`, `seconds`, `cost` and `first_error` are known from its result.
    """

    path: Path
    setting: str = ""
    mode: str = ""
    model: str = ""
    seed: int = 0
    most: int = 0
    step: int = 0
    command: str = ""
    outcome: Outcome | None = None
    changed: float = 0.0
    read: int = 0
    damaged: bool = False
    calls: int = 0
    seconds: float = 0.0
    cost: float = 0.0
    first_error: str = ""

    def state(self, now: float) -> str:
        """`running`, how long it has been silent, or how it ended; `damaged` where its journal cannot be read."""
        if self.damaged:
            return "damaged"
        if self.outcome is not None:
            return self.outcome.value
        silent = now - self.changed
        return "running" if silent < _SILENT else f"silent {int(silent // 60)}:{int(silent % 60):02}"


class FolderTail:
    """All episodes of a run folder, at a glance; new ones appear by themselves. Ended ones are not looked at again.

    `newest` returns the run folder to continue with when all episodes have ended. It may raise `UsageError`.
    """

    def __init__(self, run: Path, newest: Callable[[], Path] | None = None) -> None:
        self.run = run
        self.peeks: dict[str, EpisodeStatus] = {}
        self._newest = newest

    def advance(self) -> bool:
        """Go on to the newest run if all episodes of this one have ended. Whether it is a different one."""
        if self._newest is None or not self.peeks or any(peek.outcome is None for peek in self.peeks.values()):
            return False
        try:
            run = self._newest()
        except UsageError:  # the folder of runs is gone
            return False
        if run == self.run:
            return False
        self.run, self.peeks = run, {}
        return True

    def poll(self) -> bool:
        """Look again. Whether anything is new."""
        new = False
        try:
            entries = list(os.scandir(self.run / EPISODES))
        except OSError:
            return False
        for entry in entries:
            known = self.peeks.get(entry.name)
            if (known is not None and known.outcome is not None) or not entry.name.endswith(".jsonl"):
                continue
            try:
                if not entry.is_file(follow_symlinks=False):
                    continue
                status = entry.stat()
            except OSError:
                continue
            if known is None or status.st_size > known.read:
                looked = status_of(Path(entry.path), status.st_size) if known is None else _look_again(known)
                self.peeks[entry.name] = replace(looked, changed=status.st_mtime)
                new = new or looked != known
        return new


def status_of(path: Path, size: int) -> EpisodeStatus:
    """The status of an episode by the beginning and the end of its journal, which has `size` bytes."""
    try:
        with BufferedReader(open_run_file(path, "rb")) as file:
            first = file.readline()
            # A line without an end is not damaged: it is still being written.
            peek = _seen(EpisodeStatus(path), first) if first.endswith(b"\n") else EpisodeStatus(path)
            room = CHUNK
            while True:
                file.seek(max(0, size - room))
                lines = file.read(min(room, size)).split(b"\n")
                # The first piece may be the rest of a line, the last one the beginning of one.
                whole = lines[:-1] if room >= size else lines[1:-1]
                # What the last answer was and how it ended is all that is wanted: other lines are not even parsed.
                last = next((number for number in range(len(whole) - 1, -1, -1) if _STEP in whole[number]), None)
                if last is not None or room >= size:
                    break
                room *= 4
    except OSError:
        return EpisodeStatus(path)
    for line in whole[last or 0 :]:
        peek = _seen(peek, line)
    return replace(peek, read=size - len(lines[-1]))


def _look_again(peek: EpisodeStatus) -> EpisodeStatus:
    for line in _new_lines(peek.path, peek.read):
        peek = _seen(replace(peek, read=peek.read + len(line) + 1), line)
    return peek


def _new_lines(path: Path, read: int) -> list[bytes]:
    try:
        with open_run_file(path, "rb") as file:
            file.seek(read)
            return file.readall().split(b"\n")[:-1]
    except OSError:
        return []


def _event(line: bytes) -> dict[str, Any]:
    """The event of a line as a dictionary; empty without one."""
    try:
        fields = json.loads(line)["event"]
        return fields if isinstance(fields, dict) else {}
    except (ValueError, KeyError, TypeError, RecursionError):
        return {}


def _seen(peek: EpisodeStatus, line: bytes) -> EpisodeStatus:
    """The status after one more line; a damaged line is only counted."""
    event = _event(line)
    try:
        if event.get("type") == "started":
            return EpisodeStatus(
                path=peek.path,
                setting=str(event["setting"]),
                mode=str(event["mode"]),
                model=str(event["model"]),
                seed=int(event["seed"]),
                most=int(event["limits"]["steps"] or 0),
                read=peek.read,
            )
        if event.get("type") == "ended":
            return replace(peek, outcome=Outcome(event["outcome"]), step=int(event["usage"]["steps"]))
        if event.get("step") is not None:
            return replace(peek, step=int(event["step"]), command=str(event.get("command") or ""))
    except (ValueError, KeyError, TypeError, OverflowError):  # the last for a number that is infinite
        return replace(peek, damaged=True)
    return peek if event else replace(peek, damaged=True)
