"""Executes plans of tasks without time, and finds the fault of a step in a state."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from operator import itemgetter

from pddlego.errors import TooManyCasesError
from pddlego.pddl.domain import Action
from pddlego.planning.numbers import ImpossibleChangeError
from pddlego.planning.result import Plan, PlanStep
from pddlego.planning.state import Execution, State
from pddlego.planning.trajectories import Monitor
from pddlego.planning.validation.advice import advice_with_val
from pddlego.planning.validation.constraints import broken_constraint
from pddlego.planning.validation.fault import FaultKind, PlanFault
from pddlego.planning.validation.interference import interference
from pddlego.planning.world import World
from pddlego.util.text import nearest


def executed_plan(world: World, plan: Plan, execution: Execution, monitor: Monitor) -> PlanFault | None:
    """Execute a plan up to its first fault, which is returned."""
    first = 0
    for number, steps in enumerate(steps_by_time(plan), start=1):
        moment = Fraction(plan.times[first]) if plan.times else Fraction(number)
        fault = execute(world, steps, first, moment, execution, monitor)
        if fault is not None:
            return fault
        first += len(steps)
    return None


def execute(
    world: World, steps: Sequence[PlanStep], first: int, moment: Fraction, execution: Execution, monitor: Monitor
) -> PlanFault | None:
    """Execute steps that have the same time, unless one of them has a fault, which is returned.

    `moment` is the time of the state after them for constraints.
    """
    time, step, state = first, steps[0], execution.state
    try:
        world.work.renew()
        for time, step in enumerate(steps, start=first):
            fault = wrong_call(world, world.domain.actions_by_name, step, time)
            fault = fault or wrong_state(world, step, state, step, time)
            if fault is not None:
                return fault
        pair = interference(world, steps, state) if len(steps) > 1 else None
        if pair is not None:
            one, other, atom = pair
            step, time = steps[other], first + other
            what = f" interferes with {steps[one]}, which has the same time: both concern {atom}"
            advice = "(Give them different times)"
            return PlanFault(FaultKind.INTERFERENCE, what, advice, time=time, step=step, subject=str(step))
        advance(world, steps, execution)
        return broken_constraint(monitor, state, moment, step, time)
    except TooManyCasesError as error:
        what, subject = f"{error.part or ''} {error.excess}", "" if error.part else str(step)
        return PlanFault(FaultKind.TOO_LARGE, what, time=time, step=step, subject=subject)


def advance(world: World, steps: Sequence[PlanStep], execution: Execution) -> None:
    """Execute applicable steps that do not interfere, in any order. Raises `ImpossibleChangeError`."""
    changes = [world.changes(step, execution.state) for step in steps]
    execution.assign(world.new_numbers(steps, execution.state))
    for adds, deletes in changes:
        execution.change(adds, deletes)


def steps_by_time(plan: Plan) -> Iterator[list[PlanStep]]:
    """Yield the steps of a plan, those at the same time together."""
    times = plan.times or range(len(plan))
    for _, group in itertools.groupby(zip(times, plan.steps, strict=True), key=itemgetter(0)):
        yield [step for _, step in group]


def wrong_call(world: World, schemas: Mapping[str, Action], step: PlanStep, time: int) -> PlanFault | None:
    """Return the fault of a step that is one in every state: its action, its objects or their types."""

    def fault(kind: FaultKind, what: str) -> PlanFault:
        return PlanFault(kind, what, time=time, step=step, subject=str(step))

    action = schemas.get(step.action)
    if action is None:
        close = nearest(step.action, schemas)
        hint = f"did you mean {close}?" if close else f"the actions are {', '.join(sorted(schemas))}"
        return fault(FaultKind.ACTION, f" is not an action of the domain; {hint}")
    if len(action.parameters) != len(step.args):
        form = " ".join((action.name, *(parameter.name for parameter in action.parameters)))
        what = f" has {len(step.args)} argument(s), and its form is ({form})"
        return fault(FaultKind.ARITY, what)
    for parameter, arg in zip(action.parameters, step.args, strict=True):
        if arg not in world.types:
            return fault(FaultKind.OBJECT, f": unknown object {arg}")
        if not world.domain.is_a(world.types[arg], parameter.type):
            what = f": {arg} is a {world.types[arg]}, but {parameter.name} is a {parameter.type}"
            return fault(FaultKind.TYPE, what)
    return None


def wrong_state(
    world: World, step: PlanStep, state: State, named: PlanStep, time: int | None, when: str = ""
) -> PlanFault | None:
    """Return the fault of a step in a state: its precondition, its cost, or a number.

    Messages say `named` and `when`, or its index.
    """

    def fault(kind: FaultKind, what: str, remedy: tuple[str, str], subject: str = str(named)) -> PlanFault:
        if when:
            return PlanFault(kind, f"{subject}{when}{what}", *remedy, time, named)
        return PlanFault(kind, what, *remedy, time, named, subject)

    condition, binding = world.domain.actions_by_name[step.action].precondition, world.binding(step)
    if not world.holds(condition, state, binding):
        missing = advice_with_val(world, condition, state, binding)
        return fault(FaultKind.PRECONDITION, "", missing, f"{named} has an unsatisfied precondition")
    try:
        world.cost(step)
        world.new_numbers((step,), state)
    except KeyError as error:
        what = f" costs {error.args[0]}, which has no number in :init"
        return fault(FaultKind.COST, what, (f"(Add (= {error.args[0]} NUMBER) to :init)",) * 2)
    except ImpossibleChangeError as error:
        return fault(FaultKind.CHANGE, f": {error.what}", (error.advice,) * 2)
    return None
