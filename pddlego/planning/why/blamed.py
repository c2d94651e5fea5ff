"""The constraints without which a task has a plan."""

from __future__ import annotations

from dataclasses import replace

from pddlego.pddl import Domain, Problem
from pddlego.pddl.conditions import And, Formula, conjuncts
from pddlego.planning.result import Planner, PlanStatus, Search

_MOST = 20
"""The maximum number of constraints that are left out one by one."""


def blamed_constraints(
    planner: Planner, domain: Domain, problem: Problem, seconds: float
) -> tuple[tuple[Formula, ...], ...]:
    """Groups of constraints each of which, left out, makes a plan possible: single ones, or all of them.

    Empty if no plan is found without constraints, in about `seconds`.
    """
    of_problem, of_domain = conjuncts(problem.constraints), conjuncts(domain.constraints)
    constraints = (*of_problem, *of_domain)[:_MOST]
    share = seconds / (len(constraints) + 1)

    def has_plan_without(left_out: tuple[Formula, ...]) -> bool:
        kept = And(tuple(constraint for constraint in of_problem if constraint not in left_out))
        kept_of_domain = And(tuple(constraint for constraint in of_domain if constraint not in left_out))
        task = replace(domain, constraints=kept_of_domain, text=""), replace(problem, constraints=kept)
        result = planner.solve(task[0], task[1], Search("gbf", "hff", "auto"), share)
        return result.status in (PlanStatus.SOLVED, PlanStatus.ALREADY_TRUE)

    if not has_plan_without((*of_problem, *of_domain)):
        return ()
    alone = tuple((constraint,) for constraint in constraints if has_plan_without((constraint,)))
    return alone or ((*of_problem, *of_domain),)
