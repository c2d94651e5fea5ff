"""What the program makes of the facts that a model states for a sentence, before they are lifted to a rule."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pddlego.methods.textgames.formalize.completing import as_exit, completed_facts
from pddlego.methods.textgames.formalize.facts import parse_facts
from pddlego.methods.textgames.formalize.known_sentence import KnownSentence
from pddlego.methods.textgames.formalize.lifting import Stated
from pddlego.methods.textgames.formalize.question import Example, narrow_schema, parse_examples
from pddlego.methods.textgames.loading import load
from pddlego.methods.textgames.settings import GameSetting
from pddlego.models.prompts import Prompts
from pddlego.pddl import Atom, TypedName

loaded = cache(load)
prompts = cache(Prompts)


def probe(setting: str, room: str, command: str, sentence: str) -> KnownSentence:
    return KnownSentence.of(Example(room, command, sentence), loaded(setting), prompts("coin"))


CASES = {
    "an exit through a named door leads to the next unknown room": (
        ("coin", "kitchen", "", "To the North you see a closed patio door."),
        ["(connected kitchen patio_door north)"],
        ["(connected kitchen loc3 north)", "(closed_door kitchen loc3)"],
    ),
    "words before the door are its name": (
        ("coin", "kitchen", "", "To the North you see a closed sliding patio door."),
        ["(connected kitchen patio north)", "(closed_door kitchen patio)"],
        ["(connected kitchen loc3 north)", "(closed_door kitchen loc3)"],
    ),
    "exits begin in the agent's room": (
        ("coin", "hall", "", "To the North you see the kitchen."),
        ["(connected kitchen hall north)"],
        ["(connected hall kitchen north)"],
    ),
    "ways back follow from the invariants": (
        ("coin", "hall", "", "To the North you see the kitchen."),
        ["(connected hall kitchen north)", "(connected kitchen hall south)"],
        ["(connected hall kitchen north)"],
    ),
    "an exit leads to one room": (
        ("coin", "hall", "", "Through an open door, to the North you see the kitchen."),
        ["(connected hall loc3 north)", "(connected hall kitchen north)"],
        ["(connected hall kitchen north)"],
    ),
    "a direction that is not said": (
        ("cooking-easy", "kitchen", "", "There is also an oven."),
        ["(connected kitchen oven south)", "(thing_at oven kitchen)"],
        ["(thing_at oven kitchen)"],
    ),
    "the agent's place is a name of the sentence": (
        ("coin", "hall", "", "To the North you see the kitchen."),
        ["(at hall)", "(connected hall kitchen north)"],
        ["(connected hall kitchen north)"],
    ),
    "a name that is not in the sentence": (
        ("coin", "hall", "", "You see a coin."),
        ["(item_at coin hall)", "(item_at coin attic)"],
        ["(item_at coin hall)"],
    ),
    "a goal is not a fact": (("coin", "", "", "Once you find the coin, take it."), ["(have coin)"], []),
    "what a command makes true needs it": (("coin", "hall", "open door", "You see a coin."), ["(have coin)"], []),
    "and may be true after it": (("coin", "hall", "take coin", "Got the coin."), ["(have coin)"], ["(have coin)"]),
    "a state that is described": (
        ("cooking-easy", "kitchen", "", "There is a sliced leek."),
        ["(is leek sliced)"],
        ["(is leek sliced)"],
    ),
    "all things of a list": (
        ("cooking-easy", "kitchen", "", "The fridge contains some water, a leek, and an egg."),
        ["(thing_at water kitchen)"],
        ["(thing_at water kitchen)", "(thing_at leek kitchen)", "(thing_at egg kitchen)"],
    ),
    "a verb after a name is not a list": (
        ("coin", "hall", "take coin", "You take the coin and leave."),
        ["(have coin)"],
        ["(have coin)"],
    ),
    "a fact with too few arguments": (("coin", "hall", "", "You see the kitchen."), ["(connected hall)", "(at)"], []),
    "a thing of another type": (
        ("cooking-easy", "kitchen", "", "There is an open kitchen."),
        ["(thing_at kitchen kitchen)"],
        [],
    ),
    "a derived fact": (("cooking-easy", "kitchen", "", "You need a leek."), ["(needed leek)"], []),
}


@pytest.mark.parametrize("name", CASES)
def test_an_answer_is_completed(name: str) -> None:
    question, answer, right = CASES[name]
    asked = probe(*question).question
    stated = parse_facts(json.dumps({"add": answer}), asked.knowledge.domain)
    assert sorted(map(str, completed_facts(stated, asked).add)) == sorted(right)


def test_closed_is_not_a_deletion_unless_it_was_opened() -> None:
    asked = probe("cooking-easy", "kitchen", "", "There is also a drawer that is closed.").question
    read = completed_facts(parse_facts('{"delete": ["(closed drawer kitchen)"]}', asked.knowledge.domain), asked)
    assert ([*map(str, read.add)], read.delete) == (["(closed drawer kitchen)"], ())
    asked = probe("cooking-easy", "kitchen", "open drawer", "You open the drawer.").question
    read = completed_facts(parse_facts('{"delete": ["(closed drawer kitchen)"]}', asked.knowledge.domain), asked)
    assert (read.add, [*map(str, read.delete)]) == ((), ["(closed drawer kitchen)"])


def rows(setting: GameSetting) -> list[KnownSentence]:
    own = prompts(setting.asking.prompts)
    examples = parse_examples(own.render("facts-example", map=None, deeds=(), unknown=""))[1]
    return [KnownSentence.of(example, setting, own) for example in examples]


@pytest.mark.parametrize("name", ["coin", "cooking-easy", "mapreader", "twc"])
def test_the_answers_of_our_examples_are_right_and_stay_as_they_are(name: str) -> None:
    for example in rows(loaded(name)):
        read = completed_facts(example.right, example.question)
        assert {*read.add} == {*example.right.add}, example.question.sentence
        assert {*read.delete} == {*example.right.delete}, example.question.sentence


@given(st.sampled_from(["coin", "cooking-easy", "twc"]), st.data())
def test_completing_twice_changes_nothing(name: str, data: st.DataObject) -> None:
    setting = loaded(name)
    example = data.draw(st.sampled_from(rows(setting)))
    answers = [fact for other in rows(setting) for fact in (*other.right.add, *other.right.delete)]
    facts = st.lists(st.sampled_from(answers), max_size=3).map(tuple)
    once = completed_facts(Stated(data.draw(facts), data.draw(facts)), example.question)
    assert completed_facts(once, example.question) == once


@pytest.mark.parametrize(
    ("command", "sentence", "facts", "exit_"),
    [
        ("", "The pantry lies north of here.", ["(item_at pantry kitchen)"], "(connected kitchen pantry north)"),
        ("", "The pantry lies north of here.", ["(connected kitchen pantry north)"], "None"),
        ("", "The hall lies north of here.", ["(item_at hall_lies kitchen)"], "(connected kitchen hall north)"),
        ("", "A wall is north.", [], "None"),
        ("", "The pantry is near.", ["(item_at pantry kitchen)"], "None"),
        ("move north", "You walk north into the pantry.", ["(at pantry)"], "None"),
    ],
)
def test_a_direction_without_a_fact_is_asked_about_in_a_game_without_examples(
    command: str, sentence: str, facts: list[str], exit_: str
) -> None:
    asked = probe("coin", "kitchen", command, sentence).question
    problem = replace(
        asked.knowledge.problem, objects=asked.knowledge.problem.objects | {TypedName("hall", "location")}
    )
    asked = replace(asked, knowledge=asked.knowledge.with_problem(problem))
    stated = parse_facts(json.dumps({"add": facts}), asked.knowledge.domain)
    assert str(as_exit(stated, replace(asked, speaks_directions=False))) == exit_
    assert as_exit(stated, asked) is None


@pytest.mark.parametrize(
    ("sentence", "facts", "completed"),
    [
        ("You reach the Hall.", ["(connected kitchen hall north)"], ["(at hall)"]),
        ("You reach the Hall.", ["(at hall)"], ["(at hall)"]),
        ("You reach the Hall.", [], ["(at hall)"]),
        ("You reach a room in the east.", ["(connected kitchen loc3 east)"], ["(connected kitchen loc3 east)"]),
    ],
)
def test_a_confirmed_move_is_what_a_sentence_with_the_new_place_says(
    sentence: str, facts: list[str], completed: list[str]
) -> None:
    asked = probe("coin", "kitchen", "move north", sentence).question
    way, moved = Atom("connected", ("kitchen", "hall", "north")), Atom("at", ("hall",))
    problem = replace(asked.knowledge.problem, facts=asked.knowledge.problem.facts | {way})
    known = replace(asked, knowledge=asked.knowledge.with_problem(problem), effects=(frozenset({moved}), frozenset()))
    stated = parse_facts(json.dumps({"add": facts}), asked.knowledge.domain)
    assert sorted(map(str, completed_facts(stated, known).add)) == completed


@pytest.mark.parametrize("target", ["attic", "loc3"])
def test_an_exit_without_a_direction_leads_to_a_name_of_the_sentence(target: str) -> None:
    asked = probe("coin", "kitchen", "", "A ladder climbs to the Attic.").question
    asked = replace(asked, speaks_directions=False)
    exit_ = f"(connected kitchen {target} north)"
    stated = parse_facts(json.dumps({"add": [exit_]}), asked.knowledge.domain)
    assert [*map(str, completed_facts(stated, asked).add)] == ([] if target == "loc3" else [exit_])
    pattern = narrow_schema(asked)["properties"]["add"]["items"]["pattern"]
    assert bool(re.search(pattern, exit_)) == (target == "attic")


def test_a_way_without_a_direction_takes_none_that_leads_elsewhere() -> None:
    asked = probe("coin", "kitchen", "", "A ladder climbs to the Attic.").question
    known = {Atom("connected", ("kitchen", place, way)) for place, way in [("loc1", "north"), ("attic", "east")]}
    problem = replace(asked.knowledge.problem, facts=asked.knowledge.problem.facts | known)
    knowledge = asked.knowledge.with_problem(problem)
    asked = replace(asked, knowledge=knowledge, speaks_directions=False, refused=frozenset({"west"}))
    pattern = narrow_schema(asked)["properties"]["add"]["items"]["pattern"]
    for direction in ("north", "east", "south", "west"):
        exit_ = f"(connected kitchen attic {direction})"
        assert bool(re.search(pattern, exit_)) == (direction in ("east", "south"))
        stated = parse_facts(json.dumps({"add": [exit_]}), asked.knowledge.domain)
        assert bool(completed_facts(stated, asked).add) == (direction != "west")


def test_a_new_placeholder_behind_a_known_exit_is_the_room_there() -> None:
    asked = probe("coin", "kitchen", "open door to north", "It swings open to the North.").question
    known = {Atom("connected", ("kitchen", "loc1", "north")), Atom("closed_door", ("kitchen", "loc1"))}
    before = asked.knowledge.problem
    objects = before.objects | {TypedName("loc1", "location")}
    problem = replace(before, objects=objects, facts=before.facts | known)
    asked = replace(asked, knowledge=asked.knowledge.with_problem(problem))
    answer = {"add": ["(connected kitchen loc3 north)"], "delete": ["(closed_door kitchen loc3)"]}
    completed = completed_facts(parse_facts(json.dumps(answer), asked.knowledge.domain), asked)
    assert [*map(str, completed.add)] == ["(connected kitchen loc1 north)"]
    assert [*map(str, completed.delete)] == ["(closed_door kitchen loc1)"]
