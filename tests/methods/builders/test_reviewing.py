"""Checks, a planner and opinions make it right; a review has an end."""

from __future__ import annotations

import random
from typing import Any

import pytest

from pddlego.episode.approval import Decision, Question
from pddlego.episode.events import Ended, Judged, Limits, Outcome, Rejected
from pddlego.errors import UsageError
from pddlego.methods.base import Tools
from pddlego.methods.builders import METHOD
from pddlego.methods.builders.events import MEASURING, BuildConcluded, Reviewed
from pddlego.methods.builders.options import BuilderOptions
from pddlego.methods.builders.reference import BuilderReference, builtin_model, component_of, with_error
from pddlego.methods.builders.setting import load
from pddlego.pddl.conditions import conjuncts
from pddlego.planning import ProcessPlanner
from pddlego.runs.cells import Cell
from tests.methods.builders.building import Scripted, build, dumped, of
from tests.traces import trace_of

GOLD = load("text-blocks", BuilderOptions())
INIT: list[str] = component_of("init", GOLD.domain, GOLD.task(0))["facts"]


def init(*changes: tuple[str, str]) -> str:
    """The gold facts with some in place of others."""
    facts = [dict(changes).get(fact, fact) for fact in INIT]
    return dumped({"facts": [fact for fact in facts if fact]})


def under_another() -> str:
    """A block that has another on it, which is clear besides: the false fact of the paper's sample."""
    on = next(fact for fact in INIT if fact.startswith("(on "))
    below = on.strip("()").split()[2]
    return dumped({"facts": [*INIT, f"(clear {below})"]})


def test_the_false_clear_of_the_papers_sample_is_found_by_a_check_and_mended(planner: ProcessPlanner) -> None:
    repair = {"summary": "s", "component": "init", "repair": "a block with something on it is not clear"}
    model = Scripted({"init": [under_another()], "diagnose": [dumped(repair)]})
    events = build("text-blocks", "build-problem", model, planner, feedback="model")
    result = of(events, Reviewed)
    assert result[0].by == "checks"
    assert "[broken-invariant]" in result[0].lines[0]
    assert "not clear" in model.of("init")[1]
    assert of(events, BuildConcluded)[0].equivalent
    unseen = build("text-blocks", "build-problem", Scripted({"init": [under_another()]}), planner)
    assert of(unseen, BuildConcluded)[0].equivalent is False  # without feedback nobody mends it, and it is not hidden


def test_a_problem_without_a_plan_is_diagnosed(planner: ProcessPlanner) -> None:
    lost = init(("(hand-empty)", ""))
    fix = {"bottleneck": "the hand", "component": "init", "fix": "the hand is empty"}
    repair = {"summary": "", "component": "init", "repair": "r"}
    model = Scripted({"init": [lost], "diagnose": [dumped(repair)], "diagnose-plan": [dumped(fix)]})
    events = build("text-blocks", "build-problem", model, planner, feedback="model")
    assert of(events, Ended)[0].outcome is Outcome.WON
    assert {event.by for event in of(events, Reviewed)} & {"diagnose", "diagnose-plan"}


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("evaluate", {"score": 3, "passing": False, "critique": "the goal lacks a tower", "component": "goal"}),
        ("evaluate-plan", {"intended": False, "critique": "the goal lacks a tower", "component": "goal"}),
    ],
)
def test_an_opinion_that_is_not_content_leads_to_a_revision(
    kind: str, text: dict[str, Any], planner: ProcessPlanner
) -> None:
    model = Scripted({kind: [dumped(text)]})
    events = build("text-blocks", "build-problem", model, planner, feedback="model")
    assert "the goal lacks a tower" in model.of("goal")[1]
    assert of(events, Ended)[0].outcome is Outcome.WON


def test_a_review_stops_when_nothing_changes(planner: ProcessPlanner) -> None:
    """Two revisions in a row that change nothing; the lesson of the first goes into the second."""
    never = dumped({"score": 2, "passing": False, "critique": "I do not like it", "component": "goal"})
    lesson = dumped({"lesson": "look at the towers", "avoid": ""})
    model = Scripted({"evaluate": [never] * 9, "reflect": [lesson] * 9})
    events = build("text-blocks", "build-problem", model, planner, feedback="model", rounds=9)
    asked = model.of("goal")
    assert len(asked) == 3
    assert "look at the towers" not in asked[1]
    assert "look at the towers" in asked[2]
    assert of(events, Ended)[0].outcome is Outcome.WON  # an opinion is not a check


def test_what_a_check_names_is_rewritten_before_what_the_model_blames(planner: ProcessPlanner) -> None:
    empty = {"name": GOLD.domain.actions[0].name, "effect": "(and)", "new_predicates": []}
    blame = dumped({"summary": "s", "component": "init", "repair": "look at the beginning"})
    model = Scripted({"effects": [dumped(empty)], "diagnose": [blame] * 9})
    events = build("text-blocks", "build-no-checks", model, planner, feedback="model")
    revised = model.of("effects")[len(GOLD.domain.actions) :]
    assert len(revised) == 1
    (line,) = [line for line in revised[0].splitlines() if line.startswith("[empty-effect] ")]
    assert line.endswith(f"In action {empty['name']}")
    assert len(model.of("init")) == 1
    assert of(events, Ended)[0].outcome is Outcome.WON


def test_a_revision_that_changes_nothing_moves_on_to_what_a_check_names(planner: ProcessPlanner) -> None:
    content = dumped({"summary": "s", "component": "", "repair": ""})
    never = dumped({"score": 2, "passing": False, "critique": "I do not like it", "component": "goal"})
    model = Scripted({"init": [under_another()], "diagnose": [content] * 9, "evaluate": [never]})
    events = build("text-blocks", "build-problem", model, planner, feedback="model")
    assert [request.purpose for request in model.requests if request.purpose in ("init", "goal")] == [
        *("init", "goal"),
        *("goal", "init"),
    ]
    assert "[broken-invariant]" in model.of("init")[1]
    assert of(events, BuildConcluded)[0].equivalent


def test_a_warning_that_the_model_does_not_mind_costs_no_revision_of_what_works(planner: ProcessPlanner) -> None:
    content = dumped({"summary": "s", "component": "", "repair": ""})
    model = Scripted({"init": [under_another()], "diagnose": [content] * 9})
    build("text-blocks", "build-problem", model, planner, feedback="model")
    assert len(model.of("init")) == 1


@pytest.mark.parametrize("rounds", [0, 1, 2])
def test_a_review_has_so_many_rounds_at_most(rounds: int, planner: ProcessPlanner) -> None:
    changing = [dumped({"goal": f"(and {wanted})"}) for wanted in ("(clear b0)", "(hand-empty)", "(clear b1)")]
    never = dumped({"score": 2, "passing": False, "critique": "no", "component": "goal"})
    names = sorted(item.name for item in GOLD.task(0).objects)
    goals = [item.replace("b0", names[0]).replace("b1", names[1]) for item in changing]
    repair = dumped({"summary": "s", "component": "goal", "repair": "r"})
    model = Scripted({"evaluate": [never] * 9, "goal": [*goals, *goals], "diagnose": [repair] * 9})
    build("text-blocks", "build-problem", model, planner, feedback="model", rounds=rounds)
    assert len(model.of("goal")) == 1 + rounds


def test_an_opinion_that_cannot_be_read_is_none(planner: ProcessPlanner) -> None:
    model = Scripted({"evaluate": ["I think it is fine."], "evaluate-plan": ['{"intended": "perhaps"}'] * 2})
    events = build("text-blocks", "build-problem", model, planner, feedback="model")
    assert [event.feedback.category for event in of(events, Rejected)] == ["invalid answer"] * 3
    assert "Your last answer was rejected: there is no JSON object" in model.of("evaluate")[1]
    result = {event.by: event for event in of(events, Reviewed)}
    assert result["evaluate"].fine
    assert not result["evaluate-plan"].fine  # nothing was reviewed, and that is said
    assert of(events, Ended)[0].outcome is Outcome.WON


def test_an_opinion_that_is_nearly_json_is_read(planner: ProcessPlanner) -> None:
    model = Scripted(
        {"evaluate": ["{'score': 9, passing: True,}"], "evaluate-plan": ['{"intended": true,} // so be it']}
    )
    events = build("text-blocks", "build-problem", model, planner, feedback="model")
    assert not of(events, Rejected) and all(event.fine for event in of(events, Reviewed))


def test_a_review_that_comes_to_nothing_costs_nothing_that_works(planner: ProcessPlanner) -> None:
    """A sound build, an opinion that is not content, and revisions that cannot be used."""
    never = dumped({"score": 2, "passing": False, "critique": "no", "component": "goal"})
    good = dumped(component_of("goal", GOLD.domain, GOLD.task(0)))
    model = Scripted({"evaluate": [never], "goal": [good, *["no"] * 9]})
    events = build("text-blocks", "build-problem", model, planner, feedback="model", retries=1)
    assert of(events, Ended)[0].outcome is Outcome.WON
    assert of(events, BuildConcluded)[0].plan_valid


@pytest.mark.parametrize(
    "text",
    [
        {"component": "domain"},
        {"component": "action", "action": "pick-up"},
        {"component": "nonsense"},
    ],
)
def test_a_given_domain_stays_whatever_an_opinion_says(text: dict[str, Any], planner: ProcessPlanner) -> None:
    never = dumped({"score": 2, "passing": False, "critique": "no", **text})
    model = Scripted({"evaluate": [never] * 9})
    build("text-blocks", "build-problem", model, planner, feedback="model")
    assert {request.purpose for request in model.requests} <= {"objects", "init", "goal", "evaluate", "evaluate-plan"}


def test_an_action_beside_a_component_that_has_none_does_no_harm(planner: ProcessPlanner) -> None:
    text = dumped({"score": 2, "passing": False, "critique": "x", "component": "Predicates ", "action": "pick-up"})
    model = Scripted({"evaluate": [text]})
    events = build("text-blocks", "build", model, planner, feedback="model")
    assert len(model.of("predicates")) == 2
    assert of(events, Ended)[0].outcome is Outcome.WON


def test_what_ends_early_counts_as_not_reached(planner: ProcessPlanner) -> None:
    events = build("text-coin", "build", Scripted({"types": ["no"] * 9}), planner)
    numbers = MEASURING.of(trace_of(events)).numbers
    assert {numbers[name] for name in ("read", "valid", "solvable", "plan_valid", "equivalent")} == {0}


class Person:
    """Rejects the domain with a hint, replaces the problem, and then accepts."""

    def __init__(self, text: str) -> None:
        self.questions: list[Question] = []
        self._verdicts = [Decision("rejected", "say more"), Decision(), Decision("replaced", text), Decision()]

    def wants(self, what: str) -> bool:
        return what == "files"

    def decide(self, question: Question) -> Decision:
        self.questions.append(question)
        return self._verdicts.pop(0)


def test_a_person_may_reject_with_a_hint_and_write_themselves(planner: ProcessPlanner) -> None:
    wrong = Scripted({"goal": [dumped({"goal": "(hand-empty)"})]})
    person = Person(str(GOLD.task(0)))
    cell, options = Cell("text-blocks", "build", "scripted", 0), BuilderOptions()
    events = list(METHOD.run(cell, GOLD, options, Tools(wrong, planner, Limits(None), approver=person)))
    assert len(of(events, Judged)) == 4
    assert [question.title for question in person.questions] == ["the domain file"] * 2 + ["the problem file"] * 2
    assert "say more" in wrong.of("domain")[0]
    assert person.questions[0].faults("(define (domain d) (:actions))")
    assert person.questions[2].faults("(define (problem p) (:domain d) (:objects) (:init) (:goal (on a b)))")
    assert of(events, BuildConcluded)[0].equivalent


def won(rounds: int, planner: ProcessPlanner) -> int:
    result = 0
    for seed in range(6):
        options: dict[str, Any] = {"feedback": "model", "rounds": rounds} if rounds else {}
        model = BuilderReference(0.3, 0, seed)
        result += (
            of(build("text-blocks", "build+whole", model, planner, seed, **options), BuildConcluded)[0].equivalent
            is True
        )
    return result


def test_rounds_of_feedback_help_a_simulation_that_errs(planner: ProcessPlanner) -> None:
    assert won(0, planner) < won(3, planner) == 6


@pytest.mark.parametrize("kind", ["objects", "init", "goal", "predicates", "action", "domain", "problem"])
def test_every_kind_of_component_can_err(kind: str) -> None:
    task = next(GOLD.task(seed) for seed in range(9) if len(conjuncts(GOLD.task(seed).goal)) > 1)
    value = component_of(kind, GOLD.domain, task, "stack")
    changed = [with_error(value, GOLD.domain, random.Random(seed)) for seed in range(5)]
    assert all(item != value for item in changed)
    assert all(set(item) == set(value) for item in changed)


@pytest.mark.parametrize("name", ["reader+noise:2", "reader+noise:x", "reader+noise:0.1,kinds=empty", "reader+luck"])
def test_a_simulation_that_there_is_not_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="model"):
        builtin_model(name, Cell("text-blocks", "build", name, 0), GOLD)


class Rejecting(Person):
    """Is never content."""

    def __init__(self) -> None:
        super().__init__("")
        self._verdicts = [Decision("rejected", f"no {number}") for number in range(9)]


def test_a_person_who_is_never_content_is_not_asked_for_ever_and_that_is_said(planner: ProcessPlanner) -> None:
    person, model = Rejecting(), Scripted()
    cell, options = Cell("text-blocks", "build-problem", "scripted", 0), BuilderOptions(rounds=1)
    events = list(METHOD.run(cell, GOLD, options, Tools(model, planner, Limits(None), approver=person)))
    assert len(person.questions) == 2
    assert "no 0" in model.of("problem")[0]
    (text,) = (event for event in of(events, Reviewed) if event.by == "person")
    assert text.lines == ("the problem file was rejected, and is left as it is",)
