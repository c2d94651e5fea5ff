"""The setup of an evaluation: everything that it needs, and that determines its episodes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from pddlego import planners
from pddlego.episode.events import Limits
from pddlego.errors import UsageError
from pddlego.evaluation.config import Config
from pddlego.evaluation.models import temperature_of
from pddlego.methods.base import Method, Setting, Tools
from pddlego.methods.registry import method, package_of
from pddlego.models.base import is_local
from pddlego.models.endpoint import Access, Endpoint
from pddlego.models.function import OwnModel
from pddlego.models.limiter import Price, Spending
from pddlego.runs.cells import Cell, Matrix
from pddlego.runs.journal import Timed
from pddlego.runs.store import installed_version
from pddlego.util.options import recorded

_DETERMINING = ("pddlego", "fast-downward.translate", "pyperplan")
"""Packages whose version may change an episode: the agent and the planner. A setting may name others."""


@dataclass(frozen=True)
class SettingUse:
    """A setting as one method plays it in one mode, with its options."""

    method_name: str
    options: BaseModel
    setting: Any

    @property
    def method(self) -> Method:
        return method(self.method_name)

    def play(self, cell: Cell, tools: Tools) -> Timed:
        """The events of an episode while it is played. Raises `PddlegoError` for errors before the first event."""
        events = self.method.run(cell, self.setting, self.options, tools)
        return events if isinstance(events, Timed) else Timed(events)


@dataclass(frozen=True)
class Continuation:
    """The continuation of a recorded episode: with a setting and options, from `restart`, within `limits`.

    `restart` is a value of the method that plays the episode; the method gets it in its `Tools`.
    """

    played: SettingUse
    restart: Any
    limits: Limits


@dataclass(frozen=True)
class Setup:
    """Everything that an evaluation needs: its configuration, and values that follow from it.

    `played` has the use of each setting in each mode. `limits` apply to each episode, `budget` to all together.
    `planners` is the number of planning processes. `own_models` are models of a Python program, by name. If there are
    `continued` episodes, only these are played.
    """

    config: Config
    matrix: Matrix
    played: Mapping[tuple[str, str], SettingUse]
    limits: Limits
    budget: Spending = field(default_factory=Spending)
    prices: Mapping[str, Price] = field(default_factory=dict)
    access: Access = field(default_factory=Access)
    planners: int = 1
    own_models: Mapping[str, OwnModel] = field(default_factory=dict)
    continued: Mapping[Cell, Continuation] = field(default_factory=dict)

    def cells(self) -> tuple[Cell, ...]:
        """All episodes, in the order in which they are played."""
        return tuple(self.continued) or self.matrix.cells()

    @property
    def requested(self) -> Sequence[Matrix]:
        """The matrices of all episodes: one for each continued episode, because these need not fill a matrix."""
        if not self.continued:
            return [self.matrix]
        return [
            Matrix({cell.setting: (cell.seed,)}, (cell.mode,), (cell.model,), cell.repeat, (), cell.repeat)
            for cell in self.continued
        ]

    def played_in(self, cell: Cell) -> SettingUse:
        """The setting of a cell with its method and options. Raises `KeyError` for a cell of another evaluation."""
        return self.played[cell.setting, cell.mode]

    @property
    def workers(self) -> int:
        """Parallel episodes; 1 with `--carry`, where each episode begins from the text of an earlier one."""
        return 1 if self.config.run.carry else self.config.run.workers

    @property
    def notes(self) -> tuple[str, ...]:
        """Names and licenses of the models on this machine. Raises `UsageError` and `ModelError`."""
        local = [name for name in self.matrix.models if is_local(name)]
        if not local:
            return ()
        from pddlego.models.local import model_file

        return tuple(model_file(name).sentence for name in local)

    @property
    def settings(self) -> tuple[Setting, ...]:
        """All settings, each once for every method that plays it."""
        loaded = {(name, use.method_name): use.setting for (name, _), use in self.played.items()}
        return tuple(loaded.values())

    def configuration(self) -> dict[str, Any]:
        """Everything that determines an episode, for the manifest: settings, limits, planner, endpoint.

        Options that may change when an evaluation is continued (seeds, modes, models, workers, budgets) are left out.
        Raises `UsageError` if files of games are missing.
        """
        own = {name: model.digest for name, model in sorted(self.own_models.items())}
        brought = {package_of(played.method_name) for played in self.played.values()}
        brought = {*brought, planners.distribution_of(self.config.planner.engine)} - {None}
        brought |= {package for setting in self.settings for package in setting.packages}
        return {
            "settings": self._settings(),
            "endpoint": recorded(self.config.endpoint),
            "planner": recorded(self.config.planner),
            "limits": {
                **recorded(self.config.limits),
                "calls": self.limits.calls,
                "tokens": self.limits.tokens,
            },
            "run": recorded(self.config.run),
            **({"own_models": own} if own else {}),
            "versions": {name: installed_version(name) for name in (*_DETERMINING, *sorted(map(str, brought)))},
        }

    def _settings(self) -> dict[str, Any]:
        """Settings by name; names that several methods use get the method as a suffix."""
        by_method = {(name, use.method_name): use for (name, _), use in self.played.items()}
        names = [name for name, _ in by_method]
        return {
            name if names.count(name) == 1 else f"{name} ({owner})": _recorded(
                use, self.config.endpoint, self.matrix.seeds[name]
            )
            for (name, owner), use in by_method.items()
        }


def _recorded(played: SettingUse, endpoint: Endpoint, seeds: Iterable[int]) -> dict[str, Any]:
    """The record of a setting in the manifest: its method, options, temperature, and digests of its files.

    Raises `UsageError` if files of its games are missing.
    """
    texts = played.setting.sources
    digests = {name: hashlib.sha256(text.encode()).hexdigest()[:16] for name, text in sorted(texts.items())}
    options = recorded(played.options) | played.setting.resolved()
    temperature = temperature_of(played.method, endpoint)
    kept = {"method": played.method_name, "options": options, "temperature": temperature, "files": digests}
    games = played.setting.game_files(seeds)
    return {**kept, "games": games} if games else kept


def run_path(setup: Setup) -> Path:
    """The run folder with the given name, or else with a name that depends only on the cells."""
    run = setup.config.run
    if run.run:
        if ".." in Path(run.run).parts:
            raise UsageError(
                f"'{run.run}' is not the name of a run (--run)", "It leaves the folder of runs.", "Set PDDLEGO_RUNS."
            )
        return Path(run.runs) / run.run
    cells = json.dumps([cell.label for cell in setup.cells()])
    digest = hashlib.sha256(cells.encode()).hexdigest()[:8]
    return Path(run.runs) / f"eval-{'+'.join(setup.config.what.games)[:60]}-{digest}"


def one_cell(setup: Setup) -> Cell:
    """The only cell. Raises `UsageError` if there are several."""
    cells = setup.cells()
    if len(cells) != 1:
        several = {
            "game": setup.config.what.games,
            "mode": setup.matrix.modes,
            "model": setup.config.what.models,
            "seed": sorted({cell.seed for cell in cells}),
        }
        name, values = next(((name, options) for name, options in several.items() if len(options) > 1), ("repeat", ()))
        reason = f"These are {len(cells)}: {', '.join(map(str, values))}." if values else f"These are {len(cells)}."
        raise UsageError(f"One episode has one {name}", reason, "Name one, or evaluate them all ('pddlego eval').")
    return cells[0]
