"""The answers of a strong language model, given again: each finds its question, and the episodes end as recorded."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pddlego.errors import ModelError
from pddlego.methods.textgames.formalize import Exchange, Observations, PromptContext
from pddlego.methods.textgames.settings import GameSetting
from pddlego.models import Message, Request
from pddlego.pddl import parse_problem
from tests.sandbox.ordinary import needs_locks
from tests.scale import scaled
from tests.strong import HEAD, TABLE, Question, Recorded, StrongModel, play, read, written

EPISODES = read()
QUICK = ("coin-fulledit-263", "text-blocks-whole", "gripper-pbm", "24game-tos")


@pytest.mark.slow
@pytest.mark.whole
@needs_locks
@pytest.mark.usefixtures("patient_sandboxes")
@pytest.mark.parametrize(
    "recorded",
    scaled([episode for episode in EPISODES if episode.name in QUICK], in_ci=EPISODES),
    ids=lambda recorded: recorded.name,
)
def test_an_episode_ends_as_recorded(recorded: Recorded) -> None:
    """`python -m tests.strong` writes the table of results anew."""
    lines = TABLE.read_text(encoding="utf-8").splitlines()
    expected = next(line for line in lines if line.startswith(f"{recorded.name}\t"))
    row, model = play(recorded)
    assert "\t".join(row) == expected, f"without a recorded answer: {model.lost}"


def test_the_table_has_every_episode_and_says_which_answers_were_lost() -> None:
    head, *rows = (line.split("\t") for line in TABLE.read_text(encoding="utf-8").splitlines())
    assert tuple(head) == HEAD
    assert [row[0] for row in rows] == [episode.name for episode in EPISODES]
    assert len(rows) == 33
    for cells in rows:
        row = dict(zip(HEAD, cells, strict=True))
        lost = len(list(filter(None, row["lost"].split(", "))))
        assert int(row["requests"]) == int(row["same"]) + int(row["similar"]) + lost


def asked(setting: GameSetting, *news: str, problem: str = "", words: str = "", purpose: str = "edit") -> Request:
    """A request about news of a game."""
    knowledge = setting.start
    if problem:
        knowledge = replace(knowledge, problem=parse_problem(problem))
    seen = Observations(news=tuple(Exchange("look", text) for text in news))
    return Request(purpose, (Message("user", words),), PromptContext(knowledge, seen=seen))


OTHER = "(define (problem p) (:domain coin-collector) (:objects attic) (:init (at attic)) (:goal (have coin)))"


def test_answers_are_found_by_their_questions(coin: GameSetting) -> None:
    """By changed words; by the same news with another file; by the same last observation; and each is given once."""
    questions = [asked(coin, "hall"), asked(coin, "hall", problem=OTHER), asked(coin, "attic"), asked(coin, "cellar")]
    answers = tuple((Question.of(request), str(number)) for number, request in enumerate(questions))
    model = StrongModel(Recorded("game", {}, answers))
    given = [
        asked(coin, "hall", problem=OTHER, words="Other words."),
        asked(coin, "hall", words="Once more."),
        asked(coin, "attic", problem=OTHER),
        asked(coin, "stairs", "cellar"),
    ]
    assert [model.complete(request).text for request in given] == ["1", "0", "2", "3"]
    assert model.found == ["same", "same", "similar", "similar"]
    for request in (asked(coin, "hall"), asked(coin, "hall", purpose="gen")):
        with pytest.raises(ModelError, match="No recorded answer"):
            model.complete(request)
    assert list(model.lost) == [5, 6]


def test_the_answers_are_read_as_they_are_written(tmp_path: Path) -> None:
    file = tmp_path / "answers.jsonl.gz"
    file.write_bytes(written(EPISODES))
    assert read(file) == EPISODES
