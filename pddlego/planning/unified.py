"""Fast Downward through unified-planning: the optional engine for big problems, and the oracle of our tests."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Any

from pddlego.pddl import Domain, Problem
from pddlego.pddl.derived import write_out
from pddlego.pddl.problem import without
from pddlego.planning.result import Plan, PlanStep, Search

OPTIMAL = frozenset({"bfs", "astar", "ids"})
"""Searches that promise the shortest plan; for these Fast Downward is asked for an optimal one too."""


def solve_fast_downward(domain: Domain, problem: Problem, search: Search) -> Plan | None:
    """A plan of Fast Downward, optimal where `search` is and the engine can be. Needs the extra `fast-downward`.

    unified-planning knows no derived predicates, so these are written out.

    Writes `output.sas` into the working directory, so two calls must not share one. Raises `NotPlannableError` where
    the reader or the engine refuses the problem.
    """
    from pyparsing import ParseBaseException
    from unified_planning.engines import PlanGenerationResultStatus as Status
    from unified_planning.exceptions import UPException
    from unified_planning.shortcuts import OneshotPlanner, get_environment

    from pddlego.planning.ground import EngineFailedError, NotPlannableError

    get_environment().credits_stream = None
    stated = replace(without(problem, domain.constants), domain=domain.name)
    engines = ["fast-downward"]
    if search.algorithm in OPTIMAL:
        # The optimal engine does not take axioms, which quantified goals become: then any plan is better than none.
        engines.insert(0, "fast-downward-opt")
    try:
        text, goal = write_out(domain, stated.goal)
        parsed = _reader().parse_problem_string(text, str(stated.with_goal(goal)))
        for name in engines:
            with OneshotPlanner(name=name) as engine:
                result = engine.solve(parsed)
            if result.status is not Status.UNSUPPORTED_PROBLEM:
                break
    except (UPException, ParseBaseException, AssertionError, KeyError, ValueError, SyntaxError) as error:
        raise NotPlannableError(f"unified-planning cannot handle it ({error})") from error
    if result.status in (Status.UNSOLVABLE_PROVEN, Status.UNSOLVABLE_INCOMPLETELY):
        return None
    if result.status is Status.MEMOUT:
        raise MemoryError
    if result.status in (Status.TIMEOUT, Status.INTERNAL_ERROR):
        raise EngineFailedError(f"Fast Downward ended with {result.status.name.lower().replace('_', ' ')}")
    if result.plan is None:
        raise NotPlannableError(f"Fast Downward gave no plan: {result.status.name.lower()}")
    steps = result.plan.actions
    return Plan(tuple(PlanStep(str(step.action.name), tuple(map(str, step.actual_parameters))) for step in steps))


@lru_cache(maxsize=1)
def _reader() -> Any:
    """The PDDL reader of unified-planning; building its grammar takes longer than reading a problem."""
    from unified_planning.io import PDDLReader

    return PDDLReader()
