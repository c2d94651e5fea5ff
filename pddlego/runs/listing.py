"""Run folders and their episodes at a glance, also while another process writes them: over ssh, or after a crash."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from io import BufferedReader
from pathlib import Path

from pddlego.episode.events import Outcome
from pddlego.errors import JournalError, PddlegoError, UsageError
from pddlego.models.limiter import read_ledger
from pddlego.runs.folders import EPISODES, LEDGER, MANIFEST, folders
from pddlego.runs.journal import lines_after
from pddlego.runs.store import (
    RESULTS,
    TRUTH,
    is_locked,
    journal_name,
    read_cells,
    read_manifest,
    read_results,
    results_from,
)
from pddlego.runs.summary import LastingError, Summary
from pddlego.util.files import open_run_file, read_run_file

CHUNK = 1 << 12
"""Bytes at the end of a journal that are read first to find the last step of its episode."""

_STEP = b'"step":'
"""A text in the line of every event with a step. Other lines may contain it too: every candidate is parsed."""

_SILENT = 60.0
"""Seconds without an event after which an episode does not count as running."""


@dataclass(frozen=True)
class EpisodeStatus:
    """A summary of an episode: its current `step` of `most` (0: no limit), and its `outcome` (None while it runs).

    `modified_at` is the time of the last change of its journal, and `read` the number of journal bytes that this status
    reflects. `calls`, `seconds` and `cost` are set once the episode has a result, and `cause` once the cause of
    a loss is known.
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
    modified_at: float = 0.0
    read: int = 0
    damaged: bool = False
    calls: int | None = None
    seconds: float = 0.0
    cost: float = 0.0
    cause: LastingError | None = None

    def state(self, now: float) -> str:
        """The outcome, or else `running` or `silent M:SS` since the last event; `damaged` for an invalid journal.

        `not ended` if the journal is not read again, as for a saved page: then `modified_at` is not set.
        """
        if self.damaged:
            return "damaged"
        if self.outcome is not None:
            return self.outcome.value
        if not self.modified_at:
            return "not ended"
        seconds = now - self.modified_at
        return "running" if seconds < _SILENT else f"silent {int(seconds // 60)}:{int(seconds % 60):02}"

    def with_result(self, summary: Summary, cost: float) -> EpisodeStatus:
        """The status with the values of the episode's result."""
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
        )

    def _after(self, line: bytes) -> EpisodeStatus:
        """The status after one more line of the journal; an invalid line makes it `damaged`."""
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


def journal_status(path: Path, size: int) -> EpisodeStatus:
    """The status of an episode from the first and last lines of its journal, which has `size` bytes."""
    try:
        with BufferedReader(open_run_file(path, "rb")) as file:
            first = file.readline()
            # A line without a newline is not damaged: it is still being written.
            status = EpisodeStatus(path)._after(first) if first.endswith(b"\n") else EpisodeStatus(path)
            room = CHUNK
            while True:
                file.seek(max(0, size - room))
                lines = file.read(min(room, size)).split(b"\n")
                # The first piece may be the end of a line, and the last piece the beginning of a line.
                complete = lines[:-1] if room >= size else lines[1:-1]
                # Only the lines from the last step on are parsed: the status needs no others.
                last = next((number for number in range(len(complete) - 1, -1, -1) if _STEP in complete[number]), None)
                if last is not None or room >= size:
                    break
                room *= 4
    except OSError:
        return EpisodeStatus(path)
    for line in complete[last or 0 :]:
        status = status._after(line)
    return replace(status, read=size - len(lines[-1]))


def _updated(status: EpisodeStatus) -> EpisodeStatus:
    """The status after the lines that were added to the journal."""
    for line in lines_after(status.path, status.read):
        status = replace(status, read=status.read + len(line) + 1)._after(line)
    return status


class EpisodeList:
    """The episodes of a run folder, updated by `poll`: from the results if they are finished, else from journals.
    What `truth.jsonl` gets is a change, too: causes may be known from then on.

    When all episodes have ended, the list continues with the run folder that `newest` returns. `newest` may raise
    `UsageError`.
    """

    def __init__(self, run: Path, newest: Callable[[], Path] | None = None) -> None:
        self.run = run
        self._newest = newest
        self._statuses: dict[str, EpisodeStatus] = {}
        self._read = 0
        self._ledger_size, self._truth_size = 0, 0
        self._costs: dict[str, float] = {}

    @property
    def episodes(self) -> Mapping[str, EpisodeStatus]:
        """Every episode by the name of its journal."""
        return self._statuses

    @property
    def only(self) -> Path | None:
        """The journal of the only episode of the run; None if there are more, or may be."""
        with suppress(PddlegoError):  # without a manifest, more episodes may come
            if len(self._statuses) == 1 == len(read_cells(self.run)):
                return next(iter(self._statuses.values())).path
        return None

    def set_causes(self, causes: Mapping[str, LastingError]) -> None:
        """Set the causes of losses, by the names of the journals; other episodes have none."""
        for name, status in self._statuses.items():
            if status.cause != causes.get(name):
                self._statuses[name] = replace(status, cause=causes.get(name))

    def poll(self) -> bool:
        """Read the changes of the run folder. Whether there are any. Journals of ended episodes are not read again."""
        advanced = self._advance()
        finished = self._read_results()
        checked, self._truth_size = self._truth_size, _size(self.run / TRUTH)
        return self._read_journals() or advanced or finished or self._truth_size != checked

    def _advance(self) -> bool:
        """Continue with the newest run if all episodes of this run have ended. Whether that is a different run."""
        if self._newest is None or not self._statuses:
            return False
        if any(status.outcome is None for status in self._statuses.values()):
            return False
        try:
            run = self._newest()
        except UsageError:  # the folder of run folders is gone
            return False
        if run == self.run:
            return False
        self.run, self._statuses = run, {}
        self._read, self._ledger_size = 0, 0
        return True

    def _read_results(self) -> bool:
        """Read the results that were written since the last call. Whether there are any."""
        before = self._read
        summaries, self._read = results_from(self.run / RESULTS, before)
        if not summaries:
            return False
        if self._read < before:  # the run folder was deleted and created again
            self._statuses.clear()
        size = _size(self.run / LEDGER)
        if size != self._ledger_size:
            self._costs, self._ledger_size = costs_of(self.run), size
        for summary in summaries:
            journal = self.run / EPISODES / journal_name(summary.cell, summary.attempt)
            known = self._statuses.get(journal.name) or EpisodeStatus(journal, modified_at=modified_at(journal))
            self._statuses[journal.name] = known.with_result(summary, self._costs.get(summary.cell.label, 0.0))
        return True

    def _read_journals(self) -> bool:
        """Read the lines that were added to journals of episodes without a result. Whether any status changed."""
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
                status = journal_status(Path(entry.path), file.st_size) if known is None else _updated(known)
                self._statuses[entry.name] = replace(status, modified_at=file.st_mtime)
                new = new or status != known
        return new


@dataclass(frozen=True)
class RunRow:
    """A row of the table of runs. `name` is relative to the folder of run folders.

    `games`, `modes` and `models` are those of the cells; `when` is the start time. `played` and `won` are
    numbers of `cells`, `again` is the number of cells that were played again, and `cost` is that of all attempts.
    `state` is `running`, `finished`, `failed` (every episode was lost to errors), `unfinished` (the same command would
    play more episodes), or the error if the folder is damaged. `note` is what the user wrote about the run.
    """

    path: Path
    name: str = ""
    games: str = ""
    modes: str = ""
    models: str = ""
    when: datetime | None = None
    played: int = 0
    won: int = 0
    cells: int = 0
    again: int = 0
    cost: float = 0.0
    state: str = ""
    note: str = ""


NOTE_FILE = "note.txt"
"""The file with the user's note in a run folder."""


def list_runs(root: Path) -> Iterator[RunRow]:
    """A row for every run folder in `root` and in its subfolders, newest first; for a damaged one, with the error."""
    return (run_row(folder, root) for folder in run_folders(root))


def run_folders(root: Path) -> list[Path]:
    """The run folders in `root` and in its subfolders, newest first."""
    runs = [run for folder in folders(root) for run in ((folder,) if is_run(folder) else folders(folder))]
    return sorted(filter(is_run, runs), key=modified_at, reverse=True)


def run_row(folder: Path, root: Path) -> RunRow:
    """The row of a run folder; of a damaged one, with the error."""
    try:
        return replace(_run(folder), name=str(folder.relative_to(root)))
    except (PddlegoError, OSError, ValueError) as error:
        state = error.what if isinstance(error, PddlegoError) else f"damaged: {error}"
        return RunRow(folder, str(folder.relative_to(root)), state=state)


def state_of_folder(folder: Path) -> Hashable:
    """A value that changes if `run_row` may: names, times and sizes of the files, and whether the run is played."""
    try:
        files = tuple((entry.name, entry.stat().st_mtime_ns, entry.stat().st_size) for entry in os.scandir(folder))
    except OSError as error:
        return str(error)
    return files, is_locked(folder)


def is_run(folder: Path) -> bool:
    """Whether a folder looks like a run folder."""
    try:
        return (folder / MANIFEST).exists() or (folder / EPISODES).is_dir()
    except OSError:  # `_run` reports the error
        return True


def _run(folder: Path) -> RunRow:
    manifest = read_manifest(folder)
    last = {summary.cell: summary for summary in read_results(folder)[0]}
    played = [summary for summary in last.values() if summary.played]
    cells = list(dict.fromkeys((*read_cells(folder), *last)))
    created = str(manifest.get("created", ""))
    counted = sum(summary.counts for summary in played)
    state = "finished" if cells and counted >= len(cells) else "failed" if played and not counted else "unfinished"
    games, modes, models = (
        ", ".join(dict.fromkeys(getattr(cell, part) for cell in cells)) for part in ("setting", "mode", "model")
    )
    return RunRow(
        path=folder,
        games=games,
        modes=modes,
        models=models,
        when=datetime.fromisoformat(created) if created else None,
        played=len(played),
        won=sum(summary.won for summary in played),
        cells=len(cells),
        again=sum(summary.attempt > 1 for summary in last.values()),
        cost=sum(costs_of(folder).values()),
        state="running" if is_locked(folder) else state,
        note=read_run_file(folder / NOTE_FILE).decode(errors="replace").strip()
        if (folder / NOTE_FILE).exists()
        else "",
    )


def costs_of(folder: Path) -> dict[str, float]:
    """The cost of all requests for each cell, by the label of the cell; empty if the ledger cannot be read."""
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


def modified_at(path: Path) -> float:
    """The time (epoch) of the last change of a file; 0 if it cannot be read."""
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0
