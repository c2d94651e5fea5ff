"""Makes and finds run folders, and finds the journals in them."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path

from pddlego.errors import UsageError
from pddlego.util.files import cannot_make

MANIFEST, EPISODES = "manifest.json", "episodes"
"""What every run folder holds."""


def newest_run(root: Path, wanted: Callable[[Path], bool] = lambda path: True) -> Path:
    """The run folder below `root` that changed last, of those that are `wanted` if there are any.

    Raises `UsageError` if it does not exist.
    """
    changes = [(changed, path) for path in _folders(root) if (changed := _last_change(path / EPISODES)) is not None]
    if not changes:
        raise UsageError(f"{root} has no runs", "Nothing was played there.", "Play, or name a run folder.")
    newest_first = [path for _, path in sorted(changes, reverse=True)]
    return next(filter(wanted, newest_first), newest_first[0])


_LATEST = "latest"
"""Stands for the run in which something happened last, where no file has that name."""


RUNS, RUNS_VARIABLE = "runs", "PDDLEGO_RUNS"
"""The folder of run folders, and the environment variable that names another."""


def place_of(run: str, root: Path = Path(RUNS), wanted: Callable[[Path], bool] = lambda path: True) -> Path:
    """The run folder or journal that a user names: its path, its name in `root`, or `latest` for the newest `wanted`.

    Raises `UsageError` if `latest` finds no run.
    """
    place = Path(run)
    if place.exists():
        return place
    if run == _LATEST:
        return newest_run(root, wanted)
    return root / run if (root / run).exists() else place


def find_journals(place: Path, seed: int | None = None) -> list[Path]:
    """The journals of a run folder, of one seed if it is given, in natural order; a journal itself is the only one.

    Raises `UsageError` if it does not exist.
    """
    if place.is_file():
        return [place]
    if place.exists() and not place.is_dir():
        raise UsageError(f"{place} is not a file", "It is a device or a pipe.", "Name a run folder or a journal.")
    if not (place / EPISODES).is_dir():
        reason = f"It has no folder {EPISODES}/." if place.is_dir() else "There is no such folder."
        raise UsageError(f"{place} is not a run folder", reason, "Name a folder that 'pddlego play' or 'eval' made.")
    journals = sorted((journal for journal in (place / EPISODES).glob("*.jsonl") if journal.is_file()), key=_natural)
    mine = [journal for journal in journals if seed is None or _seed_of(journal) == seed]
    if not mine:
        several = "1 episode" if len(journals) == 1 else f"{len(journals)} episodes"
        reason = f"It holds {several}, none of seed {seed}." if journals else "No episode has begun in it."
        raise UsageError(f"There is nothing to see in {place}", reason, "Name another run or seed.")
    return mine


def find_journal(place: Path, seed: int | None = None) -> Path:
    """The one journal that is meant. Raises `UsageError` where there are several."""
    journals = find_journals(place, seed)
    if len(journals) > 1:
        names = ", ".join(journal.name for journal in journals[:4])
        more = f" and {len(journals) - 4} more" if len(journals) > 4 else ""
        what = f"{place} holds {len(journals)} episodes" + ("" if seed is None else f" of seed {seed}")
        advice = f"Name one of the files in {place / EPISODES}" + (" or a seed." if seed is None else ".")
        raise UsageError(what, f"{names}{more}.", advice)
    return journals[0]


def _seed_of(journal: Path) -> int | None:
    """The seed in the name of a journal."""
    match = re.search(r"seed-?(\d+)(-repeat\d+)?(\.\d+)?\.jsonl$", journal.name)
    return int(match.group(1)) if match else None


def _last_change(episodes: Path) -> float | None:
    """When one of the journals in a folder last grew; None if there is no such folder."""
    try:
        return max([episodes.stat().st_mtime, *(entry.stat().st_mtime for entry in os.scandir(episodes))])
    except OSError:
        return None


def _folders(root: Path) -> Sequence[Path]:
    try:
        return [folder for folder in root.iterdir() if folder.is_dir()]
    except OSError:
        return []


def _natural(path: Path) -> list[tuple[int, int, str]]:
    parts = re.split(r"(\d+)", path.name)
    return [(1, int(part), "") if part.isdecimal() else (0, 0, part) for part in parts]


def fresh_folder(root: Path, label: str) -> Path:
    """A new folder in `root` that is named after the time and the label. Raises `UsageError` if it cannot be made."""
    name = f"{datetime.now().strftime('%Y%m%d-%H%M%S')}-{label}"
    for number in range(1, 1000):
        path = root / (name if number == 1 else f"{name}-{number}")
        try:
            path.mkdir(parents=True)
        except FileExistsError:
            continue
        except OSError as error:
            raise cannot_make(path, error) from error
        return path
    raise UsageError(f"No free folder name in {root}", f"{name} and 998 variants exist.", "Choose another --runs.")
