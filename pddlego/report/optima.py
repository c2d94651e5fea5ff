"""The full-information optimum of every game and seed of a report, where there is one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from pddlego.errors import UsageError
from pddlego.methods.base import Method, Setting
from pddlego.methods.registry import method, method_of
from pddlego.planning import ProcessPlanner
from pddlego.report.build import Report
from pddlego.runs.cells import Cell
from pddlego.runs.store import read_configuration, recorded_setting

Optima = dict[tuple[str, int], int]
"""The least that is possible of what methods are compared by, by game and seed."""


def find_optima(report: Report, folders: Sequence[Path]) -> Optima:
    """Play and plan for each game and seed, some tenths of a second each. Raises `UsageError`, `EngineError`."""
    settings: dict[str, Any] = {}
    for folder in folders:
        settings |= read_configuration(folder).get("settings", {})
    wanted = {(_player(summary.cell), summary.cell.setting, summary.cell.seed) for summary in report.results}
    optima: Optima = {}
    with ProcessPlanner() as planner:
        for owner, name, seed in sorted(wanted):
            kept = recorded_setting(settings, name, owner)
            best = method(owner).measuring.best if owner else None
            if kept is None or best is None or kept["method"] != owner:
                continue
            least = best(_setting(method(owner), name, kept), seed, planner)
            if least is not None:
                optima[name, seed] = least
    return optima


def _player(cell: Cell) -> str:
    """The method that plays a cell; empty where it is not installed any more."""
    try:
        return method_of(cell.setting, cell.mode).name
    except UsageError:
        return ""


def _setting(player: Method, name: str, kept: Mapping[str, Any]) -> Setting:
    """A setting as it was played. Raises `UsageError` for options that the method has not."""
    try:
        return player.load(name, player.options.model_validate(kept["options"]))
    except ValidationError as error:
        reason = f"Its options of {name} are invalid for the method {player.name}: {error.errors()[0]['msg']}."
        raise UsageError(
            "The optimum cannot be found", reason, "Restore manifest.json, or leave --optimum out."
        ) from error
