"""From a configuration to what is evaluated: settings, models and prices that exist and fit."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from pddlego.errors import UsageError
from pddlego.evaluation.config import EvalConfig, Resolved, with_overrides
from pddlego.evaluation.matrix import parse_seeds
from pddlego.evaluation.models import is_free, is_free_adviser, make_adviser_model, make_model
from pddlego.evaluation.options import EvaluationOptions, Played
from pddlego.evaluation.prices import check_prices, read_prices
from pddlego.events import Limits
from pddlego.methods.base import Mode
from pddlego.methods.registry import ablated, method_of, parse_mode
from pddlego.methods.setting_files import parse_overrides
from pddlego.models.endpoint import ModelOptions, parse_extra_body, prepare_cache
from pddlego.models.spending import Spending
from pddlego.planning.make import PlannerOptions
from pddlego.runs.cells import NO_MODEL, Cell, Matrix


def make_options(resolved: Resolved, sends: bool = True, somebody_types: bool = False) -> EvaluationOptions:
    """The evaluation that a configuration means. Raises `UsageError` for whatever does not exist or does not fit.

    One that `sends` nothing, because it is only planned, needs no key. Modes that need a person are refused unless
    `somebody_types`.
    """
    config = resolved.config
    _check_executor(resolved)
    modes = ablated(config.modes, config.ablate)
    _check_modes(config, modes, somebody_types)
    played = _played(config, modes, resolved)
    _check_flags(resolved, played)
    key = os.environ.get("OPENAI_API_KEY")
    model = ModelOptions(
        base_url=config.base_url,
        api_key=key,
        temperature=config.temperature,
        reasoning_effort=config.reasoning_effort,
        extra_body=parse_extra_body(config.extra_body),
        stream=config.stream,
        timeout=config.model_timeout,
        max_tokens=config.max_answer_tokens,
        cache=config.cache,
    )
    prepare_cache(config.cache)
    prices = read_prices(Path(config.prices) if config.prices else None)
    without_model = tuple(mode for mode in modes if not parse_mode(mode).mode.asks_model)
    seeds: dict[str, tuple[int, ...]] = {}
    for (name, _), each in played.items():
        seeds[name] = parse_seeds(config.seeds, each.setting)
    matrix = Matrix(seeds, modes, config.models, config.repeats, without_model)
    _check_models(matrix, played, model, sends)
    planner = _planner(config, [parse_mode(mode).mode for mode in modes], model, sends)
    waits = any(not is_free_adviser(name) for name in planner.advisers)
    waits = waits or any(parse_mode(cell.mode).mode.advises and not is_free(cell) for cell in _samples(matrix))
    if config.max_cost is not None:
        samples = _samples(matrix)
        paid = {name: any(not is_free(cell) for cell in samples if cell.model == name) for name in matrix.models}
        paid |= {name: True for name in planner.advisers if not is_free_adviser(name)}
        check_prices(paid, prices)
    return EvaluationOptions(
        matrix=matrix,
        played=played,
        model=model,
        planner=planner,
        limits=Limits(None, seconds=config.max_seconds),
        retries=config.retries,
        workers=1 if config.carry else config.workers,
        llm_jobs=config.llm_jobs,
        # One that waits for an answer works no more than an idle one.
        planners=config.workers if waits else max(1, min(config.workers, os.cpu_count() or 1)),
        budget=Spending(config.max_calls, config.max_tokens, config.max_cost),
        prices=prices,
        executor=config.executor,
        carry=config.carry,
        address=config.address,
    )


def _check_executor(resolved: Resolved) -> None:
    """Raises `UsageError` for a place to play that does not fit, or would let episodes miss what others leave."""
    config = resolved.config
    if config.address is not None and config.executor != "ray":
        why = f"Episodes are played in {config.executor}, on this machine."
        raise UsageError("--address needs --executor ray", why, "Add it, or leave the address out.")
    several = resolved.origins["workers"] != "default" and config.workers > 1
    if config.carry and (several or config.executor != "threads"):
        why = "Each episode begins with what the one before it has left, so they are played one after another."
        raise UsageError("--carry plays with one worker, here", why, "Leave --workers and --executor out.")


def _planner(config: EvalConfig, modes: Sequence[Mode], model: ModelOptions, sends: bool) -> PlannerOptions:
    """The planner. Raises `UsageError` for options that only graphplan has, and for advisers that cannot be asked."""
    advised = any(mode.advises for mode in modes)
    plays = config.planner == "graphplan" or advised
    given = {"prune": config.prune, "sort": config.sort, "levels": config.levels, "kappa": config.kappa}
    for flag, value in given.items():
        if value not in (None, EvalConfig.model_fields[flag].default) and not plays:
            why = f"The planner is {config.planner}, and only graphplan has levels to prune and to sort."
            raise UsageError(f"--{flag} is not possible", why, "Add --planner graphplan, or leave it out.")
    if advised and (config.prune or config.sort):
        why = "In a mode whose model advises the planner, that model is asked."
        raise UsageError("--prune and --sort are not possible", why, "Name it with --model; -no-prune is without.")
    if config.kappa != EvalConfig.model_fields["kappa"].default and not (advised or config.prune):
        raise UsageError("--kappa changes nothing", "Nobody is asked what to prune.", "Add --prune, or leave it out.")
    options = PlannerOptions(
        config.planner,
        config.planner_timeout,
        config.planner_memory,
        prune=config.prune,
        sort=config.sort,
        kappas=config.kappa,
        levels=config.levels,
    )
    for name in options.advisers:
        if sends or is_free_adviser(name):
            make_adviser_model(name, Cell(config.games[0], "graphplan", name, 0), model)
    return options


def _check_modes(config: EvalConfig, modes: tuple[str, ...], somebody_types: bool) -> None:
    chosen = [parse_mode(mode).mode for mode in modes]
    for mode in chosen:
        if mode.needs_person and not somebody_types:
            why = f"Nobody is there to play in mode {mode.name}."
            raise UsageError(f"modes = {mode.name} is not possible", why, "Use 'pddlego play'.")
    if config.ablate and not any(mode.parts for mode in chosen):
        why = f"The modes are {', '.join(modes)}, and they have no parts to take out."
        raise UsageError("There is nothing to ablate", why, "Leave --ablate out, or add such a mode.")


def _check_flags(resolved: Resolved, played: Mapping[tuple[str, str], Played]) -> None:
    """Raises `UsageError` for a flag that nobody who plays has an option for: it would change nothing."""
    known = {name for each in played.values() for name in type(each.options).model_fields}
    known |= set(EvalConfig.model_fields) | {"java"}
    for name, origin in resolved.origins.items():
        if origin == "flag" and name not in known:
            who = ", ".join(sorted({each.method_name for each in played.values()}))
            flag = f"--{name.replace('_', '-')}"
            raise UsageError(f"{flag} is no option of what is played", f"It is played by: {who}.", "Leave it out.")


def _played(config: EvalConfig, modes: tuple[str, ...], resolved: Resolved) -> Mapping[tuple[str, str], Played]:
    """Who plays each setting in each mode."""
    overrides = parse_overrides(config.set)
    loaded: dict[tuple[str, str], Played] = {}
    found: dict[tuple[str, str], Played] = {}
    for name in config.games:
        for mode in modes:
            method = method_of(name, mode)
            if (name, method.name) not in loaded:
                options = with_overrides(method.name, resolved.options[method.name], overrides)
                loaded[name, method.name] = Played(method.name, options, method.load(name, options))
            found[name, mode] = loaded[name, method.name]
            found[name, mode].setting.check_parts(parse_mode(mode).without)
    return found


def _samples(matrix: Matrix) -> list[Cell]:
    """A cell for each configuration."""
    return list({cell.configuration: cell for cell in reversed(matrix.cells())}.values())


def _check_models(matrix: Matrix, played: Mapping[tuple[str, str], Played], options: ModelOptions, sends: bool) -> None:
    """Make every model once. Raises `UsageError` for one that cannot be made or cannot play what it should."""
    for cell in _samples(matrix):
        if cell.model == NO_MODEL or not (sends or is_free(cell) or cell.model.startswith("reader+")):
            continue
        each = played[cell.setting, cell.mode]
        make_model(cell, each.method, each.setting, options)
