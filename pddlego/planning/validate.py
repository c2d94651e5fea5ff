"""Executes a plan on a problem, step by step, independently of the engine that found it.

Says at which step what was missing, in the wording of repair advice, and what is true after each step.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from enum import Enum

from pddlego.pddl import Atom, Domain, Problem
from pddlego.pddl.names import nearest
from pddlego.planning.advice import advice
from pddlego.planning.result import Plan, PlanStep
from pddlego.planning.world import State, World


class FaultKind(str, Enum):
    """What can be wrong with a plan."""

    ACTION = "unknown action"
    ARITY = "wrong number of arguments"
    OBJECT = "unknown object"
    TYPE = "wrong argument type"
    PRECONDITION = "unsatisfied precondition"
    GOAL = "goal not reached"


@dataclass(frozen=True)
class PlanFault:
    """What is wrong with a plan: at which `step`, the `time`-th from 0 (none for the goal); `advice` mends it.

    Only preconditions and goals have advice, which may have several lines.
    """

    kind: FaultKind
    what: str
    advice: str = ""
    time: int | None = None
    step: PlanStep | None = None

    def __str__(self) -> str:
        return f"{self.what}\n{self.advice}" if self.advice else self.what


@dataclass(frozen=True)
class Validation:
    """`states[k]` is what is true before step k; the last one is the state after the last step that worked.

    `fault` is none if the whole plan works and reaches the goal. Where states were not kept there are none.
    """

    states: tuple[State, ...]
    fault: PlanFault | None = None

    @property
    def valid(self) -> bool:
        return self.fault is None

    @property
    def message(self) -> str:
        """What was missing and when; empty for a plan that works."""
        return str(self.fault) if self.fault else ""


def validate(domain: Domain, problem: Problem, plan: Plan, keep: bool = True) -> Validation:
    """Execute `plan`. Total for problems without blocking defects (see `check`).

    Without `keep` no state is kept, which a plan of a hundred thousand steps needs.
    """
    world = World(domain, problem)
    states, state = [problem.facts], set(problem.facts)
    fault = None
    for time, step in enumerate(plan.steps):
        fault = _wrong_step(world, step, time, state)
        if fault is not None:
            break
        adds, deletes = world.changes(step, state)
        state -= deletes
        state |= adds
        if keep:
            states.append(frozenset(state))
    if fault is None and not world.holds(problem.goal, state, {}):
        fault = PlanFault(FaultKind.GOAL, "The goal is not satisfied", advice(world, problem.goal, state, {}))
    return Validation(tuple(states) if keep else (), fault)


def _wrong_step(world: World, step: PlanStep, time: int, state: AbstractSet[Atom]) -> PlanFault | None:
    """What is wrong with a step: its action, its objects or their types whatever is true, or its precondition."""

    def fault(kind: FaultKind, what: str, remedy: str = "") -> PlanFault:
        return PlanFault(kind, what, remedy, time, step)

    domain = world.domain
    action = domain.actions_by_name.get(step.action)
    if action is None:
        close = nearest(step.action, domain.actions_by_name)
        hint = f"did you mean {close}?" if close else f"the actions are {', '.join(sorted(domain.actions_by_name))}"
        return fault(FaultKind.ACTION, f"{step} at time {time} is no action of the domain; {hint}")
    if len(action.parameters) != len(step.args):
        form = " ".join((action.name, *(each.name for each in action.parameters)))
        what = f"{step} at time {time} has {len(step.args)} argument(s), and its form is ({form})"
        return fault(FaultKind.ARITY, what)
    for parameter, arg in zip(action.parameters, step.args, strict=True):
        if arg not in world.types:
            return fault(FaultKind.OBJECT, f"{step} at time {time}: there is no object {arg}")
        if not domain.is_a(world.types[arg], parameter.type):
            what = f"{step} at time {time}: {arg} is a {world.types[arg]}, but {parameter.name} is a {parameter.type}"
            return fault(FaultKind.TYPE, what)
    binding = world.binding(step)
    if not world.holds(action.precondition, state, binding):
        missing = advice(world, action.precondition, state, binding)
        return fault(FaultKind.PRECONDITION, f"{step} has an unsatisfied precondition at time {time}", missing)
    return None


def goal_holds(domain: Domain, problem: Problem) -> bool:
    """Whether the goal is true in the initial state."""
    return World(domain, problem).holds(problem.goal, problem.facts, {})


def speaks_of_nothing(domain: Domain, problem: Problem) -> bool:
    """Whether the goal is true only because nothing that it speaks of is there: `(forall (?i - item) …)` of no item."""
    return World(domain, problem).is_vacuous(problem.goal, problem.facts, {})
