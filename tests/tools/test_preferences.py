"""What results say of preferences: how often they are violated, what that costs, and the value of the metric."""

from __future__ import annotations

from pathlib import Path

import pytest

import pddlego
from pddlego import tools
from pddlego.tools import PreferenceVerdict
from tests.cli.command import run
from tests.lamps import DOMAIN, PLAN, PROBLEM

SOFT = PROBLEM.rstrip()[:-1].replace("(:goal ", "(:goal (and (preference home (at hall)) ", 1)
SOFT = (
    SOFT.rstrip()
    + """)
  (:constraints (forall (?r - room) (preference dark (always (not (lit ?r))))))
  (:metric minimize (+ (* 2 (is-violated home)) (* 0.5 (is-violated dark)))))"""
)
VERDICTS = (PreferenceVerdict("home", 1, 1, 2), PreferenceVerdict("dark", 2, 2, 1))


def test_validate_says_what_is_violated() -> None:
    result = pddlego.validate(DOMAIN, SOFT, PLAN)
    assert (result.valid, result.cost, result.preferences) == (True, 3, VERDICTS)


def test_simulate_says_it_after_each_step() -> None:
    result = pddlego.simulate(DOMAIN, SOFT, PLAN)
    assert result.preferences == VERDICTS
    assert [state.cost for state in result.states] == [None, 0.5, 2.5, 3]
    simulation = pddlego.Simulation(DOMAIN, SOFT)
    for action in PLAN.splitlines():
        simulation.step(action)
    assert simulation.preferences == VERDICTS
    simulation.undo()
    assert simulation.preferences == (VERDICTS[0], PreferenceVerdict("dark", 1, 2, 0.5))
    simulation.reset()
    assert {verdict.violated for verdict in simulation.preferences} == {0}


def test_solve_says_it_and_proves_the_best_value() -> None:
    found = tools.solve(DOMAIN, SOFT)
    assert found.plan is not None and found.note.startswith("the cost is not proved to be minimal")
    assert sum(verdict.cost for verdict in found.preferences) == found.cost
    best = tools.solve(DOMAIN, SOFT, search="astar(lmcut)")
    assert (best.cost, best.optimal, best.plan and len(best.plan)) == (1, True, 4)
    assert best.preferences == (PreferenceVerdict("home", 0, 1, 0), VERDICTS[1])


def test_the_best_value_of_a_maximized_metric_is_proved() -> None:
    task = SOFT.replace("minimize (+ (* 2", "maximize (- 9 (+ (* 2").replace("dark)))))", "dark))))))")
    best = tools.solve(DOMAIN, task, search="astar(lmcut)")
    assert (best.cost, best.optimal, best.note) == (8, True, "")
    assert best.cost == 9 + sum(verdict.cost for verdict in best.preferences)
    found = tools.solve(DOMAIN, task)
    assert found.optimal or "the search astar(lmcut) does" in found.note


def test_a_plan_without_actions_may_violate_what_costs_nothing() -> None:
    task = SOFT.replace("(:init", "(:init (lit hall) (lit kitchen)")
    done = tools.solve(DOMAIN, task[: task.index("(:metric")] + ")")
    assert (done.status, done.plan) == ("already true", ())
    assert done.preferences == (PreferenceVerdict("home", 0, 1, 0), PreferenceVerdict("dark", 2, 2, 0))


def test_without_a_plan_preferences_are_not_the_cause() -> None:
    result = tools.solve(DOMAIN, SOFT.replace("(connected hall kitchen)", ""))
    assert result.status == "unsolvable" and result.preferences == ()
    assert result.why is not None and [part.goal for part in result.why.goals if part.reachable is False]


def test_preferences_of_a_task_with_time_are_validated_and_not_optimized() -> None:
    domain = """(define (domain wait) (:requirements :durative-actions) (:predicates (done) (begun))
      (:durative-action go :parameters () :duration (= ?duration 2)
        :condition (at start (not (begun))) :effect (and (at start (begun)) (at end (done)))))"""
    task = """(define (problem p) (:domain wait) (:init) (:goal (and (done) (preference end (begun))))
      (:constraints (and (preference soon (within 2 (done))) (preference late (always-within 1 (begun) (done)))))
      (:metric minimize (+ (total-time) (* 5 (is-violated soon)) (* 7 (is-violated late)))))"""
    result = tools.validate(domain, task, "0: (go) [2]")
    assert [(verdict.name, verdict.violated, verdict.cost) for verdict in result.preferences] == [
        ("end", 0, 0),
        ("soon", 0, 0),
        ("late", 1, 7),
    ]
    assert (result.valid, result.cost) == (True, 9)
    found = tools.solve(domain, task, search="astar(lmcut)")
    assert found.status == "invalid" and "preferences are not planned for in a task with times" in found.message
    found = tools.solve(domain, task)
    assert "kairos" in found.message or (found.cost, found.optimal, found.preferences) == (9, False, result.preferences)


@pytest.mark.parametrize("command", ["solve", "validate", "simulate"])
def test_the_commands_print_it(tmp_path: Path, command: str) -> None:
    for name, text in (("d.pddl", DOMAIN), ("p.pddl", SOFT), ("a.plan", PLAN)):
        (tmp_path / name).write_text(text)
    done = run(command, "d.pddl", "p.pddl", *([] if command == "solve" else ["a.plan"]), cwd=tmp_path)
    printed = (done.stdout + done.stderr).lower()
    assert done.returncode == 0
    assert "preference home: " in printed and "preference dark: 2 of 2 violated (cost 1)" in printed
