"""One planning call, inside the planning process: check, ground, search, validate."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from pddlego.pddl import Defect, DefectKind, Domain, Problem, check
from pddlego.pddl.check import check_domain, check_reading
from pddlego.pddl.conditions import TRUE
from pddlego.pddl.domain import read_domain
from pddlego.pddl.lint import domain_warnings, problem_warnings
from pddlego.pddl.problem import read_problem
from pddlego.pddl.rules import warning
from pddlego.planning.result import NOTHING_THERE, Plan, PlanResult, PlanStatus, Search
from pddlego.planning.validate import goal_holds, speaks_of_nothing, validate
from pddlego.planning.world import World

MOST_TOLD = 5
"""The maximum number of defects in a message."""

OUT_OF_MEMORY = "the planner ran out of memory: the problem has too many states, or too many objects"

ALREADY = "the goal is already true in the initial state"

Solver = Callable[[Domain, Problem, Search], "Plan | None"]
"""Returns a plan, or None if no plan exists; raises `NotPlannableError` for what the engine cannot express."""


def solve(domain: Domain, problem: Problem, search: Search, solver: Solver) -> PlanResult:
    """Plan for `problem.goal` with `solver`; every plan is executed on the problem before it is returned.

    Raises `MemoryError`.
    """
    started = time.perf_counter()
    status, plan, message = _solve(domain, problem, search, solver)
    return PlanResult(status, problem.goal, plan, message, time.perf_counter() - started)


def _solve(domain: Domain, problem: Problem, search: Search, solver: Solver) -> tuple[PlanStatus, Plan | None, str]:
    from pddlego.planning.ground import BoundError, EngineFailedError, NotPlannableError

    defects = [defect for defect in check(domain, problem) if defect.blocking]
    if defects:
        return PlanStatus.INVALID, None, "; ".join(defect.message for defect in defects)
    try:
        if goal_holds(domain, problem):
            empty = speaks_of_nothing(domain, problem)
            return PlanStatus.ALREADY_TRUE, None, NOTHING_THERE if empty else ALREADY
        plan = solver(domain, problem, search)
    except NotPlannableError as error:
        # What the engine says is a chain of its own steps; our check names the place and what to do.
        own = "; ".join(defect.message for defect in check_domain(domain)[:MOST_TOLD])
        return PlanStatus.INVALID, None, own or str(error)
    except EngineFailedError as error:
        return PlanStatus.CRASHED, None, str(error)
    except BoundError as error:
        return PlanStatus.BOUND, None, str(error)
    except RecursionError:
        return PlanStatus.INVALID, None, "a condition is nested too deeply"
    if plan is None:
        return PlanStatus.UNSOLVABLE, None, "no sequence of actions reaches the goal from what is known"
    fault = validate(domain, problem, plan)
    if fault is not None:
        return PlanStatus.CRASHED, None, f"the plan found does not work: {fault}"
    return PlanStatus.SOLVED, plan, ""


def solve_strips(domain: Domain, problem: Problem, search: Search) -> Plan | None:
    """The default engine: Fast Downward's translator grounds, pyperplan searches."""
    from pddlego.planning.ground import ground
    from pddlego.planning.search import find_plan

    task = ground(domain, problem)
    return None if task is None else find_plan(task, search)


_MOST_CASES = 1_000_000
"""Ways to bind the variables of a goal that are looked at."""


@dataclass(frozen=True)
class CheckedDomain:
    """A text read as a domain, and what is wrong with it; `domain` is None where nothing can be planned with it."""

    domain: Domain | None
    defects: tuple[Defect, ...]


@dataclass(frozen=True)
class CheckedProblem:
    """A text read as a problem, and what is wrong with it; `problem` is None where nothing can be planned with it."""

    problem: Problem | None
    defects: tuple[Defect, ...]


def checked_domain(text: str) -> CheckedDomain:
    """Check a domain: what is wrong with its text, else all defects, else what is most likely a mistake. Total."""
    reading = read_domain(text)
    defects = reading.defects or check_domain(reading.domain)
    if any(defect.blocking for defect in defects):
        return CheckedDomain(None, defects)
    return CheckedDomain(reading.domain, (*defects, *domain_warnings(reading.domain)))


def checked_problem(domain: Domain, text: str) -> CheckedProblem:
    """Check a problem of a sound domain: all defects, and where planning is possible what is most likely a mistake."""
    reading = read_problem(text)
    defects = check_reading(domain, reading)
    if any(defect.blocking for defect in defects):
        return CheckedProblem(None, defects)
    warnings = (*problem_warnings(domain, reading.problem), *_goal(domain, reading.problem))
    return CheckedProblem(reading.problem, (*defects, *warnings))


def _goal(domain: Domain, problem: Problem) -> Iterator[Defect]:
    if problem.goal == TRUE:
        return  # said already
    ways = World(domain, problem).cases(problem.goal)
    if ways > _MOST_CASES:
        message = f"the goal can be true in {ways:,} ways, too many to check; quantify over fewer variables"
        yield warning(DefectKind.TOO_LARGE, ":goal", message, problem.goal.place)
        return
    if goal_holds(domain, problem):
        reason = NOTHING_THERE if speaks_of_nothing(domain, problem) else "there is nothing to plan"
        message = f"the goal is already true in the initial state: {reason}; use a goal that is not yet true"
        yield warning(DefectKind.GOAL_TRUE, ":goal", message, problem.goal.place)
