"""The faults of plans that break constraints."""

from __future__ import annotations

from fractions import Fraction

from pddlego.planning.numbers import shown
from pddlego.planning.result import PlanStep
from pddlego.planning.state import State
from pddlego.planning.trajectories import Monitor
from pddlego.planning.validation.fault import FaultKind, PlanFault

_ADVICE = ("(Choose other steps)",) * 2


def broken_constraint(
    monitor: Monitor, state: State, time: Fraction, step: PlanStep | None = None, number: int | None = None
) -> PlanFault | None:
    """Take the state at a time, after the step with that number if any; return the fault if it breaks a constraint.

    Raises `TooManyCasesError`.
    """
    broken = monitor.observe(state, time)
    if broken is None:
        return None
    after = f"after {step} at {shown(time)}" if step else f"at {shown(time)}" if time else "in the initial state"
    what = f"The constraint {broken} is broken {after}"
    return PlanFault(FaultKind.CONSTRAINT, what, *_ADVICE, time=number, step=step)


def unsatisfied_constraint(monitor: Monitor) -> PlanFault | None:
    """The fault of a plan at whose end a constraint is not satisfied."""
    faults = (f"The constraint {constraint} is not satisfied at the end" for constraint in monitor.unsatisfied())
    return next((PlanFault(FaultKind.CONSTRAINT, fault, *_ADVICE) for fault in faults), None)
