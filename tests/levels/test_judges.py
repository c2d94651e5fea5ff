"""The judges agree with each other and with the definitions, where no fault of theirs is known."""

from __future__ import annotations

import time
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import pytest

from pddlego import tools
from pddlego.planning.ground import PlanningError
from pddlego.planning.kairos import solve_texts
from pddlego.util.children import in_a_fork
from tests.levels import judges as module
from tests.levels.explained import CASES, is_explained
from tests.levels.judges import CANNOT, INVALID, JUDGES, MISSING, VALID, agreed, judges
from tests.levels.tasks import mutants, numeric_task, temporal_task
from tests.scale import scaled
from tests.shared import SHARED

PLANS = sorted((SHARED / "cases" / "levels").glob("*/*.plan"))

SEEDS = range(scaled(8, 40))


@pytest.fixture(scope="module", autouse=True)
def _loaded() -> None:
    """Import what each judge would import again in each of its processes."""
    if find_spec("unified_planning"):
        import unified_planning.io
        import unified_planning.shortcuts  # noqa: F401


def test_tasks_and_plans_depend_on_the_seed_only() -> None:
    for make in (numeric_task, temporal_task):
        assert make(7) == make(7) != make(8)
        assert [*mutants(make(7), 1)] == [*mutants(make(7), 1)]
        assert all(task.plan != make(7).plan for task in mutants(make(7), 1, count=20))


def test_a_missing_judge_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(JUDGES, "nobody", ("no_such_package", JUDGES["val"][1]))
    assert judges("", "", "", only=["nobody"]) == {"nobody": f"{MISSING}: no_such_package"}


def test_a_judge_that_hangs_or_crashes_has_no_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SECONDS", 1)

    def hangs(*texts: str) -> str:
        while True:
            time.sleep(1)

    monkeypatch.setitem(JUDGES, "hangs", ("pddlego", partial(module._alone, hangs)))
    assert judges("", "", "", only=["hangs"])["hangs"].startswith(CANNOT)


def test_verdicts_are_agreed_by_two() -> None:
    assert agreed({"a": VALID, "b": VALID, "c": f"{CANNOT}: no"}) == VALID
    assert agreed({"a": VALID, "b": INVALID, "c": VALID}) == agreed({"a": VALID, "b": f"{MISSING}: b"}) == ""


@pytest.mark.slow
@pytest.mark.val
@pytest.mark.kairos
@pytest.mark.oracle
@pytest.mark.parametrize("plan", ["(no", "5", "0: (go) [1]\n"])
def test_what_a_judge_cannot_read_is_no_verdict_of_validity(plan: str) -> None:
    assert VALID not in judges("(define (domain d))", "(define (problem p) (:domain e))", plan).values()


@pytest.mark.val
@pytest.mark.kairos
@pytest.mark.oracle
@pytest.mark.slow
@pytest.mark.shared("cases/levels")
@pytest.mark.parametrize("plan", PLANS, ids=lambda plan: f"{plan.parent.name}/{plan.stem}")
def test_the_plans_of_the_tiny_cases(plan: Path) -> None:
    names = ("domain.pddl", "problem.pddl", plan.name)
    domain, problem, steps = ((plan.parent / name).read_text(encoding="utf-8") for name in names)
    verdicts = judges(domain, problem, steps)
    right = VALID if plan.stem.startswith("good") else INVALID
    wrong = {name for name, verdict in verdicts.items() if verdict in (VALID, INVALID) and verdict != right}
    known = CASES.get((plan.parent.name, plan.stem), ("", ""))[0]
    assert wrong == {name for name in known.split(", ") if name}, verdicts
    assert known or right in verdicts.values(), verdicts


@pytest.mark.val
@pytest.mark.kairos
@pytest.mark.oracle
@pytest.mark.slow
def test_judges_agree_about_numbers() -> None:
    broken = 0
    for seed in SEEDS:
        task = numeric_task(seed, places=1 + seed % 3)
        assert set(judges(task.domain, task.problem, task.plan).values()) == {VALID}, task
        for mutant in mutants(task, seed, count=2):
            verdicts = judges(task.domain, task.problem, mutant.plan)
            assert agreed(verdicts), (mutant, verdicts)
            broken += agreed(verdicts) == INVALID
    assert broken >= len(SEEDS) / 2


@pytest.mark.val
@pytest.mark.kairos
@pytest.mark.oracle
@pytest.mark.slow
def test_judges_agree_about_time() -> None:
    found: list[str] = []
    for seed in SEEDS:
        task = temporal_task(seed)
        for plan in (task, *mutants(task, seed, count=1)):
            verdicts = judges(plan.domain, plan.problem, plan.plan)
            assert agreed(verdicts) or is_explained(plan, verdicts), (plan, verdicts)
            found.append(verdicts["val"])
    assert len(found) / 5 <= found.count(VALID) <= len(found) * 4 / 5


@pytest.mark.val
@pytest.mark.kairos
def test_our_verdicts_about_time_are_those_of_two_judges() -> None:
    found: list[str] = []
    for seed in range(scaled(8, 200)):
        task = temporal_task(seed)
        if not tools.check(task.domain, task.problem).ok:
            continue  # two timed literals contradict each other
        for plan in (task, *mutants(task, seed, count=2)):
            verdict = VALID if tools.validate(plan.domain, plan.problem, plan.plan).valid else INVALID
            verdicts = judges(plan.domain, plan.problem, plan.plan, only=("val", "kairos"))
            assert set(verdicts.values()) == {verdict}, (plan, verdicts)
            found.append(verdict)
    assert len(found) / 5 <= found.count(VALID) <= len(found) * 4 / 5


@pytest.mark.val
@pytest.mark.kairos
def test_plans_of_kairos_are_valid_as_they_are_printed() -> None:
    solved = 0
    for seed in SEEDS:
        task = temporal_task(seed)
        verdicts = judges(task.domain, task.problem, task.plan, only=("val", "kairos"))
        try:
            plan = in_a_fork(partial(solve_texts, task.domain, task.problem, 5.0), (PlanningError,))
        except PlanningError:
            continue
        if plan is None:
            assert VALID not in verdicts.values(), "it has a plan"
            continue
        solved += 1
        assert judges(task.domain, task.problem, f"{plan}\n", only=["val"]) == {"val": VALID}, (task, plan)
        assert replace(task, plan=str(plan)).steps == plan
    assert solved > len(SEEDS) / 3
