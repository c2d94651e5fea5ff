"""Kairos: a compiled planner for numbers and time (`kairos-planner`). It has wheels for Linux only."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from pddlego.planning.exact import EngineTask, engine_task
from pddlego.planning.ground import PlanningError
from pddlego.planning.result import NO_VALID_PLAN, Plan, PlanStatus, PlanStep, TimedStep

NO_PROOF = "no plan was found, which is no proof: the numbers of the task are rounded in the search"

_LONGEST = 1_000_000.0
"""Seconds of a search without a limit."""

_SEARCHING = 0.9
"""The part of the time limit after which a search for the best plan returns the best one so far."""

_DIGITS = 6
"""Decimal places of a time: a printed plan has 3, with which it may be invalid."""


def solve_texts(domain: str, problem: str, seconds: float, optimal: bool = False) -> Plan | None:
    """Find any plan, or the best one within the time limit if `optimal`. `Plan.optimal` is true where that is proved.

    No timed plan is proved to be the cheapest, because interfering steps may always be closer to each other. Returns
    None if no plan exists, where interfering steps need 0.001 time units between them. Call it in a fork: it holds what
    a process cannot get back. Raises `PlanningError`, and `MemoryError`.
    """
    import kairos

    task = engine_task(domain, problem)
    try:
        parsed = kairos.parse_problem(task.problem, kairos.parse_domain(task.domain))
    except kairos.PddlError as error:
        raise PlanningError(f"kairos cannot read it ({' '.join(str(error).split())})") from error
    limit = min(seconds, _LONGEST) * (_SEARCHING if optimal else 1)
    # With several threads, equal calls find different plans.
    result = kairos.Planner().solve(parsed, timeout=limit, threads=1, anytime=optimal)
    if result.plan is None:
        _check_proof(result, task)
        return None
    proved = task.is_exact and result.stop_reason is kairos.StopReason.PROVEN_OPTIMAL
    return _plan(result.plan, task, proved)


def _check_proof(result: Any, task: EngineTask) -> None:
    """Raise the error of a search that ended without a plan and without a proof that none exists."""
    status = result.status.name
    if status in ("OUT_OF_MEMORY", "GROUNDING_TOO_LARGE", "CANCELLED"):  # the last one where memory ends at once
        raise MemoryError
    if status == "TIMEOUT":
        raise PlanningError(status=PlanStatus.TIMEOUT)
    if status == "UNSOLVABLE" and task.is_exact:
        return
    if status in ("UNSOLVABLE", "NO_PLAN_FOUND"):
        message = NO_PROOF if status == "UNSOLVABLE" else "kairos has no search that proves that no plan exists"
        raise PlanningError(message, PlanStatus.BOUND)
    if status == "INTERNAL_ERROR":  # its validator refuses each plan of its search
        raise PlanningError(NO_VALID_PLAN, PlanStatus.BOUND)
    reasons = " ".join(" ".join(diagnostic.message for diagnostic in result.diagnostics).split())
    message = f"kairos ended with {status.lower().replace('_', ' ')}{f' ({reasons})' if reasons else ''}"
    refused = status in ("UNSUPPORTED", "INVALID_INPUT")
    raise PlanningError(message, PlanStatus.INVALID if refused else PlanStatus.CRASHED)


def _plan(plan: Any, task: EngineTask, optimal: bool) -> Plan:
    steps = [PlanStep(step.name, tuple(step.args)) for step in plan.steps]
    if not task.is_temporal:
        return Plan(tuple(steps), optimal=optimal)
    lasts = [_decimal(step.duration) if step.name in task.durative else None for step in plan.steps]
    starts = [_decimal(step.time) for step in plan.steps]
    return Plan.of(map(TimedStep, starts, steps, lasts), optimal=False)


def _decimal(value: float) -> Decimal:
    return Decimal(f"{value:.{_DIGITS}f}").normalize()
