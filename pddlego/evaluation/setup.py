"""From a configuration to what is evaluated: settings, models, seeds and prices that exist and fit."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pydantic import BaseModel, TypeAdapter, ValidationError

from pddlego.episode.events import Limits
from pddlego.errors import UsageError
from pddlego.evaluation.config import (
    ARGUMENT,
    COMMON_GROUPS,
    DEFAULT,
    FLAG,
    Config,
    LimitOptions,
    Resolved,
    with_overrides,
)
from pddlego.evaluation.models import is_free, make_model
from pddlego.methods.base import Method, Setting, check_seed
from pddlego.methods.registry import ablated, first_mode, method, method_of, package_of, parse_mode
from pddlego.methods.setting_files import parse_overrides
from pddlego.models.base import Model
from pddlego.models.endpoint import Access, prepare_cache
from pddlego.models.function import OwnModel
from pddlego.models.limiter import Price, RequestLimiter, Spending
from pddlego.runs.cells import Cell, Matrix
from pddlego.runs.store import installed_version
from pddlego.util.files import read_toml
from pddlego.util.options import options_of, recorded

_DETERMINING = ("pddlego", "fast-downward.translate", "pyperplan")
"""Packages whose version may change what an episode does: the agent and the planner. A setting may name others."""


@dataclass(frozen=True)
class SettingUse:
    """A setting as one method plays it in one mode, with its options."""

    method_name: str
    options: BaseModel
    setting: Any

    @property
    def method(self) -> Method:
        return method(self.method_name)


@dataclass(frozen=True)
class Setup:
    """Everything that an evaluation is made of: its configuration, and what follows from that.

    `played` says who plays each setting in each mode. `limits` are those of each episode, `budget` that of all.
    `planners` processes plan. `own_models` are those that a Python program has brought, by their names.
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

    def cells(self) -> tuple[Cell, ...]:
        """Every episode, in the order in which they are played."""
        return self.matrix.cells()

    def played_in(self, cell: Cell) -> SettingUse:
        """Who plays a cell. Raises `KeyError` for one of another evaluation."""
        return self.played[cell.setting, cell.mode]

    @property
    def workers(self) -> int:
        """Episodes at once. One, where each begins with what the one before it has left."""
        return 1 if self.config.run.carry else self.config.run.workers

    @property
    def settings(self) -> tuple[Setting, ...]:
        """Every setting, as each of its methods reads it."""
        loaded = {
            (name, kind_played.method_name): kind_played.setting for (name, _), kind_played in self.played.items()
        }
        return tuple(loaded.values())

    def configuration(self) -> dict[str, Any]:
        """Everything that determines an episode, for the run folder: settings, limits, planner, endpoint.

        What an evaluation may be continued with (more seeds, modes, models or workers, other budgets) is left out.
        """
        own = {name: model.digest for name, model in sorted(self.own_models.items())}
        brought = {package_of(played.method_name) for played in self.played.values()} - {None}
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
        by_method = {(name, kind_played.method_name): kind_played for (name, _), kind_played in self.played.items()}
        names = [name for name, _ in by_method]
        return {
            name if names.count(name) == 1 else f"{name} ({owner})": _recorded(kind_played)
            for (name, owner), kind_played in by_method.items()
        }


def _recorded(played: SettingUse) -> dict[str, Any]:
    """What a run folder records of a setting and how it is played."""
    texts = played.setting.sources
    digests = {name: hashlib.sha256(text.encode()).hexdigest()[:16] for name, text in sorted(texts.items())}
    options = recorded(played.options) | played.setting.resolved()
    return {"method": played.method_name, "options": options, "files": digests}


def make_setup(
    resolved: Resolved,
    sends: bool = True,
    somebody_types: bool = False,
    own_models: Mapping[str, OwnModel] | None = None,
) -> Setup:
    """The evaluation that a configuration means. Raises `UsageError` for whatever does not exist or does not fit.

    One that `sends` nothing, because it is only planned, needs no key. Modes that need a person are refused unless
    `somebody_types`.
    """
    config = resolved.config
    what, limits = config.what, config.limits
    _check_run(resolved)
    modes = ablated(what.modes or _first_modes(what.games), what.ablate)
    _check_modes(config, modes, somebody_types)
    played = _played(config, modes)
    _check_flags(resolved, played)
    prepare_cache(config.endpoint.cache)
    matrix = Matrix(
        {name: parse_seeds(what.seeds, kind_played.setting) for (name, _), kind_played in played.items()},
        modes,
        what.models,
        what.repeats,
        without_model=tuple(mode for mode in modes if not parse_mode(mode).mode.asks_model),
    )
    samples = list({cell.configuration: cell for cell in reversed(matrix.cells())}.values())
    budget, prices = make_budget(limits, [cell.model for cell in samples if not is_free(cell)])
    # A planner that waits for an answer works no more than an idle one.
    waits = any(parse_mode(cell.mode).mode.advises and not is_free(cell) for cell in samples)
    setup = Setup(
        config,
        matrix,
        played,
        limits=Limits(None, seconds=limits.max_seconds),
        budget=budget,
        prices=prices,
        access=Access(os.environ.get("OPENAI_API_KEY")),
        planners=config.run.workers if waits else max(1, min(config.run.workers, os.cpu_count() or 1)),
        own_models=own_models or {},
    )
    for cell in samples:
        if sends or is_free(cell):
            make_cell_model(cell, setup)
    return setup


def run_path(setup: Setup) -> Path:
    """The folder of the evaluation: as named, or the same for the same cells."""
    run = setup.config.run
    if run.run:
        return Path(run.runs) / run.run
    cells = json.dumps([cell.label for cell in setup.cells()])
    digest = hashlib.sha256(cells.encode()).hexdigest()[:8]
    return Path(run.runs) / f"eval-{'+'.join(setup.config.what.games)[:60]}-{digest}"


def one_cell(setup: Setup) -> Cell:
    """The only episode. Raises `UsageError` if there are several."""
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


def make_cell_model(cell: Cell, setup: Setup, limiter: RequestLimiter | None = None) -> Model:
    """The model of a cell. Raises `UsageError` for one that cannot be made, or cannot play the cell."""
    own = setup.own_models.get(cell.model)
    if own is not None:
        return replace(own, limiter=limiter)
    return make_model(cell, setup.played_in(cell).setting, setup.config.endpoint, setup.access, limiter)


def _first_modes(games: Iterable[str]) -> tuple[str, ...]:
    """The mode in which all of the games are played where none is named. Raises `UsageError` if they differ."""
    modes = {game: first_mode(game) for game in games}
    if len(set(modes.values())) > 1:
        reason = ", ".join(f"{game}: {mode}" for game, mode in modes.items())
        raise UsageError("These games have no common default mode", f"{reason}.", "Choose modes with --modes.")
    return tuple(dict.fromkeys(modes.values()))


def _check_run(resolved: Resolved) -> None:
    """Raises `UsageError` for a place to play that does not fit, or would let episodes miss what others leave."""
    run = resolved.config.run
    if run.address is not None and run.executor != "ray":
        reason = f"Episodes are played in {run.executor}, on this machine."
        raise UsageError("--address needs --executor ray", reason, "Add it, or leave the address out.")
    several = resolved.origin("workers") != DEFAULT and run.workers > 1
    if run.carry and (several or run.executor != "threads"):
        reason = "Each episode begins with what the one before it has left, so they are played one after another."
        raise UsageError("--carry plays with one worker, here", reason, "Leave --workers and --executor out.")


def _check_modes(config: Config, modes: tuple[str, ...], somebody_types: bool) -> None:
    chosen = [parse_mode(mode).mode for mode in modes]
    for mode in chosen:
        if mode.needs_person and not somebody_types:
            reason = f"Mode {mode.name} needs a person at a terminal."
            raise UsageError(f"modes = {mode.name} is not possible", reason, "Use 'pddlego play'.")
    if config.what.ablate and not any(mode.parts for mode in chosen):
        reason = f"The modes are {', '.join(modes)}, and they have no parts to take out."
        raise UsageError("There is nothing to ablate", reason, "Leave --ablate out, or add such a mode.")


def _check_flags(resolved: Resolved, played: Mapping[tuple[str, str], SettingUse]) -> None:
    """Raises `UsageError` for an option of a method that plays nothing here: it would change nothing."""
    groups = (*COMMON_GROUPS.values(), *(type(kind_played.options) for kind_played in played.values()))
    known = {option.name for group in groups for option in options_of(group)}
    for (_, name), origin in resolved.origins.items():
        if origin in (FLAG, ARGUMENT) and name not in known:
            who = ", ".join(sorted({kind_played.method_name for kind_played in played.values()}))
            typed = f"--{name.replace('_', '-')}" if origin == FLAG else name
            raise UsageError(f"{typed} has no effect here", f"The methods that play are: {who}.", "Remove it.")


def _played(config: Config, modes: tuple[str, ...]) -> Mapping[tuple[str, str], SettingUse]:
    """Who plays each setting in each mode."""
    overrides = parse_overrides(config.what.set)
    loaded: dict[tuple[str, str], SettingUse] = {}
    played: dict[tuple[str, str], SettingUse] = {}
    for name in config.what.games:
        for mode in modes:
            method = method_of(name, mode)
            if (name, method.name) not in loaded:
                options = with_overrides(method.name, config.methods[method.name], overrides)
                loaded[name, method.name] = SettingUse(method.name, options, method.load(name, options))
            played[name, mode] = loaded[name, method.name]
            played[name, mode].setting.check_parts(parse_mode(mode).without)
    return played


def parse_seeds(text: str, setting: Setting) -> tuple[int, ...]:
    """`dev`, `test` or a list such as `0-9,20,30-39`, as seeds of the setting's fold, in order, each once.

    Raises `UsageError` for anything else and for seeds that the fold does not have.
    """
    seeds: list[int] = []
    for part in text.split(","):
        word = part.strip()
        seeds += setting.seeds[word] if word in setting.seeds else _range(word, setting)
    for seed in seeds:
        check_seed(setting, seed)
    return tuple(dict.fromkeys(seeds))


def _range(word: str, setting: Setting) -> Iterable[int]:
    match = re.fullmatch(r"(\d{1,9})(?:\s*-\s*(\d{1,9}))?", word)
    first, last = (int(match.group(1)), int(match.group(2) or match.group(1))) if match else (1, 0)
    if last < first:
        splits = ", ".join(setting.seeds)
        reason = f"{setting.name} has the splits {splits or '(none)'}; otherwise write seeds as 0-9,20."
        raise UsageError(f"'{word}' names no seeds", reason, "Example: --seeds 10-59.")
    if last - first > 1_000_000:
        check_seed(setting, last)
    return range(first, last + 1)


def read_prices(path: Path | None) -> dict[str, Price]:
    """The prices in a file, by model: money for a million tokens; none without a file. Raises `UsageError`."""
    if path is None:
        return {}
    try:
        return TypeAdapter(dict[str, Price]).validate_python(read_toml(path, "--prices"))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        example = "Example: ['gpt-4o-mini'] tokens_in = 0.15, tokens_out = 0.60 (for a million tokens)."
        raise UsageError(f"{path} is not a price list", f"{where}: {first['msg']}.", example) from error


def make_budget(limits: LimitOptions, models: Iterable[str]) -> tuple[Spending, dict[str, Price]]:
    """The budget of all requests together, and the prices. Raises `UsageError` for a model without a needed price."""
    prices = read_prices(Path(limits.prices) if limits.prices else None)
    unknown = dict.fromkeys(model for model in models if model not in prices)
    if limits.max_cost is not None and unknown:
        reason = f"The price list has no price of {', '.join(unknown)}."
        raise UsageError("--max-cost requires --prices", reason, "Name a price list with --prices FILE.")
    return Spending(limits.max_calls, limits.max_tokens, limits.max_cost), prices
