from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from pddlego.methods.textgames.memory import no_plan
from pddlego.pddl import Domain, Formula, Problem, parse_condition
from pddlego.planning import Plan, PlanResult, PlanStatus, PlanStep, ProcessPlanner, Rung, Search, climb
from tests.methods.textgames.houses import COIN, UNVISITED, explored


@dataclass
class ScriptedPlanner:
    """Answers with the listed statuses in order, and keeps what it was asked."""

    statuses: list[PlanStatus]
    asked: list[tuple[Formula, Search]] = field(default_factory=list)
    description: Mapping[str, Any] = field(default_factory=dict)

    def solve(self, domain: Domain, problem: Problem, search: Search, seconds: float | None = None) -> PlanResult:
        status = self.statuses[len(self.asked)]
        self.asked.append((problem.goal, search))
        plan = Plan((PlanStep("move", ("a", "b", "north")),)) if status is PlanStatus.SOLVED else None
        return PlanResult(status, problem.goal, plan)

    def close(self) -> None:
        return None


RUNGS = (
    Rung("first", parse_condition("(have coin)")),
    Rung("second", UNVISITED, Search.parse("astar(hmax)")),
    Rung("third", parse_condition("(at room0)")),
)


def climbed(*statuses: PlanStatus) -> tuple[list[PlanStatus], str | None, ScriptedPlanner]:
    planner = ScriptedPlanner(list(statuses))
    result = climb(planner, COIN, explored(3, 1, 0), RUNGS)
    return [item.status for item in result.tried], result.rung, planner


def test_the_first_goal_with_a_plan_is_taken_and_every_rung_tried_is_recorded() -> None:
    tried, rung, planner = climbed(PlanStatus.UNSOLVABLE, PlanStatus.SOLVED)
    assert tried == [PlanStatus.UNSOLVABLE, PlanStatus.SOLVED]
    assert rung == "second"
    assert planner.asked[1] == (UNVISITED, Search("astar", "hmax"))


def test_a_goal_that_is_already_true_gives_way_to_the_next() -> None:
    assert climbed(PlanStatus.ALREADY_TRUE, PlanStatus.TIMEOUT, PlanStatus.SOLVED)[1] == "third"


def test_an_invalid_problem_ends_the_climb() -> None:
    tried, rung, _ = climbed(PlanStatus.INVALID)
    assert (tried, rung) == ([PlanStatus.INVALID], None)


def test_no_rung_at_all() -> None:
    tried, rung, _ = climbed(PlanStatus.UNSOLVABLE, PlanStatus.TIMEOUT, PlanStatus.UNSOLVABLE)
    assert len(tried) == 3
    assert rung is None


def test_a_broken_planner_ends_the_climb() -> None:
    assert climbed(PlanStatus.CRASHED)[0] == [PlanStatus.CRASHED]


def test_on_a_real_map(planner: ProcessPlanner) -> None:
    result = climb(planner, COIN, explored(8, 4, seed=5), RUNGS)
    assert result.rung == "second"
    assert result.plan is not None


@pytest.mark.parametrize("first", [PlanStatus.TIMEOUT, PlanStatus.MEMORY])
def test_what_ran_out_is_never_told_as_a_goal_that_is_true(first: PlanStatus) -> None:
    planner = ScriptedPlanner([first, PlanStatus.UNSOLVABLE, PlanStatus.ALREADY_TRUE])
    text = no_plan(climb(planner, COIN, explored(3, 1, 0), RUNGS).tried)
    assert text.category in ("planner timeout", "planner out of memory")
    assert "true before" not in text.message
    assert len(text.evidence) == 3


def test_the_end_of_the_time_stops_the_climb() -> None:
    planner = ScriptedPlanner([PlanStatus.UNSOLVABLE] * 3)
    left = iter([5.0, -1.0])
    result = climb(planner, COIN, explored(3, 1, 0), RUNGS, seconds_left=lambda: next(left))
    assert len(result.tried) == 1
