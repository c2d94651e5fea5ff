"""`solve`: a plan for a task, or the reasons why it has no plan."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from pddlego.errors import UsageError
from pddlego.pddl import Domain, Problem
from pddlego.pddl.costs import needs_numbers, penalties
from pddlego.pddl.rules import Level
from pddlego.planners import Feature, spec_of
from pddlego.planning import Plan, PlanResult, PlanStatus, Search
from pddlego.planning.result import LEAST_COST, NO_PLAN, NOT_SEARCHED, SEARCH_NAMES
from pddlego.planning.validation import followed
from pddlego.planning.validation.cost import plan_cost
from pddlego.planning.validation.preferences import preference_verdicts
from pddlego.planning.world import default_work
from pddlego.tools.checking import check
from pddlego.tools.files import DomainFile, ProblemFile, limited_depth, read_domain_file, read_problem_file
from pddlego.tools.results import OtherPlan, SolveResult
from pddlego.util.text import suggestion

WHY_SECONDS = 5.0
"""The default time for finding out why there is no plan."""

EXPLORATION = "exploration"
"""The engine of a proof that no plan exists, if only the search for the reasons proved it."""


def solve(
    domain: DomainFile,
    problem: ProblemFile,
    *,
    planner: str = "auto",
    search: str = "gbf(hff)",
    seconds: float = 30.0,
    memory: int = 4096,
    why_seconds: float = WHY_SECONDS,
    plans: int = 1,
    keep_states: bool = False,
    before_reasons: Callable[[SolveResult], object] | None = None,
) -> SolveResult:
    """Find a plan in a process of its own, within `seconds` and with at most `memory` MiB.

    Without a plan, a search looks for the reasons for up to `why_seconds`; 0: no search. `before_reasons` is called
    before it with the result so far. Up to `plans` plans are found; all but the first within another `seconds`.
    With `keep_states` the result has the states of the search, if pyperplan found the plan.

    `status` is `solved`, `already true` (an empty plan), `unsolvable`, `invalid`, `timeout`, `out of memory` or
    `crashed`. Raises `UsageError` for invalid files and for an unknown planner or search.
    """
    from pddlego.planning.alternatives import other_plans
    from pddlego.planning.engines import check_search
    from pddlego.planning.process import make_planner

    parsed_search = replace(read_search(search), is_kept=keep_states)
    check_search(planner, parsed_search, "The call")
    value = read_domain_file(domain, Level.TIME)
    task = read_problem_file(value, problem, Level.TIME, domain)
    with make_planner(planner, seconds, memory) as made:
        result = made.solve(value, task, parsed_search)
        note = _on_more_planners(result, planner, parsed_search, value, task)
        plan, solved = result.plan, replace(solve_result(result, parsed_search), note=note)
        if why_seconds > 0 and result.status in (PlanStatus.UNSOLVABLE, *_UNDECIDED):
            from pddlego.planning.why import why_no_plan

            if before_reasons is not None:
                before_reasons(solved)
            why = why_no_plan(made, value, task, result, why_seconds)
            if why.plan is None:
                if why.is_proof and result.status is not PlanStatus.UNSOLVABLE:
                    status = PlanStatus.UNSOLVABLE.value
                    solved = replace(solved, status=status, message=NO_PLAN, engine=EXPLORATION, note="")
                return replace(solved, why=why, findings=check(domain, problem).findings)
            explored = replace(result, status=PlanStatus.SOLVED, message="", engine=EXPLORATION, plan=why.plan)
            plan, solved = why.plan, solve_result(replace(explored, cost=plan_cost(value, task, why.plan)))
        if plans > 1 and result.plan is not None:
            others = other_plans(made, value, task, parsed_search, result, number=plans - 1, seconds=seconds)
            solved = _with_others(solved, *others, wanted=plans - 1)
    if solved.plan is not None and task.preferences:
        with limited_depth():
            monitor = followed(value, task, plan or Plan(()), default_work())[1]  # no plan: the goal is already true
        solved = replace(solved, preferences=preference_verdicts(task, monitor))
    if solved.plan is None or solved.optimal or task.metric is None:
        return solved
    reason = _why_not_proved(planner, parsed_search, task)
    return replace(solved, note=f"the cost is not proved to be {task.metric.best}: {reason}")


def _with_others(solved: SolveResult, others: Iterable[PlanResult], complete: bool, wanted: int) -> SolveResult:
    """The result with further plans; `complete` if there are no others than these."""
    further = tuple(OtherPlan(other.plan or (), other.cost) for other in map(solve_result, others))
    end = "no other plan was found, which is no proof that none exists"
    if complete:
        end = "every other plan has all actions of one of these"
    return replace(solved, others=further, message="" if len(further) == wanted else end)


def read_search(text: str) -> Search:
    """The search of a call. Raises `UsageError` if the text names none."""
    try:
        return Search.parse(text, "auto")
    except ValueError as error:
        advice = suggestion(text, SEARCH_NAMES, "Example: gbf(hff).")
        raise UsageError(f"The search {text} is not possible", f"{error}.", advice) from error


def _why_not_proved(planner: str, search: Search, problem: Problem) -> str:
    """Why a plan is not proved to be the best by the metric of a problem."""
    if problem.metric and problem.metric.direction == "maximize" and not penalties(problem):
        return NOT_SEARCHED
    if search.proves_least_cost:
        return f"{planner} found no better plan, which is no proof; give it more time, or use the planner auto"
    other = "" if planner == "auto" or spec_of(planner).has_whole(Feature.OPTIMAL) else " with the planner auto"
    return f"{search} does not minimize it; the search {LEAST_COST} does{other}"


def _on_more_planners(result: PlanResult, planner: str, search: Search, domain: Domain, problem: Problem) -> str:
    """How to install the planners that `auto` lacks, if they may find a plan where it has found none; else empty."""
    from pddlego.planning.engines import installable

    is_open = result.status in (*_UNDECIDED, PlanStatus.CRASHED, PlanStatus.INVALID)
    if planner != "auto" or not is_open or needs_numbers(domain, problem) is not None:
        return ""
    command = installable(search)
    return f"planners that are not installed may find a plan: {command}" if command else ""


_UNDECIDED = (PlanStatus.TIMEOUT, PlanStatus.MEMORY, PlanStatus.BOUND)
"""The endings of a planning call after which it is unknown whether a plan exists."""


def solve_result(result: PlanResult, search: Search | None = None) -> SolveResult:
    """The result of a planning call. `search` is the search that found the plan, if one did."""
    already = result.status is PlanStatus.ALREADY_TRUE
    plan = Plan(()) if already else result.plan
    return SolveResult(
        result.status.value,
        None if plan is None else tuple(map(str, plan.timed or plan.steps)),
        0 if already else result.cost,
        result.engine,
        result.message,
        round(result.seconds, 3),
        optimal=already or (plan is not None and _is_optimal(plan, search)),
        tree=plan.tree if plan is not None else None,
    )


def _is_optimal(plan: Plan, search: Search | None) -> bool:
    return plan.optimal if plan.optimal is not None else search is not None and search.proves_least_cost
