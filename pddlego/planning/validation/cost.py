"""The cost of a plan that works."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

from pddlego.pddl import Domain, Problem
from pddlego.pddl.conditions import Term
from pddlego.pddl.costs import needs_time, penalties
from pddlego.pddl.numbers import IS_VIOLATED, TOTAL_TIME
from pddlego.pddl.problem import Metric
from pddlego.planning.moments import moments, with_events
from pddlego.planning.numbers import HugeNumberError
from pddlego.planning.result import Plan, PlanStep
from pddlego.planning.state import Execution
from pddlego.planning.trajectories import Monitor
from pddlego.planning.validation import followed
from pddlego.planning.validation.sequential import advance, steps_by_time
from pddlego.planning.world import World
from pddlego.util.limits import Work


def plan_cost(domain: Domain, problem: Problem, plan: Plan) -> float | None:
    """Return the cost of a plan that works: the value of the metric at its end, else its makespan or its length.

    None if the metric has no value. In a classical task only action costs count, and only if they are minimized.
    """
    timed = needs_time(domain, problem) is not None
    # The plan was executed before, within its limits.
    world = World(with_events(domain, problem) if timed else domain, problem, Work())
    if world.is_numeric and problem.metric is not None:
        happening = ([event.step for event in events] for _, events in moments(domain, problem, plan))
        duration = plan.makespan if timed else Fraction(len(set(plan.times)) if plan.times else len(plan))
        numbers = {TOTAL_TIME: duration}
        if problem.preferences:
            numbers |= violated_instances(problem, followed(domain, problem, plan, Work())[1])
        cost = _metric(world, problem.metric, happening if timed else steps_by_time(plan), numbers)
    elif timed:
        cost = plan.makespan
    else:
        cost = sum((world.cost(step) for step in plan.steps), Fraction(0))
    return None if cost is None else as_number(cost)


def violated_instances(problem: Problem, monitor: Monitor) -> dict[Term, Fraction]:
    """How many instances of each preference in the metric are violated after the states that a monitor has followed."""
    violations = monitor.violations()
    numbers = {name: Fraction(sum(violations.get(name, ()))) for name in penalties(problem)}
    return {Term(IS_VIOLATED, (Term(name),)): number for name, number in numbers.items()}


def as_number(cost: Fraction) -> float:
    """A cost as a whole number, or as a rounded one."""
    if cost.denominator == 1:
        return int(cost)
    return float(cost) if abs(cost) < sys.float_info.max else round(cost)


def _metric(
    world: World, metric: Metric, happening: Iterable[Sequence[PlanStep]], numbers: Mapping[Term, Fraction]
) -> Fraction | None:
    """Return the value of a metric after a plan that works; `numbers` are those that only a metric has."""
    execution = Execution(world.initial)
    for steps in happening:
        advance(world, steps, execution)
    execution.assign(numbers)
    try:
        return world.value(metric.term, execution.state, {})
    except HugeNumberError:
        return None
