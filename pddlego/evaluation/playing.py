"""Plays a cell of an evaluation with a new model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from pddlego.episode.approval import Approver
from pddlego.evaluation.models import make_model
from pddlego.evaluation.setup import Setup
from pddlego.methods.base import Tools
from pddlego.models.base import Model
from pddlego.models.limiter import CellLimiter, RequestLimiter, SharedLimiter
from pddlego.planning import Planner
from pddlego.runs.cells import Cell
from pddlego.runs.journal import Timed

Person = Callable[[tuple[str, ...]], str]
"""A function that asks a person for one of the valid commands."""


def make_cell_model(cell: Cell, setup: Setup, limiter: RequestLimiter | None = None) -> Model:
    """The model of a cell. Raises `UsageError` for a model that cannot be created or cannot play the cell."""
    own = setup.own_models.get(cell.model)
    if own is not None:
        return replace(own, limiter=limiter)
    return make_model(cell, setup.played_in(cell).setting, setup.config.endpoint, setup.access, limiter)


def play(
    cell: Cell,
    setup: Setup,
    planner: Planner,
    limiter: RequestLimiter,
    *,
    approver: Approver | None = None,
    person: Person | None = None,
    carried: str | None = None,
) -> Timed:
    """Play a cell with a new model.

    `approver` approves actions, `person` types commands in modes that need it, and `carried` is the text of an earlier
    episode, empty in the first; None if none is handed on. Raises `PddlegoError` for errors before the first event.
    """
    continuation = setup.continued.get(cell)
    own_limiter = CellLimiter(limiter, cell.label) if isinstance(limiter, SharedLimiter) else limiter
    tools = Tools(
        model=make_cell_model(cell, setup, own_limiter),
        planner=planner,
        limits=continuation.limits if continuation else setup.limits,
        retries=setup.config.limits.retries,
        approver=approver,
        person=person,
        first_text=carried or "",
        hands_on=carried is not None,
        restart=continuation.restart if continuation else None,
    )
    return setup.played_in(cell).play(cell, tools)
