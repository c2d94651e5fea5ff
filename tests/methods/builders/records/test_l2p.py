"""Components as l2p 0.4 writes them: its documented examples, nested conditions, and what nobody here plans with."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from pddlego.episode.budget import Budget
from pddlego.episode.events import Limits
from pddlego.errors import UsageError
from pddlego.methods.builders.building import ComponentWriter
from pddlego.methods.builders.draft import Draft, NewPredicate, Predicates
from pddlego.methods.builders.records.l2p import condition, with_l2p
from pddlego.models.base import ScriptedModel
from pddlego.pddl import parse_domain, parse_problem
from pddlego.pddl.rules import Level
from pddlego.planning import PlanStatus, ProcessPlanner, Search

DOMAIN: dict[str, Any] = {
    "name": "rover_domain",
    "requirements": [{"name": ":typing", "desc": None}],
    "types": [{"name": "rover", "parent": "object"}, {"name": "location", "parent": "object", "desc": "a place"}],
    "constants": [{"name": "base_station", "type": "location"}],
    "predicates": [
        {"name": "at", "params": [{"variable": "?r", "type": "rover"}, {"variable": "?l", "type": "location"}]},
        {"name": "busy", "params": [{"variable": "?r", "type": "rover"}], "desc": "works"},
        {"name": "road", "params": [{"variable": "?a", "type": "location"}, {"variable": "?b", "type": "location"}]},
        {"name": "can-move", "params": [{"variable": "?r", "type": "rover"}]},
    ],
    "derived_predicates": [
        {
            "name": "can-move",
            "params": [{"variable": "?r", "type": "rover"}],
            "condition": {"operator": "not", "condition": "(busy ?r)"},
        }
    ],
    "actions": [
        {
            "name": "drive",
            "params": [
                {"variable": "?r", "type": "rover"},
                {"variable": "?from", "type": "location"},
                {"variable": "?to", "type": "location"},
            ],
            "preconditions": {"conditions": ["(at ?r ?from)", "(road ?from ?to)", "(can-move ?r)"], "desc": None},
            "effects": {"add": ["(at ?r ?to)"], "delete": ["(at ?r ?from)"], "numeric": [], "conditional": []},
            "desc": "Classical action to drive",
        }
    ],
}
PROBLEM: dict[str, Any] = {
    "name": "prob1",
    "domain_name": "rover_domain",
    "objects": [{"name": "rover1", "type": "rover"}, {"name": "loc1", "type": "location"}],
    "initial_state": {"facts": ["(at rover1 base_station)", "(road base_station loc1)"], "timed_facts": []},
    "goal_state": {"conditions": ["(at rover1 loc1)"], "desc": "Target state"},
}


CONSTRAINTS = ("constraint", "constraints")


def test_fields_may_have_the_names_of_our_own_requests() -> None:
    text = json.dumps(DOMAIN)
    for name, own in (('desc": "', 'about": "'), ('params"', 'parameters"'), ('variable"', 'name"')):
        text = text.replace(f'"{name}"', f'"{own}"')
    assert with_l2p(Draft(), text).domain == with_l2p(Draft(), json.dumps(DOMAIN)).domain
    assert "; a place" in with_l2p(Draft(), text).domain


def test_names_metrics_and_costs_are_carried() -> None:
    move = {**DOMAIN["actions"][0], "effects": {"add": ["(at ?r ?to)"], "numeric": ["(increase (total-cost) 3)"]}}
    costs = [{"name": "total-cost", "params": []}]
    metric = {"optimization": "minimize", "expression": "(total-cost)", "desc": "cheap"}
    draft = with_l2p(Draft(), json.dumps({**DOMAIN, "functions": costs, "actions": [move]}))
    draft = with_l2p(draft, json.dumps({**PROBLEM, "metric": metric, "constraints": []}))
    domain, problem = parse_domain(draft.domain), parse_problem(draft.problem)
    assert (domain.name, problem.name, problem.domain) == ("rover_domain", "prob1", "rover_domain")
    assert "(:metric minimize (total-cost))" in str(problem)
    assert "(increase (total-cost) 3)" in draft.domain
    assert parse_problem(with_l2p(Draft(), json.dumps(PROBLEM)).problem).domain == "rover_domain"
    unnamed = {name: value for name, value in DOMAIN.items() if name != "name"}
    assert with_l2p(Draft("mine"), json.dumps(unnamed)).name == "mine"


def test_whole_files_of_l2p_count_where_there_are_no_parts() -> None:
    domain = "(define (domain x) (:predicates (p)) (:action a :parameters () :effect (p)))"
    problem = "(define (problem y) (:domain x) (:init) (:goal (p)))"
    draft = with_l2p(Draft(), json.dumps({"name": "x", "domain_pddl": domain}))
    draft = with_l2p(draft, json.dumps({"name": "y", "domain_name": "x", "problem_pddl": problem}))
    assert (draft.actions, draft.goal, draft.name) == (("a",), "(p)", "x")
    assert "drive" in with_l2p(Draft(), json.dumps({**DOMAIN, "domain_pddl": domain})).actions


def test_descriptions_of_actions_are_in_the_request_for_predicates() -> None:
    draft = with_l2p(Draft(), json.dumps(DOMAIN))
    writer = ComponentWriter("domain", "Rovers.", ScriptedModel(("",)), Budget(Limits(None)))
    for kinds in (("predicates",), ("types", "predicates")):
        assert "\nThe actions:\n- drive: Classical action to drive" in writer.prompt(draft, kinds)
    assert "The actions:" not in writer.prompt(draft, ("types",))
    assert "The action is drive: Classical action to drive." in writer.prompt(draft, ("effects",), action="drive")
    assert "The actions:" not in writer.prompt(replace(draft, planned=()), ("predicates",))


def test_descriptions_are_comments_of_the_domain() -> None:
    text = with_l2p(Draft(), json.dumps(DOMAIN)).domain
    for line in ("location - object  ; a place", "(busy ?r - rover)  ; works", "; Classical action to drive"):
        assert line in text
    assert {predicate.name: predicate.meaning for predicate in parse_domain(text).predicates}["busy"] == "works"
    hostile = NewPredicate(name="p", about="one\n)) (:action x\u2028; two " + "long " * 500)
    draft = Draft().with_component(Predicates(predicates=(hostile,)))
    assert "p" in {predicate.name for predicate in parse_domain(draft.domain).predicates}
    assert len(draft.domain) < 400


def test_a_domain_and_a_problem_of_l2p_can_be_planned_with(planner: ProcessPlanner) -> None:
    draft = with_l2p(with_l2p(Draft("rover"), json.dumps(DOMAIN)), json.dumps(PROBLEM))
    domain, problem = parse_domain(draft.domain), parse_problem(draft.problem)
    assert ":derived-predicates" in domain.requirements
    result = planner.solve(domain, problem, Search())
    assert result.status is PlanStatus.SOLVED
    assert str(result.plan) == "(drive rover1 base_station loc1)"


@pytest.mark.parametrize(
    ("value", "pddl"),
    [
        ("(at ?r ?l)", "(at ?r ?l)"),
        ({"operator": "and", "conditions": ["(p)", {"operator": "not", "condition": "(q)"}]}, "(and (p) (not (q)))"),
        ({"operator": "or", "conditions": ["(p)", "(q)"]}, "(or (p) (q))"),
        ({"operator": "imply", "antecedent": ["(p)"], "consequent": ["(q)"]}, "(imply (p) (q))"),
        (
            {"quantifier": "forall", "parameters": [{"variable": "?p", "type": "packet"}], "conditions": ["(sent ?p)"]},
            "(forall (?p - packet) (sent ?p))",
        ),
        ({"conditions": []}, "(and)"),
        ([], "(and)"),
        (None, "(and)"),
    ],
)
def test_conditions_are_written_as_pddl(value: object, pddl: str) -> None:
    assert condition(value) == pddl


def test_conditional_effects_are_written_with_when() -> None:
    effect = {"condition": ["(busy ?r)"], "effect": {"add": ["(at ?r ?to)"], "delete": ["(busy ?r)"]}}
    action = {**DOMAIN["actions"][0], "effects": {"add": [], "delete": [], "conditional": [effect]}}
    draft = with_l2p(Draft(), json.dumps({**DOMAIN, "actions": [action]}))
    assert "(when (busy ?r) (and (at ?r ?to) (not (busy ?r))))" in draft.sections["actions"]["drive"]


@pytest.mark.parametrize(
    "effects",
    [
        {"numeric": ["(increase (x) 1)"]},
        {"conditional": [{"effect": {"numeric": ["(decrease (x) 1)"]}}]},
    ],
)
def test_numeric_effects_raise_the_level(effects: object) -> None:
    parts = {"name": "d", "functions": [{"name": "x"}], "actions": [{"name": "a", "effects": effects}]}
    draft = with_l2p(Draft(), json.dumps(parts))
    assert draft.level is Level.NUMBERS
    assert draft.checked_domain.domain is not None
    assert with_l2p(Draft(), json.dumps(DOMAIN)).level is Level.CLASSICAL


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ("no json", "holds no components of l2p"),
        ([1], "holds no components of l2p"),
        (
            {"durative_actions": [{}]},
            "durative actions are not supported: only PDDL files and answers to built-in prompts may have time",
        ),
        ({"initial_state": {"timed_facts": [{"time": 1, "fact": "(p)"}]}}, "may have time"),
        (
            {"goal_state": {"conditions": [{"operator": "always", "condition": "(p)"}]}},
            "'always' is not a supported condition",
        ),
        ({"goal_state": {"conditions": [{"preference": "p1", "condition": "(p)"}]}}, "is not a supported condition"),
        *(({**DOMAIN, name: [{"condition": "(p)"}]}, "constraints are not supported") for name in CONSTRAINTS),
        *(({**PROBLEM, name: [{"condition": "(p)"}]}, "constraints are not supported") for name in CONSTRAINTS),
        ({**PROBLEM, "metric": {"optimization": "least", "expression": "(total-cost)"}}, "metric.optimization"),
        ({**PROBLEM, "metric": {"optimization": "minimize", "expression": "total-time)"}}, "metric is not supported"),
        ({**PROBLEM, "preferences": ["(p)"]}, "preferences"),
        ({**PROBLEM, "initial": ["(p)"]}, "initial"),
        ({**PROBLEM, "goal_state": {"conditions": ["(p)"], "soft": ["(q)"]}}, "goal_state.soft"),
        ({**PROBLEM, "initial_state": {"facts": ["(p)"], "assignments": ["(= (x) 1)"]}}, "initial_state.assignments"),
        ({**PROBLEM, "domain_name": "depot"}, "the problem is of the domain depot, and the domain is rover_domain"),
        ({**DOMAIN, "name": "a rover"}, "name: "),
        ({"actions": [{"name": "a", "duration": [1]}]}, "actions.0.duration"),
        ({"actions": [{"name": "a", "effects": {"assign": ["(x)"]}}]}, "actions.0.effects.assign"),
        ({"goal_state": {"conditions": [{"operator": "and", "conditions": [], "within": 3}]}}, "'within' is not"),
        ({"problem_pddl": "(define (problem p) (:domain d) (:constraints (always (p))) (:goal (p)))"}, "problem_pddl"),
        ({"name": "rover"}, "It is empty"),
    ],
)
def test_what_nobody_here_plans_with_is_refused_by_name(value: object, says: str) -> None:
    text = value if isinstance(value, str) else json.dumps(value)
    with pytest.raises(UsageError) as refused:
        with_l2p(Draft("rover_domain"), text, "parts.json")
    assert says in str(refused.value)
