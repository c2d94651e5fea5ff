"""Preferences rewritten for planners that have none (Keyder and Geffner 2009).

A plan ends with one step for each preference: one of two, which costs nothing but needs that the preference is kept, or
has the cost of a violation. Facts that look back stand for constraints, as in `planning.unconstrained`.
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
from pddlego.planning.unconstrained import REWRITTEN, check_size, fresh_names, negated, plan_keeping, track
from pddlego.planning.world import World

Found = TypeVar("Found")


def best_plan(
    domain: Domain, problem: Problem, search: Search, solver: Callable[[Domain, Problem], Found], at_once: bool
) -> Found:
    """What a solver without preferences and constraints finds; see `plan_keeping`. Raises `PlanningError`."""
    domain, task, added = without_preferences(domain, problem, search)
    found = plan_keeping(domain, task, solver, at_once)
    if isinstance(found, Plan) and task.metric != problem.metric:
        steps = tuple(step for step in found.steps if step.action not in added)
        return replace(found, steps=steps, optimal=found.optimal if search.is_optimal else False)
    return found


def without_preferences(domain: Domain, problem: Problem, search: Search) -> tuple[Domain, Problem, frozenset[str]]:
    """The task with costs in place of preferences, and the names of the actions that it has in addition.

    Without these, its plans are those of the original task, and a cheapest one has the best value of the metric. A
    search that is not optimal ignores costs, so its task has none. Raises `PlanningError` for a task that is not
    rewritten.
    """
    penalty, plain = penalties(problem), replace(problem, preferences=())
    if not penalty:
        return domain, plain, frozenset()
    if not search.is_optimal:
        return domain, replace(plain, metric=None), frozenset()
    factors = _factors(domain, problem)
    unit = factors.get(TOTAL_COST, Fraction(1))
    names = fresh_names({*domain.predicates_by_name, *domain.functions_by_name, *domain.actions_by_name})
    facts, effects, added, judged = list[Atom](), list[Formula](), list[Action](), list[Atom]()
    try:
        every = [*preference_instances(World(domain, problem), problem.preferences)]
    except TooManyCasesError as error:
        raise PlanningError(f"the preferences: {error.excess}") from error
    for name, constraints in every:
        if cost := penalty.get(name, Fraction(0)) / unit:
            tracked, broken, before = [track(own, (), names) for own in constraints], Atom(next(names)), judged[-1:]
            judged.append(Atom(next(names)))
            facts += [broken, judged[-1], *(Atom(head.name) for own in tracked for head in own.predicates)]
            effects += (effect for own in tracked for effect in own.effects)
            effects += (When(negated(own.condition), broken) for own in tracked if own.condition != TRUE)
            kept = And((Not(broken), *(part for own in tracked for part in (own.condition, own.goal))))
            for condition, price in ((kept if cost > 0 else Not(kept), Fraction(0)), (TRUE, abs(cost))):
                effect = And((judged[-1], _cost(price)))  # a reward of violations is a cost of keeping
                added.append(Action(next(names), (), And((*before, condition)), effect))

    check_size(len(domain.actions) * len(effects))

    def changed(action: Action) -> Action:
        parts = conjuncts(action.effect)
        if TOTAL_COST not in factors:
            own = _cost(factors.get(TOTAL_TIME, Fraction(0)) / unit)
            parts = (*(part for part in parts if not (isinstance(part, Change) and is_cost(part))), own)
        condition = And((action.precondition, *map(Not, judged[:1])))
        return replace(action, precondition=condition, effect=And((*parts, *effects)))

    functions = () if TOTAL_COST.head in domain.functions_by_name else (Function(TOTAL_COST.head),)
    rewritten = replace(
        domain,
        constants=(*domain.constants, *(own for own in problem.sorted_objects() if own not in domain.constants)),
        predicates=(*domain.predicates, *(Predicate(fact.predicate, ()) for fact in facts)),
        functions=(*domain.functions, *functions),
        actions=(*map(changed, domain.actions), *added),
    )
    values = problem.values | {Compare("=", TOTAL_COST, Term("0")) for _ in functions}
    metric, goal = Metric("minimize", TOTAL_COST), And((problem.goal, *judged[-1:]))
    plain = replace(plain, objects=frozenset(), goal=goal, values=values, metric=metric)
    return replace(rewritten, text=str(rewritten)), plain, frozenset(action.name for action in added)


def _cost(cost: Fraction) -> Change:
    if number(shown(cost)) is None:
        raise PlanningError(f"the cost {cost} of a violation is not a decimal number")
    return Change("increase", TOTAL_COST, Term(shown(cost)))


def _factors(domain: Domain, problem: Problem) -> dict[Term, Fraction]:
    """How much `(total-cost)` or `(total-time)` counts in the metric, which is minimized beside the violations.

    Raises `PlanningError` for a task with time or other numbers.
    """
    metric, constraints = problem.metric, [own for part in problem.preferences for own in constraints_in(part)]
    assert metric is not None
    timed = next((own for own in constraints if own.operator not in REWRITTEN), needs_time(domain, problem))
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
