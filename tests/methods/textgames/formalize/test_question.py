"""The question about one sentence: examples as turns, and schemas that allow the right answers."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest

from pddlego.methods.textgames.formalize import PromptContext
from pddlego.methods.textgames.formalize.invented import invented_deeds
from pddlego.methods.textgames.formalize.known_sentence import KnownSentence
from pddlego.methods.textgames.formalize.lifting import AskedSentence
from pddlego.methods.textgames.formalize.opinions import open_opinions
from pddlego.methods.textgames.formalize.question import (
    Example,
    narrow_schema,
    parse_examples,
    question_messages,
)
from pddlego.methods.textgames.loading import load
from pddlego.models.prompts import Prompts
from pddlego.pddl import Atom, TypedName
from tests.benchmarks.test_sentences import GAMES, SENTENCES

ROW = "attic | open door to west | You open the door. | (at attic) | (closed_door attic den)"


def test_a_row_is_an_example() -> None:
    lines, (example,) = parse_examples(f"(at ROOM) the agent's room\n\n{ROW}\n")
    assert lines == "(at ROOM) the agent's room"
    assert example == Example(
        "attic", "open door to west", "You open the door.", ("(at attic)",), ("(closed_door attic den)",)
    )
    assert json.loads(example.answer) == {"add": ["(at attic)"], "delete": ["(closed_door attic den)"]}


@pytest.mark.parametrize("row", ["attic | look", f"{ROW} | more"])
def test_other_rows_are_refused(row: str) -> None:
    with pytest.raises(ValueError):
        parse_examples(row)


def known(name: str) -> list[KnownSentence]:
    setting = load(GAMES[name])
    text = (SENTENCES / f"{name}.txt").read_text(encoding="utf-8")
    rows = parse_examples("\n".join(line for line in text.splitlines() if line[:1] != "#"))[1]
    return [KnownSentence.of(row, setting, Prompts(setting.asking.prompts)) for row in rows]


@pytest.mark.parametrize("name", GAMES)
def test_all_but_the_last_message_are_the_same_in_all_requests_of_a_game(name: str) -> None:
    first, *others = (question_messages(sentence.prompts, sentence.question) for sentence in known(name))
    assert all(messages[:-1] == first[:-1] for messages in others)
    assert len({messages[-1] for messages in others}) == len(others)


def pattern_of(question: AskedSentence) -> str:
    return str(narrow_schema(question)["properties"]["add"]["items"]["pattern"])


@pytest.mark.parametrize("name", GAMES)
def test_the_narrow_schema_allows_the_right_answer_and_few_others(name: str) -> None:
    for sentence in known(name):
        pattern = pattern_of(sentence.question)
        for fact in sentence.right.add:
            assert re.fullmatch(pattern, str(fact)), (sentence.question.sentence, str(fact))
        for other in ("(at volcano)", "(connected volcano crater north)", "(flies coin)", "(at kitchen kitchen)"):
            assert not re.fullmatch(pattern, other)


def test_no_exit_is_possible_without_a_direction() -> None:
    setting = load("cooking-easy")
    asked = KnownSentence.of(Example("kitchen", "", "There is also an oven."), setting, Prompts("cooking")).question
    pattern = pattern_of(asked)
    assert "connected" not in pattern
    assert "connected" in pattern_of(replace(asked, speaks_directions=False))


def test_a_setting_without_examples_gets_an_invented_game_over_its_predicates() -> None:
    setting = load("coin")
    places = setting.reader.map
    assert places is not None
    deeds = {deed.command: deed for deed in invented_deeds(setting.start, places, ())}
    assert {*deeds} == {"open door to west", "take lamp"}
    assert [*map(str, deeds["take lamp"].add)] == ["(have lamp)"]
    assert [*map(str, deeds["take lamp"].delete)] == ["(item_at lamp attic)"]
    asked = KnownSentence.of(Example("kitchen", "", "You see a coin."), setting, Prompts("scienceworld"))
    answers = [
        message.content for message in question_messages(asked.prompts, asked.question) if message.role == "assistant"
    ]
    facts = {fact for answer in answers for key in ("add", "delete") for fact in json.loads(answer)[key]}
    assert {fact.strip("()").split()[0] for fact in facts} == {"at", "connected", "closed_door", "item_at", "have"}


def test_an_opinion_is_asked_for_each_thing_whose_place_is_known() -> None:
    setting = load("twc")
    facts = {Atom("item_at", ("pen", "den")), Atom("have", ("sock",)), Atom("belongs", ("cup", "bed"))}
    facts |= {Atom("tried", ("pen", "desk")), Atom("item_at", ("cup", "den"))}
    objects = {TypedName(name, "item") for name in ("pen", "sock", "cup", "key")}
    objects |= {TypedName(name, "holder") for name in ("desk", "bed")}
    problem = replace(setting.start.problem, objects=frozenset(objects), facts=frozenset(facts))
    questions = [*open_opinions(problem, PromptContext(setting.start, reader=setting.reader))]
    assert [[*map(str, question.options)] for question in questions] == [
        ["(belongs pen bed)"],
        ["(belongs sock bed)", "(belongs sock desk)"],
    ]
    assert [[*map(str, question.refuted)] for question in questions] == [["(belongs pen desk)"], []]
    domain = setting.start.domain
    unary = replace(
        domain, predicates=tuple(replace(head, parameters=head.parameters[:1]) for head in domain.predicates)
    )
    start = replace(setting.start, domain=unary)
    assert [*open_opinions(problem, PromptContext(start, reader=setting.reader))] == []
    tried = replace(problem, facts=problem.facts | {Atom("tried", ("cup", "bed"))})
    assert any(
        question.options[0].args[0] == "cup"
        for question in open_opinions(tried, PromptContext(setting.start, reader=setting.reader))
    )
