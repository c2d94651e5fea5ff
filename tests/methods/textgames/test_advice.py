"""Facts that a problem without a plan lacks are named, if only one can be meant."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest

from pddlego.episode.events import Outcome, Rejected
from pddlego.methods.base import parse_variant
from pddlego.methods.textgames.advice import fact_against, missing_facts
from pddlego.methods.textgames.knowledge import Knowledge
from pddlego.methods.textgames.loading import load, setting_for
from pddlego.methods.textgames.options import MODES
from pddlego.methods.textgames.settings import GameSetting
from pddlego.pddl import parse_domain, parse_problem
from pddlego.pddl.conditions import parse_condition
from pddlego.pddl.exclusive import never_together
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


KITCHEN = (
    "(at kitchen) (visited kitchen) (recipe_known) (ingredient red_potato) (have red_potato) (thing_at knife kitchen)"
)
KITCHEN += " (thing_at stove kitchen) (thing_at oven kitchen) (thing_at toaster kitchen)"

MISSING = {
    "another name": (
        "cooking-easy",
        "(have red_potato)",
        "(thing_at raw_red_potato kitchen)",
        "(thing_at red_potato …)",
    ),
    "a shorter name": ("cooking-easy", "(have red_potato)", "(thing_at potato kitchen)", "(thing_at red_potato …)"),
    "another ingredient": ("cooking-easy", "", "(ingredient salt)", "(thing_at salt …)"),
    "an oven": ("cooking-easy", "(thing_at oven kitchen)", "(wanted red_potato roasted)", "(thing_at oven …)"),
    "a stove": ("cooking-easy", "(thing_at stove kitchen)", "(wanted red_potato fried)", "(thing_at stove …)"),
    "a knife for dicing": (
        "cooking-easy",
        "(thing_at knife kitchen)",
        "(wanted red_potato diced)",
        "(thing_at knife …)",
    ),
    "a knife for slicing": (
        "cooking-easy",
        "(thing_at knife kitchen)",
        "(wanted red_potato sliced)",
        "(thing_at knife …)",
    ),
    "a griller": ("cooking-easy", "(thing_at toaster kitchen)", "(wanted red_potato grilled)", "(thing_at "),
    "a room": (
        "cooking-easy",
        "(at kitchen) (thing_at knife kitchen)",
        "(at cellar) (wanted red_potato diced)",
        "(connected … kitchen …)",
    ),
    "the coin": ("coin", "", "(at hall) (visited hall)", "(item_at coin …)"),
}
"""A setting, facts that the kitchen lacks, others that it has, and what is named."""


@pytest.mark.parametrize("case", MISSING)
def test_what_the_recipe_or_the_task_names_and_the_file_lacks_is_named_first(case: str) -> None:
    name, without, more, expected = MISSING[case]
    setting = load(name)
    facts = KITCHEN if name == "cooking-easy" else ""
    for fact in re.findall(r"\(.*?\)", without):
        facts = facts.replace(fact, "")
    objects = {"cooking-easy": "red_potato raw_red_potato potato salt - item cellar - location"}
    text = (
        f"(define (problem p) (:domain {setting.start.domain.name}) (:objects {objects.get(name, 'hall - location')})"
    )
    knowledge = setting.start.with_problem(parse_problem(f"{text} (:init {facts} {more}) (:goal (and)))"))
    tried = [TriedRung(rung.name, PlanStatus.UNSOLVABLE, "", 0.0) for rung in knowledge.ladder]
    advice = missing_facts(knowledge, tried, setting.map, "Find the coin, take it.")
    assert expected in advice[0], advice
    assert sum(line.startswith("there is no (") for line in advice) <= 5


def test_what_an_action_lacks_comes_before_what_only_the_game_can_confirm() -> None:
    setting, things = load("twc"), ("cup", "hat", "pen", "sock")
    facts = " ".join(f"(have {thing})" for thing in things)
    text = (
        f"(define (problem p) (:domain text-world-commonsense) (:objects {' '.join(things)} - item shelf - holder"
        f" hall - location) (:init (at hall) (visited hall) (holder_at shelf hall) {facts}) (:goal (and)))"
    )
    knowledge = setting.start.with_problem(parse_problem(text))
    tried = [TriedRung(rung.name, PlanStatus.UNSOLVABLE, "", 0.0) for rung in knowledge.ladder]
    advice = missing_facts(knowledge, tried, setting.map)
    named = [line for line in advice if line.startswith("there is no (")]
    assert {line.split()[4] for line in named} == set(things)
    assert all(line.startswith("there is no (belongs ") for line in named)


def test_what_the_task_names_is_the_first_of_missing_facts() -> None:
    setting = load("twc")
    text = (
        "(define (problem p) (:domain text-world-commonsense) (:objects cup_1 hat_1 pen_2 sock_1 tie_1 vase_1 - item"
        " shelf - holder hall - location) (:init (at hall) (visited hall) (holder_at shelf hall) (have cup_1)"
        " (have hat_1) (have pen_2) (have sock_1) (have tie_1) (have vase_1)) (:goal (and)))"
    )
    knowledge = setting.start.with_problem(parse_problem(text))
    tried = [TriedRung(rung.name, PlanStatus.UNSOLVABLE, "", 0.0) for rung in knowledge.ladder]
    assert "(belongs vase_1 …)" in missing_facts(knowledge, tried, setting.map, "Put the vase away.")[0]


def test_nothing_is_missing_below_a_goal_that_is_true() -> None:
    setting = load("twc")
    text = (
        "(define (problem p) (:domain text-world-commonsense) (:objects pen - item shelf - holder hall - location)"
        " (:init (at hall) (visited hall) (holder_at shelf hall) (put_away pen)) (:goal (and)))"
    )
    knowledge, status = setting.start.with_problem(parse_problem(text)), PlanStatus
    tried = [TriedRung(rung.name, status.UNSOLVABLE, "", 0.0) for rung in knowledge.ladder]
    tried[0] = replace(tried[0], status=status.ALREADY_TRUE)
    assert not [line for line in missing_facts(knowledge, tried, setting.map) if line.startswith("there is no (")]


def test_a_thing_with_nearly_the_same_name_is_asked_about() -> None:
    setting, without = load("cooking-easy"), KITCHEN.replace("(have red_potato)", "(thing_at raw_red_potato kitchen)")
    objects = "(:objects red_potato raw_red_potato - item)"
    text = f"(define (problem p) (:domain cooking-world) {objects} (:init {without}) (:goal (and)))"
    knowledge = setting.start.with_problem(parse_problem(text))
    tried = [TriedRung(rung.name, PlanStatus.UNSOLVABLE, "", 0.0) for rung in knowledge.ladder]
    expected = (
        "there is no (thing_at red_potato …), and no action makes one; the file has raw_red_potato: is that the same?"
    )
    assert missing_facts(knowledge, tried, setting.map)[0] == expected


def test_a_predicate_that_every_action_needs_is_named(coin: GameSetting) -> None:
    tried = (TriedRung("have the coin", PlanStatus.UNSOLVABLE, "", 0.0),)
    assert missing_facts(coin.start, tried) == (
        "there is no fact (at ?l - location), which every action needs: add it",
    )
    assert missing_facts(coin.start, (replace(tried[0], status=PlanStatus.TIMEOUT),)) == ()


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        (
            "(at hall) (visited hall) (visited attic) (connected hall loc1 north) (connected loc2 hall east)",
            "not reachable from hall: loc2 (not visited), attic",
        ),
        ("(at hall) (connected hall loc1 north) (connected loc1 loc2 east) (connected loc2 attic east)", None),
        (
            "(at hall) (visited hall)",
            "not reachable from hall: attic (not visited), loc1 (not visited), loc2 (not visited)",
        ),
        ("(connected hall loc1 north)", None),
    ],
    ids=["two places", "all can be reached", "no exits", "no agent"],
)
def test_places_that_cannot_be_reached_are_named(coin: GameSetting, facts: str, expected: str | None) -> None:
    tried = (TriedRung("have the coin", PlanStatus.UNSOLVABLE, "", 0.0),)
    knowledge = known(coin, "hall attic loc1 loc2", facts)
    advice = [line for line in missing_facts(knowledge, tried, coin.map) if line.startswith("not reachable")]
    assert advice == ([expected] if expected else [])
    assert not [line for line in missing_facts(knowledge, tried, load("household").map) if "reachable" in line]
    assert not missing_facts(knowledge, (replace(tried[0], status=PlanStatus.TIMEOUT),), coin.map)


def test_a_constant_is_a_place_once_a_fact_names_it() -> None:
    cooking = load("cooking-easy")
    tried = (TriedRung("eat", PlanStatus.UNSOLVABLE, "", 0.0),)
    for facts, expected in (("", []), ("(visited kitchen)", ["not reachable from hall: kitchen"])):
        text = "(define (problem p) (:domain cooking-world) (:objects hall shed - location)"
        text += f" (:init (at hall) (connected hall shed east) {facts}) (:goal (and)))"
        advice = missing_facts(cooking.start.with_problem(parse_problem(text)), tried, cooking.map)
        assert [line for line in advice if line.startswith("not reachable")] == expected


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


ROOMS = """(define (domain d) (:types room box) (:constants hall - room)
  (:predicates (at ?r - room) (visited ?r - room) (open ?b - box) (seen ?b - box) (road ?a ?b - room))
  (:action move :parameters (?from ?to - room) :precondition (and (at ?from) (road ?from ?to))
    :effect (and (not (at ?from)) (at ?to) {}))
  (:action look-into :parameters (?b - box) :precondition (and) :effect (and (open ?b) {})))"""


@pytest.mark.parametrize(
    ("moving", "opening", "goal", "says"),
    [
        ("(visited ?to)", "", "(exists (?x - room) (and (at ?x) (not (visited ?x))))", "move makes (visited ?to) true"),
        ("(visited ?to)", "", "(and (not (visited hall)) (at hall))", "move makes (visited ?to) true"),
        ("(not (visited ?to))", "", "(and (at hall) (visited hall))", "move makes (not (visited ?to)) true"),
        ("", "(seen ?b)", "(exists (?c - box) (and (open ?c) (not (seen ?c))))", "look-into makes (seen ?b) true"),
        ("", "(seen ?b)", "(exists (?c ?e - box) (and (open ?c) (not (seen ?e))))", ""),
        ("(visited ?from)", "", "(exists (?x - room) (and (at ?x) (not (visited ?x))))", ""),
        ("(visited ?to)", "(visited hall)", "(exists (?x - room) (and (at ?x) (visited ?x)))", ""),
        ("(when (road ?to hall) (visited ?to))", "", "(exists (?x - room) (and (at ?x) (not (visited ?x))))", ""),
        ("(visited ?to)", "(not (visited hall))", "(exists (?x - room) (and (at ?x) (not (visited ?x))))", ""),
        ("(visited ?to)", "", "(or (at hall) (not (visited hall)))", ""),
        ("(not (visited ?to)) (visited ?to)", "", "(and (at hall) (visited hall))", ""),
    ],
)
def test_parts_of_a_goal_that_no_action_leaves_true_together(moving: str, opening: str, goal: str, says: str) -> None:
    message = never_together(parse_domain(ROOMS.format(moving, opening)), parse_condition(goal))
    assert message.startswith(f"action {says}") if says else message == ""


NO_COIN = """<domain>
(define (domain coin-collector) (:types location direction item) (:constants north south east west - direction)
  (:predicates (at ?l - location) (visited ?l - location) (connected ?from ?to - location ?d - direction)
    (have ?i - item))
  (:action move :parameters (?from ?to - location ?d - direction)
    :precondition (and (at ?from) (connected ?from ?to ?d))
    :effect (and (not (at ?from)) (at ?to) (visited ?to))))
</domain>
<problem>
(define (problem p) (:domain coin-collector) (:objects coin - item kitchen loc1 - location)
  (:init (at kitchen) (visited kitchen) (connected kitchen loc1 east) (connected loc1 kitchen west))
  (:goal (have coin)))
</problem>
"""
EXPLORE = "(exists (?l - location) (and (at ?l) (not (visited ?l))))"


@pytest.mark.parametrize(
    ("goals", "says"),
    [
        (f"Goals:\n{EXPLORE}", "no <goals> were found in the answer"),
        ("", "no <goals> were found in the answer"),
        (f"<goals>\n(have coin)\n{EXPLORE}\n</goals>", f"{EXPLORE}: action move makes (visited ?to) true"),
        (f"<goal>{EXPLORE}</goal>", f"{EXPLORE}: action move makes (visited ?to) true"),
    ],
)
@pytest.mark.parametrize("fenced", [False, True])
def test_the_mistake_of_the_whole_answer_is_named(
    coin: GameSetting, planner: ProcessPlanner, goals: str, says: str, fenced: bool
) -> None:
    files = re.sub("</?(domain|problem)>", "```", NO_COIN) if fenced else NO_COIN
    model = ForgetfulModel([files + goals])
    events = play(setting_for(coin, parse_variant("full", MODES)), planner, small_house(), model, "full")
    assert ended(events).outcome is Outcome.WON
    rejected, *_ = of(events, Rejected)
    assert sum(line.startswith(says) for line in rejected.feedback.evidence) == 1
    assert sum(line.startswith("no <goals>") for line in rejected.feedback.evidence) == says.startswith("no <goals>")
