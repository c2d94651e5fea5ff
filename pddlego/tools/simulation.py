"""`simulate`, `applicable` and `Simulation`: the states of a problem."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

from pddlego.errors import PddlegoError, UsageError
from pddlego.pddl import Atom, PddlSyntaxError, Problem
from pddlego.pddl.conditions import Term
from pddlego.pddl.numbers import TOTAL_TIME
from pddlego.pddl.rules import Level
from pddlego.planning import PlanStep
from pddlego.planning import validate as validate_plan
from pddlego.planning.numbers import HugeNumberError, shown
from pddlego.planning.state import Execution, State
from pddlego.planning.trajectories import Monitor, preference_instances
from pddlego.planning.validation.cost import as_number, violated_instances
from pddlego.planning.validation.fault import FaultKind, PlanFault
from pddlego.planning.validation.preferences import PreferenceVerdict, preference_verdicts
from pddlego.planning.validation.sequential import execute
from pddlego.planning.world import Simulator, World, default_work
from pddlego.tools.files import (
    DomainFile,
    PlanFile,
    ProblemFile,
    invalid,
    limited_depth,
    read_domain_file,
    read_plan_file,
    read_problem_file,
)
from pddlego.tools.findings import fault_advice, fault_text
from pddlego.tools.results import ApplicableResult, SimulatedState, SimulationResult


class _Moment(NamedTuple):
    """A state of a simulation, as a value and as it is shown, the cost of the steps up to it, and the preferences."""

    state: State
    shown: SimulatedState
    cost: Fraction
    monitor: Monitor


class Simulation:
    """A problem whose actions are executed one by one; it keeps its state.

    Constraints on the states of a plan are not judged: see `validate`. Raises `UsageError` for invalid files, and
    `PddlegoError` for a state with more cases than can be evaluated.
    """

    def __init__(self, domain: DomainFile, problem: ProblemFile) -> None:
        self.domain = read_domain_file(domain, Level.NUMBERS)
        self.problem = read_problem_file(self.domain, problem, Level.NUMBERS, domain)
        self._world = World(self.domain, self.problem)
        with limited_depth():
            first = _state(self._world, self.problem, 0, "", State(), self._world.initial)
            monitor = Monitor(self._world, (), preference_instances(self._world, self.problem.preferences))
            monitor.observe(self._world.initial, Fraction(0))
        self._moments = [_Moment(self._world.initial, first, Fraction(0), monitor)]

    @property
    def state(self) -> SimulatedState:
        """The current state: its facts, what the last action changed, and whether the goal is reached."""
        return self._moments[-1].shown

    @property
    def states(self) -> tuple[SimulatedState, ...]:
        """The initial state, and the state after each action."""
        return tuple(moment.shown for moment in self._moments)

    @property
    def preferences(self) -> tuple[PreferenceVerdict, ...]:
        """The verdicts about preferences if the plan ends in the current state."""
        return preference_verdicts(self.problem, self._moments[-1].monitor)

    def applicable(self) -> tuple[str, ...]:
        """The ground actions that are possible in the current state."""
        self._world.work = default_work()
        return self._applicable()

    def step(self, action: str) -> SimulatedState:
        """Execute a ground action such as `(light a)`. If it is not possible, nothing changes, and it raises."""
        self._world.work = default_work()
        try:
            steps = read_plan_file(self.domain, self.problem, action).plan.steps
        except PddlSyntaxError as error:
            raise UsageError("The action cannot be read", f"{error.faults[0]}.", "See applicable().") from error
        if len(steps) != 1:
            raise UsageError("A step is one action", f"The text has {len(steps)}.", "Call step for each of them.")
        if fault := self._execute(steps[0]):
            kind = PddlegoError if fault.kind is FaultKind.TOO_LARGE else UsageError
            advice = fault_advice(fault) or "See applicable()"
            raise kind("The action is not possible", f"{fault_text(fault)}.", f"{advice}.")
        return self.state

    def undo(self) -> SimulatedState:
        """Return to the state before the last action; the initial state stays."""
        if len(self._moments) > 1:
            self._moments.pop()
        return self.state

    def reset(self) -> SimulatedState:
        """Return to the initial state."""
        del self._moments[1:]
        return self.state

    def _applicable(self) -> tuple[str, ...]:
        with limited_depth():
            self._world.work.renew()
            return tuple(map(str, Simulator(self._world, self._moments[-1].state).applicable()))

    def _execute(self, step: PlanStep) -> PlanFault | None:
        """Execute a step; if it has a fault, return it, and change nothing."""
        world, last, number = self._world, self._moments[-1], len(self._moments)
        execution, monitor = Execution(last.state), last.monitor.copy()
        with limited_depth():
            if fault := execute(world, (step,), number - 1, Fraction(number), execution, monitor):
                return fault
            now, spent = execution.state.copy(), last.cost + world.cost(step)
            shown_state = _state(world, self.problem, number, str(step), last.state, now)
            is_numeric = world.is_numeric and self.problem.metric
            cost = _metric_value(world, self.problem, now, number, monitor) if is_numeric else spent
        shown_state = replace(shown_state, cost=None if cost is None else as_number(cost))
        self._moments.append(_Moment(now, shown_state, spent, monitor))
        return None


def simulate(domain: DomainFile, problem: ProblemFile, plan: PlanFile = "") -> SimulationResult:
    """Execute a plan step by step.

    Raises `UsageError` for invalid files, and `PddlegoError` for a state with more cases than can be evaluated.
    """
    simulation = Simulation(domain, problem)
    try:
        parsed = read_plan_file(simulation.domain, simulation.problem, plan).plan
    except PddlSyntaxError as error:
        raise invalid("plan", plan, error.faults, before=(domain, problem)) from error
    with limited_depth():
        fault = validate_plan(simulation.domain, simulation.problem, parsed)
    possible = len(parsed) if fault is None or fault.time is None else fault.time
    for step in parsed.steps[:possible]:
        simulation._execute(step)
    fault_texts = ("", "") if fault is None or fault.time is None else (fault_text(fault), fault_advice(fault))
    return SimulationResult(simulation.states, simulation._applicable(), *fault_texts, simulation.preferences)


def applicable(domain: DomainFile, problem: ProblemFile, plan: PlanFile = "", action: str = "") -> ApplicableResult:
    """The ground actions that are possible after a plan, of one `action` if it is named.

    Raises `UsageError` for invalid files, a plan that fails, and an action that the domain does not have.
    """
    value = read_domain_file(domain, Level.NUMBERS)
    name, known = action.strip("() \n").lower(), [schema.name for schema in value.actions]
    if name and name not in known:
        raise UsageError(f"The domain has no action {name}", f"It has: {', '.join(known)}.", "Name one, or none.")
    result = simulate(value, problem, plan)
    if result.fault:
        raise UsageError("The plan fails", result.fault, "Pass the steps before it.")
    return ApplicableResult(tuple(a for a in result.applicable if not name or a.strip("()").split(" ")[0] == name))


def _state(world: World, problem: Problem, number: int, action: str, before: State, now: State) -> SimulatedState:
    reached = world.holds(problem.goal, now, {})
    constants = world.values if world.is_numeric else {}
    facts = _shown(now.facts, {**constants, **now.numbers})
    added, deleted = (_only_in(now, before), _only_in(before, now)) if number else ((), ())
    return SimulatedState(number, action, facts, added, deleted, goal_reached=reached)


def _only_in(state: State, other: State) -> tuple[str, ...]:
    """The facts and values of a state that the other one does not have."""
    values = {term: value for term, value in state.numbers.items() if other.numbers.get(term) != value}
    return _shown(state.facts - other.facts, values)


def _metric_value(world: World, problem: Problem, state: State, steps: int, monitor: Monitor) -> Fraction | None:
    """The value of the metric after some steps; None without one."""
    assert problem.metric is not None
    numbers = {**state.numbers, TOTAL_TIME: Fraction(steps), **violated_instances(problem, monitor)}
    with contextlib.suppress(HugeNumberError):
        return world.value(problem.metric.term, State(state.facts, numbers), {})
    return None


def _shown(facts: AbstractSet[Atom], numbers: Mapping[Term, Fraction]) -> tuple[str, ...]:
    """Facts and numbers such as `(= (fuel t1) 3)`, sorted."""
    return tuple(sorted((*map(str, facts), *(f"(= {term} {shown(value)})" for term, value in numbers.items()))))
