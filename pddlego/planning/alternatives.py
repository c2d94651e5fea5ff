"""Several plans for a task: each lacks an action of every plan before it."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import TypeVar

from pddlego.pddl import Atom, Domain, Problem
from pddlego.pddl.conditions import And, AtTime, Formula, Not, TypedName
from pddlego.pddl.domain import Action, DurativeAction, Predicate
from pddlego.planning.result import Planner, PlanResult, PlanStatus, PlanStep, Search
from pddlego.util.limits import Clock

_Schema = TypeVar("_Schema", Action, DurativeAction)


def other_plans(
    planner: Planner,
    domain: Domain,
    problem: Problem,
    search: Search,
    first: PlanResult,
    number: int,
    seconds: float,
    clock: Clock = time.monotonic,
) -> tuple[tuple[PlanResult, ...], bool]:
    """At most `number` plans besides the `first`, found within `seconds`, and whether there are no others.

    A plan with all actions of one before it is no alternative to that, and is left out. Each plan is found in the task
    without some actions of those before.
    """
    assert first.plan is not None
    plans, found, ends, complete = [frozenset(first.plan.steps)], list[PlanResult](), clock() + seconds, True
    waiting = deque(frozenset({step}) for step in dict.fromkeys(first.plan.steps))
    known = set(waiting)
    while waiting and len(found) < number:
        if (left := ends - clock()) <= 0:
            return tuple(found), False
        forbidden = waiting.popleft()
        result = planner.solve(*without_actions(domain, problem, forbidden), search, left)
        if result.status is not PlanStatus.SOLVED or result.plan is None:
            complete = complete and result.status is PlanStatus.UNSOLVABLE
            continue
        steps = frozenset(result.plan.steps)
        if not any(plan <= steps for plan in plans):
            plans.append(steps)
            found.append(result)
        more = [forbidden | {step} for step in dict.fromkeys(result.plan.steps)]
        waiting += [actions for actions in dict.fromkeys(more) if actions not in known]
        known.update(more)
    return tuple(found), complete and not waiting


def without_actions(domain: Domain, problem: Problem, forbidden: Collection[PlanStep]) -> tuple[Domain, Problem]:
    """The task in which these ground actions can never be executed: a static fact forbids each of them."""
    prefix = "forbidden"
    while any(predicate.name.startswith(prefix) for predicate in domain.predicates):
        prefix += "-x"
    names = {step.action for step in forbidden}
    schemas = {action.name: action for action in (*domain.actions, *domain.durative) if action.name in names}
    heads = {
        name: Predicate(f"{prefix}-{name}", tuple(TypedName(parameter.name) for parameter in schema.parameters))
        for name, schema in schemas.items()
    }
    changed = replace(
        domain,
        predicates=(*domain.predicates, *heads.values()),
        actions=tuple(_restricted(action, heads) for action in domain.actions),
        durative=tuple(_restricted(action, heads) for action in domain.durative),
    )
    facts = {Atom(f"{prefix}-{step.action}", step.args) for step in forbidden}
    return replace(changed, text=str(changed)), replace(problem, facts=problem.facts | facts)


def _restricted(schema: _Schema, heads: Mapping[str, Predicate]) -> _Schema:
    """The action that needs the absence of its forbidding fact, if it has one of the `heads`."""
    if schema.name not in heads:
        return schema
    atom = Atom(heads[schema.name].name, tuple(parameter.name for parameter in schema.parameters))
    needed: Formula = Not(atom)
    if isinstance(schema, DurativeAction):
        needed = AtTime("start", needed)
    return replace(schema, precondition=And((schema.precondition, needed)))
