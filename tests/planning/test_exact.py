"""Tasks for engines that compute in floating point: the same tasks, with whole numbers where that is possible."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pddlego.planning.exact import EngineTask, engine_task
from tests.levels.judges import VALID, judges
from tests.levels.tasks import numeric_task, temporal_task


def task(actions: str = "", init: str = "(= (x) 0)", goal: str = "(p)", more: str = "") -> EngineTask:
    domain = f"(define (domain d) (:predicates (p)) (:functions (x) (y) (rate ?a)) {actions})"
    return engine_task(domain, f"(define (problem e) (:domain d) (:init {init}) (:goal {goal}){more})")


def action(effect: str, condition: str = "(and)") -> str:
    return f"(:action a :parameters () :precondition {condition} :effect {effect})"


@pytest.mark.parametrize(
    ("effect", "rewritten"),
    [
        ("(increase (x) 1)", "(and (increase (x) 1))"),
        ("(and (increase x 1))", "(and (increase (x) 1))"),
        ("(and (increase (x) (- (y))))", "(and (increase (x) (- 0 (y))))"),
        ("(and (assign (x) (+ 1 y 2 (y))))", "(and (assign (x) (+ (+ 1 (y)) (+ 2 (y)))))"),
        ("(and (assign (x) (* 2 (y) 3)))", "(and (assign (x) (* 2 (* (y) 3))))"),
        ("(and (p) (not (p)))", "(and (p) (not (p)))"),
        ("(when (>= x 1) (p))", "(when (>= (x) 1) (p))"),
    ],
)
def test_numbers_are_written_as_engines_read_them(effect: str, rewritten: str) -> None:
    assert f":effect {rewritten})" in task(action(effect)).domain


def test_conditions_and_goals_are_conjunctions() -> None:
    changed = task(action("(p)", "(>= (x) 1)"), goal="(= x 3)")
    assert ":precondition (and (>= (x) 1))" in changed.domain
    assert "(:goal (and (= (x) 3)))" in changed.problem


def test_equality_of_objects_is_no_comparison() -> None:
    assert "(= ?a ?b)" in task(action("(p)", "(= ?a ?b)"), init="(= (x) 0.5)").domain


def test_numbers_of_linear_tasks_become_whole() -> None:
    changed = task(
        action("(and (increase (x) 0.25) (decrease (y) (* 2 (rate a))))", "(<= (+ (x) 0.1) (* 3 (y)))"),
        init="(= (x) -0.5) (= (y) 1) (= (rate a) .2)",
        goal="(and (>= (x) 1.0) (not (= 2 (y))))",
        more=" (:metric minimize (+ (x) (* 2 (y))))",
    )
    assert changed.is_exact
    assert "(and (increase (x) 5) (decrease (y) (* 2 (rate a))))" in changed.domain
    assert "(<= (+ (x) 2) (* 3 (y)))" in changed.domain
    assert "(:init (= (x) -10) (= (y) 20) (= (rate a) 4))" in changed.problem
    assert "(and (>= (x) 20) (not (= 40 (y))))" in changed.problem
    assert "(:metric minimize (+ (x) (* 2 (y))))" in changed.problem


@pytest.mark.parametrize(
    "changed",
    [
        task(action("(increase (x) (/ 1 (y)))")),
        task(action("(p)", "(>= (/ (x) 2) 1)")),
        task(action("(increase (x) (* 0.5 (y)))")),
        task(action("(increase (x) (* (y) (rate a)))"), init="(= (y) 0.5)"),
        task(action("(p)", "(>= (* (x) (y)) 0.1)")),
        task(action("(scale-up (x) 2)")),
        task(action("(scale-down (x) 2)")),
        task(action("(assign (x) (* (x) 2))")),
        task(action("(and (increase (x) (y)) (assign (y) (x)))")),
        task(init="(= (x) 3000000000)"),
        task(init="(= (x) 0.1) (= (y) 300000000)"),
        task(init="(= (x) 0.1)", more="(:metric minimize (+ (x) (total-time)))"),
        task(init="(= (x) 0.1) (at 5 (= (x) 10))"),
        task(init="(at 0.5 (p))"),
        task("(:durative-action a :parameters () :duration (= ?duration 0.5) :condition (and) :effect (and))"),
        engine_task("(define (domain d)", "(define (problem p))"),
        engine_task(f"{'(' * 1000}", ""),
        engine_task("", ""),
    ],
)
def test_what_is_rounded_is_not_exact(changed: EngineTask) -> None:
    assert not changed.is_exact


@pytest.mark.parametrize(
    "changed",
    [
        task(action("(and (increase (x) (* (rate a) (rate b))))"), init="(= (rate a) 2)"),
        task(action("(and (assign (x) (y)) (assign (y) (x)))")),
        task(action("(increase (x) 1)")),
        task(action("(increase (total-cost) 0.1)"), more="(:metric minimize (total-cost))"),
        task("(:durative-action a :parameters () :duration (= ?duration 5) :condition (and) :effect (and))"),
    ],
)
def test_whole_numbers_are_exact(changed: EngineTask) -> None:
    assert changed.is_exact


def test_time_is_noticed() -> None:
    changed = task("(:durative-action go :parameters () :duration (= ?duration 5) :condition (and) :effect (and))")
    assert changed.is_temporal
    assert changed.durative == {"go"}
    assert task(init="(at 5 (p))").is_temporal
    assert not task(init="(at a b)").is_temporal


@given(st.text(alphabet="()<=>+-*/ 0123456789.xy:at", max_size=200) | st.text(max_size=50))
def test_any_text_is_rewritten_and_rewriting_again_changes_nothing(text: str) -> None:
    once = engine_task(text, f"(define {text})")
    again = engine_task(once.domain, once.problem)
    assert (again.domain, again.problem) == (once.domain, once.problem)


def test_sums_of_many_operands_are_not_nested_deeply() -> None:
    deep = task(action(f"(increase (x) (+ {'1 ' * 10_000}))"))
    assert deep.is_exact


@pytest.mark.val
@pytest.mark.kairos
@pytest.mark.parametrize("seed", range(6))
def test_a_plan_stays_valid(seed: int) -> None:
    solvable = numeric_task(seed)
    changed = engine_task(solvable.domain, solvable.problem)
    verdicts = judges(changed.domain, changed.problem, solvable.plan, only=("val", "kairos"))
    assert verdicts["val"] == verdicts["kairos"] == VALID
    timed = temporal_task(seed)
    changed = engine_task(timed.domain, timed.problem)
    before, after = (judges(text.domain, text.problem, timed.plan, only=("val", "kairos")) for text in (timed, changed))
    assert before == after
