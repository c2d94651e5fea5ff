"""Who is asked by a planner that asks. A value only: what asks is in `advice`."""

from __future__ import annotations

from dataclasses import dataclass

from pddlego.models.base import Model
from pddlego.planning.graphplan.values import Purpose


@dataclass(frozen=True)
class Advisers:
    """Who is asked which actions to keep, and in which order to try them; None: nobody."""

    prune: Model | None = None
    sort: Model | None = None

    def of(self, purpose: Purpose) -> Model | None:
        return self.prune if purpose == "prune" else self.sort
