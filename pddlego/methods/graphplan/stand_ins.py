"""Who plays without a language model: see `refine.advisers`."""

from __future__ import annotations

from pddlego.methods.base import Setting
from pddlego.refine.advisers import Adviser, make_adviser
from pddlego.runs.cells import Cell


def stand_in(name: str, cell: Cell, setting: Setting | None) -> Adviser | None:
    """The adviser of that name; None for a language model's. Raises `UsageError` for one that is written wrongly."""
    return make_adviser(name, f"{cell.setting}/{cell.model_seed}")
