"""Forms of answers that are made for a domain: right answers fit, wrong ones do not."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

import pytest

from pddlego.methods.textgames.formalize import Situation
from pddlego.methods.textgames.formalize.problems import PddlEdit, PddlGen
from pddlego.methods.textgames.formalize.structure import edit_schema, problem_grammar
from pddlego.methods.textgames.loading import load
from pddlego.methods.textgames.settings import GameSetting
from pddlego.models.dialect import NARROW, STRICT, Dialect, Sampling
from pddlego.models.openai import OpenAIModel
from pddlego.models.prompts import Prompts
from pddlego.pddl import Problem, parse_problem
from pddlego.planning import ProcessPlanner
from tests.methods.textgames.grid_house import small_house
from tests.methods.textgames.playing import play
from tests.model_server import ModelServer, answer, fault

KNOWN = parse_problem(
    """(define (problem house) (:domain coin-collector) (:objects kitchen loc1 - location)
  (:init (at kitchen) (visited kitchen)) (:goal (have coin)))"""
)


def fits(schema: Mapping[str, Any], where: tuple[str, ...], line: str) -> bool:
    for step in where:
        schema = schema["properties"][step] if "properties" in schema else schema["items"]["properties"][step]
    schema = schema.get("items", schema)
    return line in schema["enum"] if "enum" in schema else re.search(schema["pattern"], line) is not None


@pytest.mark.parametrize(
    ("where", "line", "expected"),
    [
        (("init", "add"), "(at kitchen)", True),
        (("init", "add"), "(connected kitchen loc1 north)", True),
        (("init", "add"), "(connected kitchen loc1)", False),
        (("init", "add"), "(is_open kitchen)", False),
        (("init", "add"), "at kitchen", False),
        (("objects", "add"), "loc2 - location", True),
        (("objects", "add"), "loc2 - room", False),
        (("init", "delete"), "(at kitchen)", True),
        (("init", "delete"), "(at loc1)", False),
        (("init", "replace", "old"), "(at kitchen)", True),
        (("init", "replace", "new"), "(at loc1)", True),
        (("objects", "replace", "old"), "loc1 - location", True),
        (("objects", "replace", "old"), "loc7 - location", False),
    ],
)
def test_a_schema_admits_what_the_domain_has(
    coin: GameSetting, where: tuple[str, ...], line: str, expected: bool
) -> None:
    assert fits(edit_schema(coin.start.domain, KNOWN, ()), where, line) is expected


@pytest.mark.parametrize("name", ["coin", "cooking-hard", "mapreader", "twc"])
def test_schemas_are_strict(name: str) -> None:
    """Every object names all its properties, and admits no others."""
    knowledge = load(name).start
    waiting: list[Any] = [edit_schema(knowledge.domain, knowledge.problem, knowledge.only_planned)]
    while waiting:
        part = waiting.pop()
        if part.get("type") == "object":
            assert part["required"] == list(part["properties"])
            assert part["additionalProperties"] is False
            waiting += part["properties"].values()
        waiting += [part["items"]] if "items" in part else []
        assert part.get("enum") != []


def test_facts_that_only_plans_make_cannot_be_added() -> None:
    knowledge = load("cooking-hard").start
    assert knowledge.only_planned
    schema = json.dumps(edit_schema(knowledge.domain, knowledge.problem, knowledge.only_planned))
    grammar = problem_grammar(knowledge.domain, knowledge.problem, knowledge.only_planned)
    for name in knowledge.only_planned:
        assert not re.search(rf"[(|]{name} ", schema)
        assert f'"({name}"' not in grammar


def test_the_forms_are_sent_only_on_request(coin: GameSetting) -> None:
    edit = PddlEdit(Prompts("coin")).request(Situation(coin.start))
    gen = PddlGen(Prompts("coin")).request(Situation(coin.start))
    usual = Dialect().arguments(Sampling(), edit)
    assert usual["response_format"]["json_schema"]["name"] == "edit"
    assert "grammar" not in Dialect().arguments(Sampling(), gen)
    narrow = Dialect().arguments(Sampling(constrains=True), edit)
    assert "pattern" in json.dumps(narrow["response_format"])
    sent = Dialect().arguments(Sampling(constrains=True), gen)
    assert sent["grammar"] == sent["structured_outputs"]["grammar"]


def test_an_endpoint_without_patterns_gets_the_usual_schema(
    coin: GameSetting, planner: ProcessPlanner, model_server: ModelServer
) -> None:
    refusal = fault(400, "Invalid schema for response_format: 'pattern' is not permitted.")
    model_server.replies = [refusal, answer("{}")]
    model = OpenAIModel("m", base_url=model_server.url, sampling=Sampling(constrains=True))
    play(coin, planner, small_house(), model, retries=0)
    names = [request["response_format"]["json_schema"]["name"] for request in model_server.requests]
    assert names == ["edit-in-domain", "edit"]
    assert Dialect().with_less_than(NARROW).formats[0] == STRICT


def test_an_endpoint_without_grammars_is_asked_without(
    coin: GameSetting, planner: ProcessPlanner, model_server: ModelServer
) -> None:
    model_server.replies = [
        fault(400, "Unrecognized request argument supplied: grammar"),
        fault(400, "Unrecognized request argument supplied: structured_outputs"),
        answer("{}"),
    ]
    model = OpenAIModel("m", base_url=model_server.url, sampling=Sampling(constrains=True))
    play(coin, planner, small_house(), model, mode="gen", retries=0)
    assert [name for name in ("grammar", "structured_outputs") if name in model_server.requests[-1]] == []
    assert len(model_server.requests) == 3


def test_the_grammar_of_a_file_has_its_goal(coin: GameSetting) -> None:
    problem = Problem("house", "coin-collector", goal=KNOWN.goal)
    assert 'goal ::= "(have coin)"' in problem_grammar(coin.start.domain, problem, ())
