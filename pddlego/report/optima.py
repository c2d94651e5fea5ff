"""The full-information optimum of every game and seed of a report, where there is one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pddlego.errors import UsageError
from pddlego.methods.registry import method
from pddlego.planning.make import make_planner
from pddlego.report.build import Report
from pddlego.runs.schema_1 import upgraded_manifest
from pddlego.runs.store import read_manifest

Optima = dict[tuple[str, int], int]
"""The least that is possible of what methods are compared by, by game and seed."""


def find_optima(report: Report, folders: Sequence[Path]) -> Optima:
    """Play and plan for each game and seed, some tenths of a second each. Raises `UsageError`, `EngineError`."""
    settings = {name: kept for folder in folders for name, kept in _settings(folder).items()}
    wanted = sorted({(summary.cell.setting, summary.cell.seed) for summary in report.results})
    found: Optima = {}
    with make_planner("pyperplan") as planner:
        for name, seed in wanted:
            kept = settings.get(name)
            if kept is None:
                continue
            player = method(kept["method"])
            best = player.measuring.best
            setting = player.load(name, player.options.model_validate(kept["options"])) if best else None
            least = best(setting, seed, planner) if best else None
            if least is not None:
                found[name, seed] = least
    return found


def _settings(folder: Path) -> dict[str, Any]:
    """The settings of an evaluation, as they were played. Raises `UsageError` for a manifest that does not say it."""
    manifest = read_manifest(folder)
    try:
        settings: dict[str, Any] = upgraded_manifest(manifest)["configuration"]["settings"]
    except (KeyError, TypeError) as error:
        raise UsageError(f"{folder} is damaged", "Its manifest does not say what was played.", "Restore it.") from error
    return settings
