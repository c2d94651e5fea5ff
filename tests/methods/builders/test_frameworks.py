"""The recipes on the page about frameworks, run with the components of a gold task in place of a language model."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

import pddlego
from pddlego.methods.builders.building import Gold, Target
from pddlego.methods.builders.options import BuilderOptions
from pddlego.methods.builders.reference import BuilderReference
from pddlego.methods.builders.setting import load
from pddlego.pddl.edit import sections_of

PAGE = (Path(__file__).parent.parent.parent.parent / "docs" / "frameworks.md").read_text(encoding="utf-8")
SETTING = load("text-ferry", BuilderOptions())
GOLD = Gold(SETTING.domain, SETTING.task(0))
TEXT, DOMAIN = SETTING.description(0), str(SETTING.domain)


@dataclass
class GoldModel:
    """Answers with the components of the gold task, apart from the answers that are given for some purposes."""

    first: dict[str, list[str]] = field(default_factory=dict)
    purposes: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    name: str = "gold"
    description: Mapping[str, Any] = field(default_factory=dict)

    def complete(self, request: pddlego.Request) -> pddlego.Completion:
        self.purposes.append(request.purpose)
        self.texts.append(request.messages[-1].content)
        own = self.first.get(request.purpose, [])
        if own:
            return pddlego.Completion(own.pop(0))
        several = "These are several requests" in self.texts[-1]
        kinds = ("objects", "init", "goal") if several else (request.purpose,)
        return pddlego.Completion(json.dumps({k: v for kind in kinds for k, v in self._gold(request, kind).items()}))

    def _gold(self, request: pddlego.Request, kind: str) -> dict[str, Any]:
        context: Any = request.context
        target = context.target if context.is_review else Target(kind, context.target.action)
        own = replace(request, context=replace(context, gold=GOLD, target=target))
        answer: dict[str, Any] = json.loads(BuilderReference().complete(own).text)
        return answer


@pytest.fixture(scope="module")
def recipes() -> Mapping[str, Callable[..., Any]]:
    """The functions on the page."""
    (code,) = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    names: dict[str, Any] = {}
    exec(code, names)
    return names


def plans_with(domain: str) -> bool:
    """Whether the gold problem has a plan in a domain that was built, and the plan works in the gold domain."""
    problem = str(replace(GOLD.problem, domain="built"))
    solved = pddlego.solve(domain, problem)
    return solved.plan is not None and pddlego.validate(DOMAIN, str(GOLD.problem), list(solved.plan)).valid


def works(builder: Any) -> bool:
    """Whether a plan is found, and works in the gold task."""
    solved = pddlego.solve(builder.domain, builder.problem)
    return solved.plan is not None and pddlego.validate(DOMAIN, str(GOLD.problem), list(solved.plan)).valid


def test_problems_for_a_given_domain(recipes: Mapping[str, Callable[..., Any]]) -> None:
    assert works(recipes["llm_p"](TEXT, DOMAIN, GoldModel()))
    objects = " ".join(f"{obj.name} - {obj.type}" for obj in GOLD.problem.sorted_objects())
    init = " ".join(map(str, GOLD.problem.facts))
    model = GoldModel()
    assert works(recipes["goal_translation"](TEXT, DOMAIN, objects, init, model))
    assert model.purposes == ["goal"]


def test_domains(recipes: Mapping[str, Callable[..., Any]]) -> None:
    names = [action.name for action in SETTING.domain.actions]
    sections = sections_of(SETTING.domain)
    types, predicates = (" ".join(sections[name].values()) for name in ("types", "predicates"))
    builder = recipes["proc2pddl"](TEXT, types or "object", predicates, names, GoldModel())
    assert plans_with(builder.domain)
    model = GoldModel()
    asked: list[str] = []

    def person(file: str, text: str) -> str:
        asked.append(file)
        return ""

    builder = recipes["llm_dm"](TEXT, model, person)
    assert model.purposes.count("action") == 2 * len(names)
    assert asked == ["domain"]
    assert plans_with(builder.domain)
    builder = recipes["best_of"](TEXT, GoldModel(), lambda builder: len(builder.actions))
    assert plans_with(builder.domain)


def test_feedback_after_each_step(recipes: Mapping[str, Callable[..., Any]]) -> None:
    wrong = '{"score": 2, "passing": false, "critique": "the goal is another", "component": "goal"}'
    model, judge = GoldModel(), GoldModel()
    passes = '{"score": 9, "passing": true}'
    judge.first["evaluate"] = [passes] * (5 + len(SETTING.domain.actions)) + [wrong]
    assert works(recipes["nl2plan"](TEXT, model, judge))
    assert judge.purposes == ["evaluate"] * (6 + len(SETTING.domain.actions))
    assert model.purposes[-2:] == ["goal", "goal"]
    assert "the goal is another" in model.texts[-1]


def test_feedback_of_an_execution(recipes: Mapping[str, Callable[..., Any]]) -> None:
    outcomes, plans = ["the ferry has no fuel", ""], []

    def execute(plan: tuple[str, ...]) -> str:
        plans.append(plan)
        return outcomes[len(plans) - 1]

    model = GoldModel()
    assert works(recipes["with_execution"](TEXT, DOMAIN, model, execute))
    assert len(plans) == 2
    assert "the ferry has no fuel" in model.texts[-1]


def test_the_page_lists_all_frameworks_of_the_paper() -> None:
    rows = [line for line in PAGE.splitlines() if line.startswith("| ")][2:]
    assert len(rows) == 34
    assert sum(" * |" in row for row in rows) == 8
    named = set(re.findall(r"`(llm_p|goal_translation|proc2pddl|llm_dm|nl2plan|with_execution|best_of)`", PAGE))
    assert len(named) == 7, "every recipe is in the table"
