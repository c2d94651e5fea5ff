"""Which preferences a plan violates, and what that adds to the value of the metric."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from pddlego.pddl import Problem
from pddlego.pddl.costs import penalties
from pddlego.planning.trajectories import Monitor
from pddlego.planning.validation.cost import as_number


@dataclass(frozen=True)
class PreferenceVerdict:
    """How many of the `instances` of the preferences with a name a plan violates, and what that adds to the metric.

    The name is empty for those without one, which add nothing. The `cost` is part of the value of the metric: less is
    better if the metric is minimized, and worse if it is maximized.
    """

    name: str
    violated: int
    instances: int
    cost: int | float

    def __str__(self) -> str:
        how = "violated" if self.instances == 1 else f"{self.violated} of {self.instances} violated"
        verdict = f"{how} (cost {self.cost})" if self.violated else "kept"
        return f"preference {self.name or 'without a name'}: {verdict}"


def preference_verdicts(problem: Problem, monitor: Monitor) -> tuple[PreferenceVerdict, ...]:
    """The verdicts after the states that a monitor has followed."""
    sign = -1 if problem.metric is not None and problem.metric.direction == "maximize" else 1
    costs = {name: sign * cost for name, cost in penalties(problem).items()}
    return tuple(
        PreferenceVerdict(name, sum(those), len(those), as_number(costs.get(name, Fraction(0)) * sum(those)))
        for name, those in monitor.violations().items()
    )
