"""Tasks with numbers: the modes that have them, and those that refuse them before a model is asked."""

from __future__ import annotations

from pathlib import Path

import pytest

import pddlego
from pddlego.episode.events import Ended, Outcome
from pddlego.errors import SettingError, UsageError
from pddlego.models import Message
from tests import fuel
from tests.methods.graphplan.playing import played
from tests.planning.test_levels import CONFLICT, TASKS, level, plans, text


def answer(messages: list[Message]) -> str:
    raise AssertionError("the model was asked")


@pytest.fixture
def setting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    name = fuel.setting(tmp_path)
    monkeypatch.chdir(tmp_path)
    return name


@pytest.mark.parametrize(
    "mode",
    [
        "heuristic",
        "heuristic-no-domain",
        "heuristic-direct",
        "graphplan",
        "graphplan-no-prune",
        "tos",
        "plan-no-heuristic",
    ],
)
def test_modes_without_numbers_refuse_them_in_three_lines(mode: str, setting: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError) as raised:
        pddlego.evaluate(setting, tmp_path / "run", modes=[mode], models=answer, seeds=range(1)).rows()
    error = raised.value
    assert error.what == f"{setting} cannot be played in mode {mode}"
    assert error.reason == "Its tasks have numbers that are not action costs, as in (>= (fuel ?t) (distance ?a ?b))."
    assert error.next_step == "Choose plan-by-model, program, plan or random (docs/pddl.md)."
    assert not (tmp_path / "run").exists()


def test_the_fewest_actions_are_not_counted_with_numbers(setting: str) -> None:
    with pytest.raises(UsageError, match="plan-by-model with bound=actions"):
        pddlego.play(setting, mode="plan-by-model", model=answer, set={"bound": "actions"})


@pytest.mark.parametrize("mode", ["plan", "random"])
def test_planner_and_random_actions_know_numbers(mode: str, setting: str) -> None:
    episode = pddlego.play(setting, mode=mode)
    assert episode.won, episode.message  # from each state, one action is possible


def test_no_mode_has_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    timed = fuel.DOMAIN.replace(
        "(:action refuel", "(:durative-action wait :parameters () :duration (= ?duration 1) :effect ()) (:action refuel"
    )
    name = fuel.setting(tmp_path, timed)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SettingError, match="The domain of trucks has time"):
        pddlego.play(name, mode="plan-by-model", model=answer)


TIMED_PLAN = "t10-read-write"
"""A numeric task; only its plan has times."""


@pytest.mark.shared("cases/levels")
@pytest.mark.parametrize("task", TASKS)
def test_a_written_plan_for_a_task_of_any_level_is_judged_or_the_task_refused(
    task: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = fuel.setting(tmp_path, text(task, "domain.pddl"), text(task, "problem.pddl"))
    monkeypatch.chdir(tmp_path)
    for plan in plans(task):
        if task == CONFLICT or (level(task) > 2 and task != TIMED_PLAN):
            with pytest.raises(SettingError):
                played(name, (plan.read_text(),), "plan-by-model-no-feedback")
        else:
            ended = played(name, (plan.read_text(),), "plan-by-model-no-feedback")[-1]
            assert isinstance(ended, Ended)
            assert (ended.outcome is Outcome.WON) is plan.name.startswith("good"), ended.message
