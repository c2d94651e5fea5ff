"""Values that a shell completes: games, modes, models of earlier runs, and runs."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from pddlego.runs.folders import LATEST, MANIFEST, runs_folder

_NEWEST = 50
"""Run folders whose models are completed."""


def games(incomplete: str) -> list[str]:
    """Settings in `envs/`."""
    from pddlego.methods.setting_files import setting_names

    return _last_of_list(incomplete, setting_names())


def modes(incomplete: str) -> list[str]:
    """Modes of all methods."""
    from pddlego.methods.registry import modes

    return _last_of_list(incomplete, (mode.name for mode in modes()))


def models(incomplete: str) -> list[str]:
    """The built-in reader, and the models of the newest runs."""
    names = {"reader": None, "reader+noise:0.1": None}
    for folder in sorted(_run_folders(), reverse=True)[:_NEWEST]:
        names |= dict.fromkeys(_models_of(folder))
    return _last_of_list(incomplete, names)


def runs(incomplete: str) -> list[str]:
    """Names of run folders, the newest first, and `latest`."""
    names = sorted((folder.name for folder in _run_folders()), reverse=True)
    return [name for name in (LATEST, *names) if name.startswith(incomplete)]


VALUES: Mapping[str, Callable[[str], list[str]]] = {"games": games, "modes": modes, "models": models}
"""Completions of the options of the configuration, by name."""


def _last_of_list(incomplete: str, names: Iterable[str]) -> list[str]:
    """Completions of the last of several names that are separated by commas."""
    before, comma, last = incomplete.rpartition(",")
    return [f"{before}{comma}{name}" for name in names if name.startswith(last)]


def _run_folders() -> list[Path]:
    try:
        return [folder for folder in runs_folder().iterdir() if (folder / MANIFEST).is_file()]
    except OSError:
        return []


def _models_of(folder: Path) -> list[str]:
    try:
        asked = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))["asked"]
        return [str(model) for matrix in asked for model in matrix["models"]]
    except (OSError, ValueError, KeyError, TypeError):
        return []
