"""Answers to the templates of the library l2p 0.4: every tag, empty parts, several actions, and what is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest

import pddlego
from pddlego.episode.events import Accepted
from pddlego.errors import ModelError
from pddlego.methods.builders.building import Target, components_in
from pddlego.methods.builders.draft import ComponentError, components_of
from pddlego.methods.builders.records.l2p import TAGS
from pddlego.pddl import parse_problem
from pddlego.pddl.rules import Level
from tests.methods.builders.records.test_l2p import DOMAIN, PROBLEM
from tests.methods.builders.test_builder import Scripted
from tests.methods.builders.test_headings import TAGGED, tagged

BOATS = """(define (domain boats) (:requirements :typing :fluents) (:types vessel island)
  (:predicates (at ?v - vessel ?i - island) (open ?i - island)) (:functions (fuel ?v - vessel))
  (:action wait :parameters (?v - vessel) :effect (and (increase (fuel ?v) 1))))"""
BOAT = {"objects": [{"name": "v1", "type": "vessel"}, {"name": "i1", "type": "island"}]}


def action(name: str, **effects: Any) -> dict[str, Any]:
    """An action of the library that opens an island."""
    params = [{"variable": "?i", "type": "island", "desc": None}]
    return {"name": name, "params": params, "preconditions": {"conditions": []}, "effects": {"add": [], **effects}}


OPENING = action("unlock", add=["(open ?i)"], delete=[], numeric=[], conditional=[])
CLOSING = action("lock", add=[], delete=["(open ?i)"], numeric=None, conditional=None)


def built(*answers: str, retries: int = 0, level: Any = "numbers") -> Any:
    return pddlego.builder(Scripted(*answers), "Boats.", domain=BOATS, level=level, retries=retries)


def notes(builder: Any) -> list[str]:
    """The notes about answers that were accepted."""
    return [note for event in builder.record.events if isinstance(event, Accepted) for note in event.defects]


@pytest.mark.parametrize(
    "answer",
    [
        tagged("metric", {"optimization": "minimize", "expression": "(fuel v1)", "desc": ""}),
        tagged("metrics", {"optimization": "minimize", "expression": "(fuel v1)"}),
        '{"metric": "minimize (fuel v1)"}',
        '{"metric": "(:metric minimize (fuel v1))"}',
        '{"metric": "(minimize (fuel v1))"}',
    ],
)
def test_every_form_of_a_metric(answer: str) -> None:
    builder = built(json.dumps(BOAT), answer).ask("objects").ask("metric")
    assert str(parse_problem(builder.problem).metric) == "(:metric minimize (fuel v1))"


@pytest.mark.parametrize("answer", [tagged("metric", {}), tagged("metric", None), '{"metric": ""}', '{"metric": null}'])
def test_no_metric(answer: str) -> None:
    assert parse_problem(built(answer).ask("metric").problem).metric is None


def test_a_metric_that_cannot_be_read_is_advised_in_its_own_form() -> None:
    with pytest.raises(ModelError) as refused:
        built(json.dumps({"metric": "(fuel v1)"})).ask("metric")
    assert "(:metric (:metric" not in str(refused.value)
    assert "minimize" in str(refused.value)
    with pytest.raises(ModelError, match=r"is-violated"):
        built(tagged("metric", {"optimization": "minimize", "expression": "(is-violated p1)"})).ask("metric")


def test_init_goal_and_metric_in_one_answer() -> None:
    answer = (
        tagged("initial_states", {"facts": ["(at v1 i1)", "(= (fuel v1) 2)"], "timed_facts": []})
        + tagged("goal_states", {"conditions": ["(at v1 i1)"]})
        + tagged("metric", {"optimization": "maximize", "expression": "(fuel v1)"})
    )
    builder = built(json.dumps(BOAT), answer).ask("objects").ask("init", "goal", "metric")
    problem = parse_problem(builder.problem)
    assert (str(problem.goal), str(problem.metric)) == ("(at v1 i1)", "(:metric maximize (fuel v1))")
    assert "(= (fuel v1) 2)" in builder.problem


def test_all_actions_of_an_answer_are_kept() -> None:
    builder = built(tagged("actions", [OPENING, CLOSING])).ask("action")
    assert builder.actions == ("wait", "unlock", "lock")
    assert [component.name for component in builder.reply.components] == ["unlock", "lock"]
    assert "(not (open ?i))" in builder.domain
    assert built(tagged("actions", OPENING)).ask("action").actions == ("wait", "unlock")
    both = tagged("predicates", []) + tagged("actions", [OPENING, CLOSING])
    with pytest.raises(ModelError, match="open"):
        built(both).ask("predicates", "action")
    whole = tagged("predicates", [{"name": "open", "params": [{"variable": "?i", "type": "island"}]}])
    known = built(whole + tagged("actions", [OPENING, CLOSING])).ask("predicates", "action")
    assert known.actions == ("wait", "unlock", "lock")


def test_an_action_or_a_tag_that_was_not_asked_for_is_named() -> None:
    builder = built(tagged("actions", [OPENING, CLOSING])).ask("action", action="lock")
    assert builder.actions == ("wait", "lock")
    assert notes(builder) == ["the action unlock was not asked for: it is ignored"]
    builder = built(tagged("functions", []) + tagged("actions", [OPENING])).ask("action")
    assert notes(builder) == ["<functions> was not asked for: it is ignored"]


@pytest.mark.parametrize(
    ("tag", "says"),
    [
        *(
            (tag, "durative actions are not supported")
            for tag in ("durative_actions", "durative_action", "dur_actions")
        ),
        *((tag, "durative actions are not supported") for tag in ("durative_conditions", "durative_effects")),
        ("nl_durative_actions", "durative actions are not supported"),
        ("events", "events are not supported"),
        ("processes", "processes are not supported"),
        ("constraints", "constraints are not supported"),
    ],
)
def test_what_is_not_planned_with_is_refused_by_name(tag: str, says: str) -> None:
    wait = {"name": "sail", "params": [], "duration": ["(= ?duration 5)"], "conditions": {}, "effects": {}}
    for level, kinds in (("numbers", ("action",)), ("time", ("timed-action",)), ("time", ("predicates", "action"))):
        for more in ("", tagged("actions", [OPENING]), tagged("predicates", [])):
            with pytest.raises(ModelError) as refused:
                built(tagged(tag, [wait]) + more, level=level).ask(*kinds)
            assert says in str(refused.value)
            assert "Field required" not in str(refused.value)
    assert "unlock" in built(tagged("actions", [OPENING]) + tagged(tag, [])).ask("action").actions


def test_what_is_refused_in_a_whole_file_is_asked_for_again() -> None:
    timed = {**PROBLEM, "initial_state": {"facts": [], "timed_facts": [{"time": 1.5, "fact": "(p)"}]}}
    model = Scripted(TAGGED["domain"], tagged("problem", timed), TAGGED["problem"])
    builder = pddlego.builder(model, "Rovers.").ask("domain").ask("problem")
    assert "timed facts are not supported" in model.asked[2].messages[-1].content
    assert builder.calls == 3


def test_the_names_of_whole_files_are_kept() -> None:
    builder = pddlego.builder(Scripted(TAGGED["domain"], TAGGED["problem"]), "Rovers.").ask("domain").ask("problem")
    assert "(define (domain rover_domain)" in builder.domain
    assert (parse_problem(builder.problem).name, parse_problem(builder.problem).domain) == ("prob1", "rover_domain")
    own = "(define (problem tour) (:domain boats) (:objects i1 - island) (:init) (:goal (open i1)))"
    assert parse_problem(built(json.dumps({"problem": own})).ask("problem").problem).name == "tour"
    assert parse_problem(built(own).ask("problem").problem).name == "tour"
    unnamed = "(define (problem) (:domain boats) (:objects i1 - island) (:init) (:goal (open i1)))"
    assert "unknown" not in built(unnamed).ask("problem").problem


@pytest.mark.parametrize("nothing", [None, [], {}])
def test_empty_parts_may_be_null_or_an_empty_list(nothing: object) -> None:
    domain = {
        **DOMAIN,
        **dict.fromkeys(("durative_actions", "events", "processes", "constraint", "functions"), nothing),
    }
    problem = {**PROBLEM, **dict.fromkeys(("constraint", "metric"), nothing)}
    problem["initial_state"] = {**problem["initial_state"], "timed_facts": nothing, "desc": nothing}
    answers = (tagged("domain", domain), tagged("problem", problem))
    builder = pddlego.builder(Scripted(*answers), "Rovers.", retries=0).ask("domain").ask("problem")
    assert "drive" in builder.domain
    assert "(at rover1 base_station)" in builder.problem


@pytest.mark.parametrize(
    ("kind", "value", "shown"),
    [
        ("goal", {"conditions": []}, "(:goal (and))"),
        ("goal", {"conditions": None, "desc": ""}, "(:goal (and))"),
        ("init", {"facts": [], "timed_facts": []}, "(:init"),
        ("objects", [], "(:objects"),
        ("constants", [], "(define (problem"),
        ("rules", [], "(define (problem"),
        ("functions", None, "(define (problem"),
        ("goal", [{"conditions": []}], "(:goal (and))"),
    ],
)
def test_empty_answers(kind: str, value: object, shown: str) -> None:
    tag = TAGS[kind][0]
    builder = pddlego.builder(Scripted(tagged(tag, value)), "Boats.", level="numbers", retries=0).ask(kind)
    assert shown in builder.problem


def test_every_kind_has_a_tag_and_every_tag_of_the_library_is_read() -> None:
    assert set(TAGS) == set(components_of(Level.NUMBERS))
    for kind, text in TAGGED.items():
        for tag in TAGS[kind]:
            first = TAGS[kind][0]
            answer = text.replace(f"<{first}>", f"<{tag}>").replace(f"</{first}>", f"</{tag}>")
            assert f"<{tag}>" in answer
            values = [reading(kind, form) for form in (text, answer)]
            assert values[0] == values[1]


def reading(kind: str, answer: str) -> Any:
    return components_in(answer, [Target(kind, "drive")], [])


SHAPES: tuple[object, ...] = (None, 3, "x", "(p)", [], {}, [None], [3], ["(p)"], [[]], [{}], {"name": 3}, {"add": 3})


@pytest.mark.parametrize("kind", sorted(TAGGED))
def test_any_value_is_read_or_refused_in_words(kind: str) -> None:
    fields = (
        "params",
        "parameters",
        "conditions",
        "condition",
        "effects",
        "effect",
        "add",
        "conditional",
        "facts",
        "name",
    )
    values = [*SHAPES, *({field: shape} for field in fields for shape in SHAPES)]
    values += [[value] for value in values if isinstance(value, dict)]
    for value in values:
        try:
            reading(kind, tagged(TAGS[kind][0], value))
        except ComponentError as error:
            for leaked in ("index out of range", "NoneType", "object is not", "has no attribute", "indices must be"):
                assert leaked not in str(error), (value, str(error))
