"""Differential test: Fast Downward through unified-planning as the oracle."""

from __future__ import annotations

import pytest

from pddlego.pddl import Domain, Problem
from pddlego.planning import PlanStatus, ProcessPlanner, Search
from tests.houses import COIN, WORKSHOP, random_problem, random_workshop

PROBLEMS, PARTS = 500, 5  # in parts, so that pytest-xdist can share them out
BFS, ASTAR, ANY = Search(), Search.parse("astar(lmcut)"), Search.parse("gbf(hff)")


def problem(number: int) -> tuple[Domain, Problem]:
    return (WORKSHOP, random_workshop(number)) if number % 3 == 0 else (COIN, random_problem(number))


def _compare(numbers: range) -> list[tuple[int, PlanStatus, str]]:
    """(number, our status, how the oracle disagrees or nothing) for each problem."""
    found = []
    with ProcessPlanner() as ours, ProcessPlanner("fast-downward", timeout=60) as oracle:
        for number in numbers:
            domain, each = problem(number)
            # Fast Downward's optimal search takes no conditional effects: there any plan of it has to do.
            theirs = oracle.solve(domain, each, BFS if domain is COIN else ANY)
            mine = ours.solve(domain, each, BFS)
            fault = ""
            if mine.status is not theirs.status:
                fault = f"{mine.status.value}, but Fast Downward says {theirs.status.value}: {theirs.message}"
            elif mine.plan is not None and theirs.plan is not None and len(mine.plan) > len(theirs.plan):
                fault = f"{len(mine.plan)} steps, but Fast Downward needs {len(theirs.plan)}"
            found.append((number, mine.status, fault))
    return found


@pytest.mark.oracle
@pytest.mark.parametrize("part", range(PARTS))
def test_500_problems_are_solved_as_fast_downward_solves_them(part: int) -> None:
    results = _compare(range(part, PROBLEMS, PARTS))
    assert [(number, fault) for number, _, fault in results if fault] == []
    statuses = [status for _, status, _ in results]
    assert len(statuses) == PROBLEMS // PARTS
    assert statuses.count(PlanStatus.SOLVED) > 200 // PARTS
    assert statuses.count(PlanStatus.UNSOLVABLE) > 50 // PARTS


def test_breadth_first_plans_are_as_short_as_those_of_a_star(planner: ProcessPlanner) -> None:
    for number in range(PROBLEMS // 2):
        domain, each = problem(number)
        first, second = planner.solve(domain, each, BFS), planner.solve(domain, each, ASTAR)
        assert first.status is second.status
        assert len(first.plan or ()) == len(second.plan or ()), number
