"""Run folders and their episodes at a glance, also while another process writes them: over ssh, or after a crash."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from io import BufferedReader
from pathlib import Path
from typing import Any

from pddlego.episode.events import Outcome
from pddlego.errors import JournalError, PddlegoError, UsageError
from pddlego.models.limiter import read_ledger
from pddlego.runs.folders import EPISODES, LEDGER, MANIFEST, folders
from pddlego.runs.journal import lines_after
from pddlego.runs.store import (
    ASKED,
    RESULTS,
    is_locked,
    journal_name,
    read_cells,
    read_manifest,
    read_results,
    results_from,
)
from pddlego.runs.summary import Summary
from pddlego.util.files import open_run_file

CHUNK = 1 << 12
"""Bytes that are read from the end of a journal to see how far its episode is."""

_STEP = b'"step":'
"""In every line that moves an episode on. A text that contains it does no harm: it is only looked at."""

_SILENT = 60.0
"""Seconds without an event after which an episode does not count as running."""


@dataclass(frozen=True)
class EpisodeStatus:
    """An episode at a glance: its current `step` of `most` (0: no limit), and its `outcome` (None while it runs).

    `changed` is when its journal last grew, `read` the bytes of the journal that the status comes from. `calls`,
    `seconds`, `cost` and `first_error` are known from its result.
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
        """`running`, how long it has been silent, or how it ended; `damaged` if its journal cannot be read."""
        if self.damaged:
            return "damaged"
        if self.outcome is not None:
            return self.outcome.value
        silent = now - self.changed
        return "running" if silent < _SILENT else f"silent {int(silent // 60)}:{int(silent % 60):02}"

    def with_result(self, summary: Summary, cost: float) -> EpisodeStatus:
        """The status of the episode once it has a result."""
        cell = summary.cell
        return replace(
            self,
            setting=cell.setting,
            mode=cell.mode,
            model=cell.model,
            seed=cell.seed,
            step=summary.usage.steps,
            outcome=summary.outcome,
            calls=summary.usage.calls,
            seconds=summary.usage.seconds,
            cost=cost,
            first_error=summary.measures.first_error,
        )

    def _after(self, line: bytes) -> EpisodeStatus:
        """The status after one more line of the journal; a damaged line is only marked."""
        try:
            event = json.loads(line)["event"]
            if event.get("type") == "started":
                return EpisodeStatus(
                    path=self.path,
                    setting=str(event["setting"]),
                    mode=str(event["mode"]),
                    model=str(event["model"]),
                    seed=int(event["seed"]),
                    most=int(event["limits"]["steps"] or 0),
                    read=self.read,
                )
            if event.get("type") == "ended":
                return replace(self, outcome=Outcome(event["outcome"]), step=int(event["usage"]["steps"]))
            if event.get("step") is not None:
                return replace(self, step=int(event["step"]), command=str(event.get("command") or ""))
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
            return replace(self, damaged=True)  # OverflowError: a number is infinite
        return self if event else replace(self, damaged=True)


def status_of(path: Path, size: int) -> EpisodeStatus:
    """The status of an episode by the beginning and the end of its journal, which has `size` bytes."""
    try:
        with BufferedReader(open_run_file(path, "rb")) as file:
            first = file.readline()
            # A line without an end is not damaged: it is still being written.
            status = EpisodeStatus(path)._after(first) if first.endswith(b"\n") else EpisodeStatus(path)
            room = CHUNK
            while True:
                file.seek(max(0, size - room))
                lines = file.read(min(room, size)).split(b"\n")
                # The first piece may be the rest of a line, the last one the beginning of one.
                complete = lines[:-1] if room >= size else lines[1:-1]
                # Only the last step and the end of the episode are needed: other lines are not even parsed.
                last = next((number for number in range(len(complete) - 1, -1, -1) if _STEP in complete[number]), None)
                if last is not None or room >= size:
                    break
                room *= 4
    except OSError:
        return EpisodeStatus(path)
    for line in complete[last or 0 :]:
        status = status._after(line)
    return replace(status, read=size - len(lines[-1]))


def _look_again(status: EpisodeStatus) -> EpisodeStatus:
    for line in lines_after(status.path, status.read):
        status = replace(status, read=status.read + len(line) + 1)._after(line)
    return status


class EpisodeList:
    """The episodes of a run folder, which may still be played: finished ones from its results, others from journals.

    `newest` returns the run folder to continue with when all episodes have ended. It may raise `UsageError`.
    """

    def __init__(self, run: Path, newest: Callable[[], Path] | None = None) -> None:
        self.run = run
        self._newest = newest
        self._statuses: dict[str, EpisodeStatus] = {}
        self._read = 0
        self._ledger_size = 0
        self._costs: dict[str, float] = {}

    @property
    def episodes(self) -> Mapping[str, EpisodeStatus]:
        """Every episode by the name of its journal."""
        return self._statuses

    def poll(self) -> bool:
        """Look again. Whether anything is new. An episode that has ended is not looked at again."""
        moved = self._advance()
        finished = self._read_results()
        return self._read_journals() or moved or finished

    def _advance(self) -> bool:
        """Go on to the newest run if all episodes of this one have ended. Whether it is a different one."""
        if self._newest is None or not self._statuses:
            return False
        if any(status.outcome is None for status in self._statuses.values()):
            return False
        try:
            run = self._newest()
        except UsageError:  # the folder of runs is gone
            return False
        if run == self.run:
            return False
        self.run, self._statuses = run, {}
        self._read, self._ledger_size = 0, 0
        return True

    def _read_results(self) -> bool:
        """Take in the results that were written since."""
        before = self._read
        summaries, self._read = results_from(self.run / RESULTS, before)
        if not summaries:
            return False
        if self._read < before:  # the folder was made anew
            self._statuses.clear()
        size = _size(self.run / LEDGER)
        if size != self._ledger_size:
            self._costs, self._ledger_size = costs_of(self.run), size
        for summary in summaries:
            journal = self.run / EPISODES / journal_name(summary.cell, summary.attempt)
            known = self._statuses.get(journal.name) or EpisodeStatus(journal, changed=_changed(journal))
            self._statuses[journal.name] = known.with_result(summary, self._costs.get(summary.cell.label, 0.0))
        return True

    def _read_journals(self) -> bool:
        """Take in what was added to the journals of episodes without a result."""
        new = False
        try:
            entries = list(os.scandir(self.run / EPISODES))
        except OSError:
            return False
        for entry in entries:
            known = self._statuses.get(entry.name)
            if (known is not None and known.outcome is not None) or not entry.name.endswith(".jsonl"):
                continue
            try:
                if not entry.is_file(follow_symlinks=False):
                    continue
                file = entry.stat()
            except OSError:
                continue
            if known is None or file.st_size > known.read:
                status = status_of(Path(entry.path), file.st_size) if known is None else _look_again(known)
                self._statuses[entry.name] = replace(status, changed=file.st_mtime)
                new = new or status != known
        return new


@dataclass(frozen=True)
class RunRow:
    """A run folder, by its `name` in the folder of runs.

    `what` was asked for, `when` it began, how many of its `cells` were played and won, and their cost. `state` is
    `running`, `finished` or `unfinished` (the same command would play some cells again), or the fault of the folder.
    """

    path: Path
    name: str = ""
    what: str = ""
    when: str = ""
    played: int = 0
    won: int = 0
    cells: int = 0
    cost: float = 0.0
    state: str = ""


def list_runs(root: Path) -> Iterator[RunRow]:
    """Every run folder in `root` and in folders there, the newest first. A damaged one is listed with its fault."""
    runs = [run for folder in folders(root) for run in ((folder,) if _is_run(folder) else folders(folder))]
    for folder in sorted(filter(_is_run, runs), key=_changed, reverse=True):
        try:
            yield replace(_run(folder), name=str(folder.relative_to(root)))
        except (PddlegoError, OSError, ValueError) as error:
            state = error.what if isinstance(error, PddlegoError) else f"damaged: {error}"
            yield RunRow(folder, str(folder.relative_to(root)), state=state)


def _is_run(folder: Path) -> bool:
    try:
        return (folder / MANIFEST).exists() or (folder / EPISODES).is_dir()
    except OSError:  # it cannot be read: reading it says so
        return True


def _run(folder: Path) -> RunRow:
    manifest = read_manifest(folder)
    last = {summary.cell: summary for summary in read_results(folder)[0]}
    played = [summary for summary in last.values() if summary.played]
    cells = len(read_cells(folder) | set(last))
    created = str(manifest.get("created", ""))
    finished = "finished" if cells and sum(summary.counts for summary in played) >= cells else "unfinished"
    return RunRow(
        path=folder,
        what=_what(manifest),
        when=datetime.fromisoformat(created).strftime("%Y-%m-%d %H:%M") if created else "",
        played=len(played),
        won=sum(summary.won for summary in played),
        cells=cells,
        cost=sum(costs_of(folder).values()),
        state="running" if is_locked(folder) else finished,
    )


def _what(manifest: Mapping[str, Any]) -> str:
    """Games, modes and models, each once."""
    asked = manifest.get(ASKED, [])
    names = ([name for matrix in asked for name in matrix[part]] for part in ("seeds", "modes", "models"))
    return " / ".join(", ".join(dict.fromkeys(part)) for part in names)


def costs_of(folder: Path) -> dict[str, float]:
    """The cost of each episode, by the label of its cell."""
    costs: dict[str, float] = {}
    try:
        entries = read_ledger(folder / LEDGER)[0]
    except JournalError:
        return costs
    for entry in entries.values():
        costs[entry.origin] = costs.get(entry.origin, 0.0) + entry.cost
    return costs


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _changed(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0
