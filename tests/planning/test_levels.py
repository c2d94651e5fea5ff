"""Tiny tasks of PDDL 2.1 with plans that work and plans that do not (`PDDLEGO_SHARED/cases/levels`)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pddlego import tools
from pddlego.errors import UsageError
from pddlego.pddl import parse_domain, parse_problem
from pddlego.planning.engines import missing
from pddlego.planning.result import LEAST_COST
from tests.scale import PATIENCE
from tests.shared import SHARED

LEVELS = SHARED / "cases" / "levels"
TASKS = sorted(file.parent.name for file in LEVELS.glob("*/expect.json")) or ["no task"]

CONFLICT = "n09-assign-and-increase"
WARNED = ("n07-division-by-zero", "n15-undefined-assigned", "n23-not", "n33-exists-number")
"""Tasks whose static conditions are false: their actions can never be applied, and `check` says so."""

pytestmark = pytest.mark.shared("cases/levels")


def text(name: str, part: str) -> str:
    return (LEVELS / name / part).read_text(encoding="utf-8")


def level(name: str) -> int:
    return int(json.loads(text(name, "expect.json"))["level"])


def is_refused(name: str) -> bool:
    """Whether a task has continuous effects, processes or other parts that are not supported."""
    return level(name) in (4, 6)


def plans(name: str) -> list[Path]:
    return sorted((LEVELS / name).glob("*.plan"))


@pytest.mark.parametrize("name", TASKS)
def test_tasks_with_numbers_and_time_have_no_errors_and_others_are_named(name: str) -> None:
    result = tools.check(text(name, "domain.pddl"), text(name, "problem.pddl"))
    rules = {finding.rule for finding in result.findings if finding.severity == "error"}
    if is_refused(name):
        assert rules == {"not-supported"}
        return
    assert rules == ({"two-values"} if name == CONFLICT else set())
    found = [finding for finding in result.findings if finding.rule != "unused-requirement"]  # those of constraints
    assert bool(found) is (name in (*WARNED, CONFLICT)), found


@pytest.mark.parametrize("name", TASKS)
def test_each_plan_is_judged_as_written(name: str) -> None:
    files = text(name, "domain.pddl"), text(name, "problem.pddl")
    assert plans(name)
    for plan in plans(name):
        if is_refused(name) or name == CONFLICT:
            with pytest.raises(UsageError, match="not valid"):
                tools.validate(*files, plan)
            continue
        result = tools.validate(*files, plan)
        assert result.valid is plan.name.startswith("good"), (plan.name, result)
        assert result.valid or result.advice
        best = json.loads(text(name, "expect.json"))["best"]
        if result.valid and best is not None:
            assert result.cost is not None and result.cost >= best


@pytest.mark.parametrize("name", TASKS)
def test_tasks_are_solved_where_they_are_solvable(name: str) -> None:
    expected = json.loads(text(name, "expect.json"))
    if is_refused(name) or name == CONFLICT:
        with pytest.raises(UsageError, match="not valid"):
            tools.solve(text(name, "domain.pddl"), text(name, "problem.pddl"))
        return
    if level(name) == 3 and missing("kairos"):
        pytest.skip("only kairos has time")
    files = text(name, "domain.pddl"), text(name, "problem.pddl")
    result = tools.solve(*files, seconds=PATIENCE)
    assert result.plan is None or tools.validate(*files, result.plan).cost == result.cost
    assert result.status == ("solved" if expected["solvable"] else "unsolvable")
    best = tools.solve(*files, search=str(LEAST_COST), seconds=60)
    if result.engine == "kairos" and expected["best"] is not None:
        assert best.cost == expected["best"]


@pytest.mark.parametrize(
    ("planner", "message"),
    [("pyperplan", "pyperplan has no numbers; use the planner auto"), ("graphplan", "only action costs are possible")],
)
def test_a_planner_without_numbers_says_so(planner: str, message: str) -> None:
    files = text("n01-at-least", "domain.pddl"), text("n01-at-least", "problem.pddl")
    result = tools.solve(*files, planner=planner)
    assert (result.status, result.plan) == ("invalid", None)
    assert message in result.message


@pytest.mark.parametrize("name", TASKS)
def test_what_is_printed_is_read_again(name: str) -> None:
    if level(name) > 3:
        return  # see above: it is not read
    domain, problem = parse_domain(text(name, "domain.pddl")), parse_problem(text(name, "problem.pddl"))
    assert parse_domain(str(domain)) == domain
    assert parse_problem(str(problem)) == problem
