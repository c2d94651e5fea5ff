"""What there is to browse: run folders, and the episodes of one, at a glance."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from pddlego.errors import JournalError, PddlegoError
from pddlego.runs.folders import EPISODES, MANIFEST, folders
from pddlego.runs.ledger import LEDGER, read_ledger
from pddlego.runs.manifest import read_manifest
from pddlego.runs.store import ASKED, RESULTS, is_locked, journal_name, read_cells, read_results, results_from
from pddlego.runs.summary import Summary
from pddlego.runs.tail import EpisodeStatus, FolderTail


@dataclass(frozen=True)
class RunRow:
    """A run folder, by its `name` in the folder of runs.

    `what` was asked for, `when` it began, how many of its `cells` were played and won, and what they cost. `state` is
    `running`, `finished` or `unfinished` (the same command would play some cells again), or says what is wrong with the
    folder.
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
    """Every run folder in `root` and in folders there, the newest first. A damaged one is listed with what is wrong."""
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
    except OSError:  # it may not be read, which is said of it
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
    """What each episode has cost, by its label."""
    costs: dict[str, float] = {}
    try:
        entries = read_ledger(folder / LEDGER)[0]
    except JournalError:
        return costs
    for entry in entries.values():
        costs[entry.origin] = costs.get(entry.origin, 0.0) + entry.cost
    return costs


class EpisodeList:
    """The episodes of a run folder, which may still be played. Finished ones are read from its results.

    `newest` returns the run folder to continue with when all episodes have ended (see `FolderTail`).
    """

    def __init__(self, run: Path, newest: Callable[[], Path] | None = None) -> None:
        self._tail = FolderTail(run, newest)
        self._read = 0
        self._ledger_size = 0
        self._costs: dict[str, float] = {}

    @property
    def run(self) -> Path:
        return self._tail.run

    @property
    def episodes(self) -> Mapping[str, EpisodeStatus]:
        """Every episode by the name of its journal."""
        return self._tail.peeks

    def poll(self) -> bool:
        """Look again. Whether anything is new."""
        moved = self._tail.advance()
        if moved:
            self._read, self._ledger_size = 0, 0
        finished = self._read_results()
        return self._tail.poll() or moved or finished

    def _read_results(self) -> bool:
        """Take in the results that were written since."""
        before = self._read
        summaries, self._read = results_from(self.run / RESULTS, before)
        if not summaries:
            return False
        if self._read < before:  # the folder was made anew
            self._tail.peeks.clear()
        size = _size(self.run / LEDGER)
        if size != self._ledger_size:
            self._costs, self._ledger_size = costs_of(self.run), size
        for summary in summaries:
            journal = self.run / EPISODES / journal_name(summary.cell, summary.attempt)
            known = self._tail.peeks.get(journal.name) or EpisodeStatus(journal, changed=_changed(journal))
            self._tail.peeks[journal.name] = with_result(known, summary, self._costs.get(summary.cell.label, 0.0))
        return True


def with_result(known: EpisodeStatus, summary: Summary, cost: float) -> EpisodeStatus:
    """The status of an episode that has a result."""
    cell = summary.cell
    return replace(
        known,
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
