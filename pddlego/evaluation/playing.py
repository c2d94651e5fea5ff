"""Plays one cell: makes its model, and what it shares with other cells, planners and the limiter."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from pddlego.episode.approval import Approver
from pddlego.episode.events import Event
from pddlego.evaluation.setup import Setup, make_cell_model
from pddlego.methods.base import Tools
from pddlego.models.limiter import CellLimiter, Ledger, Price, RequestLimiter, SharedLimiter
from pddlego.planning import Planner
from pddlego.planning.process import PlannerPool
from pddlego.runs.cells import Cell

Person = Callable[[tuple[str, ...]], str]
"""Types what comes next, given what is possible."""


def make_planners(setup: Setup) -> PlannerPool:
    """The planners of an evaluation, tried out on the ladder of every setting. Raises `UsageError`, `SettingError`."""
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
    """The limiter of all requests of an evaluation."""
    most = setup.config.endpoint.max_tokens
    return SharedLimiter(setup.config.run.llm_jobs, setup.budget, ledger, prices, max_answer=most)


def play(
    cell: Cell,
    setup: Setup,
    planner: Planner,
    limiter: RequestLimiter,
    *,
    approver: Approver | None = None,
    person: Person | None = None,
    carried: str = "",
) -> Iterator[Event]:
    """Play a cell, with a model of its own; planners and limiter are shared by all.

    `approver` is asked before things take effect, `person` types where the mode needs one, and `carried` is the domain
    that an earlier episode has left. Raises `PddlegoError` for what goes wrong before the first event.
    """
    played = setup.played_in(cell)
    tools = make_tools(cell, setup, planner, limiter, approver=approver, person=person, carried=carried)
    return played.method.run(cell, played.setting, played.options, tools)


def make_tools(cell: Cell, setup: Setup, planner: Planner, limiter: RequestLimiter, **others: Any) -> Tools:
    """What a method may use to play a cell; `others` are further fields of `Tools`."""
    own = CellLimiter(limiter, cell.label) if isinstance(limiter, SharedLimiter) else limiter
    model = make_cell_model(cell, setup, own)
    return Tools(model, planner, setup.limits, setup.config.limits.retries, **others)
