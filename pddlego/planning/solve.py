"""One planning call, inside the planning process: check, ground, search, validate."""

from __future__ import annotations

import contextlib
import itertools
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from pddlego.errors import TooManyCasesError
from pddlego.pddl import Defect, DefectKind, Domain, Problem, check
from pddlego.pddl.check import MAX_DEFECTS, check_domain, check_reading
from pddlego.pddl.conditions import TRUE
from pddlego.pddl.derived import unstratified_predicate
from pddlego.pddl.domain import read_domain
from pddlego.pddl.lint import domain_warnings, problem_warnings
from pddlego.pddl.portable import as_errors, domain_refusals, problem_refusals
from pddlego.pddl.problem import read_problem
from pddlego.pddl.rules import warning
from pddlego.planning.engines import Attempt
from pddlego.planning.ground import BoundError, EngineFailedError, NotPlannableError, OutOfTimeError
from pddlego.planning.relaxed import relaxed_warnings
from pddlego.planning.result import NOTHING_THERE, PlanResult, PlanStatus, Search
from pddlego.planning.validate import FaultKind, goal_holds, plan_cost, speaks_of_nothing, validate
from pddlego.util.limits import Work
from pddlego.util.text import count

MOST_TOLD = 5
"""The maximum number of defects in a message."""

OUT_OF_MEMORY = "the planner ran out of memory: the problem has too many states, or too many objects"

TOO_DEEP = "a condition is nested too deeply, or a derived fact follows from too long a chain"

ALREADY = "the goal is already true in the initial state"


def solve(domain: Domain, problem: Problem, search: Search, tries: Sequence[Attempt]) -> PlanResult:
    """Plan for `problem.goal`: the first of the attempts that finds a plan, or proves that none exists, decides.

    Every plan is executed on the problem before it is returned. Nothing here counts its work: the process is killed in
    time. Raises `MemoryError`.
    """
    started = time.perf_counter()
    result = _before_planning(domain, problem)
    if result is None:
        for attempt in tries:
            result = replace(_attempted(domain, problem, search, attempt), engine=attempt.engine)
            if result.status in (PlanStatus.SOLVED, PlanStatus.UNSOLVABLE):
                break
    assert result is not None
    return replace(result, seconds=time.perf_counter() - started)


def _before_planning(domain: Domain, problem: Problem) -> PlanResult | None:
    """The result of a call that needs no planning; None if it does."""
    defects = [defect.message for defect in check(domain, problem) if defect.blocking]
    negative = unstratified_predicate(domain)
    if negative is not None:
        defects.append(f"derived predicate {negative} follows from its own negation")
    if defects:
        return PlanResult(PlanStatus.INVALID, problem.goal, message="; ".join(defects))
    try:
        if not goal_holds(domain, problem, Work()):
            return None
        message = NOTHING_THERE if speaks_of_nothing(domain, problem, Work()) else ALREADY
        return PlanResult(PlanStatus.ALREADY_TRUE, problem.goal, message=message)
    except (RecursionError, TooManyCasesError):
        return PlanResult(PlanStatus.INVALID, problem.goal, message=TOO_DEEP)


def _attempted(domain: Domain, problem: Problem, search: Search, attempt: Attempt) -> PlanResult:
    """What came of an attempt."""
    goal = problem.goal
    with contextlib.suppress(MemoryError, SystemError):  # Python without memory may say either
        try:
            plan = attempt.solver(domain, problem, search, attempt.seconds)
        except NotPlannableError as error:
            # What the engine says is a chain of its own steps; our check names the place and what to do.
            own = "; ".join(defect.message for defect in check_domain(domain)[:MOST_TOLD] if defect.blocking)
            return PlanResult(PlanStatus.INVALID, goal, message=own or str(error))
        except EngineFailedError as error:
            return PlanResult(PlanStatus.CRASHED, goal, message=str(error))
        except OutOfTimeError:
            return PlanResult(PlanStatus.TIMEOUT, goal, message=f"no plan within {attempt.seconds:.3g} s")
        except BoundError as error:
            return PlanResult(PlanStatus.BOUND, goal, message=str(error))
        except RecursionError:
            return PlanResult(PlanStatus.INVALID, goal, message=TOO_DEEP)
        if plan is None:
            message = "no sequence of actions reaches the goal from what is known"
            return PlanResult(PlanStatus.UNSOLVABLE, goal, message=message)
        try:
            fault = validate(domain, problem, plan, Work())
        except RecursionError:
            return PlanResult(PlanStatus.INVALID, goal, message=TOO_DEEP)
        if fault is not None and fault.kind is FaultKind.TOO_LARGE:
            return PlanResult(PlanStatus.INVALID, goal, message=TOO_DEEP)
        if fault is not None:
            return PlanResult(PlanStatus.CRASHED, goal, message=f"the plan found does not work: {fault}")
        return PlanResult(PlanStatus.SOLVED, goal, plan, cost=plan_cost(domain, problem, plan))
    # Not in a handler: as long as there is an error, everything that the search had found is still in use.
    return PlanResult(PlanStatus.MEMORY, goal, message=OUT_OF_MEMORY)


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
    """Check a domain: what is wrong with its text, else all errors, else what is most likely a mistake. Total."""
    reading = read_domain(text)
    unreadable = tuple(defect for defect in reading.defects if defect.blocking)[:MAX_DEFECTS]
    refusals = itertools.islice(domain_refusals(reading), MAX_DEFECTS)
    found = unreadable or (*reading.defects, *check_domain(reading.domain), *refusals)
    defects = as_errors(text, found)
    if any(defect.blocking for defect in defects):
        return CheckedDomain(None, defects)
    defects = as_errors(text, (*defects, *domain_warnings(reading.domain)))
    errors = tuple(defect for defect in defects if defect.blocking)
    return CheckedDomain(None, errors) if errors else CheckedDomain(reading.domain, defects[:MAX_DEFECTS])


def checked_problem(domain: Domain, text: str) -> CheckedProblem:
    """Check a problem of a sound domain: all defects, and where planning is possible what is most likely a mistake."""
    reading = read_problem(text)
    defects = as_errors(
        text, (*check_reading(domain, reading), *itertools.islice(problem_refusals(reading), MAX_DEFECTS))
    )
    if any(defect.blocking for defect in defects):
        return CheckedProblem(None, defects)
    problem = reading.problem
    found = [*problem_warnings(domain, problem), *_goal(domain, problem), *relaxed_warnings(domain, problem)]
    explained = any(defect.kind in _CAUSES for defect in found)
    warnings = [defect for defect in found if not (explained and defect.kind in _CONSEQUENCES)]
    defects = as_errors(text, (*defects, *warnings))
    errors = tuple(defect for defect in defects if defect.blocking)
    return CheckedProblem(None, errors) if errors else CheckedProblem(problem, defects[:MAX_DEFECTS])


_CAUSES = (DefectKind.NEVER_TRUE, DefectKind.MISSING_COST)
_CONSEQUENCES = (DefectKind.NEVER_APPLICABLE, DefectKind.UNREACHABLE_GOAL)
"""What makes actions impossible, and what follows from it: the consequences are reported only on their own."""


def _goal(domain: Domain, problem: Problem) -> Iterator[Defect]:
    if problem.goal == TRUE:
        return  # said already
    try:
        if not goal_holds(domain, problem):
            return
        reason = NOTHING_THERE if speaks_of_nothing(domain, problem) else "there is nothing to plan"
    except TooManyCasesError as error:
        part = error.part or "the goal"
        message = (
            f"{part} has too many cases for {count(len(problem.objects), 'object')}; quantify over fewer variables"
        )
        yield warning(DefectKind.TOO_LARGE, ":goal", message, problem.goal.place)
        return
    message = f"the goal is already true in the initial state: {reason}; use a goal that is not yet true"
    yield warning(DefectKind.GOAL_TRUE, ":goal", message, problem.goal.place)
