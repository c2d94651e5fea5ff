"""Differential tests: our planner against Fast Downward, and Fast Downward against itself through unified-planning."""

from __future__ import annotations

from pathlib import Path

import pytest

from pddlego.methods.textgames.loading import load
from pddlego.pddl import Domain, Problem
from pddlego.planning import PlanStatus, ProcessPlanner, Search
from pddlego.planning.validation import validate
from pddlego.planning.validation.cost import plan_cost
from tests.clock import unhurried
from tests.methods.textgames.houses import COIN, WORKSHOP, random_problem, random_workshop
from tests.planning.unified_oracle import solve_unified
from tests.scale import PATIENCE
from tests.shared import SMALL_SUITES, suite
from tests.test_domains import kitchen

pytestmark = pytest.mark.slow

PROBLEMS = 30
PARTS = 5  # so that pytest-xdist can share them out
BFS, ASTAR, ANY = Search(), Search.parse("astar(lmcut)"), Search.parse("gbf(hff)")


def problem(number: int) -> tuple[Domain, Problem]:
    return (WORKSHOP, random_workshop(number)) if number % 3 == 0 else (COIN, random_problem(number))


def _compare(numbers: range) -> list[tuple[int, PlanStatus, str]]:
    """(number, our status, how the oracle disagrees or nothing) for each problem."""
    result = []
    with ProcessPlanner(clock=unhurried) as ours, ProcessPlanner("fast-downward", timeout=PATIENCE) as oracle:
        for number in numbers:
            domain, item = problem(number)
            # Fast Downward's optimal search takes no conditional effects: there any plan of it has to do.
            theirs = oracle.solve(domain, item, BFS if domain is COIN else ANY)
            mine = ours.solve(domain, item, BFS)
            fault = ""
            if mine.status is not theirs.status:
                fault = f"{mine.status.value}, but Fast Downward says {theirs.status.value}: {theirs.message}"
            elif mine.plan is not None and theirs.plan is not None and len(mine.plan) > len(theirs.plan):
                fault = f"{len(mine.plan)} steps, but Fast Downward needs {len(theirs.plan)}"
            result.append((number, mine.status, fault))
    return result


@pytest.mark.oracle
@pytest.mark.parametrize("part", range(PARTS))
def test_problems_are_solved_as_fast_downward_solves_them(part: int) -> None:
    results = _compare(range(part, PROBLEMS, PARTS))
    assert [(number, fault) for number, _, fault in results if fault] == []
    statuses = [status for _, status, _ in results]
    assert len(statuses) == PROBLEMS // PARTS
    assert PlanStatus.SOLVED in statuses


def test_breadth_first_plans_are_as_short_as_those_of_a_star(planner: ProcessPlanner) -> None:
    for number in range(20):
        domain, item = problem(number)
        first, second = planner.solve(domain, item, BFS), planner.solve(domain, item, ASTAR)
        assert first.status is second.status
        assert len(first.plan or ()) == len(second.plan or ()), number


@pytest.mark.oracle
def test_fast_downward_plans_for_derived_predicates_too(planner: ProcessPlanner) -> None:
    setting = load("cooking-hard")
    ready = ("recipe_known", "ingredient carrot", "wanted carrot sliced", "thing_at carrot kitchen", "have salt")
    missing = ("recipe_known", "ingredient carrot", "closed fridge kitchen", "likely carrot fridge")
    with ProcessPlanner("fast-downward", timeout=PATIENCE) as oracle:
        for facts in ((*ready, "thing_at knife corridor"), missing):
            for rung in setting.start.ladder:
                problem = kitchen(*facts).with_goal(rung.goal)
                mine, theirs = (item.solve(setting.start.domain, problem, rung.search) for item in (planner, oracle))
                assert mine.status is theirs.status, rung.name
                for item in filter(None, (mine.plan, theirs.plan)):
                    assert validate(setting.start.domain, problem, item) is None
                if rung.search == BFS and mine.plan and theirs.plan:
                    assert len(mine.plan) <= len(theirs.plan), rung.name


UNREADABLE = ("hiking-sat14-strips", "zenotravel")
"""unified-planning reads neither `either` nor `(at?x)`."""


@pytest.mark.oracle
@pytest.mark.shared("competition")
@pytest.mark.parametrize("name", [name for name in SMALL_SUITES if name not in UNREADABLE][::2])
def test_both_ways_to_fast_downward_find_plans_of_one_cost(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    domain, task = suite(name)
    with ProcessPlanner("fast-downward", clock=unhurried) as planner:
        for search in (ASTAR, ANY):
            plan, oracle = planner.solve(domain, task, search).plan, solve_unified(domain, task, search)
            assert plan is not None
            assert oracle is not None
            assert validate(domain, task, oracle) is None
            if search is ASTAR:
                cost, best = (plan_cost(domain, task, one) or 0 for one in (plan, oracle))
                assert cost <= best
