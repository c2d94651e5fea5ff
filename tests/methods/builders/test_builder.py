"""Building PDDL piece by piece: asking, setting, appending, removing, own prompts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, ClassVar

import pytest

import pddlego
from pddlego.episode.events import Accepted, Answered
from pddlego.errors import ModelError, UsageError
from pddlego.methods.registry import make_codec
from pddlego.runs.folders import find_journals
from pddlego.runs.journal import read_journal
from tests.cli.command import run

ANSWERS: dict[str, Any] = {
    "types": {"types": [{"name": "lamp", "parent": "object", "about": ""}]},
    "predicates": {"predicates": [{"name": "on", "parameters": [{"name": "?l", "type": "lamp"}], "about": ""}]},
}


class Scripted:
    """Gives the answers in order, and keeps the questions."""

    name = "scripted"
    description: ClassVar[dict[str, str]] = {}

    def __init__(self, *answers: str) -> None:
        self.answers, self.asked = list(answers), list[pddlego.Request]()

    def complete(self, request: pddlego.Request) -> pddlego.Completion:
        self.asked.append(request)
        return pddlego.Completion(self.answers.pop(0), 7, 3)


def test_several_components_in_one_request() -> None:
    model = Scripted(json.dumps({**ANSWERS["types"], **ANSWERS["predicates"]}))
    builder = pddlego.builder(model, "Lamps.")
    prompt = builder.prompt("types", "predicates")
    builder.ask("types", "predicates")
    assert model.asked[0].messages[-1].content == prompt
    assert "lamp - object" in builder.domain
    assert "(on ?l - lamp)" in builder.domain
    assert builder.calls == 1


def test_a_bad_answer_is_asked_for_again_with_feedback() -> None:
    model = Scripted("no JSON", json.dumps(ANSWERS["types"]))
    builder = pddlego.builder(model, "Lamps.").ask("types")
    assert "Your last answer was rejected" in model.asked[1].messages[-1].content
    assert builder.calls == 2
    with pytest.raises(ModelError, match="no usable types"):
        pddlego.builder(Scripted("a", "b"), retries=1).ask("types")


def test_the_record_has_answers_rejections_tokens_and_changes(tmp_path: Path) -> None:
    model = Scripted("no JSON", *(json.dumps(ANSWERS[kind]) for kind in ("types", "predicates", "predicates")))
    builder = pddlego.builder(model, "Lamps.").ask("types")
    builder.revise(builder.evaluate("types", by=lambda messages: '{"score": 9, "passing": true}'))
    builder.set("constants", "desk - lamp").select("predicates", number=2, score=lambda candidate: 1.0)
    kinds = [event.type for event in builder.record.events]
    assert kinds == [
        *("started", "asked", "answered", "rejected", "asked", "answered", "accepted"),
        *("asked", "answered", "found"),  # the opinion of another model
        *("asked", "answered", "asked", "answered", "accepted"),
    ]
    answers = [event.completion.text for event in builder.record.all(Answered)]
    assert answers[0] == "no JSON" and answers[2] == '{"score": 9, "passing": true}'
    assert builder.record.usage.calls == builder.calls == 5
    own = [event.completion for event in builder.record.all(Answered) if event.completion.text != answers[2]]
    assert [(completion.tokens_in, completion.tokens_out) for completion in own] == [(7, 3)] * 4
    assert "(on ?l - lamp)" in builder.record.all(Accepted)[-1].text
    path = builder.save(tmp_path / "lamps" / "first")
    assert read_journal(path, make_codec()).events == builder.record.events
    for place in (path.parent, path):
        assert find_journals(place) == [path]
        shown = run("show", str(place), cwd=tmp_path)
        assert shown.returncode == 0, shown.stderr
        assert "rejected" in shown.stdout and "predicate (on ?l - lamp)" in shown.stdout
    with pytest.raises(UsageError, match=r"journal\.jsonl exists"):
        builder.save(path.parent)


def test_components_of_no_action_may_be_asked_for_with_those_of_one() -> None:
    parameters = {"name": "light", "parameters": [{"name": "?l", "type": "lamp"}]}
    builder = pddlego.builder(Scripted(json.dumps({**ANSWERS["types"], **parameters})))
    builder.ask("types", "parameters", action="light")
    assert builder.calls == 1
    assert ":parameters (?l - lamp)" in builder.domain


def test_an_own_prompt_gets_the_files_in_place_of_names_in_braces() -> None:
    model = Scripted(json.dumps(ANSWERS["types"]), json.dumps(ANSWERS["predicates"]))
    builder = pddlego.builder(model, "Lamps {types}.").ask("types")
    builder.ask("predicates", prompt='{domain_desc} Types:\n{types}\nForm: {"predicates": []} {unknown}{context}')
    text = model.asked[1].messages[-1].content
    assert text.startswith('Lamps {types}. Types:\nlamp - object\nForm: {"predicates": []} {unknown}(define (domain')


def test_the_last_reply_has_the_text_and_the_values() -> None:
    builder = pddlego.builder(Scripted(f"My types: {json.dumps(ANSWERS['types'])}"), "Lamps.")
    assert builder.reply is None
    reply = builder.ask("types").reply
    assert reply is not None
    assert reply.text.startswith("My types")
    assert [dict(component)["types"][0].name for component in reply.components] == ["lamp"]


def test_an_own_rule_rejects_what_it_finds_new() -> None:
    upper = {"predicates": [{"name": "switched-on-now", "parameters": [], "about": ""}]}
    model = Scripted(json.dumps(ANSWERS["types"]), json.dumps(upper), json.dumps(ANSWERS["predicates"]))
    builder = pddlego.builder(model, "Lamps.").ask("types")

    @builder.rule
    def one_word(domain: str, problem: str) -> list[str]:
        return [f"{name} has several words" for name in ("switched-on-now", "lamp") if name in domain]

    builder.ask("predicates")
    assert "- switched-on-now has several words\nFix" in model.asked[2].messages[-1].content
    assert "(on ?l - lamp)" in builder.domain


def test_setting_appending_and_removing() -> None:
    builder = pddlego.builder(Scripted())
    builder.set("types", "lamp room").set("predicates", ANSWERS["predicates"]).append("predicates", "(dark ?r - room)")
    builder.append("actions", "(:action light :parameters (?l - lamp) :effect (on ?l))")
    assert pddlego.check(builder.domain).ok
    builder.remove("predicates", "dark")
    assert "dark" not in builder.domain
    builder.set("objects", "a b - lamp").append("objects", "c - lamp").set("init", "(on a)").set(
        "goal", "(and (on b) (on c))"
    )
    assert pddlego.solve(builder.domain, builder.problem).plan == ("(light b)", "(light c)")
    builder.set("objects", "b c - lamp").set("init", "")
    assert pddlego.solve(builder.domain, builder.problem).plan == ("(light b)", "(light c)")


def test_a_problem_for_a_given_domain() -> None:
    domain = "(define (domain d) (:predicates (p ?x)) (:action a :parameters (?x) :effect (p ?x)))"
    answers: tuple[dict[str, Any], ...] = (
        {"objects": [{"name": "o", "type": "object"}]},
        {"facts": []},
        {"goal": "(p o)"},
    )
    builder = pddlego.builder(Scripted(*map(json.dumps, answers)), "One thing.", domain=domain)
    for name in ("objects", "init", "goal"):
        builder.ask(name)
    assert pddlego.solve(builder.domain, builder.problem).plan == ("(a o)",)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda builder: builder.set("typs", "a"), "Unknown component 'typs'"),
        (lambda builder: builder.set("predicates", "(p"), "cannot be read"),
        (lambda builder: builder.set("goal", "(("), "cannot be read"),
        (lambda builder: builder.set("types", {"types": 3}), "cannot be read"),
        (lambda builder: builder.remove("actions", "move"), "There is no 'move'"),
        (lambda builder: builder.ask("typs"), "Unknown component 'typs'"),
        (lambda builder: builder.ask(), "Unknown component ''"),
    ],
)
def test_what_cannot_be_read_changes_nothing(change: object, says: str) -> None:
    builder = pddlego.builder(Scripted())
    before = builder.domain, builder.problem
    assert callable(change)
    with pytest.raises(UsageError, match=says):
        change(builder)
    assert (builder.domain, builder.problem) == before


def test_a_part_is_taken_out_by_its_name() -> None:
    builder = pddlego.builder(Scripted()).set("types", "a b").set("objects", "x y - a").set("init", "(p x) (p y)")
    builder.append("objects", "x - b")
    assert builder.problem.count("x - ") == 1, "what has the same name is replaced"
    builder.remove("objects", "x").remove("init", "(p x)")
    assert "x -" not in builder.problem
    assert "(p x)" not in builder.problem
    assert "(p y)" in builder.problem
    builder.set("action-list", {"actions": [{"name": "c", "about": ""}]})
    builder.append("actions", "(:action c :parameters () :precondition (and) :effect (and))").remove("actions", "c")
    assert builder.actions == ()


def test_an_action_is_set_beside_the_others() -> None:
    builder = pddlego.builder(Scripted()).set("predicates", "(p ?x) (q ?x)")
    builder.append("actions", "(:action a :parameters (?x) :precondition (q ?x) :effect (p ?x))")
    builder.set("action", {"name": "b", "parameters": [{"name": "?x", "type": "object"}], "effect": "(q ?x)"})
    assert builder.actions == ("a", "b")
    builder.set("effects", {"name": "a", "effect": "(not (q ?x))"})
    assert ":precondition (q ?x)" in builder.domain
    assert builder.actions == ("a", "b")
    builder.set("action-list", {"actions": [{"name": "c", "about": ""}]})
    assert "c" in builder.actions
    builder.set("predicates", {"predicates": []})
    assert "(:predicates" not in builder.domain
    with pytest.raises(UsageError, match="parentheses"):
        builder.set("objects", "a b) (:init (on a b)")


TYPES, PREDICATES = (json.dumps(ANSWERS[name]) for name in ("types", "predicates"))
LIT = {"predicates": [{"name": "lit", "parameters": [{"name": "?l", "type": "lamp"}], "about": ""}]}


def verdict(passing: bool, critique: str = "", component: str = "") -> str:
    return json.dumps({"score": 3, "passing": passing, "critique": critique, "component": component})


def test_a_component_is_evaluated_and_revised() -> None:
    model = Scripted(TYPES, PREDICATES, verdict(False, "call it lit"), json.dumps(LIT), verdict(True))
    builder = pddlego.builder(model, "Lamps.").ask("types").ask("predicates")
    opinion = builder.evaluate("predicates")
    assert (opinion.approves, opinion.component) == (False, "predicates")
    assert "Evaluate only the component predicates" in model.asked[2].messages[-1].content
    assert "(lit ?l - lamp)" in builder.revise(opinion).domain
    assert "call it lit" in model.asked[3].messages[-1].content
    again = builder.evaluate()
    assert again.approves
    assert builder.revise(again).calls == 5, "nothing is asked for after approval"


def test_another_model_or_a_person_may_evaluate_and_revise() -> None:
    own, other = Scripted(TYPES, PREDICATES), Scripted(verdict(False, "better: lit", "predicates"), json.dumps(LIT))
    builder = pddlego.builder(own, "Lamps.").ask("types").ask("predicates")
    opinion = builder.evaluate(by=other)
    assert "(lit ?l - lamp)" in builder.revise(opinion, by=other).domain
    assert (len(own.asked), len(other.asked)) == (2, 2)

    shown: list[str] = []

    def person(file: str, text: str) -> str:
        shown.append(file)
        return "" if "lit" in text else "call it lit"

    assert builder.evaluate("predicates", person=person).approves
    assert shown == ["domain"]
    files: list[str] = []
    assert builder.set("goal", "(lit l)").evaluate(person=lambda file, text: files.append(file) or "").approves  # type: ignore[func-returns-value]
    assert files == ["domain", "problem"]
    with pytest.raises(UsageError, match="Unknown component 'gaol'"):
        builder.evaluate("gaol", person=person)


def test_an_opinion_that_names_nothing_cannot_be_followed() -> None:
    builder = pddlego.builder(Scripted(TYPES, verdict(False, "bad")), "Lamps.").ask("types")
    with pytest.raises(UsageError, match="Unknown component ''"):
        builder.revise(builder.evaluate())
    with pytest.raises(ModelError, match="no readable opinion"):
        pddlego.builder(Scripted("a", "b"), "Lamps.").evaluate()
    with pytest.raises(UsageError, match="Unknown component 'sky'"):
        builder.evaluate("sky")


def test_the_best_candidate_is_kept() -> None:
    candidates = (PREDICATES, json.dumps(LIT), PREDICATES)
    chosen = Scripted(TYPES, *candidates, json.dumps({"best": 2, "reason": "short"}))
    builder = pddlego.builder(chosen, "Lamps.").ask("types").select("predicates")
    assert "(lit ?l - lamp)" in builder.domain
    assert chosen.asked[-1].messages[-1].content.count("Candidate ") == 2, "equal candidates are shown once"
    assert len({request.attempt for request in chosen.asked[1:4]}) == 3, "each candidate has a seed of its own"
    longest = Scripted(TYPES, *candidates)
    by_score = pddlego.builder(longest, "Lamps.").ask("types").select("predicates", score=lambda b: -len(b.domain))
    assert "(on ?l - lamp)" in by_score.domain
    useless = pddlego.builder(Scripted(TYPES, *("no JSON",) * 6), "Lamps.", retries=1).ask("types")
    with pytest.raises(ModelError, match="no usable predicates"):
        useless.select("predicates")
    for unusable in ((json.dumps({"best": 7}),), ("nonsense", "nonsense")):
        outside = Scripted(TYPES, *candidates, *unusable)
        with pytest.raises(ModelError, match="no readable choice"):
            pddlego.builder(outside, "Lamps.").ask("types").select("predicates")


def test_a_person_without_a_way_to_ask_one_is_refused() -> None:
    with pytest.raises(UsageError, match="person has no effect"):
        pddlego.build("domain", "Lamps.", Scripted(), person=lambda file, text: "")
    with pytest.raises(UsageError, match="needs a person"):
        pddlego.build("domain", "Lamps.", Scripted(), feedback="person")
    asked: list[str] = []

    def person(file: str, text: str) -> str:
        asked.append(file)
        return "call it lit" if "(on" in text else ""

    whole = (
        "(define (domain lamps) (:types lamp) (:predicates ({0} ?l - lamp)) (:action a :parameters (?l - lamp) {1}))"
    )
    texts = [whole.format(name, f":effect ({name} ?l)") for name in ("on", "lit")]
    model = Scripted(*(json.dumps({"domain": text}) for text in texts))
    built = pddlego.build("domain", "Lamps.", model, steps="whole", feedback="person", person=person)
    assert asked == ["domain", "domain"]
    assert "(lit ?l - lamp)" in built.domain
    assert built.sound


def test_predicates_that_no_action_uses_are_pruned() -> None:
    builder = pddlego.builder(Scripted()).set("predicates", "(on ?l) (unused ?l)")
    builder.set("actions", "(:action a :parameters (?l) :effect (on ?l))")
    assert "unused" not in builder.prune().domain
    assert "(on ?l - object)" in builder.domain


def test_whole_files_are_set_from_json_and_a_text_may_end_with_a_comment() -> None:
    builder = pddlego.builder(Scripted()).set("domain", {"domain": "(define (domain lamps) (:predicates (on ?l)))"})
    assert "(domain lamps)" in builder.domain
    builder.set("problem", {"problem": "(define (problem p) (:domain lamps) (:objects l) (:init) (:goal (on l)))"})
    assert "(on l)" in builder.problem
    assert "(lit ?l - object)" in builder.append("predicates", "(lit ?l) ; it shines").domain
    assert "(:action a" in builder.append("actions", "(:action a :effect (lit l)) ; the last").domain


def test_a_person_who_returns_nothing_accepts_and_other_values_are_refused() -> None:
    builder = pddlego.builder(Scripted(TYPES), "Lamps.").ask("types")
    assert builder.evaluate(person=lambda file, text: None).approves
    wrong: Any = lambda file, text: 3  # noqa: E731 -- as a user may write it
    with pytest.raises(UsageError, match="of the type int"):
        builder.evaluate(person=wrong)
    not_an_opinion: Any = "make it better"
    with pytest.raises(UsageError, match="not an opinion"):
        builder.revise(not_an_opinion)
