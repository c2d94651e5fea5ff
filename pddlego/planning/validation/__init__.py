"""Executes a plan on a problem, step by step, independently of the engine that found it."""

from __future__ import annotations

from fractions import Fraction

from pddlego.errors import TooManyCasesError
from pddlego.pddl import Domain, Formula, Problem
from pddlego.pddl.costs import needs_time
from pddlego.planning.moments import moments, with_events
from pddlego.planning.result import Plan
from pddlego.planning.state import Execution, State
from pddlego.planning.trajectories import Monitor, instances, preference_instances
from pddlego.planning.unconstrained import constraints_of
from pddlego.planning.validation.advice import advice_with_val
from pddlego.planning.validation.constraints import broken_constraint, unsatisfied_constraint
from pddlego.planning.validation.fault import FaultKind, PlanFault
from pddlego.planning.validation.sequential import executed_plan
from pddlego.planning.validation.timed import TimedExecution
from pddlego.planning.world import World
from pddlego.util.limits import Work


def validate(domain: Domain, problem: Problem, plan: Plan, work: Work | None = None) -> PlanFault | None:
    """Execute a plan and return its first fault; None if it works, reaches the goal and keeps the constraints.

    Total for problems without blocking defects (see `check`). A plan that takes more than `work` to execute has a fault
    of the kind `TOO_LARGE`.
    """
    return followed(domain, problem, plan, work)[0]


def followed(
    domain: Domain, problem: Problem, plan: Plan, work: Work | None = None
) -> tuple[PlanFault | None, Monitor]:
    """The first fault of a plan, as `validate` returns it, and what has followed its states."""
    timed = needs_time(domain, problem) is not None
    world = World(with_events(domain, problem) if timed else domain, problem, work)
    execution = Execution(world.initial)
    try:
        preferences = preference_instances(world, problem.preferences)
        monitor = Monitor(world, instances(world, constraints_of(domain, problem)), preferences)
        fault = broken_constraint(monitor, execution.state, Fraction(0))
    except TooManyCasesError as error:
        return PlanFault(FaultKind.TOO_LARGE, f"{error.part or 'the constraints'} {error.excess}"), Monitor(world, ())
    if timed:
        run = TimedExecution(world, domain, plan, execution, monitor)
        fault = fault or run.unexecutable() or next(run.faults(moments(domain, problem, plan)), None)
    else:
        fault = fault or executed_plan(world, plan, execution, monitor)
    return fault or _unreached(world, problem.goal, execution.state) or unsatisfied_constraint(monitor), monitor


def _unreached(world: World, goal: Formula, state: State) -> PlanFault | None:
    """The fault of a plan that ends in a state in which the goal is false."""
    try:
        world.work.renew()
        if world.holds(goal, state, {}):
            return None
    except TooManyCasesError as error:
        return PlanFault(FaultKind.TOO_LARGE, f"{error.part or 'the goal'} {error.excess}")
    return PlanFault(FaultKind.GOAL, "The goal is not satisfied", *advice_with_val(world, goal, state, {}))


def goal_holds(domain: Domain, problem: Problem, work: Work | None = None) -> bool:
    """Whether the goal is true in the initial state. Raises `TooManyCasesError` if that takes more than `work`."""
    world = World(domain, problem, work)
    return world.holds(problem.goal, world.initial, {})


def speaks_of_nothing(domain: Domain, problem: Problem, work: Work | None = None) -> bool:
    """Whether the goal is true only because no object is of a type that it quantifies over.

    Raises `TooManyCasesError` if that takes more than `work`.
    """
    world = World(domain, problem, work)
    return world.is_vacuous(problem.goal, world.initial, {})
