"""Tasks with numbers: the modes that have them, and those that refuse them before a model is asked."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import pddlego
from pddlego import tools
from pddlego.episode.events import Ended, Outcome
from pddlego.errors import SettingError, UsageError
from pddlego.methods.builders.draft import Draft
from pddlego.methods.builders.records.l2p import with_l2p
from pddlego.models import Message
from pddlego.pddl import parse_domain, parse_problem
from pddlego.pddl.check import check_domain
from pddlego.pddl.perturb import anonymous, corrupted, miscounted
from pddlego.pddl.rules import Level
from tests import fuel
from tests.cli.command import run
from tests.methods.graphplan.playing import played
from tests.planning.test_levels import CONFLICT, TASKS, level, plans, text
from tests.sandbox.ordinary import needs_locks


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


def numbers_only(task: str) -> bool:
    """Whether neither the domain nor the problem of a task has time; `CONFLICT` is not valid."""
    return level(task) <= 2 or task == TIMED_PLAN


@pytest.mark.shared("cases/levels")
@needs_locks
@pytest.mark.parametrize("task", TASKS)
def test_a_program_and_a_heuristic_for_a_task_of_any_level_are_used_or_the_task_refused(
    task: str, tmp_path: Path
) -> None:
    (tmp_path / "h.py").write_text("def heuristic(state, goals):\n    return 0\n")
    files = ("domain.pddl", "problem.pddl")
    for name in files:
        (tmp_path / name).write_text(text(task, name))
    refused = run("solve", *files, "--heuristic", "h.py", cwd=tmp_path)
    assert (refused.returncode, refused.stdout) == (2, "")
    for plan in [plan for plan in plans(task) if plan.name.startswith("good") and task != TIMED_PLAN][:1]:
        steps = re.findall(r"\([^()]*\)", re.sub(r";.*", "", plan.read_text()))
        (tmp_path / "g.py").write_text(f"def get_plan(objects, init, goal, numbers):\n    return {steps}\n")
        solved = run("solve", *files, "--planner", "program:g.py", cwd=tmp_path)
        if numbers_only(task):
            assert (solved.returncode, "made a plan" in solved.stderr) == (0, True), solved.stdout + solved.stderr
        else:
            assert (solved.returncode, solved.stdout) == (2, "")
            assert "not supported" in solved.stderr


@pytest.mark.shared("cases/levels")
@pytest.mark.parametrize("task", TASKS)
def test_a_perturbed_task_of_any_level_keeps_all_that_was_not_perturbed(task: str) -> None:
    if level(task) > 3:
        return  # it is not read
    domain, problem = parse_domain(text(task, "domain.pddl")), parse_problem(text(task, "problem.pddl"))
    nameless = anonymous(domain)
    renamed = nameless.problem(problem)
    assert (parse_domain(str(nameless.domain)), parse_problem(str(renamed))) == (nameless.domain, renamed)
    before, after = ([d.kind for d in check_domain(of, Level.TIME)] for of in (domain, nameless.domain))
    assert before == after
    if task != CONFLICT:
        objects = sorted(obj.name for obj in problem.objects)
        names = {**dict(zip(objects, sorted(obj.name for obj in renamed.objects), strict=True)), **nameless.names}
        for plan in plans(task):
            lines = re.sub(r";.*", "", plan.read_text())
            told = re.sub(
                r"[(]([^()]*)[)]", lambda step: f"({' '.join(names.get(n, n) for n in step[1].split())})", lines
            )
            result = tools.validate(str(nameless.domain), str(renamed), told)
            assert result.valid is plan.name.startswith("good"), (plan.name, told, result)
    for share in (0.0, 1.0):
        less, removed = corrupted(domain, share, "seed", pooled=True)
        assert [a.name for a in (*less.actions, *less.durative)] == [
            a.name for a in (*domain.actions, *domain.durative)
        ]
        assert bool(removed) is (share == 1.0)
        wrong, errors = miscounted(domain, share, "seed")
        assert len(wrong.durative) == len(domain.durative)
        assert share == 1.0 or not errors


def test_costs_of_actions_stay_costs_without_names() -> None:
    costs = fuel.DOMAIN.replace("(fuel ?t - truck)", "(total-cost) (fuel ?t - truck)").replace(
        "(decrease (fuel ?t) (distance ?a ?b))", "(increase (total-cost) (distance ?a ?b))"
    )
    domain = parse_domain(
        re.sub(r"[(][<>]=? [^\n]*", ")", costs).replace("(assign (fuel ?t) (capacity ?t))", "(at ?t ?p)")
    )
    assert domain.numeric_part is None
    assert anonymous(domain).domain.numeric_part is None


@pytest.mark.shared("cases/levels")
@pytest.mark.parametrize("task", TASKS)
def test_files_of_any_level_from_l2p_raise_the_level_or_are_refused(task: str) -> None:
    files = {"domain_pddl": text(task, "domain.pddl"), "problem_pddl": text(task, "problem.pddl")}
    if level(task) > 4 and ":constraints" in files["problem_pddl"]:
        with pytest.raises(UsageError, match="constraints are not supported in files"):
            with_l2p(Draft(), json.dumps(files))
        return
    draft = with_l2p(Draft(), json.dumps(files))
    errors = [defect for defect in draft.checked_domain.defects if defect.blocking]
    assert bool(errors) is (level(task) > 3 or task == CONFLICT)
    if not errors:
        domain, problem = parse_domain(files["domain_pddl"]), parse_problem(files["problem_pddl"])
        has_time = bool(domain.durative or problem.later)
        assert draft.level is (Level.TIME if has_time else Level.NUMBERS)
        assert sorted(draft.actions) == sorted(action.name for action in (*domain.actions, *domain.durative))
        assert draft.checked_problem is not None
        assert draft.checked_problem.problem is not None
