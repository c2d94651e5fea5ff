"""A history that grows is read on from where it was read before, with the same result as from its beginning."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pddlego.methods.textgames.formalize import Exchange, Observations, PromptContext
from pddlego.methods.textgames.reading import engine
from pddlego.methods.textgames.reading.engine import HistoryReader
from pddlego.methods.textgames.reading.rules import LearnedRules, parse_pattern
from pddlego.methods.textgames.settings import GameSetting
from tests.methods.textgames.reading.test_engine import KITCHEN, RULES, read_history

HISTORY = (
    Exchange(None, KITCHEN),
    Exchange("open door to north", "You open the oak door, revealing the pantry."),
    Exchange("move north", "You are in the pantry. To the North you see a closed tin door. It rains."),
    Exchange("move south", KITCHEN),
)
LEARNED = LearnedRules(RULES, (parse_pattern("(item_at coin hall)"),))


def situation(coin: GameSetting, history: tuple[Exchange, ...]) -> PromptContext:
    return PromptContext(coin.start, "", Observations((), history), reader=coin.reader)


def test_a_growing_history_is_read_as_a_whole_one(coin: GameSetting, monkeypatch: pytest.MonkeyPatch) -> None:
    reader, read = HistoryReader(), list[int]()
    original = engine._Reading.read

    def counted(self: engine._Reading, index: int, exchange: Exchange, task: str) -> None:
        read.append(index)
        original(self, index, exchange, task)

    monkeypatch.setattr(engine._Reading, "read", counted)
    for count in range(1, len(HISTORY) + 1):
        seen = situation(coin, HISTORY[:count])
        read.clear()
        results = [reader.read(seen, coin.start, LEARNED.rules, LEARNED.opinions) for _ in range(2)]
        assert read == [count - 1]
        assert results[0] == results[1] == read_history(seen, coin.start, LEARNED)


@pytest.mark.parametrize("what", ["rules", "history", "task", "start"])
def test_what_changed_is_read_anew(coin: GameSetting, what: str) -> None:
    reader, seen, start, learned = HistoryReader(), situation(coin, HISTORY), coin.start, LEARNED
    reader.read(seen, start, learned.rules, learned.opinions)
    if what == "rules":
        learned = LearnedRules(RULES[:4])
    elif what == "history":
        seen = situation(coin, HISTORY[2:])
    elif what == "task":
        seen = replace(seen, task="You are in the attic.")
    else:
        start = start.with_problem(read_history(seen, start, learned).problem)
    assert reader.read(seen, start, learned.rules, learned.opinions) == read_history(seen, start, learned)
