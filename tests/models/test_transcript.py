from __future__ import annotations

import pytest

from pddlego.errors import ModelError
from pddlego.methods.textgames.settings import GameSetting
from pddlego.models import Completion, Message, Request
from pddlego.models.transcript import TranscriptModel
from tests.methods.textgames.situations import situation_with


def request(coin: GameSetting, purpose: str, *texts: str) -> Request:
    messages = tuple(Message("user", text) for text in texts)
    return Request(purpose, messages, situation_with("", "", coin.start.domain, coin.start.problem))


def recorded(*texts: str) -> TranscriptModel:
    messages = tuple(Message("user", text) for text in texts)
    return TranscriptModel([(Request("edit", messages), Completion("yes", 3, 4))], "run.jsonl")


def test_the_same_question_gets_the_same_answer(coin: GameSetting) -> None:
    assert recorded("a", "b").complete(request(coin, "edit", "a", "b")) == Completion("yes", 3, 4)


@pytest.mark.parametrize(
    ("purpose", "texts", "says"),
    [
        ("gen", ("one\ntwo",), "recorded for 'edit' and is asked for 'gen'"),
        ("edit", ("one\n2",), "Message 1 (user), line 2: recorded 'two', now '2'"),
        ("edit", ("one\ntwo\nthree",), "2 lines in the record and 3 now"),
        ("edit", ("one\ntwo", "more"), "recorded with 1 messages and has 2 now"),
    ],
)
def test_another_question_is_an_error_with_the_first_difference(
    coin: GameSetting, purpose: str, texts: tuple[str, ...], says: str
) -> None:
    with pytest.raises(ModelError) as caught:
        recorded("one\ntwo").complete(request(coin, purpose, *texts))
    assert says in str(caught.value)


def test_the_end_of_the_record(coin: GameSetting) -> None:
    model = recorded("a")
    model.complete(request(coin, "edit", "a"))
    with pytest.raises(ModelError, match="at its end"):
        model.complete(request(coin, "edit", "a"))
