"""Action costs: the number that an action adds to `(total-cost)`.

They are the requirement `:action-costs` of PDDL 3.1: each action increases `(total-cost)` by a constant number. A
problem with `(:metric minimize (total-cost))` asks for a plan of low cost; in other problems each action costs 1.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

from pddlego.pddl.conditions import Change, Compare, Formula, Renaming, Term, conjuncts, number, with_parts
from pddlego.pddl.domain import Action, Domain, DurativeAction
from pddlego.pddl.numbers import IS_VIOLATED, TOTAL_COST, is_cost, linear, numeric_part
from pddlego.pddl.problem import Later, Metric, Problem


def counts_cost(problem: Problem) -> bool:
    """Whether a problem minimizes `(total-cost)`; otherwise the cost of a plan is its number of actions."""
    metric = problem.metric
    return metric is not None and metric.direction == "minimize" and metric.term == TOTAL_COST


def needs_time(domain: Domain, problem: Problem) -> DurativeAction | Later | None:
    """The first part of a task that needs time; None for a task whose plans need no times."""
    parts: tuple[DurativeAction | Later, ...] = (*domain.durative, *problem.sorted_later())
    return parts[0] if parts else None


def needs_numbers(domain: Domain, problem: Problem) -> Formula | Metric | DurativeAction | Later | None:
    """The first part of a task that needs time or numbers other than action costs; None for a classical task."""
    conditions = (problem.goal, problem.constraints, *problem.preferences)
    part = needs_time(domain, problem) or domain.numeric_part or numeric_part(conditions)
    return part or (None if counts_cost(problem) else problem.metric)


def penalties(problem: Problem) -> dict[str, Fraction]:
    """What a violation of each preference in the metric costs; less than 0 where it is rewarded.

    If the metric is maximized, the sign is reversed.
    """
    if problem.metric is None:
        return {}
    factors, sign = linear(problem.metric.term) or {}, -1 if problem.metric.direction == "maximize" else 1
    names = {term: str(term.parts[0]) for term in factors if term.head == IS_VIOLATED and term.parts}
    return {name: sign * factors[term] for term, name in names.items()}


def values_of(problem: Problem) -> dict[Term, Fraction]:
    """The numbers that a problem assigns in `:init`, by term: 7 for `(distance a b)`."""
    numbers = ((value.left, number(str(value.right))) for value in problem.values)
    return {term: value for term, value in numbers if value is not None}


def _cost_terms(action: Action) -> list[Term]:
    """The terms that an action adds to `(total-cost)`."""
    return [part.value for part in conjuncts(action.effect) if isinstance(part, Change) and is_cost(part)]


def action_cost(action: Action, binding: Mapping[str, str], values: Mapping[Term, Fraction]) -> Fraction:
    """The cost of an action whose parameters have the values of `binding`.

    Raises `KeyError` if the cost depends on a term without a number in `values`.
    """
    renaming, cost = Renaming(binding), Fraction(0)
    for term in _cost_terms(action):
        constant = number(term.head) if term.parts is None else None
        if constant is None:  # a function without arguments may be written without parentheses
            constant = values[renaming.term(replace(term, parts=term.parts or ()))]
        cost += constant
    return cost


def integral(domain: Domain, problem: Problem) -> tuple[Domain, Problem]:
    """The task with all costs multiplied by a factor that makes them whole: most planners read no fractions."""
    terms = [term for action in domain.actions for term in _cost_terms(action)]
    texts = {term.head for term in (*terms, *(value.right for value in problem.values)) if term.parts is None}
    if all(text.isdigit() for text in texts):
        return domain, problem
    factor = math.lcm(*(value.denominator for value in map(number, texts) if value is not None))

    def scaled_term(term: Term) -> Term:
        value = number(term.head) if term.parts is None else None
        return term if value is None else Term(str(value * factor))

    def scaled(effect: Formula) -> Formula:
        if isinstance(effect, Change):
            return replace(effect, value=scaled_term(effect.value))
        return with_parts(effect, scaled)

    actions = tuple(replace(action, effect=scaled(action.effect)) for action in domain.actions)
    values = frozenset(Compare(value.operator, value.left, scaled_term(value.right)) for value in problem.values)
    changed = replace(domain, actions=actions)
    return replace(changed, text=str(changed)), replace(problem, values=values)
