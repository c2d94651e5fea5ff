"""Facts that a problem without a plan lacks are named, if only one can be meant."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from pddlego.episode.events import Outcome, Rejected
from pddlego.methods.textgames.advice import fact_against, missing_facts
from pddlego.methods.textgames.knowledge import Knowledge
from pddlego.methods.textgames.settings import GameSetting
from pddlego.pddl import parse_problem
from pddlego.planning import PlanStatus, ProcessPlanner, TriedRung
from pddlego.util.limits import Work
from tests.methods.textgames.grid_house import small_house
from tests.methods.textgames.playing import ForgetfulModel, ended, of, play


def known(coin: GameSetting, rooms: str, facts: str) -> Knowledge:
    objects = f"(:objects {rooms} - location)"
    text = f"(define (problem p) (:domain coin-collector) {objects} (:init {facts}) (:goal (and)))"
    return coin.start.with_problem(parse_problem(text))


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        ("(at kitchen)", "(visited kitchen)"),
        ("(at kitchen) (visited kitchen)", None),
        ("(at kitchen) (at pantry)", None),
        ("(visited kitchen)", None),
    ],
    ids=["the agent's room is not visited", "the goal is not true", "two rooms are not visited", "no agent"],
)
def test_the_fact_against_a_goal(coin: GameSetting, facts: str, expected: str | None) -> None:
    knowledge = known(coin, "kitchen pantry", facts)
    fact = fact_against(knowledge, knowledge.ladder[-1].goal, Work(100_000))
    assert (str(fact) if fact else None) == expected


def test_a_large_problem_has_no_advice(coin: GameSetting) -> None:
    rooms = " ".join(f"room{number}" for number in range(2_000))
    text = (
        f"(define (problem p) (:domain coin-collector) (:objects {rooms} - location) (:init (at room1)) (:goal (and)))"
    )
    knowledge = coin.start.with_problem(parse_problem(text))
    assert fact_against(knowledge, knowledge.ladder[-1].goal, Work(100_000)) is None


def test_a_predicate_that_every_action_needs_is_named(coin: GameSetting) -> None:
    tried = (TriedRung("have the coin", PlanStatus.UNSOLVABLE, "", 0.0),)
    assert missing_facts(coin.start, tried) == (
        "there is no fact (at ?l - location), which every action needs: add it",
    )
    assert missing_facts(coin.start, (replace(tried[0], status=PlanStatus.TIMEOUT),)) == ()


def test_the_model_reads_the_advice(coin: GameSetting, planner: ProcessPlanner) -> None:
    nowhere = {"objects": {"add": ["kitchen - location"]}, "init": {"add": ["(at kitchen)"]}}
    model = ForgetfulModel([json.dumps(nowhere)])
    events = play(coin, planner, small_house(), model)
    assert ended(events).outcome is Outcome.WON
    (rejected,) = of(events, Rejected)
    goal = coin.start.ladder[-1].name
    expected = f"add (visited kitchen) if it is true, so that '{goal}' is still to be reached"
    assert rejected.feedback.evidence[-1] == expected
    assert "add (visited kitchen)" in model.requests[1].messages[-1].content
