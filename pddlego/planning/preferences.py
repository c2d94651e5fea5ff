"""Compiles preferences away, for planners that have none (Keyder and Geffner 2009).

A plan ends with one step for each preference: either a free one, whose precondition is that the preference is kept, or
one with the cost of a violation. Constraints in preferences become monitoring facts, as in `planning.unconstrained`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import TypeVar

from pddlego.errors import TooManyCasesError
from pddlego.pddl import Domain, Problem
from pddlego.pddl.conditions import (
    TRUE,
    And,
    Atom,
    Change,
    Compare,
    Formula,
    Not,
    Term,
    When,
    conjuncts,
    in_short,
    number,
)
from pddlego.pddl.constraints import constraints_in
from pddlego.pddl.costs import needs_time, penalties
from pddlego.pddl.domain import Action, Function, Predicate
from pddlego.pddl.numbers import IS_VIOLATED, ONE, TOTAL_COST, TOTAL_TIME, is_cost, linear, numeric_part
from pddlego.pddl.problem import Metric
from pddlego.planning.ground import PlanningError
from pddlego.planning.numbers import shown
from pddlego.planning.result import Plan, Search
from pddlego.planning.trajectories import preference_instances
from pddlego.planning.unconstrained import REWRITTEN, check_size, compile_constraint, fresh_names, negated, plan_keeping
from pddlego.planning.world import World

Result = TypeVar("Result")


def best_plan(
    domain: Domain, problem: Problem, search: Search, solver: Callable[[Domain, Problem], Result], at_once: bool
) -> Result:
    """What a solver without preferences and constraints finds; see `plan_keeping`. Raises `PlanningError`."""
    domain, task, added = without_preferences(domain, problem, search)
    plan = plan_keeping(domain, task, solver, at_once)
    if isinstance(plan, Plan) and task.metric != problem.metric:
        steps = tuple(step for step in plan.steps if step.action not in added)
        return replace(plan, steps=steps, optimal=plan.optimal if search.is_optimal else False)
    return plan


def without_preferences(domain: Domain, problem: Problem, search: Search) -> tuple[Domain, Problem, frozenset[str]]:
    """The task with costs in place of preferences, and the names of the actions that it has in addition.

    Without these, its plans are those of the original task, and a cheapest one has the best value of the metric. A
    search that is not optimal ignores costs, so its task has none. Raises `PlanningError` for a task that is not
    rewritten.
    """
    weights, without = penalties(problem), replace(problem, preferences=())
    if not weights:
        return domain, without, frozenset()
    if not search.is_optimal:
        return domain, replace(without, metric=None), frozenset()
    factors = _factors(domain, problem)
    unit = factors.get(TOTAL_COST, Fraction(1))
    names = fresh_names({*domain.predicates_by_name, *domain.functions_by_name, *domain.actions_by_name})
    facts, effects, last_steps, judged = list[Atom](), list[Formula](), list[Action](), list[Atom]()
    try:
        instances = list(preference_instances(World(domain, problem), problem.preferences))
    except TooManyCasesError as error:
        raise PlanningError(f"the preferences: {error.excess}") from error
    for name, constraints in instances:
        cost = weights.get(name, Fraction(0)) / unit
        if not cost:
            continue
        compiled = [compile_constraint(constraint, (), names) for constraint in constraints]
        broken, is_judged = Atom(next(names)), Atom(next(names))
        facts += [broken, is_judged, *(Atom(predicate.name) for part in compiled for predicate in part.predicates)]
        effects += (effect for part in compiled for effect in part.effects)
        effects += (When(negated(part.condition), broken) for part in compiled if part.condition != TRUE)
        kept = And((Not(broken), *(formula for part in compiled for formula in (part.condition, part.goal))))
        free_if = kept if cost > 0 else Not(kept)  # a reward of violations is a cost of keeping
        for condition, price in ((free_if, Fraction(0)), (TRUE, abs(cost))):
            effect = And((is_judged, _cost(price)))
            last_steps.append(Action(next(names), (), And((*judged[-1:], condition)), effect))
        judged.append(is_judged)
    check_size(len(domain.actions) * len(effects))

    def with_monitors(action: Action) -> Action:
        parts = conjuncts(action.effect)
        if TOTAL_COST not in factors:
            step_cost = _cost(factors.get(TOTAL_TIME, Fraction(0)) / unit)
            parts = (*(part for part in parts if not (isinstance(part, Change) and is_cost(part))), step_cost)
        condition = And((action.precondition, *map(Not, judged[:1])))
        return replace(action, precondition=condition, effect=And((*parts, *effects)))

    functions = () if TOTAL_COST.head in domain.functions_by_name else (Function(TOTAL_COST.head),)
    rewritten = replace(
        domain,
        constants=(*domain.constants, *(obj for obj in problem.sorted_objects() if obj not in domain.constants)),
        predicates=(*domain.predicates, *(Predicate(fact.predicate, ()) for fact in facts)),
        functions=(*domain.functions, *functions),
        actions=(*map(with_monitors, domain.actions), *last_steps),
    )
    values = problem.values | {Compare("=", TOTAL_COST, Term("0")) for _ in functions}
    metric, goal = Metric("minimize", TOTAL_COST), And((problem.goal, *judged[-1:]))
    task = replace(without, objects=frozenset(), goal=goal, values=values, metric=metric)
    return replace(rewritten, text=str(rewritten)), task, frozenset(action.name for action in last_steps)


def _cost(cost: Fraction) -> Change:
    if number(shown(cost)) is None:
        raise PlanningError(f"the cost {cost} of a violation is not a decimal number")
    return Change("increase", TOTAL_COST, Term(shown(cost)))


def _factors(domain: Domain, problem: Problem) -> dict[Term, Fraction]:
    """How much `(total-cost)` or `(total-time)` counts in the metric, which is minimized beside the violations.

    Raises `PlanningError` for a task with time or other numbers.
    """
    metric = problem.metric
    assert metric is not None
    constraints = (constraint for preference in problem.preferences for constraint in constraints_in(preference))
    timed = next((part for part in constraints if part.operator not in REWRITTEN), needs_time(domain, problem))
    if timed:
        raise PlanningError(f"preferences are not planned for in a task with times ({in_short(str(timed))})")
    sign = -1 if metric.direction == "maximize" else 1
    factors = {term: sign * value for term, value in (linear(metric.term) or {}).items() if value and term != ONE}
    others = {term: value for term, value in factors.items() if term.head != IS_VIOLATED}
    numeric = domain.numeric_part or numeric_part((problem.goal, problem.constraints, *problem.preferences))
    if numeric or not {*others} < {TOTAL_COST, TOTAL_TIME} or any(value < 0 for value in others.values()):
        part = in_short(str(numeric or metric))
        raise PlanningError(f"preferences are planned for beside low costs only, and not beside other numbers ({part})")
    return others
