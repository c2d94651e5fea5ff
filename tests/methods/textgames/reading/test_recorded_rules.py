"""The rules of a strong language model, each given once from a request's text, and given again here by sentence."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import pddlego
from pddlego.episode.events import Accepted
from pddlego.methods.textgames.reading.rules import LearnedRules, parse_learned
from tests.methods.textgames.reading.rule_writer import RuleWriter
from tests.scale import scaled
from tests.shared import RECORDED

FOLDER = RECORDED / "learned-rules"
GAMES = {
    "coin": ("log-coin-strong-coin.json", 6),
    "mapreader": ("log-mapreader-strong-mapreader.json", 3),
    "twc": ("log-twc-strong-twc.json", 8),
    "cooking-easy": ("log-cooking-easy-strong-cooking.json", 14),
}
"""For each game, the file of the recorded answers, and the requests that 20 episodes may need at most."""

EPISODES = scaled(4, in_ci=20)


@pytest.mark.slow
@pytest.mark.shared("recorded/learned-rules")
@pytest.mark.parametrize("game", GAMES)
def test_recorded_rules_win_every_game_and_soon_nothing_is_asked(game: str, tmp_path: Path) -> None:
    name, most = GAMES[game]
    answers = [json.loads(entry["answer"]) for entry in json.loads((FOLDER / name).read_text(encoding="utf-8"))]
    tables = {json.dumps(table): table for answer in answers for table in answer}
    learned, requests, file = LearnedRules(), list[int](), tmp_path / "rules.toml"
    for seed in range(200, 200 + EPISODES):
        model = RuleWriter(tables.values())
        file.write_text(learned.text, encoding="utf-8")
        begun = str(file) if learned.rules else None
        episode = pddlego.play(game, mode="learn-no-opinions", seed=seed, model=model, from_=begun)
        assert episode.won, (seed, episode.message)
        requests.append(len(model.asked))
        texts = [event.text for event in episode.events if isinstance(event, Accepted) and event.kind == "rules"]
        learned = parse_learned(texts[-1]) if texts else learned
    assert sum(requests) <= most
    assert EPISODES < 20 or not any(requests[-5:])
