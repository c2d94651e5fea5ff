"""Executes plans of tasks with time, moment by moment."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction

from pddlego.errors import TooManyCasesError
from pddlego.pddl import Domain
from pddlego.pddl.conditions import Renaming
from pddlego.pddl.domain import at_time
from pddlego.pddl.numbers import duration_bounds
from pddlego.planning.moments import Happening
from pddlego.planning.numbers import COMPARISONS, shown
from pddlego.planning.result import Plan, PlanStep
from pddlego.planning.state import Execution
from pddlego.planning.trajectories import Monitor
from pddlego.planning.validation.advice import advice_with_val
from pddlego.planning.validation.constraints import broken_constraint
from pddlego.planning.validation.fault import FaultKind, PlanFault
from pddlego.planning.validation.interference import interference
from pddlego.planning.validation.sequential import advance, wrong_call, wrong_state
from pddlego.planning.world import World

_TOLERANCE = Fraction(1, 1000)
"""How far a duration may be from its bounds: planners print rounded durations."""


_BOUNDS = {"=": "", "<=": "at most ", ">=": "at least "}


class TimedExecution:
    """Executes a plan of a task with time, moment by moment. `world` has the events of the plan as actions."""

    def __init__(self, world: World, domain: Domain, plan: Plan, execution: Execution, monitor: Monitor) -> None:
        self.world, self.plan, self.execution, self.state = world, plan, execution, execution.state
        self.monitor = monitor
        self.timed = plan.timed
        self.schemas = {action.name: action for action in domain.schemas}
        self.durative = {action.name: action for action in domain.durative}

    def faults(self, happening: Iterable[tuple[Fraction, list[Happening]]]) -> Iterator[PlanFault]:
        """The faults of the first moment that has any, the first one first."""
        running: dict[int, PlanStep] = {}
        for time, events in happening:
            try:
                self.world.work.renew()
                for event in events:
                    yield from self._before(event, time)
                yield from self._clash(events, time)
                advance(self.world, [event.step for event in events], self.execution)
                running |= {event.number: event.step for event in events if event.time == "start"}
                for event in events:
                    if event.time == "end":
                        del running[event.number]
                for number, start in running.items():
                    self.world.work.renew()
                    yield from self._after(number, start, time)
                last = next((event for event in reversed(events) if event.of), events[-1])
                if broken := broken_constraint(
                    self.monitor, self.state, time, last.of, last.number if last.of else None
                ):
                    yield broken
            except TooManyCasesError as error:
                what = f"{error.part or f'what happens at {shown(time)}'} {error.excess}"
                yield PlanFault(FaultKind.TOO_LARGE, what, time=events[-1].number, step=events[-1].of)

    def unexecutable(self) -> PlanFault | None:
        """The first fault of a step that is one in every state: its words, its time or its duration."""
        advice = "(Write TIME: (action object …) [DURATION])"
        plan = self.plan
        for number, step in enumerate(plan.steps):
            if fault := wrong_call(self.world, self.schemas, step, number):
                return fault
            if not plan.times or not plan.durations:
                what = f"{step} has no time"
            elif plan.durations[number] is None and step.action in self.durative:
                what = f"{step} has no duration"
            elif min(plan.times[number], plan.durations[number] or 0) < 0:
                what = f"{step} has a negative time or duration"
            else:
                continue
            return PlanFault(FaultKind.TIME, what, advice, advice, number, step)
        return None

    def _before(self, event: Happening, time: Fraction) -> Iterator[PlanFault]:
        """The fault of a start, an end or an instantaneous step in the state before it."""
        if event.of is None:
            return
        when = f" at its {event.time}, at {shown(time)}" if event.time else f" at {shown(time)}"
        fault = wrong_state(self.world, event.step, self.state, event.of, event.number, when)
        if fault is not None:
            yield fault
        elif event.time == "start":
            yield from self._durations(event, event.of)

    def _durations(self, event: Happening, step: PlanStep) -> Iterator[PlanFault]:
        """The faults of the duration of a step that starts."""
        lasts, binding = Fraction(event.step.args[-1]), self.world.binding(event.step)
        for sign, bound in duration_bounds(self.durative[step.action].duration):
            term = Renaming(binding).term(bound)
            value = self.world.value(term, self.state, {})
            if value is None:
                what, remedy = f"{step} has no duration: {term} has no value", f"(Give {term} a value first)"
            elif COMPARISONS[sign](lasts, value) or abs(lasts - value) <= _TOLERANCE:
                continue
            else:
                amount = f"{_BOUNDS[sign]}{'' if term.parts is None else f'{term} = '}{shown(value)}"
                what = f"{step} lasts {shown(lasts)}, and its duration is {amount}"
                remedy = f"(Write [{shown(Fraction(round(value * 1000), 1000))}])"
            yield PlanFault(FaultKind.TIME, what, remedy, remedy, event.number, step)

    def _clash(self, events: Sequence[Happening], time: Fraction) -> Iterator[PlanFault]:
        """The fault of two events of a moment that interfere."""
        pair = interference(self.world, [event.step for event in events], self.state) if len(events) > 1 else None
        if pair is not None:
            one, other = (events[number] for number in pair[:2])
            what = f"{other.of} interferes with {one.of or 'a timed literal'}, also at {shown(time)}"
            advice = ("(Give them different times)",) * 2
            yield PlanFault(FaultKind.INTERFERENCE, f"{what}: both concern {pair[2]}", *advice, other.number, other.of)

    def _after(self, number: int, start: PlanStep, time: Fraction) -> Iterator[PlanFault]:
        """The fault of a condition over all of a step that is false after a moment."""
        timed, binding = self.timed[number], self.world.binding(start)
        condition = at_time(self.durative[timed.step.action].precondition, "all")
        if not self.world.holds(condition, self.state, binding):
            period = f"from {shown(Fraction(timed.start))} to {shown(timed.end)}"
            what = f"{timed.step} needs a condition {period} that is false after {shown(time)}"
            missing = advice_with_val(self.world, condition, self.state, binding)
            yield PlanFault(FaultKind.PRECONDITION, what, *missing, number, timed.step)
