"""One planning call, inside the planning process: check, ground, search, validate."""

from __future__ import annotations

import time
from collections.abc import Callable

from pddlego.pddl import Domain, Problem, check
from pddlego.pddl.check_domain import check_domain
from pddlego.planning.result import NOTHING_THERE, Plan, PlanResult, PlanStatus, Search
from pddlego.planning.validate import goal_holds, speaks_of_nothing, validate

MOST_TOLD = 5
"""Defects of a domain that are told at most."""

OUT_OF_MEMORY = "the planner ran out of memory: the problem has too many states, or too many objects"

ALREADY = "the goal is already true in the initial state"

Solver = Callable[[Domain, Problem, Search], "Plan | None"]
"""Returns a plan or None if there is none; raises `NotPlannableError` for what the engine cannot express."""


def solve(domain: Domain, problem: Problem, search: Search, solver: Solver) -> PlanResult:
    """Plan for `problem.goal` with `solver`; every plan is executed on the problem before it is returned.

    Raises `MemoryError`.
    """
    started = time.perf_counter()
    status, plan, message = _solve(domain, problem, search, solver)
    return PlanResult(status, problem.goal, plan, message, time.perf_counter() - started)


def _solve(domain: Domain, problem: Problem, search: Search, solver: Solver) -> tuple[PlanStatus, Plan | None, str]:
    from pddlego.planning.ground import BoundError, EngineFailedError, NotPlannableError

    defects = [each for each in check(domain, problem) if each.blocking]
    if defects:
        return PlanStatus.INVALID, None, "; ".join(each.message for each in defects)
    try:
        if goal_holds(domain, problem):
            empty = speaks_of_nothing(domain, problem)
            return PlanStatus.ALREADY_TRUE, None, NOTHING_THERE if empty else ALREADY
        plan = solver(domain, problem, search)
    except NotPlannableError as error:
        # What the engine says is a chain of its own steps; our check names the place and what to do.
        own = "; ".join(each.message for each in check_domain(domain)[:MOST_TOLD])
        return PlanStatus.INVALID, None, own or str(error)
    except EngineFailedError as error:
        return PlanStatus.CRASHED, None, str(error)
    except BoundError as error:
        return PlanStatus.BOUND, None, str(error)
    except RecursionError:
        return PlanStatus.INVALID, None, "a condition is nested too deeply"
    if plan is None:
        return PlanStatus.UNSOLVABLE, None, "no sequence of actions reaches the goal from what is known"
    validation = validate(domain, problem, plan)
    if not validation.valid:
        return PlanStatus.CRASHED, None, f"the plan found does not work: {validation.message}"
    return PlanStatus.SOLVED, plan, ""


def solve_strips(domain: Domain, problem: Problem, search: Search) -> Plan | None:
    """The default engine: Fast Downward's translator grounds, pyperplan searches."""
    from pddlego.planning.ground import ground
    from pddlego.planning.search import find_plan

    task = ground(domain, problem)
    return None if task is None else find_plan(task, search)
