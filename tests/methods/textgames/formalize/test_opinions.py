"""Questions about what no sentence says: their messages, their schema, and what is chosen."""

from __future__ import annotations

import json

import pytest

import pddlego
from pddlego.episode.events import Accepted
from pddlego.methods.setting_files import setting_names
from pddlego.methods.textgames.formalize.opinions import OpinionQuestion
from pddlego.methods.textgames.loading import load
from pddlego.methods.textgames.options import TEXT_GAME
from pddlego.methods.textgames.reader import ReaderModel
from pddlego.methods.textgames.reading.rules import parse_learned
from pddlego.models import Completion, Request
from pddlego.models.prompts import Prompts
from pddlego.pddl import Atom, EditSyntaxError

QUESTION = OpinionQuestion(tuple(Atom("belongs", ("blue_pen", place)) for place in ("desk", "tea-chest", "trash_can")))


def test_the_last_message_asks_in_the_words_of_the_game_and_the_others_do_not_change() -> None:
    other = OpinionQuestion((Atom("belongs", ("cup", "shelf")),))
    messages = QUESTION.messages(Prompts("twc"))
    assert messages[-1].content == "Places: desk, tea-chest, trash can. Where does this belong: blue pen?"
    assert messages[:-1] == other.messages(Prompts("twc"))[:-1]


@pytest.mark.parametrize("folder", sorted({load(name).asking.prompts for name in setting_names(TEXT_GAME)}))
def test_each_example_chooses_one_of_its_names(folder: str) -> None:
    _, *turns, last = QUESTION.messages(Prompts(folder))
    assert "blue pen" in last.content
    for asked, answered in zip(turns[::2], turns[1::2], strict=True):
        answer = json.loads(answered.content)
        assert [*answer] == ["because", "answer"]
        names = asked.content.partition(": ")[2].partition(". ")[0].split(", ")
        assert answer["answer"] in names
        assert "{" not in asked.content


@pytest.mark.parametrize("answer", ["trash can", "trash_can", "Trash Can", " trash can "])
def test_a_name_is_chosen_as_it_is_said(answer: str) -> None:
    chosen = QUESTION.chosen(f"It is rubbish.\n{json.dumps({'because': 'it is empty', 'answer': answer})}")
    assert chosen == QUESTION.options[2]


def test_a_fact_is_chosen_as_well() -> None:
    chosen = QUESTION.chosen('{"add": ["(belongs cup shelf)", "(belongs blue_pen desk)"], "delete": []}')
    assert chosen == QUESTION.options[0]


@pytest.mark.parametrize(
    "answer", ["no JSON", "{}", '{"answer": ["bin"]}', '{"add": 7}', '{"answer": "bin"}', '{"answer": null}']
)
def test_another_answer_chooses_nothing(answer: str) -> None:
    try:
        assert QUESTION.chosen(answer) is None
    except EditSyntaxError:
        assert answer == "no JSON"


def test_a_name_that_was_tried_is_taken_back_from_what_was_learned() -> None:
    class Answering(ReaderModel):
        def complete(self, request: Request) -> Completion:
            asked = request.messages[-1].content
            if "Where does this belong" not in asked:
                return super().complete(request)
            names = asked.partition("Places: ")[2].partition(". ")[0].split(", ")
            return Completion(json.dumps({"because": "so", "answer": names[0]}))

    episode = pddlego.play("twc", mode="learn-facts", seed=260, model=Answering())
    texts = [event.text for event in episode.events if isinstance(event, Accepted) and event.kind == "rules"]
    opinions = [[pattern.terms for pattern in parse_learned(text).opinions] for text in texts]
    chosen = {terms for known in opinions for terms in known}
    things = {thing for thing, _ in chosen}
    assert any(len([1 for thing, _ in chosen if thing == one]) > 1 for one in things), "some first choice is wrong"
    assert all(len({thing for thing, _ in known}) == len(known) for known in opinions), "one place for each thing"
