"""How an episode ends whose score is the share of evaluation tasks that were solved."""

from __future__ import annotations

from pddlego.events import Outcome
from pddlego.refine.usage import Meter, OverError


def judged_by(meter: Meter, total: int) -> OverError:
    """The end, to be raised: won if all of the `total` tasks were solved."""
    solved = round(meter.score * total)
    outcome = Outcome.WON if solved == total else Outcome.LOST
    return OverError(outcome, f"{solved} of {total} evaluation tasks solved")
