"""Text to PDDL to a plan that is validated in the gold domain: every setting, every way, every component."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from pddlego.episode.events import Accepted, Ended, Limits, Outcome, Rejected
from pddlego.methods.builders.builder import Build
from pddlego.methods.builders.draft import (
    COMPONENTS,
    ComponentError,
    Draft,
    WholeDomain,
    WholeProblem,
    read_component,
    read_components,
    schema_of,
)
from pddlego.methods.builders.events import BuildConcluded, PlanTried, Reviewed
from pddlego.methods.builders.options import MODES, TEXT, BuilderOptions
from pddlego.methods.builders.reference import BuilderReference, component_of
from pddlego.methods.builders.setting import load
from pddlego.methods.setting_files import setting_names
from pddlego.models.base import ScriptedModel
from pddlego.pddl import parse_domain, parse_problem
from pddlego.pddl.portable import checked_domain
from pddlego.planning import ProcessPlanner, validate
from pddlego.planning.plan_text import read_plan
from tests.methods.builders.building import Scripted, build, dumped, of
from tests.planning.test_costs import ROADS, trip
from tests.shared import SHARED
from tests.traces import shared_beginning

SETTINGS = tuple(
    pytest.param(name, marks=pytest.mark.kairos) if name == "text-battery" else name for name in setting_names(TEXT)
)


@pytest.mark.slow
@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("mode", [mode.name for mode in MODES])
def test_text_to_pddl_to_a_plan_that_works_in_the_gold_domain(setting: str, mode: str, planner: ProcessPlanner) -> None:
    for seed in (0, 1):  # both wordings
        events = build(setting, mode, BuilderReference(), planner, seed)
        (done,) = of(events, BuildConcluded)
        assert (done.read, done.valid, done.solvable, done.plan_valid, done.equivalent) == (True,) * 5
        assert of(events, Ended)[0].outcome is Outcome.WON
        gold = load(setting, BuilderOptions())
        plan = read_plan("\n".join(of(events, PlanTried)[-1].plan), gold.domain, gold.task(seed)).plan
        assert validate(gold.domain, gold.task(seed), plan) is None
        if mode == "build+whole":
            assert len(of(events, Accepted)) == 2


def test_every_setting_has_two_wordings_that_say_everything() -> None:
    assert len(SETTINGS) == 6
    for name in setting_names(TEXT):
        setting = load(name, BuilderOptions())
        one, other = setting.description(0), setting.description(1)
        assert len(setting.wordings) == 2
        assert one.split("\n")[0] != other.split("\n")[0]
        for seed, text in ((0, one), (1, other)):
            for action in (*setting.domain.actions, *setting.domain.durative):
                assert action.name in text
            named = {item.name for item in setting.task(seed).objects}
            assert all(name.replace("_", " ") in text for name in named)
            assert "{" not in text


WRONG: dict[str, tuple[Any, str]] = {
    "types": ({"types": [{"name": "room", "parent": "room", "about": ""}]}, "type-cycle"),
    "constants": ({"constants": [{"name": "coin", "type": "money"}]}, "undeclared-type"),
    "predicates": (
        {"predicates": [{"name": "at", "parameters": [{"name": "l", "type": "location"}]}]},
        "question-mark",
    ),
    "rules": (
        {"rules": [{"name": "free", "parameters": [], "condition": "(nobody)"}]},
        "undeclared-predicate",
    ),
    "action-list": ({"actions": "move"}, "actions"),
    "parameters": ({"name": "move", "parameters": [{"name": "?l", "type": "house"}]}, "undeclared-type"),
    "preconditions": ({"name": "move", "precondition": "(at ?where)", "new_predicates": []}, "unbound-variable"),
    "effects": ({"name": "move", "effect": "(or (at ?to) (at ?from))", "new_predicates": []}, "misplaced-connective"),
    "action": ({"name": "fly", "parameters": [], "precondition": "(and)", "effect": "(and)"}, "defines 'fly'"),
    "objects": ({"objects": [{"name": "loc0", "type": "house"}]}, "undeclared-type"),
    "init": ({"facts": ["(at loc0 loc1)"]}, "wrong-number-of-arguments"),
    "goal": ({"goal": "(have gold)"}, "undeclared-object"),
    "domain": ({"domain": "(define (domain d) (:action a :parameters () :effect (nothing)))"}, "undeclared-predicate"),
    "problem": ({"problem": "(define (problem p) (:domain d) (:objects) (:init) (:goal (have gold)))"}, "undeclared"),
}
"""A wrong answer for each component of Coin Collector, and what is said of it."""

FACTS = '{"facts": ["(at hall)", "(seen)"]}'

NEARLY = {
    "a comma before a closing bracket": FACTS.replace("]", ",]").replace("}", " ,\n}"),
    "a comment": FACTS.replace("[", "[ // the only {place\n"),
    "a key without quotes": FACTS.replace('"facts"', "facts"),
    "' as a quotation mark": FACTS.replace('"', "'"),
    "“ as a quotation mark": re.sub(r'"([^"]*)"', r"“\1”", FACTS),
    "‘ as a quotation mark": re.sub(r'"([^"]*)"', r"‘\1’", FACTS),
    "„ as a quotation mark": re.sub(r'"([^"]*)"', r"„\1“", FACTS),
    "a line break or a tab in a string": FACTS.replace("(at hall)", "(at\n\thall)"),
    "the object is inside of 'answer'": f'{{"answer": {FACTS}}}',
    "the object is inside of 'arguments'": f'{{"name": "init", "arguments": {FACTS}}}',
    "the key 'Facts' is in capitals": FACTS.replace("facts", "Facts"),
    "the escape \\(, which JSON does not have": FACTS.replace("(at", "\\(at"),
    "earlier JSON objects are drafts": f'```\n{{"facts": []}}\n```\nNo:\n```json\n{FACTS}\n```',
}
"""`FACTS` as models write it, for each kind of repair."""


@pytest.mark.parametrize("repair", NEARLY)
def test_a_component_is_read_from_what_is_nearly_json_and_the_repair_is_listed(repair: str) -> None:
    notes: list[str] = []
    component = read_component("init", NEARLY[repair], notes)
    facts = [" ".join(fact.split()) for fact in component.model_dump()["facts"]]
    assert (facts, notes) == (["(at hall)", "(seen)"], [f"JSON: {repair}"])
    (both,) = read_components(["init"], NEARLY[repair], [])
    assert both == component


@pytest.mark.shared("cases/turn6/json")
@pytest.mark.parametrize("slip", ["line-breaks-in-string", "trailing-comma"])
def test_the_answers_of_a_model_that_are_nearly_json_build_a_task(slip: str, planner: ProcessPlanner) -> None:
    files = (SHARED / f"cases/turn6/json/{name}.txt" for name in ("domain-answer", slip))
    model = ScriptedModel(tuple(file.read_text(encoding="utf-8") for file in files))
    built = Build(
        "task",
        "Light both lamps.",
        model,
        planner,
        steps="whole",
        feedback="none",
        rounds=0,
        retries=0,
        limits=Limits(None),
    )
    events = list(built.events())
    repairs = [defect for event in of(events, Accepted) for defect in event.defects if defect.startswith("JSON: ")]
    assert not of(events, Rejected) and len(repairs) == 1
    assert len(of(events, PlanTried)[-1].plan) == 2 and of(events, Ended)[0].usage.calls == 2


BY = {"domain": "build+whole", "problem": "build+whole", "action": "build+by-action"}


@pytest.mark.parametrize("kind", list(WRONG))
def test_a_wrong_answer_goes_back_with_the_rule_and_the_next_one_counts(kind: str, planner: ProcessPlanner) -> None:
    value, says = WRONG[kind]
    model = Scripted({kind: [dumped(value), "I would rather not.", "{"]})
    events = build("text-coin", BY.get(kind, "build"), model, planner)
    assert of(events, Ended)[0].outcome is Outcome.WON
    assert len(of(events, Rejected)) == 3
    text = model.of(kind)
    assert says in text[1]
    assert "Your last answer was rejected" in text[1]
    assert "holds no JSON object" in text[2] or kind in ("domain", "problem")
    assert "cut off" in text[3]
    assert "Your last answer" not in text[4] if len(text) > 4 else True


@pytest.mark.parametrize("kind", list(COMPONENTS))
def test_components_have_strict_schemas_that_their_answers_keep(kind: str) -> None:
    schema = schema_of(kind)
    text = json.dumps(schema)
    assert text.count('"type": "object"') == text.count('"additionalProperties": false')
    gold = load("text-coin", BuilderOptions())
    value = component_of(kind, gold.domain, gold.task(0), "move")
    assert {kind for kind in COMPONENTS if kind not in (*WRONG, "functions")} == {"timed-action", "metric"}
    assert set(value) <= set(schema["properties"])
    read_component(kind, f"Here it is:\n```json\n{json.dumps(value)}\n```\nGood luck!")
    with pytest.raises(ComponentError):
        read_component(kind, '{"nothing": 1}')


def test_without_checks_what_is_wrong_stays_and_is_counted(planner: ProcessPlanner) -> None:
    model = Scripted({"goal": [dumped({"goal": "(have gold)"})]})
    events = build("text-coin", "build-no-checks", model, planner)
    assert not of(events, Rejected)
    (done,) = of(events, BuildConcluded)
    assert (done.read, done.valid, done.solvable, done.plan_valid) == (True, False, False, False)


@pytest.mark.parametrize("mode", ["build", "build+by-action", "build+whole"])
def test_an_action_that_changes_nothing_goes_back_when_it_comes(mode: str, planner: ProcessPlanner) -> None:
    gold = load("text-blocks", BuilderOptions())
    kind = {"build": "effects", "build+by-action": "action", "build+whole": "domain"}[mode]
    name = gold.domain.actions[0].name
    value = component_of(kind, gold.domain, gold.task(0), name)
    if kind == "domain":
        value["domain"] = f"{value['domain'][:-1]} (:action fill :parameters () :effect (and)))"
        name = "fill"
    else:
        value["effect"] = "(and)"
    model = Scripted({kind: [dumped(value)]})
    events = build("text-blocks", mode, model, planner)
    (rejected,) = of(events, Rejected)
    (line,) = rejected.feedback.evidence
    assert line.startswith("[empty-effect] ")
    assert line.endswith(f"In action {name}")
    assert of(events, Ended)[0].outcome is Outcome.WON


def test_a_component_without_a_usable_answer_ends_the_build(planner: ProcessPlanner) -> None:
    model = Scripted({"types": ["no"] * 9})
    events = build("text-coin", "build", model, planner, retries=2)
    ended = of(events, Ended)[0]
    assert ended.outcome is Outcome.NO_PLAN
    assert ended.message.startswith("types: 3 answers in a row")


def test_by_action_the_list_of_predicates_grows_and_is_pruned(planner: ProcessPlanner) -> None:
    """The paper's printed code freezes the list after the first action; here each action sees what came before."""
    model = Scripted()
    build("text-blocks", "build+by-action", model, planner)
    asked = model.of("action")
    assert "(holding ?x - object)" not in asked[0]
    assert "(holding ?x - object)" in asked[1]
    assert "(on ?x - object ?y - object)" not in asked[1]
    assert "(on ?x - object ?y - object)" in asked[4]


@pytest.mark.parametrize(
    ("needs", "again"),
    [
        ("a a a", ""),
        ("a b -", "one"),
        ("- - c", "one two"),
        ("a - -", ""),
    ],
)
def test_by_action_asks_again_only_for_actions_after_which_a_predicate_was_added(
    planner: ProcessPlanner, needs: str, again: str
) -> None:
    """Each of three actions makes predicates true: those of its letters."""
    names = ("one", "two", "three")
    answers = {
        name: dumped(
            {
                "name": name,
                "parameters": [],
                "precondition": "(and)",
                "effect": f"(and (done) {' '.join(f'({letter})' for letter in letters if letter != '-')})",
                "new_predicates": [{"name": letter} for letter in ("done", *letters) if letter != "-"],
            }
        )
        for name, letters in zip(names, needs.split(), strict=True)
    }
    model = Scripted(
        {
            "types": [dumped({"types": []})],
            "constants": [dumped({"constants": []})],
            "action-list": [dumped({"actions": [{"name": name} for name in names]})],
            "action": [answers[name] for name in (*names, *again.split())],
        }
    )
    build("text-coin", "build+by-action", model, planner)
    asked = [re.search(r"^The action is (\w+)", text, re.MULTILINE) for text in model.of("action")]
    assert [match.group(1) for match in asked if match] == [*names, *again.split()]
    later = [text.partition("added after it was written:\n")[2] for text in model.of("action")]
    assert not any(later[: len(names)])
    assert all(text.startswith("- (") for text in later[len(names) :])


@pytest.mark.parametrize("mode", ["build", "build+by-action"])
def test_most_of_a_request_begins_the_request_before_too(mode: str, planner: ProcessPlanner) -> None:
    """Endpoints cache the beginning that a request shares with the one before. With the role first it is 15 %."""
    model = Scripted()
    build("text-logistics", mode, model, planner, feedback="model")
    assert shared_beginning([request.messages[0].content for request in model.requests]) >= 0.7


def test_predicates_that_no_action_uses_are_left_out() -> None:
    domain = parse_domain("""(define (domain d) (:predicates (p) (q) (r)) (:derived (q) (r))
      (:action a :parameters () :effect (p)))""")
    assert set(Draft().with_domain(domain).without_unused().sections["predicates"]) == {"p", "q", "r"}
    lonely = parse_domain("(define (domain d) (:predicates (p) (q)) (:action a :parameters () :effect (p)))")
    assert set(Draft().with_domain(lonely).without_unused().sections["predicates"]) == {"p"}


@pytest.mark.parametrize("setting", SETTINGS)
def test_a_draft_of_gold_files_is_the_gold_files(setting: str) -> None:
    gold = load(setting, BuilderOptions())
    draft = Draft(gold.domain.name)
    problem = gold.task(0)
    for kind in ("types", "constants", "predicates", "rules", "action-list"):
        draft = draft.with_component(read_component(kind, dumped(component_of(kind, gold.domain, problem))))
    for action in gold.domain.actions_by_name:
        for kind in ("parameters", "preconditions", "effects"):
            value = component_of(kind, gold.domain, problem, action)
            draft = draft.with_component(read_component(kind, dumped(value)))
    for kind in ("objects", "init", "goal"):
        draft = draft.with_component(read_component(kind, dumped(component_of(kind, gold.domain, problem))))
    made = parse_domain(draft.domain)
    assert made.actions == gold.domain.actions
    assert set(made.predicates) == set(gold.domain.predicates)
    assert (made.constants, made.types) == (gold.domain.constants, gold.domain.types)
    again = parse_problem(draft.problem)
    assert (again.objects, again.facts, again.goal) == (problem.objects, problem.facts, problem.goal)


def test_the_reviews_of_a_build_are_events(planner: ProcessPlanner) -> None:
    events = build("text-blocks", "build-problem", BuilderReference(), planner, feedback="model")
    assert [event.by for event in of(events, Reviewed)] == ["checks", "evaluate", "evaluate-plan"]
    assert all(event.fine for event in of(events, Reviewed))


def test_rules_bring_their_heads_among_the_predicates(planner: ProcessPlanner) -> None:
    """A model lists no derived predicate among the predicates, as it is told."""
    gold = load("text-coin", BuilderOptions())
    rules = {"rules": [{"name": "rich", "parameters": [], "condition": "(have coin)"}] * 1}
    model = Scripted({"rules": [dumped(rules)]})
    events = build("text-coin", "build", model, planner)
    assert not of(events, Rejected)
    assert of(events, Ended)[0].outcome is Outcome.WON
    assert gold.domain.derived == ()


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("objects", {"objects": [{"name": "red block", "type": "location"}]}),
        ("objects", {"objects": [{"name": "x) (:init", "type": "location"}]}),
        ("predicates", {"predicates": [{"name": "(p)", "parameters": [], "about": ""}]}),
        ("action", {"name": "go to", "parameters": [], "precondition": "(and)", "effect": "(and)"}),
    ],
)
def test_a_name_that_pddl_cannot_read_is_refused(kind: str, value: Any) -> None:
    with pytest.raises(ComponentError, match="a PDDL name is a letter"):
        read_component(kind, dumped(value))


@pytest.mark.parametrize(
    ("kind", "value", "lines"),
    [
        ("types", {"types": ["truck - vehicle", "vehicle"]}, ["truck - vehicle", "vehicle - object"]),
        ("predicates", {"predicates": [{"name": "on", "parameters": ["?x", "?y"]}]}, ["(on ?x - object ?y - object)"]),
        ("predicates", {"predicates": [{"name": "on", "parameters": ["?x - b"]}]}, ["(on ?x - b)"]),
        ("parameters", {"name": "go", "parameters": ["(?x - b)"]}, ["?x - b"]),
        ("objects", {"objects": ["a - block", "c", {"name": "d"}]}, ["a - block", "c - object", "d - object"]),
        (
            "types",
            {"types": [{"name": "truck", "about": "it drives", "comment": "a guess of mine"}]},
            ["truck - object  ; it drives"],
        ),
    ],
)
def test_pddl_in_place_of_objects_is_read(kind: str, value: Any, lines: list[str]) -> None:
    component = dict(read_component(kind, dumped(value)))
    assert [entry.line for entry in component[kind if kind in component else "parameters"]] == lines


@pytest.mark.parametrize(
    ("kind", "value", "says"),
    [
        ("objects", {"objects": ["red block"]}, "'red block' is not in the form 'NAME - TYPE'"),
        ("objects", {"objects": ["x) (:init"]}, "'x) (:init' is not in the form 'NAME - TYPE'"),
        ("objects", {"objects": {"a": "block"}}, "objects: Input should be a valid list"),
        (
            "predicates",
            {"predicates": [{"name": "on", "parameters": "?x"}]},
            "0.parameters: Input should be a valid list",
        ),
        ("predicates", {"predicates": ["(free)"]}, "predicates.0: Input should be a valid JSON object"),
        ("predicates", {"predicates": [{"name": "on", "parameters": ["?x: b"]}]}, "'?x: b' is not in the form"),
        ("types", {"types": [{"name": "truck", "supertype": "vehicle"}]}, "supertype"),
        ("action", {"name": "go", "parameters": [], "preconditions": "(free)", "effect": "(busy)"}, "preconditions"),
        ("action", {"name": "go", "parameters": [], "needs": "(free)", "effect": "(busy)"}, "needs"),
    ],
)
def test_text_that_may_mean_several_things_is_named(kind: str, value: Any, says: str) -> None:
    with pytest.raises(ComponentError, match=re.escape(says)):
        read_component(kind, dumped(value))


def test_a_whole_domain_with_two_actions_of_one_name_goes_back(planner: ProcessPlanner) -> None:
    gold = load("text-coin", BuilderOptions())
    twice = gold.domain.text[:-1] + " (:action take :parameters () :effect (have coin)))"
    model = Scripted({"domain": [dumped({"domain": twice})]})
    events = build("text-coin", "build+whole", model, planner)
    assert "duplicate-action" in of(events, Rejected)[0].feedback.evidence[0]


def test_costs_stay_in_a_problem_that_is_written_whole() -> None:
    draft = Draft().with_component(WholeDomain(domain=ROADS.text)).with_component(WholeProblem(problem=str(trip())))
    built = checked_domain(draft.domain).domain
    assert built is not None
    assert (built.functions, built.actions) == (ROADS.functions, ROADS.actions)
    written = parse_problem(draft.problem)
    assert (written.values, written.metric) == (trip().values, trip().metric)
