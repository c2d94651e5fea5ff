"""The full-information optimum of every game and seed of a report, where there is one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pddlego.episodes import make_planner
from pddlego.evaluation.optimum import optimum
from pddlego.evaluation.store import read_manifest
from pddlego.report.build import Report
from pddlego.setting_files import load_setting
from pddlego.settings import Setting

Optima = dict[tuple[str, int], int]
"""The fewest steps, by game and seed."""


def find_optima(report: Report, folders: Sequence[Path]) -> Optima:
    """Play and plan for each game and seed, some tenths of a second each. Raises `UsageError`, `EngineError`."""
    settings = {name: found for folder in folders for name, found in _settings(folder).items()}
    wanted = sorted({(each.cell.setting, each.cell.seed) for each in report.results if each.cell.setting in settings})
    with make_planner("pyperplan") as planner:
        found = {(name, seed): optimum(settings[name], seed, planner) for name, seed in wanted}
    return {key: steps for key, steps in found.items() if steps is not None}


def _settings(folder: Path) -> dict[str, Setting]:
    """The settings of an evaluation, as they were played."""
    recorded: dict[str, Any] = read_manifest(folder).get("configuration", {}).get("settings", {})
    return {
        name: load_setting(name, each.get("overrides", {}), each.get("max_steps"), each.get("fold"))
        for name, each in recorded.items()
    }
