"""Which searches an engine has."""

from __future__ import annotations

import pytest

import pddlego
from pddlego.errors import UsageError
from pddlego.methods.planning_settings import load_planning
from pddlego.planning import ENGINES, ProcessPlanner, Search, validate
from pddlego.planning.engines import attempts, missing, refusal
from pddlego.planning.result import EAGER
from pddlego.tasks.generators import generate
from tests.clock import unhurried

GREEDY = ("gbf(hff)", "gbf(hadd)", "gbf(hmax)", "gbf(blind)", "ehs(hsa)", "wastar(landmark)")
OPTIMAL = ("bfs", "ids", "astar(lmcut)", "astar(blind)")

BASELINES = ("hff", "hadd", "hgc", "hlmc", "hcg", "hcea")

HAS = {
    "auto": (*GREEDY, *OPTIMAL),
    "pyperplan": (*GREEDY, *OPTIMAL),
    "fast-downward": ("gbf(hff)", *OPTIMAL),
    "mimir": ("gbf(hff)", "gbf(hadd)"),
    "kairos": ("gbf(hff)", *OPTIMAL),
    "graphplan": tuple(search for search in (*GREEDY, *OPTIMAL) if search != "gbf(blind)"),
}


@pytest.mark.parametrize("engine", ENGINES)
def test_a_search_that_an_engine_does_not_have_is_refused(engine: str) -> None:
    has = [name for name in (*GREEDY, *OPTIMAL) if not refusal(engine, Search.parse(name))]
    assert sorted(has) == sorted(HAS[engine])


@pytest.mark.parametrize("engine", [None, *ENGINES])
def test_eager_search_with_one_heuristic_is_that_of_fast_downward(engine: str | None) -> None:
    reason = refusal(engine, Search(EAGER, "hadd"))
    assert reason == ("" if engine == "fast-downward" else f"{engine or 'auto'} has no eager(hadd); use fast-downward")


@pytest.mark.oracle
@pytest.mark.parametrize("heuristic", BASELINES)
def test_each_heuristic_of_fast_downward_finds_a_plan(heuristic: str) -> None:
    domain, problem = (
        load_planning("ferry")["domain"],
        generate("ferry", {"locations": (4, 4), "cars": (3, 3)}, "eager"),
    )
    with ProcessPlanner("fast-downward", clock=unhurried) as planner:
        result = planner.solve(domain, problem, Search(EAGER, heuristic, "auto"))
    assert result.plan is not None
    assert validate(domain, problem, result.plan) is None


@pytest.mark.parametrize("name", ["gbf(blind)", "gbf(hmax)"])
def test_auto_leaves_out_engines_without_the_search(name: str) -> None:
    tries = attempts(Search.parse(name, "auto"), 10.0)
    assert all(not refusal(attempt.engine, Search.parse(name)) for attempt in tries)


@pytest.mark.oracle
def test_auto_leaves_no_installed_engine_without_a_turn() -> None:
    """Installing Fast Downward takes no task away from mimir; the turns together take the time of the call."""
    tries = attempts(Search.parse("gbf(hff)", "auto"), 10.3)
    installed = [name for name in ("fast-downward", "mimir") if not missing(name)]
    assert [attempt.engine for attempt in tries] == ["pyperplan", *installed, "pyperplan"]
    assert sum(attempt.seconds for attempt in tries[1:-1]) == pytest.approx(10.0)
    assert all(attempt.seconds >= 3 for attempt in tries[1:-1])


def test_solve_refuses_it_before_it_reads_a_file() -> None:
    with pytest.raises(UsageError, match="cannot use the planner mimir"):
        pddlego.solve("nosuch.pddl", "nosuch.pddl", planner="mimir", search="astar(lmcut)")
