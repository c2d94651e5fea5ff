"""What the episodes of an evaluation share: budget, prices, planners and limiter."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from pddlego.errors import UsageError
from pddlego.evaluation.config import LimitOptions
from pddlego.evaluation.setup import Setup
from pddlego.models.limiter import Ledger, Price, SharedLimiter, Spending
from pddlego.planning.process import PlannerPool
from pddlego.util.files import read_toml
from pddlego.util.text import fault_of


def read_prices(path: Path | None) -> dict[str, Price]:
    """The prices in a file, by model; none without a file. Raises `UsageError`."""
    if path is None:
        return {}
    try:
        return TypeAdapter(dict[str, Price]).validate_python(read_toml(path, "--prices"))
    except ValidationError as error:
        example = "Example: ['gpt-4o-mini'] tokens_in = 0.15, tokens_out = 0.60 (for a million tokens)."
        raise UsageError(f"{path} is not a price list", f"{fault_of(error.errors()[0])}.", example) from error


def make_budget(limits: LimitOptions, models: Iterable[str]) -> tuple[Spending, dict[str, Price]]:
    """The budget of all requests together, and the prices. Raises `UsageError` for a model without a needed price."""
    prices = read_prices(Path(limits.prices) if limits.prices else None)
    unknown = dict.fromkeys(model for model in models if model not in prices)
    if limits.max_cost is not None and unknown:
        reason = f"There is no price of {', '.join(unknown)}."
        advice = f"Add it to {limits.prices}." if limits.prices else "Name a price list with --prices FILE."
        raise UsageError("--max-cost requires the price of every model", reason, advice)
    return Spending(limits.max_calls, limits.max_tokens, limits.max_cost), prices


def make_planners(setup: Setup) -> PlannerPool:
    """Start the planners of an evaluation, and check that they can plan for every setting.

    Raises `UsageError` and `SettingError`.
    """
    made = [setup.config.planner.make() for _ in range(setup.planners)]
    pool = PlannerPool(made)
    try:
        for setting in setup.settings:
            setting.check(pool)
    except BaseException:
        pool.close()
        raise
    return pool


def make_limiter(setup: Setup, ledger: Ledger | None, prices: Mapping[str, Price]) -> SharedLimiter:
    """The limiter for all requests of an evaluation."""
    most = setup.config.endpoint.max_tokens
    return SharedLimiter(setup.config.run.llm_jobs, setup.budget, ledger, prices, max_answer=most)
