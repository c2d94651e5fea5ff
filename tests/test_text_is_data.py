"""Text of games and models is data: no name becomes a path, a format, a prompt or an unforeseen command."""

from __future__ import annotations

import json
import re

import pytest

from pddlego.methods.textgames.events import Observed
from pddlego.methods.textgames.formalize import Exchange
from pddlego.methods.textgames.formalize.problems import PddlEdit, PddlGen
from pddlego.methods.textgames.reference_model import NoisyReader
from pddlego.methods.textgames.settings import GameSetting
from pddlego.models.prompts import Prompts
from pddlego.planning import PlanStep, ProcessPlanner
from tests.methods.textgames.grid_house import small_house
from tests.methods.textgames.playing import of, play
from tests.methods.textgames.situations import situation_with

PROMPTS = Prompts("coin")
NAMES = [
    "../../etc/passwd",
    "{seed}",
    "{0}",
    "%s",
    "{{7*7}}",
    "a;b",
    "a|b",
    "a\x1b[31m",
    "$(id)",
    "`id`",
    "é",
    "²",
    "-a",
]


@pytest.mark.parametrize("name", NAMES)
def test_a_name_that_is_none_reaches_nothing(coin: GameSetting, name: str) -> None:
    situation = situation_with("coin", "", coin.start.domain, coin.start.problem)
    edit = {"objects": {"add": [f"{name} - location"]}, "init": {"add": [f"(at {name})"]}}
    file = f"(define (problem p) (:domain d) (:objects {name} - location) (:init (at {name})) (:goal (have coin)))"
    for method, answer in ((PddlEdit(PROMPTS), json.dumps(edit)), (PddlGen(PROMPTS), file)):
        proposal = method.read(answer, situation)
        assert proposal.feedback is not None or name not in str(proposal.problem)


@pytest.mark.parametrize("text", ["{{ 7*7 }}", "{% for x in y %}", "{0}", "%(x)s", "<script>", "{#"])
def test_what_a_game_says_is_no_template(coin: GameSetting, text: str) -> None:
    looked = (Exchange(None, f"You see {text}."),)
    request = PddlEdit(PROMPTS).request(
        situation_with("coin", text, coin.start.domain, coin.start.problem, looked, looked, rejected=text)
    )
    assert f"You see {text}." in request.messages[-1].content
    assert "49" not in request.messages[-1].content


def test_a_template_is_filled_once(coin: GameSetting) -> None:
    (hole,) = re.findall(r"\{(\w+)\}", coin.start.actions["take"].command)
    known = len(coin.start.domain.actions_by_name["take"].parameters)
    assert coin.start.command(PlanStep("take", (f"{{{hole}}}", "x")[:known])) == coin.start.actions["take"].command


def test_every_command_comes_from_a_template(coin: GameSetting, planner: ProcessPlanner) -> None:
    templates = [
        re.compile(re.sub(r"\\\{\w+\\\}", r"[a-z0-9 -]+", re.escape(action.command)))
        for action in coin.start.actions.values()
    ]
    sent = set()
    for seed in range(5):
        events = play(coin, planner, small_house("pantry"), NoisyReader(0.5, seed), "gen")
        sent |= {item.command for item in of(events, Observed) if item.command is not None}
    assert len(sent) > 3
    assert all(any(template.fullmatch(item) for template in templates) for item in sent), sent
