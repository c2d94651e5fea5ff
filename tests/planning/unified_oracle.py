"""Fast Downward as unified-planning calls it: the oracle for our own way of calling it."""

from __future__ import annotations

from dataclasses import replace

from pddlego.pddl import Domain, Problem
from pddlego.pddl.plain import write_out
from pddlego.pddl.problem import without
from pddlego.planning import Plan, PlanStep, Search


def solve_unified(domain: Domain, problem: Problem, search: Search) -> Plan | None:
    """A plan, optimal where `search` is and the engine can be. It knows no derived predicates: they are written out.

    Writes `output.sas` into the working directory.
    """
    from unified_planning.engines import PlanGenerationResultStatus as Status
    from unified_planning.io import PDDLReader
    from unified_planning.shortcuts import OneshotPlanner, get_environment

    get_environment().credits_stream = None
    plain, goal = write_out(domain, problem.goal)
    stated = replace(without(problem, domain.constants), domain=domain.name).with_goal(goal)
    parsed = PDDLReader().parse_problem_string(plain.text, str(stated))
    # The optimal engine does not take axioms, which quantified goals become: then any plan is better than none.
    for name in ("fast-downward-opt", "fast-downward") if search.is_optimal else ("fast-downward",):
        with OneshotPlanner(name=name) as engine:
            result = engine.solve(parsed)
        if result.status is not Status.UNSUPPORTED_PROBLEM:
            break
    if result.plan is None:
        assert result.status in (Status.UNSOLVABLE_PROVEN, Status.UNSOLVABLE_INCOMPLETELY), result.status
        return None
    steps = result.plan.actions
    return Plan(tuple(PlanStep(str(step.action.name), tuple(map(str, step.actual_parameters))) for step in steps))
