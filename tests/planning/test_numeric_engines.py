"""Kairos and mimir on numeric and temporal tasks: plans, and proofs only where they are."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from pddlego import tools
from pddlego.errors import UsageError
from pddlego.pddl import parse_domain, parse_problem
from pddlego.pddl.conditions import And
from pddlego.planning import Plan, PlanStatus, ProcessPlanner, Search
from pddlego.planning.engines import missing, solve_numeric_with_mimir
from pddlego.planning.ground import PlanningError
from pddlego.planning.kairos import solve_texts
from pddlego.planning.result import NOT_SEARCHED, PlanResult
from pddlego.tools import solve_result
from pddlego.util.children import in_a_fork
from tests.cli.command import run
from tests.clock import unhurried
from tests.levels.judges import INVALID, judges
from tests.levels.tasks import numeric_task
from tests.scale import scaled
from tests.shared import SHARED

SECONDS = 60.0

Solve = Callable[[str, str], "Plan | None"]

LEVELS = sorted((SHARED / "cases" / "levels").glob("[nt]*/"))

NOT_SOLVED = {
    "n09-assign-and-increase": "check refuses it: it changes one number twice at one moment",
    "t16-continuous": "check refuses it: its effects are continuous",
}


def with_kairos(domain: str, problem: str, optimal: bool = False) -> Plan | None:
    return in_a_fork(partial(solve_texts, domain, problem, SECONDS, optimal), (PlanningError,))


def with_mimir(domain: str, problem: str) -> Plan | None:
    if missing("mimir"):
        pytest.skip("mimir is not installed")
    return solve_numeric_with_mimir(domain, problem, SECONDS)


ENGINES = [pytest.param(with_kairos, marks=pytest.mark.kairos, id="kairos"), pytest.param(with_mimir, id="mimir")]


def read(folder: Path) -> tuple[str, str]:
    domain, problem = ((folder / name).read_text(encoding="utf-8") for name in ("domain.pddl", "problem.pddl"))
    return domain, problem


def status(solve: Solve, texts: tuple[str, str]) -> PlanStatus:
    try:
        return PlanStatus.UNSOLVABLE if solve(*texts) is None else PlanStatus.SOLVED
    except PlanningError as error:
        return error.status


NUMERIC = """(define (domain fuel) (:requirements :numeric-fluents)
  (:predicates (there)) (:functions (fuel))
  (:action go :parameters () :precondition (>= (fuel) {}) :effect (and (there) (decrease (fuel) {})))
  (:action buy :parameters () :precondition (and (<= (fuel) {})) :effect (and (increase (fuel) {}))))"""

TASK = "(define (problem one) (:domain fuel) (:init (= (fuel) {})) (:goal {}))"


@pytest.mark.parametrize("solve", ENGINES)
def test_numbers_are_added_exactly(solve: Solve) -> None:
    domain = NUMERIC.format(1, 1, 5, "0.1")
    plan = solve(domain, TASK.format("0.2", "(= (fuel) 0.3)"))
    assert plan is not None
    assert [str(step) for step in plan.steps] == ["(buy)"]


@pytest.mark.parametrize("solve", ENGINES)
@pytest.mark.parametrize(
    ("numbers", "proof"),
    [
        ((4, 4, 1, 1), PlanStatus.UNSOLVABLE),
        (("0.4", "0.4", "0.1", "0.1"), PlanStatus.UNSOLVABLE),
        (("(/ 4 1)", 4, 1, 1), PlanStatus.BOUND),
        (("0.4", "0.4", "(* 0.1 (fuel))", "0.1"), PlanStatus.BOUND),
    ],
)
def test_only_a_proof_is_unsolvable(solve: Solve, numbers: tuple[object, ...], proof: PlanStatus) -> None:
    assert status(solve, (NUMERIC.format(*numbers), TASK.format(0, "(there)"))) is proof


@pytest.mark.kairos
def test_a_plan_is_optimal_where_that_is_proved() -> None:
    domain = """(define (domain buy) (:functions (cost)) (:predicates (a) (b))
      (:action dear :parameters () :precondition (and) :effect (and (a) (b) (increase (cost) {0})))
      (:action one :parameters () :precondition (and) :effect (and (a) (increase (cost) {1})))
      (:action two :parameters () :precondition (and) :effect (and (b) (increase (cost) {1}))))"""
    problem = "(define (problem p) (:domain buy) (:init (= (cost) 0)) (:goal (and (a) (b))) (:metric {} (cost)))"
    for high, low in ((10, 2), ("0.3", "0.1")):
        best = with_kairos(domain.format(high, low), problem.format("minimize"), optimal=True)
        assert best is not None
        assert (len(best), best.optimal) == (2, True)
    any_plan = with_kairos(domain.format(10, 2), problem.format("minimize"))
    assert any_plan is not None
    assert any_plan.optimal is False
    rounded = with_kairos(domain.format("(/ 10 3)", "(/ 2 3)"), problem.format("minimize"), optimal=True)
    assert rounded is not None
    assert rounded.optimal is False


@pytest.mark.kairos
def test_large_numbers_that_engines_round() -> None:
    """Kairos takes 2^53 + 1 for 2^53; no invalid plan is returned, and the line says why there is none."""
    domain = NUMERIC.format(2**53 + 1, 1, 1, 0)
    result = tools.solve(domain, TASK.format(2**53, "(there)"), why_seconds=0)
    assert result.status == "bound"
    assert result.message.startswith("no valid plan found: in a plan of kairos, which computes in floating point, (go)")
    assert tools.solve(domain, TASK.format(2**53 + 1, "(there)"), why_seconds=0).status == "solved"


@pytest.mark.parametrize("number", ["5.", "-5."])
def test_a_number_has_digits_after_its_point(number: str) -> None:
    domain, problem = NUMERIC.format(1, 1, 9, 1), TASK.format(number, "(there)")
    (finding,) = tools.check(domain, problem).findings
    assert finding.message.startswith(f"{number} is not a number.") and f"(= (fuel) {number})" in finding.message
    with pytest.raises(UsageError, match="The problem is not valid"):
        tools.solve(domain, problem)


TIMED = """(define (domain kiln) (:requirements :durative-actions) (:predicates (hot) (done))
  (:durative-action fire :parameters () :duration (= ?duration 8) :condition (and)
    :effect (and (at start (hot)) (at end (not (hot)))))
  (:action look :parameters () :precondition (hot) :effect (and))
  (:durative-action bake :parameters () :duration (= ?duration 2.5)
    :condition (over all (hot)) :effect (at end (done))))"""


@pytest.mark.kairos
def test_a_timed_plan_has_times_and_durations() -> None:
    plan = with_kairos(TIMED, "(define (problem p) (:domain kiln) (:init) (:goal (done)))")
    assert plan is not None
    assert [(str(step.step), step.duration is None) for step in plan.timed] == [("(fire)", False), ("(bake)", False)]
    assert [float(step.duration or 0) for step in plan.timed] == [8, 2.5]
    assert (
        INVALID not in judges(TIMED, "(define (problem p) (:domain kiln) (:init) (:goal (done)))", str(plan)).values()
    )
    assert 8 <= plan.makespan < 9


def test_mimir_says_that_it_has_no_time() -> None:
    with pytest.raises(PlanningError, match="mimir has no time; use kairos"):
        solve_numeric_with_mimir(TIMED, "(define (problem p) (:domain kiln) (:init) (:goal (done)))", SECONDS)


@pytest.mark.kairos
@pytest.mark.parametrize(
    ("domain", "message"),
    [
        ("(define (domain d) (:predicates (p)) (:action a :effect (q)))", "kairos cannot read it"),
        ("", "kairos cannot read it"),
        ("(" * 100_000, "kairos cannot read it"),
        ("(define (domain d) (:predicates (p)) (:action a :effect (oneof (p) (p))))", "kairos"),
    ],
)
def test_what_kairos_cannot_read_is_an_error(domain: str, message: str) -> None:
    with pytest.raises(PlanningError, match=message) as caught:
        with_kairos(domain, "(define (problem p) (:domain d) (:init) (:goal (p)))")
    assert caught.value.status is PlanStatus.INVALID


@pytest.mark.kairos
@pytest.mark.parametrize("search", ["gbf(hff)", "astar(lmcut)"])
def test_kairos_is_a_planner_for_classical_tasks(search: str) -> None:
    domain = parse_domain(
        """(define (domain roads) (:requirements :typing) (:types place) (:constants home - place)
        (:predicates (at ?p - place) (road ?a ?b - place))
        (:action go :parameters (?a ?b - place) :precondition (and (at ?a) (road ?a ?b))
          :effect (and (at ?b) (not (at ?a)))))"""
    )
    problem = parse_problem(
        """(define (problem r) (:domain roads) (:objects town lake - place)
        (:init (at home) (road home town) (road town lake)) (:goal (at lake)))"""
    )
    with ProcessPlanner("kairos", clock=unhurried) as planner:
        result = planner.solve(domain, problem, Search.parse(search))
        assert (result.status, result.cost, result.engine) == (PlanStatus.SOLVED, 2, "kairos")
        assert result.plan is not None
        assert result.plan.optimal is (search == "astar(lmcut)")
        nowhere = planner.solve(
            domain, parse_problem(str(problem).replace("(road town lake)", "")), Search.parse(search)
        )
        assert nowhere.status is PlanStatus.UNSOLVABLE


@pytest.mark.kairos
def test_no_solvable_task_is_called_unsolvable() -> None:
    statuses = []
    for seed in range(scaled(10, 100)):
        task = numeric_task(seed, places=1 + seed % 2, steps=3 + seed % 4)
        statuses.append(status(with_kairos, (task.domain, task.problem)))
    assert PlanStatus.UNSOLVABLE not in statuses
    assert statuses.count(PlanStatus.SOLVED) > 0.9 * len(statuses)


@pytest.mark.shared("cases/levels")
@pytest.mark.parametrize("folder", LEVELS, ids=lambda folder: folder.name)
@pytest.mark.parametrize("solve", ENGINES)
def test_the_tiny_cases(solve: Solve, folder: Path) -> None:
    expected = json.loads((folder / "expect.json").read_text(encoding="utf-8"))
    if folder.name in NOT_SOLVED:
        pytest.skip(NOT_SOLVED[folder.name])
    if solve is with_mimir and folder.name == "n13-forall-effect":
        pytest.skip("mimir dies of numbers under forall: see tests/util/test_children.py")
    found = status(solve, read(folder))
    if not expected["solvable"]:
        assert found in (PlanStatus.UNSOLVABLE, PlanStatus.BOUND)
    elif solve is with_mimir and expected["level"] == 3:
        assert found in (PlanStatus.INVALID, PlanStatus.SOLVED)  # solved where all actions are instantaneous
    else:
        assert found is PlanStatus.SOLVED


@pytest.mark.parametrize(
    ("proved", "search", "optimal"),
    [
        (None, "astar(lmcut)", True),
        (None, "gbf(hff)", False),
        (False, "astar(lmcut)", False),
        (True, "astar(lmcut)", True),
    ],
)
def test_a_result_is_optimal_as_the_engine_says(proved: bool | None, search: str, optimal: bool) -> None:
    result = PlanResult(PlanStatus.SOLVED, And(()), Plan((), optimal=proved))
    assert solve_result(result, Search.parse(search)).optimal is optimal


@pytest.mark.kairos
def test_a_cost_that_is_not_proved_has_a_note() -> None:
    domain = """(define (domain walk) (:requirements :action-costs) (:predicates (there)) (:functions (total-cost))
      (:action go :parameters () :precondition (and) :effect (and (there) (increase (total-cost) 0.333333333333))))"""
    problem = """(define (problem w) (:domain walk) (:init (= (total-cost) 0)) (:goal (there))
      (:metric minimize (total-cost)))"""
    result = tools.solve(domain, problem, planner="kairos", search="astar(lmcut)")
    assert (result.status, result.optimal) == ("solved", False)
    assert "kairos found no better plan, which is no proof" in result.note


@pytest.mark.kairos
@pytest.mark.parametrize(
    ("direction", "action"), [("minimize", ":action"), ("maximize", ":action"), ("minimize", ":durative-action")]
)
def test_a_metric_that_is_not_proved_has_a_note(tmp_path: Path, direction: str, action: str) -> None:
    lasts, time = (":duration (= ?duration 1)", "at end") if action == ":durative-action" else ("", "and")
    domain = f"""(define (domain walk) (:requirements :numeric-fluents :durative-actions)
      (:predicates (there)) (:functions (used))
      ({action} go :parameters () {lasts} :effect (and ({time} (there)) ({time} (increase (used) 2)))))"""
    problem = f"(define (problem w) (:domain walk) (:init (= (used) 0)) (:goal (there)) (:metric {direction} (used)))"
    best = {"minimize": "minimal", "maximize": "maximal"}[direction]
    is_searched = direction == "minimize"
    reason = "gbf(hff) does not minimize it; the search astar(lmcut) does" if is_searched else NOT_SEARCHED
    assert tools.solve(domain, problem).note == f"the cost is not proved to be {best}: {reason}"
    (tmp_path / "d.pddl").write_text(domain, encoding="utf-8")
    (tmp_path / "p.pddl").write_text(problem, encoding="utf-8")
    advice = ". To look for a better one: --search 'astar(lmcut)'." if is_searched else f": {NOT_SEARCHED}."
    assert f"The cost is not proved to be {best}{advice}" in run("solve", "d.pddl", "p.pddl", cwd=tmp_path).stderr
    lines = run("solve", "d.pddl", "p.pddl", "--search", "astar(lmcut)", "--timeout", "2", cwd=tmp_path).stderr
    assert (advice in lines) is not is_searched


@pytest.mark.kairos
def test_the_number_of_steps_is_proved_to_be_minimal() -> None:
    """The metric `(total-time)` is the number of steps in a task without time."""
    domain = """(define (domain buy) (:requirements :numeric-fluents) (:functions (cost)) (:predicates (a) (b))
      (:action one :parameters () :effect (and (a) (decrease (cost) 1)))
      (:action two :parameters () :precondition (a) :effect (and (b) (increase (cost) 1))))"""
    problem = "(define (problem p) (:domain buy) (:init (= (cost) 0)) (:goal (b)) (:metric minimize (total-time)))"
    result = tools.solve(domain, problem, search="astar(lmcut)")
    assert (result.cost, result.optimal, result.note) == (2, True, "")
    longest = tools.solve(domain, problem.replace("minimize", "maximize"), search="astar(lmcut)")
    assert (longest.optimal, longest.note) == (False, f"the cost is not proved to be maximal: {NOT_SEARCHED}")
