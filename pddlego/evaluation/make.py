"""From a configuration to what is evaluated: settings, models and prices that exist and fit."""

from __future__ import annotations

import itertools
import os
from dataclasses import replace
from pathlib import Path

from pddlego.episodes import check_reader
from pddlego.errors import UsageError
from pddlego.evaluation.cells import parse_seeds
from pddlego.evaluation.config import EvalConfig
from pddlego.evaluation.options import EvaluationOptions
from pddlego.evaluation.prices import check_prices, read_prices
from pddlego.models.gate import Spending
from pddlego.models.make import ModelOptions, is_free, make_model, prepare_cache
from pddlego.models.reader import ReaderModel
from pddlego.modes import PLANNING, ablated, parse_mode
from pddlego.setting_files import load_setting, parse_overrides


def make_options(config: EvalConfig, sends: bool = True) -> EvaluationOptions:
    """The evaluation that a configuration means. Raises `UsageError` for whatever does not exist or does not fit.

    One that `sends` nothing, because it is only planned, needs no key.
    """
    if config.address is not None and config.engine != "ray":
        why = f"The engine is {config.engine}, which plays on this machine."
        raise UsageError("--address needs --engine ray", why, "Add it, or leave the address out.")
    overrides = parse_overrides(config.set)
    names = config.games
    settings = tuple(load_setting(name, overrides, config.max_steps, config.fold, config.search) for name in names)
    key = os.environ.get("OPENAI_API_KEY")
    model = ModelOptions(
        base_url=config.base_url,
        api_key=key,
        temperature=config.temperature,
        timeout=config.model_timeout,
        max_tokens=config.max_answer_tokens,
        cache=config.cache,
    )
    prepare_cache(config.cache)
    prices = read_prices(Path(config.prices) if config.prices else None)
    modes = ablated(config.modes, config.ablate)
    if config.ablate and not any(parse_mode(each).plans for each in modes):
        why = f"It concerns {' and '.join(PLANNING)}, and the modes are {', '.join(modes)}."
        raise UsageError("There is nothing to ablate", why, "Leave --ablate out, or add such a mode.")
    for name in config.models:
        if not sends and not is_free(name) and not name.startswith("reader+"):
            continue
        if isinstance(make_model(replace(model, name=name)), ReaderModel):
            for setting, mode in itertools.product(settings, modes):
                if mode != "random":
                    check_reader(setting, mode)
    if config.max_cost is not None:
        check_prices({name: not is_free(name) for name in config.models}, prices)
    return EvaluationOptions(
        settings=settings,
        modes=modes,
        models=config.models,
        seeds={each.name: parse_seeds(config.seeds, each) for each in settings},
        repeats=config.repeats,
        workers=config.workers,
        llm_jobs=config.llm_jobs,
        planners=max(1, min(config.workers, os.cpu_count() or 1)),
        planner=config.planner,
        planner_timeout=config.planner_timeout,
        planner_memory=config.planner_memory,
        retries=config.retries,
        replan_every_step=config.replan == "every-step",
        model=model,
        limits=Spending(config.max_calls, config.max_tokens, config.max_cost),
        prices=prices,
        java=config.java,
        engine=config.engine,
        address=config.address,
        max_seconds=config.max_seconds,
    )
