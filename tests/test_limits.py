"""What is far too large or far too deep has an outcome, and the outcome comes soon."""

from __future__ import annotations

import json

import pytest

from pddlego.episode import events as ev
from pddlego.episode.events import Outcome
from pddlego.methods.textgames.formalize import PromptContext
from pddlego.methods.textgames.formalize.problems import PddlEdit, PddlGen
from pddlego.methods.textgames.settings import GameSetting
from pddlego.models.openai import OpenAIModel
from pddlego.models.prompts import Prompts
from pddlego.pddl import check
from pddlego.pddl.check import MAX_DEFECTS, MAX_MESSAGE, MAX_OBJECTS
from pddlego.pddl.names import MAX_NAME
from pddlego.pddl.tolerant import repair
from pddlego.planning import PlanStatus, ProcessPlanner, Search
from tests.methods.textgames.grid_house import small_house
from tests.methods.textgames.playing import ForgetfulModel, ended, of, play
from tests.methods.textgames.situations import situation_with
from tests.model_server import ModelServer, answer
from tests.scale import scaled

pytestmark = pytest.mark.slow

PROMPTS = Prompts("coin")
DEEP = 100_000


OBJECTS = scaled(200_000, in_ci=500_000)


def million(domain: str) -> str:
    objects = " ".join(f"o{number}" for number in range(OBJECTS))
    return (
        f"(define (problem p) (:domain {domain}) (:objects {objects} - location) (:init (at o1)) (:goal (have coin)))"
    )


@pytest.fixture
def situation(coin: GameSetting) -> PromptContext:
    return situation_with("coin", "", coin.start.domain, coin.start.problem)


@pytest.mark.parametrize(
    "text",
    [
        "(" * DEEP,
        ")" * DEEP,
        "(define (problem p) " + "(" * DEEP,
        "(define (problem p) (:domain d) (:init " + "(and " * DEEP + ")" * DEEP,
        '{"init":' * DEEP,
        '{"init": {"add": ' + "[" * DEEP,
        '{"init": {"add": ["' + "(" * DEEP + '"]}}',
        "{" * DEEP,
        "<think>" * DEEP,
        "</think>" * DEEP,
        "(define" + " " * DEEP,
        ";" * DEEP,
        "\\n" * DEEP,
    ],
    ids=lambda text: text[:30],
)
@pytest.mark.parametrize("method", [PddlEdit(PROMPTS), PddlGen(PROMPTS)], ids=["edit", "gen"])
def test_nesting_without_end(situation: PromptContext, method: PddlEdit | PddlGen, text: str) -> None:
    assert method.read(text, situation).feedback is not None
    repair(text, text)


def test_a_million_objects(coin: GameSetting, planner: ProcessPlanner, situation: PromptContext) -> None:
    proposal = PddlGen(PROMPTS).read(million(coin.start.domain.name), situation)
    assert proposal.feedback is not None
    assert proposal.feedback.evidence == (
        f"the problem has {OBJECTS:,} objects, and at most {MAX_OBJECTS:,} are planned with",
    )
    assert planner.solve(coin.start.domain, proposal.problem, Search()).status is PlanStatus.INVALID


def test_an_answer_of_100_megabytes(coin: GameSetting, planner: ProcessPlanner, model_server: ModelServer) -> None:
    model_server.replies = [answer("x" * 10**8)]
    events = play(coin, planner, small_house(), OpenAIModel("m", "sk-canary-0123456789abcdef", model_server.url))
    assert ended(events).outcome is Outcome.MODEL_ERROR
    assert "longer than 16 MiB" in ended(events).message
    assert len(model_server.requests) == 1


def test_as_many_faults_as_an_answer_can_hold(coin: GameSetting, planner: ProcessPlanner) -> None:
    """They are not all told: a model would have to read them all."""
    edit = {"objects": {"add": [f"room{n} - location" for n in range(3000)]}}
    answer_ = json.dumps({**edit, "init": {"add": [f"(visited rooom{n})" for n in range(3000)]}})
    model = ForgetfulModel([answer_])
    events = play(coin, planner, small_house(), model)
    assert of(events, ev.Rejected)
    assert len(model.requests[1].messages[-1].content) < 40_000
    assert ended(events).outcome is Outcome.WON


def test_names_as_long_as_an_answer(coin: GameSetting, planner: ProcessPlanner) -> None:
    name = "x" * 80_000
    edit = {"objects": {"add": [f"{name} - location"]}, "init": {"add": [f"(at {name})"]}}
    model = ForgetfulModel([json.dumps(edit)])
    events = play(coin, planner, small_house(), model)
    (rejected, *_) = of(events, ev.Rejected)
    assert f"at most {MAX_NAME}" in rejected.feedback.evidence[0]
    assert all(len(item) <= MAX_MESSAGE + 2 for item in rejected.feedback.evidence)
    assert len(model.requests[1].messages[-1].content) < 40_000


def test_only_so_many_defects_are_looked_for(coin: GameSetting) -> None:
    facts = " ".join(f"(at nowhere{n})" for n in range(500))
    result = check(
        coin.start.domain, f"(define (problem p) (:domain x) (:objects) (:init {facts}) (:goal (have coin)))"
    )
    assert sum(item.blocking for item in result) == MAX_DEFECTS


@pytest.mark.parametrize(("declared", "length"), [(9000, 11), (990, 188)])
def test_names_that_are_all_alike(coin: GameSetting, declared: int, length: int) -> None:
    """Looking for the one that was meant takes minutes, so among so many none is looked for."""
    names = [f"room{n:0{length - 4}d}" for n in range(declared + 60)]
    objects, facts = " ".join(names[:declared]), " ".join(f"(visited {name})" for name in names[declared:])
    text = f"(define (problem p) (:domain x) (:objects {objects} - location) (:init {facts}) (:goal (have coin)))"
    assert sum(item.blocking for item in check(coin.start.domain, text)) == MAX_DEFECTS


def test_a_flood_of_harmless_defects_is_cut_short(coin: GameSetting) -> None:
    facts = " ".join(f"(not (at r{n}))" for n in range(5000))
    result = check(coin.start.domain, f"(define (problem p) (:domain x) (:objects) (:init {facts}) (:goal (far away)))")
    assert len(result) == MAX_DEFECTS + 1
    assert result[-1].blocking, "what makes planning impossible is found behind them"


def test_a_key_as_long_as_an_answer(situation: PromptContext) -> None:
    key = "k" * 150_000
    for text in (f'{{"{key}": 1}}', f'{{"init": {{"{key}": 1, "{key}": 2}}}}'):
        feedback = PddlEdit(PROMPTS).read(text, situation).feedback
        again = situation_with(
            "coin",
            "",
            situation.knowledge.domain,
            situation.knowledge.problem,
            feedback=feedback,
            rejected=text,
            attempt=1,
        )
        assert PddlEdit(PROMPTS).request(again).characters < 40_000
