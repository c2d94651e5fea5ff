"""Makes and finds run folders, and finds the journals in them."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from pathlib import Path
from typing import Any

from pddlego.errors import UsageError
from pddlego.runs.cells import Cell
from pddlego.util.files import cannot_make
from pddlego.util.text import count, natural, suggestion

MANIFEST, EPISODES, LEDGER = "manifest.json", "episodes", "ledger.jsonl"
"""The names of the manifest, the folder of journals, and the ledger in every run folder."""

TRACKED = "tracked.jsonl"
"""Experiment-tracker runs, and the rows already sent to them, in a run folder."""

CARRIED = "carried"
"""The folder of the texts that next episodes could begin from (`--carry`) in a run folder."""

JOURNAL = "journal.jsonl"
"""The name of the only journal in the folder of a build."""

CONTROL = "-control"
"""Suffix of a folder of replays without correction, the control for the corrected ones."""

RESUMED, CONFIRMED = "resumed", "confirmed"
"""Keys of a manifest: the recorded episode that this one continues, and the kinds of steps that the user confirms."""


def newest_run(root: Path, is_preferred: Callable[[Path], bool] = lambda path: True) -> Path:
    """The run folder in `root` that changed last, among the preferred folders if there are any.

    Raises `UsageError` if `root` has no run folder.
    """
    changes = [(changed, path) for path in folders(root) if (changed := _last_change(path / EPISODES)) is not None]
    if not changes:
        raise UsageError(f"{root} has no runs", "Nothing was played there.", "Play, or name a run folder.")
    newest_first = [path for _, path in sorted(changes, reverse=True)]
    return next(filter(is_preferred, newest_first), newest_first[0])


LATEST = "latest"
"""The name of the run that changed last, unless a file has that name."""


RUNS, RUNS_VARIABLE = "runs", "PDDLEGO_RUNS"
"""The default folder of run folders, and the environment variable that names another."""


def runs_folder() -> Path:
    """The folder of run folders: the value of `PDDLEGO_RUNS`, else `runs/`."""
    return Path(os.environ.get(RUNS_VARIABLE) or RUNS)


def find_run(run: str, root: Path | None = None, is_preferred: Callable[[Path], bool] = lambda path: True) -> Path:
    """The run folder or journal that a user names: a path, a name in `root` or a unique prefix of one, or `latest`.

    `root` is `runs_folder()` if it is None. `latest` is the newest run, among the preferred ones if there are any.
    Raises `UsageError` for an unknown name or an ambiguous prefix.
    """
    root = runs_folder() if root is None else root
    place = Path(run)
    if place.exists():
        return place
    if run == LATEST:
        return newest_run(root, is_preferred)
    if (root / run).exists():
        return root / run
    names = sorted(folder.name for folder in folders(root))
    matches = [name for name in names if name.startswith(run)]
    if len(matches) > 1:
        first = ", ".join(matches[:4]) + (" …" if len(matches) > 4 else "")
        raise UsageError(
            f"{run} is not unique", f"{len(matches)} runs begin with it: {first}.", "Write more of the name."
        )
    if matches:
        return root / matches[0]
    reason = f"Neither {run} nor {root / run} exists, and no run in {root} begins with that name."
    raise UsageError(f"Unknown run {run}", reason, suggestion(run, names, "List the runs with 'pddlego runs'."))


@dataclass(frozen=True)
class EpisodeFilter:
    """A selection of episodes of a run. A field that is None matches all episodes."""

    game: str | None = None
    mode: str | None = None
    model: str | None = None
    seed: int | None = None

    def matches(self, journal: Path) -> bool:
        """Whether the episode of a journal has these values."""
        values = self._values()
        started = started_of(journal) if values else {}
        return all(started.get(_FIELD.get(name, name)) == value for name, value in values.items())

    def has(self, cell: Cell) -> bool:
        """Whether a cell has these values."""
        return all(getattr(cell, _FIELD.get(name, name)) == value for name, value in self._values().items())

    def advice(self, journals: Iterable[Path]) -> str:
        """Advice if no journal matches: the existing values of the first option whose value no journal has."""
        started = [started_of(journal) for journal in journals]
        for name, value in self._values().items():
            known = sorted({str(event.get(_FIELD.get(name, name))) for event in started}, key=natural)
            if known and str(value) not in known:
                listed = f"Its values of --{name} are: {', '.join(known[:12])}."
                return listed if name == "seed" else suggestion(str(value), known, listed)
        return "Choose other values, or another run."

    def _values(self) -> Mapping[str, str | int]:
        values = {"game": self.game, "mode": self.mode, "model": self.model, "seed": self.seed}
        return {name: value for name, value in values.items() if value is not None}

    def __str__(self) -> str:
        return ", ".join(f"{name} {value}" for name, value in self._values().items())


_FIELD = {"game": "setting"}
"""The fields of `Started` whose names differ from the options, by the names of the options."""


def started_of(journal: Path) -> Mapping[str, Any]:
    """The first event of a journal, `Started`, as a dictionary; empty if it cannot be read."""
    try:
        with journal.open(encoding="utf-8") as file:
            event = json.loads(file.readline())["event"]
    except (OSError, ValueError, KeyError, TypeError):
        return {}
    return event if isinstance(event, dict) else {}


def find_journals(place: Path, episode_filter: EpisodeFilter = EpisodeFilter()) -> list[Path]:
    """The matching journals of a run folder, in natural order; that of a build; only `place` itself if it is a journal.

    Raises `UsageError` if no journal matches.
    """
    if place.is_file():
        return [place]
    if place.exists() and not place.is_dir():
        raise UsageError(f"{place} is not a file", "It is a device or a pipe.", "Name a run folder or a journal.")
    if not (place / EPISODES).is_dir() and (place / JOURNAL).is_file():
        return [place / JOURNAL]
    if not (place / EPISODES).is_dir():
        reason = f"It has no folder {EPISODES}/." if place.is_dir() else "There is no such folder."
        raise UsageError(f"{place} is not a run folder", reason, "Name a folder that 'pddlego play' or 'eval' made.")
    journals = sorted(
        (journal for journal in (place / EPISODES).glob("*.jsonl") if journal.is_file()),
        key=lambda path: natural(path.name),
    )
    matching = [journal for journal in journals if episode_filter.matches(journal)]
    if not matching:
        number = count(len(last_journals(journals)), "episode")
        reason = f"It has {number}, but none with {episode_filter}." if journals else "No episode has begun in it."
        raise UsageError(f"{place} has no such episode", reason, episode_filter.advice(journals))
    return matching


def journal_parts(journal: Path) -> tuple[str, int]:
    """The label of a journal's cell, and the number of the attempt."""
    label, _, number = journal.stem.rpartition(".")
    return (label, int(number)) if label and number.isdecimal() else (journal.stem, 1)


def last_journals(journals: Iterable[Path]) -> list[Path]:
    """The journals of the last attempts, in the order in which their cells first occur."""
    last = dict[Path, Path]()
    for journal in journals:
        label, attempt = journal_parts(journal)
        cell = journal.parent / label
        if attempt >= journal_parts(last.get(cell, journal))[1]:
            last[cell] = journal
    return list(last.values())


FILTERS = tuple(field.name for field in fields(EpisodeFilter))
"""The options that select episodes."""


def find_journal(
    place: Path, episode_filter: EpisodeFilter = EpisodeFilter(), options: Sequence[str] = FILTERS
) -> Path:
    """The journal of the last attempt at the one matching episode. Raises `UsageError` as `only_journal`."""
    return only_journal(place, find_journals(place, episode_filter), options)


def only_journal(place: Path, matching: Iterable[Path], options: Sequence[str] = FILTERS) -> Path:
    """The journal of the last attempt, if the `matching` journals of a run are of one episode.

    Raises `UsageError` if they are of several, with those of the `options` in which these differ.
    """
    journals = last_journals(matching)
    if len(journals) == 1:
        return journals[0]
    names = ", ".join(journal.stem for journal in journals[:4])
    more = f" and {len(journals) - 4} more" if len(journals) > 4 else ""
    started = [started_of(journal) for journal in journals]
    differing = [name for name in options if len({str(event.get(_FIELD.get(name, name))) for event in started}) > 1]
    select = f"Select one with {' or '.join(f'--{name}' for name in differing)}, or name" if differing else "Name"
    what = f"{len(journals)} episodes match in {place}"
    raise UsageError(what, f"{names}{more}.", f"{select} a file in {place / EPISODES}.")


def _last_change(episodes: Path) -> float | None:
    """The time (epoch) of the last change of a folder or of a file in it; None if it cannot be read."""
    try:
        return max([episodes.stat().st_mtime, *(entry.stat().st_mtime for entry in os.scandir(episodes))])
    except OSError:
        return None


def folders(root: Path) -> Sequence[Path]:
    """The folders in `root`; empty if it cannot be read."""
    try:
        return [folder for folder in root.iterdir() if folder.is_dir()]
    except OSError:
        return []


def fresh_folder(root: Path, label: str) -> Path:
    """Create a folder in `root`, named after the time and the label. Raises `UsageError` if that fails."""
    name = f"{datetime.now().strftime('%Y%m%d-%H%M%S')}-{label}"
    for number in range(1, 1000):
        path = root / (name if number == 1 else f"{name}-{number}")
        try:
            path.mkdir(parents=True)
        except OSError as error:
            if isinstance(error, FileExistsError) and path.exists():
                continue
            raise cannot_make(path, error) from error
        return path
    raise UsageError(f"No free folder name in {root}", f"{name} and 998 variants exist.", "Choose another --runs.")
