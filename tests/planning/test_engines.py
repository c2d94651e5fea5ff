"""Which searches an engine has."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest

import pddlego
from pddlego import tools
from pddlego.errors import UsageError
from pddlego.methods.planning_settings import load_planning
from pddlego.pddl import parse_domain, parse_problem
from pddlego.planning import ProcessPlanner, Search, engines, validate
from pddlego.planning.abilities import turns_for
from pddlego.planning.engines import attempts, missing, refusal
from pddlego.planning.result import EAGER, PlanResult, PlanStatus
from pddlego.planning.worker import solve
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


@pytest.mark.parametrize("engine", HAS)
def test_a_search_that_an_engine_does_not_have_is_refused(engine: str) -> None:
    has = [name for name in (*GREEDY, *OPTIMAL) if not refusal(engine, Search.parse(name))]
    assert sorted(has) == sorted(HAS[engine])


@pytest.mark.parametrize("engine", [None, *HAS])
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


@pytest.mark.parametrize("absent", [("fast-downward",), ("mimir",), ("fast-downward", "mimir")])
def test_a_task_that_would_profit_names_the_extras(absent: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines, "missing", lambda engine: ("module", "command") if engine in absent else None)
    domain, problem = load_planning("ferry")["domain"], generate("ferry", {"locations": (4, 4), "cars": (3, 3)}, "note")
    call = partial(tools.solve, domain, problem, why_seconds=0)
    late = PlanResult(PlanStatus.TIMEOUT, problem.goal)
    monkeypatch.setattr(ProcessPlanner, "solve", lambda *_: late)
    assert f"pip install '.[{','.join(absent)}]'" in call().note
    assert "mimir" not in call(search="astar(lmcut)").note, "it has no optimal search"
    assert call(planner="pyperplan").note == "", "the user chose a planner"
    monkeypatch.setattr(ProcessPlanner, "solve", lambda *_: replace(late, status=PlanStatus.UNSOLVABLE))
    assert call().note == "", "no planner can find a plan"


@pytest.mark.parametrize(
    ("actions", "is_read"),
    [
        ("(:action ax :parameters () :precondition (and (e) (or (x) (z))) :effect (y))", True),
        ("(:action ax :parameters () :precondition (not (or (and (x) (w)) (e))) :effect (y))", True),
        ("(:action ax :parameters () :precondition (and (or (x) (e)) (or (z) (w))) :effect (y))", False),
        ("(:action ax :parameters () :precondition (not (or (and (x) (w)) (and (w) (not (e))))) :effect (y))", False),
        ("(:action ax :parameters () :precondition (and (imply (x) (w)) (imply (z) (e))) :effect (y))", False),
        ("(:action ax :parameters () :effect (when (and (or (x) (e)) (or (z) (w))) (y)))", False),
        ("(:action ax :parameters () :effect (when (or (x) (e)) (when (or (z) (w)) (y))))", False),
        (
            "(:derived (d) (and (or (x) (y)) (or (z) (w))))"
            "(:action ax :parameters () :precondition (and (e) (not (d))) :effect (y))",
            False,
        ),
    ],
)
@pytest.mark.parametrize("numbers", ["", "(= (f) 1)"])
def test_mimir_refuses_several_disjunctions(actions: str, is_read: bool, numbers: str) -> None:
    """mimir 0.13 loses some of them, and finds wrong plans, or proves that there is none."""
    if missing("mimir"):
        pytest.skip("mimir is not installed")
    functions, goal = ("(:functions (f))", "(and (y) (>= (f) 1))") if numbers else ("", "(y)")
    domain = parse_domain(
        "(define (domain r) (:requirements :adl :derived-predicates :numeric-fluents)"
        f" (:predicates (x) (y) (z) (w) (d) (e)) {functions}"
        f" (:action n :parameters () :precondition (not (e)) :effect (e)) {actions})"
    )
    problem = parse_problem(f"(define (problem t) (:domain r) (:init (z) {numbers}) (:goal {goal}))")
    search = Search("gbf", "hff", "mimir")
    result = solve(domain, problem, search, turns_for(domain, problem, search, 60))
    assert ("several disjunctions" in result.message) is not is_read
    assert is_read or result.status is not PlanStatus.SOLVED
    if not numbers:
        assert (result.status is PlanStatus.SOLVED) is is_read
        search = Search("gbf", "hff")
        assert solve(domain, problem, search, turns_for(domain, problem, search, 60)).status is PlanStatus.SOLVED
