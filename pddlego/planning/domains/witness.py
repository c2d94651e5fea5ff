"""Executes what is tried in a state in which two domains may differ."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from pddlego.pddl import Atom, Domain, Problem
from pddlego.pddl.conditions import Compare, Formula, TypedName
from pddlego.pddl.domain import Action
from pddlego.pddl.numbers import TOTAL_COST
from pddlego.pddl.problem import Metric
from pddlego.planning.numbers import HugeNumberError, ImpossibleChangeError, shown
from pddlego.planning.result import PlanStep
from pddlego.planning.state import State
from pddlego.planning.world import World


@dataclass(frozen=True)
class Situation:
    """A state over some objects, and what is tried in it: a step, or whether a derived fact is true.

    Of a durative action, `times` are its duration and the time since it began, by `?duration` and `#t`.
    """

    objects: frozenset[TypedName]
    facts: frozenset[Atom]
    values: frozenset[Compare]
    step: PlanStep
    times: tuple[tuple[str, Fraction], ...] = ()


class _TimedWorld(World):
    """A world whose steps have a duration."""

    def __init__(self, domain: Domain, problem: Problem, times: Mapping[str, str]) -> None:
        super().__init__(domain, problem)
        self._times = times

    def binding(self, step: PlanStep) -> dict[str, str]:
        return {**super().binding(step), **self._times}


def is_true(condition: Formula, domain: Domain, situation: Situation) -> bool:
    """Whether a condition without free variables is true in the state of a situation."""
    world = World(domain, Problem("p", domain.name, situation.objects, situation.facts, values=situation.values))
    return world.holds(condition, world.initial, {})


def tried_in(domain: Domain, action: Action, situation: Situation) -> tuple[str, ...] | None:
    """What an action changes in a situation, sorted; None where it is impossible."""
    own = replace(domain, actions=(action,), durative=())
    metric = Metric("minimize", TOTAL_COST) if TOTAL_COST.head in domain.functions_by_name else None
    problem = Problem("p", domain.name, situation.objects, situation.facts, values=situation.values, metric=metric)
    world = _TimedWorld(own, problem, {name: shown(value) for name, value in situation.times})
    state, step = world.initial, situation.step
    kinds = zip(action.parameters, step.args, strict=True)
    try:
        if not all(domain.is_a(world.types[name], parameter.type) for parameter, name in kinds):
            return None
        if not (world.holds(action.precondition, state, world.binding(step)) and world.has_numbers(step, state)):
            return None
        return step_changes(world, step, state)
    except (HugeNumberError, ImpossibleChangeError, KeyError):
        return None


def step_changes(world: World, step: PlanStep, state: State) -> tuple[str, ...]:
    """What an applicable step changes in a state: facts, then numbers, as PDDL writes them."""
    after = world.after(step, state)
    facts = [*map(str, after.facts - state.facts), *(f"(not {fact})" for fact in state.facts - after.facts)]
    numbers = {term: value for term, value in after.numbers.items() if state.numbers.get(term) != value}
    if not world.is_numeric and TOTAL_COST.head in world.domain.functions_by_name:
        numbers[TOTAL_COST] = world.cost(step)
    return (*sorted(facts), *sorted(f"(= {term} {shown(value)})" for term, value in numbers.items()))
