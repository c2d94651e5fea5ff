"""Facts of single sentences are lifted to reading rules, and refused if a name is not in the sentence."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

import pddlego
from pddlego.methods.textgames.formalize import Exchange, Observations, PromptContext
from pddlego.methods.textgames.formalize.facts import parse_facts
from pddlego.methods.textgames.formalize.lifting import (
    AskedSentence,
    Stated,
    lift,
    other_meaning,
    with_exception,
    with_rule,
)
from pddlego.methods.textgames.options import LEARN_FACTS
from pddlego.methods.textgames.reader import ReaderModel, situation_of
from pddlego.methods.textgames.reading.engine import matching, read_news, sentences_of
from pddlego.methods.textgames.reading.rules import LearnedRules, ReadingRule
from pddlego.methods.textgames.settings import GameSetting
from pddlego.models import Completion, Request
from pddlego.pddl import Atom, EditSyntaxError, TypedName
from tests.methods.textgames.reading.test_engine import read_history
from tests.methods.textgames.situations import loaded
from tests.scale import scaled

KNOWN = {
    "coin": "(at kitchen) (connected kitchen loc1 north) (connected loc1 kitchen south) (closed_door kitchen loc1)",
    "cooking-easy": "(at kitchen) (ingredient yellow_potato)",
    "twc": "(at kitchen) (have pen) (holder_at desk kitchen)",
    "mapreader": "(at study)",
}


def question(game: str, sentence: str, command: str = "") -> AskedSentence:
    start = loaded(game).start
    stated = parse_facts(json.dumps({"add": KNOWN[game]}), start.domain)
    problem = replace(start.problem, facts=frozenset(stated.add), objects=_objects(game, stated.add))
    return AskedSentence(command, sentence, start.with_problem(problem), "loc2", loaded(game).reader.map)


def _objects(game: str, facts: Iterable[Atom]) -> frozenset[TypedName]:
    domain = loaded(game).start.domain
    constants = {one.name for one in domain.constants}
    heads = domain.predicates_by_name
    pairs = (pair for one in facts for pair in zip(one.args, heads[one.predicate].parameters, strict=True))
    return frozenset(TypedName(name, parameter.type) for name, parameter in pairs if name not in constants)


def lifted(asked: AskedSentence, answer: object) -> ReadingRule:
    return lift(parse_facts(json.dumps(answer), asked.knowledge.domain), asked)[0]


def add(*facts: str, delete: tuple[str, ...] = ()) -> dict[str, list[str]]:
    return {"add": list(facts), "delete": list(delete)}


CASES: dict[str, tuple[tuple[str, ...], dict[str, list[str]], dict[str, object]]] = {
    "a name in the sentence is a slot, and the invariants say what is false": (
        ("coin", "You are in the steam room.", "move north"),
        add("(at steam_room)", "(visited steam_room)"),
        {
            "sentence": "You are in the {location}.",
            "forget": "(at *)",
            "add": ["(at {location})", "(visited {location})"],
        },
    ),
    "the agent's room, and the way back": (
        ("coin", "To the East you see the steam room."),
        add("(connected kitchen steam_room east)"),
        {
            "sentence": "To the {direction} you see the {location}.",
            "find": "(at ?here)",
            "add": ["(connected ?here {location} {direction})", "(connected {location} ?here {back:direction})"],
        },
    ),
    "the next placeholder": (
        ("coin", "To the West you see a closed wood door."),
        add("(connected kitchen loc2 west)", "(closed_door kitchen loc2)"),
        {
            "sentence": "To the {direction} you see a closed wood door.",
            "find": ["(at ?here)", "+(connected ?here ?to {direction})"],
            "add": ["(closed_door ?here ?to)", "(connected ?to ?here {back:direction})"],
        },
    ),
    "a known room behind an exit": (
        ("coin", "To the North you see a closed wood door."),
        add("(connected loc1 kitchen south)", "(closed_door kitchen loc1)"),
        {
            "sentence": "To the {direction} you see a closed wood door.",
            "find": ["(at ?here)", "+(connected ?here ?to {direction})"],
            "add": ["(closed_door ?here ?to)", "(connected ?to ?here {back:direction})"],
        },
    ),
    "names of the command, and a fact that is deleted under the old name": (
        ("coin", "You open the wood door, revealing the pantry.", "open door to north"),
        add("(connected kitchen pantry north)", delete=("(closed_door kitchen loc1)",)),
        {
            "sentence": "You open the wood door, revealing the {location}.",
            "after": "open door to {direction}",
            "find": ["(at ?here)", "+(connected ?here ?to {direction})"],
            "forget": "(closed_door ?here ?to)",
            "add": ["(connected ?here {location} {direction})", "(connected {location} ?here {back:direction})"],
        },
    ),
    "a direction of the sentence comes before one of the command": (
        ("coin", "To the South you see the hall.", "move north"),
        add("(connected kitchen hall south)", "(connected hall kitchen north)"),
        {
            "sentence": "To the {direction} you see the {location}.",
            "find": "(at ?here)",
            "add": ["(connected ?here {location} {direction})", "(connected {location} ?here {back:direction})"],
        },
    ),
    "a constant that is no room stays": (
        ("coin", "There is also a coin."),
        add("(item_at coin kitchen)"),
        {
            "sentence": "There is also a coin.",
            "find": "(at ?here)",
            "forget": "(item_at coin *)",
            "add": "(item_at coin ?here)",
        },
    ),
    "names in a row with the same facts are a list, without words that are not part of names": (
        ("cooking-easy", "The fridge contains a raw yellow potato, some salt, and a knife."),
        add("salt - item", *(f"(thing_at {name} kitchen)" for name in ("yellow_potato", "salt", "knife"))),
        {
            "sentence": "The fridge contains {thing...}.",
            "find": "(at ?here)",
            "forget": "(thing_at {thing} *)",
            "objects": "{thing} - item",
            "add": "(thing_at {thing} ?here)",
            "drop": "raw",
        },
    ),
    "a sentence without words of its own belongs to its command": (
        ("cooking-easy", "yellow potato", "read cookbook"),
        add("yellow_potato - item", "(ingredient yellow_potato)"),
        {
            "sentence": "{thing}",
            "after": "read cookbook",
            "objects": "{thing} - item",
            "add": "(ingredient {thing})",
        },
    ),
    "a changed score belongs to its command": (
        ("twc", "The score goes up.", "put pen in desk"),
        add("(put_away pen)", delete=("(tried pen desk)",)),
        {
            "sentence": "The score goes up.",
            "after": "put {item} in {holder}",
            "forget": "(tried {item} {holder})",
            "add": "(put_away {item})",
        },
    ),
    "a name that no fact needs": (
        ("twc", "You see a pen under the desk."),
        add("(item_at pen kitchen)"),
        {
            "sentence": "You see {item} under the {holder}.",
            "find": "(at ?here)",
            "forget": "(item_at {item} *)",
            "add": "(item_at {item} ?here)",
            "unused": "holder",
        },
    ),
    "a name that the sentence repeats": (
        ("coin", "The hall is by the hall."),
        add("(visited hall)"),
        {
            "sentence": "The {location} is by the {location_2}.",
            "add": "(visited {location})",
            "unused": "location_2",
        },
    ),
    "a repeated name in a sentence that says nothing": (
        ("coin", "The kitchen is a kitchen."),
        {},
        {"sentence": "The {location} is {location_2}.", "ignore": True},
    ),
    "a sentence that says nothing": (
        ("coin", "It smells of {dust}."),
        {},
        {"sentence": "It smells of (dust).", "ignore": True},
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_facts_are_lifted_to_a_rule(name: str) -> None:
    asked, answer, table = CASES[name]
    rule, expected = lifted(question(*asked), answer).as_table(), ReadingRule.model_validate(table).as_table()
    assert {key: sorted(value) if key == "add" else value for key, value in rule.items()} == {
        key: sorted(value) if key == "add" else value for key, value in expected.items()
    }


def not_a_name(name: str) -> str:
    uses = "use its names, those of the command, the agent's room, or loc2 behind an exit"
    return f"'{name}' is not a name in the sentence: {uses}"


@pytest.mark.parametrize(
    ("asked", "answer", "message"),
    [
        (("coin", "There is also a coin."), add("(item_at coin loc9)"), not_a_name("loc9")),
        (("coin", "You are in the hall."), add("(at attic)"), not_a_name("attic")),
        (("coin", "There is a door."), add("(closed_door kitchen loc2)"), not_a_name("loc2")),
        (
            ("coin", "To the West you see a door."),
            add("(connected kitchen loc2 west)", "(connected loc2 loc3 west)"),
            not_a_name("loc3"),
        ),
        (("coin", "You see the hall."), add("(connected kitchen hall south)"), not_a_name("south")),
        (("twc", "You open it."), add(delete=("(item_at chest_of kitchen)",)), not_a_name("chest_of")),
        (("coin", "x" * 400), {}, "a sentence is one line of 1 to 300 characters"),
        (
            ("coin", " is ".join(f"w{number}" for number in range(120))),
            add(*(f"(visited w{number})" for number in range(120))),
            "the sentence has more than 8 names: it is not read",
        ),
    ],
)
def test_other_names_are_refused(asked: tuple[str, ...], answer: object, message: str) -> None:
    with pytest.raises(ValueError) as error:
        lifted(question(*asked), answer)
    assert str(error.value) == message


NAMES = ("kitchen", "pen", "desk", "chest_of", "hall", "loc1", "loc2", "loc9", "north", "west", "yellow_potato")


@given(data=st.data())
def test_any_facts_are_lifted_or_refused_with_a_reason(data: st.DataObject) -> None:
    """A fact that becomes false may have a strange name, too: as `(item_at chest_of kitchen)`."""
    game = data.draw(st.sampled_from([*KNOWN]))
    heads = loaded(game).start.domain.predicates

    def facts() -> tuple[Atom, ...]:
        chosen = data.draw(st.lists(st.sampled_from(heads), max_size=3))
        return tuple(Atom(one.name, tuple(data.draw(st.sampled_from(NAMES)) for _ in one.parameters)) for one in chosen)

    sentence = data.draw(
        st.sampled_from(["You see a pen on the desk.", "You are in the hall.", "To the West is a door."])
    )
    command = data.draw(st.sampled_from(["", "move north", "take pen"]))
    with contextlib.suppress(ValueError):
        lift(Stated(facts(), facts()), question(game, sentence, command))


@pytest.mark.parametrize(
    "answer",
    [
        '{"add": ["pen - item", "(have pen)"], "delete": "(item_at pen kitchen)"}',
        '```json\n{"add": ["pen - item", "(have pen)", ], "delete": ["(item_at pen kitchen)"]}\n```',
        '{"objects": {"add": ["pen - item"]}, "init": {"add": ["(have pen)"], "delete": ["(item_at pen kitchen)"]}}',
        '{"objects": {"add": ["pen - item"]}, "init": {"replace": {"(item_at pen kitchen)": "(have pen)"}}}',
    ],
)
def test_forms_of_an_answer(answer: str) -> None:
    stated = parse_facts(answer, loaded("twc").start.domain)
    assert [*map(str, stated.add)] == ["(have pen)"]
    assert [*map(str, stated.delete)] == ["(item_at pen kitchen)"]
    assert stated.types == {"pen": "item"}


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "none",
        '{"add": 1}',
        '{"add": ["(have (pen))"]}',
        '{"what": []}',
    ],
)
def test_an_answer_without_facts_is_refused(answer: str) -> None:
    with pytest.raises(EditSyntaxError):
        parse_facts(answer, loaded("twc").start.domain)


def _two(*sentences: str) -> LearnedRules:
    learned = LearnedRules()
    for sentence in sentences:
        asked = question("coin", sentence)
        learned = with_rule(learned, lifted(asked, add("(connected kitchen loc2 west)", "(closed_door kitchen loc2)")))
    return learned


def test_words_in_which_two_sentences_differ_become_an_unused_slot() -> None:
    (rule,) = _two("To the West you see a closed oak door.", "To the West you see a closed sliding patio door.").rules
    assert (rule.sentence, rule.unused) == (("To the {direction} you see a closed {word} door.",), ("word",))
    assert matching([rule], "To the North you see a closed tin door.", "")


@pytest.mark.parametrize(
    "other", ["A closed door is in the West.", "To the West you see a closed door, that is old.", "West."]
)
def test_other_sentences_are_not_joined(other: str) -> None:
    assert len(_two("To the West you see a closed oak door.", other).rules) == 2


def test_sentences_are_not_joined_if_a_slot_would_follow_the_differing_word() -> None:
    learned = LearnedRules()
    for sentence, name in (("You see a pen.", "pen"), ("You notice a cup.", "cup")):
        asked = question("twc", sentence)
        learned = with_rule(learned, lifted(asked, add(f"(item_at {name} kitchen)")))
    assert len(learned.rules) == 2


def test_a_sentence_with_the_most_slots_is_not_joined() -> None:
    names = [f"hall{number}" for number in range(8)]
    facts = add(*(f"(visited {name})" for name in names))
    learned = LearnedRules()
    for word in ("oak", "tin"):
        asked = question(
            "coin", f"{word} door: " + "; ".join(f"{number} is {name}" for number, name in enumerate(names))
        )
        learned = with_rule(learned, lifted(asked, facts))
    assert len(learned.rules) == 2


def test_a_rule_drops_at_most_as_many_words_as_a_rule_may_hold() -> None:
    learned = LearnedRules()
    for letter in "abcdefghijklmnopqrstuvwxy":
        asked = question("cooking-easy", f"Case {letter} holds a very{letter} yellow potato.")
        learned = with_rule(learned, lifted(asked, add("(thing_at yellow_potato kitchen)")))
        assert learned.rules[-1].drop[0] == f"very{letter}"
    assert {len(rule.drop) for rule in learned.rules} == {20}


def test_a_sentence_that_says_nothing_is_an_exception_of_its_rule() -> None:
    asked = question("twc", "There is also a pen.")
    learned = with_rule(LearnedRules(), lifted(asked, add("(item_at pen kitchen)")))
    toilet = question("twc", "There is also a toilet.")
    changed = with_exception(learned, toilet)
    assert changed is not None
    assert changed.rules[0].excluded == ("toilet",)
    assert with_exception(LearnedRules(), toilet) is None


class Watched(ReaderModel):
    def __init__(self) -> None:
        self.last: PromptContext | None = None

    def complete(self, request: Request) -> Completion:
        self.last = situation_of(request)
        return super().complete(request)


def instances(setting: GameSetting, seed: int) -> Iterator[tuple[PromptContext, AskedSentence]]:
    """The sentences of an episode that the setting reads, each as a situation with the problem before it."""
    model, rules = Watched(), LearnedRules(setting.reader.rules)
    pddlego.play(setting.name, mode="edit", seed=seed, model=model)
    assert model.last is not None
    history = model.last.seen.history
    for index, exchange in enumerate(history):
        sentences = sentences_of(exchange, model.last.task)
        for number, sentence in enumerate(sentences):
            cut = Exchange(exchange.command, "\n".join(sentences[:number]))
            task = model.last.task if index else ""
            before = replace(model.last, task=task, seen=Observations((), (*history[:index], cut)))
            knowledge = setting.start.with_problem(read_history(before, setting.start, rules).problem)
            asked = AskedSentence(exchange.command or "", sentence, knowledge, "loc99", setting.map)
            news = (Exchange(exchange.command, sentence),)
            seen = Observations(news, news)
            situation = replace(before, knowledge=knowledge, task="", seen=seen, placeholder="loc99")
            if matching(rules.rules, sentence, asked.command):
                yield situation, asked


@pytest.mark.slow
@pytest.mark.parametrize("game", ["coin", "mapreader", "twc", "cooking-easy"])
def test_a_lifted_rule_reads_in_its_own_sentence_what_it_was_lifted_from(game: str) -> None:
    setting, reader, seen = loaded(game), ReaderModel(), set[str]()
    for seed in range(scaled(1, in_ci=3)):
        for situation, asked in instances(setting, seed):
            answer = reader.complete(Request(LEARN_FACTS, (), situation)).text
            stated = parse_facts(answer, setting.start.domain)
            rule = lift(stated, asked)[0]
            facts = read_news(situation, [rule]).problem.facts
            assert facts >= {*stated.add}, (asked.command, asked.sentence, rule.as_table())
            assert not facts & {*stated.delete}, (asked.command, asked.sentence, rule.as_table())
            seen.add(rule.sentence[0])
    assert len(seen) > 3


@pytest.mark.parametrize(
    ("sentence", "answer", "doubt"),
    [
        (
            "In one part of the room you see a black hat.",
            add("(holder_at black_hat kitchen)"),
            "(item_at black_hat kitchen)",
        ),
        ("In one part of the room you see a black hat.", add("(item_at black_hat kitchen)"), ""),
        ("In one part of the room you see a shelf that is closed.", add("(holder_at shelf kitchen)"), ""),
        ("To the East you see the hall.", add("(connected kitchen hall east)"), ""),
        ("You are in the hall.", add("(at hall)"), ""),
        ("In one part of the room you see a hat stand.", add(), ""),
    ],
)
def test_a_sentence_of_the_same_form_with_another_meaning_is_doubted_with_what_to_answer(
    sentence: str, answer: dict[str, list[str]], doubt: str
) -> None:
    known = lifted(question("twc", "In another part of the room you see a red cap."), add("(item_at red_cap kitchen)"))
    asked = question("twc", sentence)
    rule, terms = lift(parse_facts(json.dumps(answer), asked.knowledge.domain), asked)
    found = other_meaning(rule, terms, [known])
    assert doubt in found
    assert bool(found) == bool(doubt)


def test_a_direction_may_be_implied_where_sentences_do_not_name_directions() -> None:
    asked = question("coin", "Stairs lead to the attic.")
    answer = add("(connected kitchen attic north)")
    with pytest.raises(ValueError, match="'north' is not a name in the sentence"):
        lifted(asked, answer)
    named = replace(question("coin", "To the East you see the attic."), speaks_directions=False)
    with pytest.raises(ValueError, match="'north' is not a name in the sentence"):
        lifted(named, answer)
    rule = lifted(replace(asked, speaks_directions=False), answer)
    assert rule.sentence == ("Stairs lead to the {location}.",)
    assert rule.add == ("(connected ?here {location} north)", "(connected {location} ?here south)")
