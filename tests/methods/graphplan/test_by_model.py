"""Episodes in which a model writes the plan: what it is shown, what it hears, and how its plans are judged."""

from __future__ import annotations

from pathlib import Path

import pytest

import pddlego
from pddlego.display.console import UNICODE
from pddlego.display.description import describe
from pddlego.episode.events import Asked, Ended, Event, Outcome, Rejected
from pddlego.errors import UsageError
from pddlego.methods.graphplan import METHOD
from pddlego.methods.graphplan.events import Bounded, PlanConcluded, Proposed, TaskGiven, measure
from pddlego.methods.graphplan.options import GraphplanOptions
from pddlego.methods.graphplan.setting import load
from pddlego.runs.cells import Cell
from tests import fuel
from tests.display.rendering import assert_fits, prefixes, screen_lines
from tests.methods.graphplan.playing import played
from tests.traces import trace_of

MODE = "plan-by-model"
TASK, SEED = "logistics", 4


def ended(events: list[Event]) -> Ended:
    last = events[-1]
    assert isinstance(last, Ended)
    return last


def concluded(events: list[Event]) -> PlanConcluded:
    return next(event for event in events if isinstance(event, PlanConcluded))


def a_plan(setting: str = TASK, seed: int = SEED) -> list[str]:
    """The actions of a plan that works."""
    return [action for level in concluded(played(setting, "reader", MODE, seed)).steps for action in level]


@pytest.mark.parametrize("setting", ["logistics", "movie", "miconic", "gripper"])
def test_the_reader_writes_the_planner_s_plan(setting: str) -> None:
    events = played(setting, "reader", MODE)
    assert ended(events).outcome is Outcome.WON
    assert ended(events).score == 1.0
    done = concluded(events)
    assert (done.found, done.valid_damaged, done.valid, done.kind) == (True, True, True, "solved")
    assert [event.purpose for event in events if isinstance(event, Asked)] == ["plan"]
    numbers = measure(trace_of(events)).numbers
    assert numbers == {"found": 1, "valid_damaged": 1, "valid": 1, "actions": len(done.steps)}


def test_the_validator_says_what_is_wrong_and_the_model_corrects_it() -> None:
    plan = a_plan()
    answers = ("I cannot.", "(fly me to the moon)", "\n".join(plan[1:]), "\n".join(plan[:-1]), "\n".join(plan))
    events = played(TASK, answers, MODE, SEED)
    assert ended(events).outcome is Outcome.WON
    rejected = [event.feedback.category for event in events if isinstance(event, Rejected)]
    assert rejected == ["not a plan", "unknown action", "unsatisfied precondition", "goal not reached"]
    last = [event for event in events if isinstance(event, Asked)][-1]
    assert [message.role for message in last.messages] == ["user", "assistant"] * 4 + ["user"]
    assert "The goal is not satisfied" in last.messages[-1].content
    assert "(Set (at " in last.messages[-1].content
    assert [len(event.actions) for event in events if isinstance(event, Proposed)] == [
        1,
        len(plan) - 1,
        len(plan) - 1,
        len(plan),
    ]


def test_without_feedback_the_first_plan_is_the_last() -> None:
    plan = a_plan()
    events = played(TASK, ("\n".join(plan[1:]), "\n".join(plan)), f"{MODE}-no-feedback", SEED)
    assert ended(events).usage.calls == 1
    assert ended(events).outcome is Outcome.LOST
    assert concluded(events).kind == "invalid plan"
    assert ended(events).message.startswith("the plan does not work: (")


@pytest.mark.parametrize(
    "answer", ["", "I cannot.", "```\n" * 50, "\x1b[2J", "(", "(a" * 1000, "(" + "x" * 100_000 + ")"]
)
def test_any_answer_ends_in_a_verdict(answer: str) -> None:
    events = played(TASK, (answer,), MODE, SEED)
    assert ended(events).outcome is Outcome.LOST
    assert ended(events).usage.calls == 6
    assert len(ended(events).message) < 10_000
    assert max(event.characters for event in events if isinstance(event, Asked)) < 8 * max(len(answer), 10_000)


def test_a_reader_that_errs_corrects_itself() -> None:
    events = played(TASK, "reader+noise:0.1,seed=2", MODE, SEED)
    assert any(isinstance(event, Rejected) for event in events)
    assert ended(events).outcome is Outcome.WON
    with pytest.raises(UsageError, match="cannot play plan-by-model"):
        METHOD.builtin_model("relaxed", Cell(TASK, MODE, "relaxed", 0), None)
    with pytest.raises(UsageError):
        METHOD.builtin_model("reader+noise:x", Cell(TASK, MODE, "reader+noise:x", 0), None)
    assert METHOD.builtin_model("gpt-4o-mini", Cell(TASK, MODE, "gpt-4o-mini", 0), None) is None


@pytest.mark.parametrize(("judge", "kind"), [("damaged", "solved"), ("intact", "invalid plan")])
def test_the_prompt_shows_the_damaged_domain(judge: str, kind: str) -> None:
    events = played(TASK, "reader", f"{MODE}-no-feedback", SEED, corrupt=0.2, damage="pooled", judge=judge)
    arguments = next(event for event in events if isinstance(event, TaskGiven))
    text = next(event for event in events if isinstance(event, Asked)).messages[0].content
    assert arguments.removed
    assert load(TASK, GraphplanOptions()).domain.text.strip() not in text
    done = concluded(events)
    assert (done.kind, done.valid_damaged, done.valid) == (kind, True, False)


def test_only_a_bound_in_actions_holds_for_a_sequence() -> None:
    plan = a_plan()
    assert plan[0].startswith("(load-")
    answer = "\n".join([plan[0], plan[0].replace("load-", "unload-"), *plan])
    for bound, kind in (("levels", "solved"), ("none", "solved"), ("actions", "too long")):
        events = played(TASK, (answer,), MODE, SEED, bound=bound)
        assert concluded(events).kind == kind
        assert any(isinstance(event, Bounded) for event in events) == (bound == "actions")


def test_tasks_of_a_folder_are_planned_for(tmp_path: Path) -> None:
    setting = load(TASK, GraphplanOptions())
    for split in ("train", "eval"):
        folder = tmp_path / split / "seed0"
        folder.mkdir(parents=True)
        (folder / "p1.pddl").write_text(str(setting.one_task(SEED).problem), encoding="utf-8")
    (tmp_path / "domain.pddl").write_text(setting.domain.text, encoding="utf-8")
    events = played(TASK, "reader", MODE, tasks=str(tmp_path))
    assert ended(events).outcome is Outcome.WON


def test_the_plan_and_its_fault_are_drawn() -> None:
    plan = a_plan()
    events = played(TASK, ("\n".join(plan[1:]), "\n".join(plan)), MODE, SEED)
    assert_fits("graphplan", events)
    texts = ["\n".join(screen_lines("graphplan", trace, 80, 22)) for trace in prefixes(events)]
    assert any("unsatisfied precondition" in text for text in texts)
    assert f"plan 2: {len(plan)} actions" in texts[-1]
    assert "unsatisfied" not in texts[-1]
    assert plan[0] in texts[-1]
    lines = [describe(event, UNICODE).title.text for event in events]
    assert f"  1  plan 1: {len(plan) - 1} actions" in lines


def test_a_chain_of_thought_comes_before_the_plan() -> None:
    plan = "\n".join(a_plan())
    answer = f"First I load:\n```\n(load-truck p0 t0 l0a)\n```\nThe whole plan:\n```\n{plan}\n```"
    events = played(TASK, (answer,), "plan-by-model+cot", SEED)
    assert ended(events).outcome is Outcome.WON
    assert "step by step" in next(event for event in events if isinstance(event, Asked)).messages[0].content
    assert ended(played(TASK, "reader", "plan-by-model+cot-no-feedback", SEED)).outcome is Outcome.WON


def test_a_numeric_task_is_planned_for_and_feedback_has_its_values(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    setting = fuel.setting(tmp_path)
    monkeypatch.chdir(tmp_path)
    drive, refuel, arrive = fuel.PLAN
    answers = [f"{drive}\n{arrive}", f"{refuel}\n{drive}\n{arrive}", "\n".join(fuel.PLAN)]
    events = played(setting, answers, MODE)
    assert ended(events).outcome is Outcome.WON
    first, second, third = (event.messages[-1].content for event in events if isinstance(event, Asked))
    assert "(>= (fuel ?t) (distance ?a ?b))" in first
    assert "(= (distance p2 p3) 4.5)" in first
    assert "(Make (>= (fuel t1) (distance p2 p3)) true: (fuel t1) is 3, (distance p2 p3) is 4.5)" in second
    assert "(No action makes (at t1 p2)" in third or "(Set (at t1 p2) to true)" in third
    assert ended(played(setting, "reader", MODE)).outcome is Outcome.WON


def test_a_goal_on_costs_alone_makes_a_task_numeric(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    domain = """(define (domain roads) (:requirements :action-costs) (:predicates (at ?a) (road ?a ?b))
      (:functions (total-cost) (length ?a ?b)) (:action go :parameters (?a ?b) :precondition (and (at ?a) (road ?a ?b))
      :effect (and (not (at ?a)) (at ?b) (increase (total-cost) (length ?a ?b)))))"""
    problem = """(define (problem budget) (:domain roads) (:objects a b c)
      (:init (at a) (road a b) (road b c) (road a c)
      (= (total-cost) 0) (= (length a b) 2) (= (length b c) 3) (= (length a c) 6))
      (:goal (and (at c) (<= (total-cost) 5))) (:metric minimize (total-cost)))"""
    setting = fuel.setting(tmp_path, domain, problem)
    monkeypatch.chdir(tmp_path)
    events = played(setting, ("(go a c)", "(go a b)\n(go b c)"), MODE)
    assert "(total-cost) is 6" in [event.messages[-1].content for event in events if isinstance(event, Asked)][1]
    assert ended(events).outcome is Outcome.WON


@pytest.mark.parametrize(("damage", "share"), [("numbers", 1.0), ("numbers", 0.4), ("pooled", 1.0), ("each", 0.4)])
def test_numeric_domains_are_damaged(
    damage: str, share: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    setting = fuel.setting(tmp_path)
    monkeypatch.chdir(tmp_path)
    plan = "\n".join(fuel.PLAN)
    events = played(setting, (plan,), f"{MODE}-no-feedback", corrupt=share, damage=damage, judge="intact")
    arguments = next(event for event in events if isinstance(event, TaskGiven))
    assert ended(events).outcome is Outcome.WON  # the intact domain judges
    assert (
        len(arguments.removed)
        == {("numbers", 1.0): 4, ("numbers", 0.4): 2, ("pooled", 1.0): 10, ("each", 0.4): 3}[damage, share]
    )
    if damage == "numbers":
        assert all("fuel" in part for part in arguments.removed)


def test_a_domain_that_lost_all_numbers_is_classical(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    domain = fuel.DOMAIN.replace("(decrease (fuel ?t) (distance ?a ?b))", "")
    domain = domain.replace("(< (fuel ?t) (capacity ?t))", "").replace("(assign (fuel ?t) (capacity ?t))", "(at ?t ?p)")
    setting = fuel.setting(tmp_path, domain, fuel.PROBLEM.replace("(= (fuel t1) 8)", "(= (fuel t1) 5.5)"))
    monkeypatch.chdir(tmp_path)
    events = played(setting, "reader", f"{MODE}-no-feedback", corrupt=1.0, damage="numbers")
    arguments = next(event for event in events if isinstance(event, TaskGiven))
    assert arguments.removed == ("drive precondition (>= (fuel ?t) (distance ?a ?b))",)
    assert ended(events).outcome is Outcome.WON


def test_errors_in_numbers_need_numbers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match="damage=numbers is not possible"):
        pddlego.play("logistics", mode=MODE, set={"corrupt": 0.2, "damage": "numbers"})
