"""Makes the setup of an evaluation from a configuration, and refuses what is not compatible."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import replace

from pddlego.episode.events import Limits
from pddlego.errors import UsageError
from pddlego.evaluation.config import ARGUMENT, DEFAULT, FLAG, Config, Resolved, with_overrides
from pddlego.evaluation.dependencies import check_effects
from pddlego.evaluation.models import is_free
from pddlego.evaluation.playing import make_cell_model
from pddlego.evaluation.resources import make_budget
from pddlego.evaluation.seeds import parse_seeds
from pddlego.evaluation.setup import Continuation, SettingUse, Setup
from pddlego.methods.base import Method
from pddlego.methods.registry import ablated, first_mode, method_of, parse_mode
from pddlego.methods.setting_files import parse_overrides
from pddlego.models.base import is_local
from pddlego.models.endpoint import Access, prepare_cache
from pddlego.models.function import OwnModel
from pddlego.planning.engines import check_search
from pddlego.runs.cells import Cell, Matrix


def make_setup(
    resolved: Resolved,
    sends: bool = True,
    has_person: bool = False,
    own_models: Mapping[str, OwnModel] | None = None,
) -> Setup:
    """The setup for a configuration. Raises `UsageError` for anything that does not exist or is not compatible.

    A setup that `sends` no requests, such as that of a dry run, needs no key. Modes that need a person are allowed only
    if it `has_person`.
    """
    config = resolved.config
    what = config.what
    if resolved.origin("workers") == DEFAULT and any(map(is_local, what.models)):  # its server has one slot
        config = config.model_copy(update={"run": config.run.model_copy(update={"workers": 1})})
    if resolved.origin("base_url") in (FLAG, ARGUMENT) and any(map(is_local, what.models)):
        reason = f"{', '.join(filter(is_local, what.models))} is a file on this machine, which pddlego serves itself."
        raise UsageError("--base-url has no effect here", reason, "Leave it out, or name a model of that server.")
    _check_run(resolved)
    modes = ablated(what.modes or _first_modes(what.games), what.ablate)
    _check_modes(config, modes, has_person)
    played = _played(config, modes)
    matrix = Matrix(
        {name: parse_seeds(what.seeds, use.setting) for (name, _), use in played.items()},
        modes,
        what.models,
        what.repeats,
        without_model=_without_model(modes),
    )
    check_effects(resolved, matrix, counts_all=has_person)
    prepare_cache(config.endpoint.cache)
    setup = Setup(
        config,
        matrix,
        played,
        limits=Limits(None, seconds=config.limits.max_seconds),
        access=Access(os.environ.get("OPENAI_API_KEY")),
        own_models=own_models or {},
    )
    return _with_budget(setup, sends)


def make_continuing_setup(continued: Mapping[Cell, Continuation], config: Config, access: Access) -> Setup:
    """The setup of an evaluation that continues recorded episodes, each as the episode of a cell.

    Raises `UsageError` for a model that cannot be created, or that lacks a needed price.
    """
    cells, modes = tuple(continued), dict.fromkeys(cell.mode for cell in continued)
    settings = dict.fromkeys(cell.setting for cell in cells)
    prepare_cache(config.endpoint.cache)
    setup = Setup(
        config,
        Matrix(
            {name: tuple(dict.fromkeys(cell.seed for cell in cells if cell.setting == name)) for name in settings},
            tuple(modes),
            tuple(dict.fromkeys(cell.model for cell in cells)),
            max(cell.repeat for cell in cells),
            without_model=_without_model(modes),
        ),
        {(cell.setting, cell.mode): continuation.played for cell, continuation in continued.items()},
        limits=continued[cells[0]].limits,
        access=access,
        continued=continued,
    )
    return _with_budget(setup)


def _without_model(modes: Iterable[str]) -> tuple[str, ...]:
    return tuple(mode for mode in modes if not parse_mode(mode).mode.asks_model)


def _with_budget(setup: Setup, sends: bool = True) -> Setup:
    """The setup with its budget, prices and number of planners.

    To check options early, creates a model of each configuration; only models without endpoint unless the setup
    `sends` requests. Raises `UsageError`.
    """
    for (name, mode), use in setup.played.items():
        for search in use.method.searches(use.setting, mode):
            check_search(setup.config.planner.engine, search, f"{name} in mode {mode}")
    run = setup.config.run
    samples = list({cell.configuration: cell for cell in reversed(setup.cells())}.values())
    budget, prices = make_budget(setup.config.limits, [cell.model for cell in samples if not is_free(cell)])
    # A planner that waits for an answer uses no CPU, so there may be more planners than CPUs.
    waits = any(parse_mode(cell.mode).mode.advises and not is_free(cell) for cell in samples)
    planners = run.workers if waits else max(1, min(run.workers, os.cpu_count() or 1))
    setup = replace(setup, budget=budget, prices=prices, planners=planners)
    for cell in samples:
        if sends or is_free(cell):
            make_cell_model(cell, setup)
    return setup


def _first_modes(games: Iterable[str]) -> tuple[str, ...]:
    """The common default mode of the games. Raises `UsageError` if their default modes differ."""
    modes = {game: first_mode(game) for game in games}
    if len(set(modes.values())) > 1:
        reason = ", ".join(f"{game}: {mode}" for game, mode in modes.items())
        raise UsageError("These games have no common default mode", f"{reason}.", "Choose modes with --modes.")
    return tuple(dict.fromkeys(modes.values()))


def _check_run(resolved: Resolved) -> None:
    """Raise `UsageError` for an executor or number of workers that other options exclude."""
    run = resolved.config.run
    if run.address is not None and run.executor != "ray":
        reason = f"Episodes are played in {run.executor}, on this machine."
        raise UsageError("--address needs --executor ray", reason, "Add it, or leave the address out.")
    several = resolved.origin("workers") != DEFAULT and run.workers > 1
    if run.carry and (several or run.executor != "threads"):
        reason = "Each episode begins with what the one before it has left, so they are played one after another."
        raise UsageError("--carry plays with one worker, here", reason, "Leave --workers and --executor out.")


def _check_modes(config: Config, modes: tuple[str, ...], has_person: bool) -> None:
    chosen = [parse_mode(mode).mode for mode in modes]
    for mode in chosen:
        if mode.needs_person and not has_person:
            reason = f"Mode {mode.name} needs a person at a terminal."
            raise UsageError(f"modes = {mode.name} is not possible", reason, "Use 'pddlego play'.")
    if config.what.ablate and not any(mode.parts for mode in chosen):
        reason = f"The modes are {', '.join(modes)}, and they have no parts to take out."
        raise UsageError("There is nothing to ablate", reason, "Leave --ablate out, or add such a mode.")


def _played(config: Config, modes: tuple[str, ...]) -> Mapping[tuple[str, str], SettingUse]:
    """The use of each setting in each mode."""
    overrides = parse_overrides(config.what.set)
    loaded: dict[tuple[str, str], SettingUse] = {}
    played: dict[tuple[str, str], SettingUse] = {}
    for name in config.what.games:
        for mode in modes:
            method = method_of(name, mode)
            if (name, method.name) not in loaded:
                options = with_overrides(method.name, config.methods[method.name], overrides)
                options = options.model_copy(update=dict.fromkeys(_carried(method, modes), config.run.from_))
                loaded[name, method.name] = SettingUse(method.name, options, method.load(name, options))
            played[name, mode] = loaded[name, method.name]
            played[name, mode].setting.check_mode(parse_mode(mode))
    return played


def _carried(method: Method, modes: Iterable[str]) -> set[str]:
    """The options of a method that name the text from which these modes begin."""
    chosen = {parse_mode(mode).mode.name for mode in modes}
    return {mode.carries.option for mode in method.modes if mode.carries.kind and mode.name in chosen}
