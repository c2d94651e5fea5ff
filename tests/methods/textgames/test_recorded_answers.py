"""Episodes of a strong language model, played again with its recorded answers (`tests/replayed.py`)."""

from __future__ import annotations

from pathlib import Path

import pytest

import pddlego
from pddlego.episode.events import Accepted
from tests.replayed import ReplayedModel, read

CARRIED = {
    "coin-learn-264-268": ("coin", "learn", range(264, 269), 5),
    "cooking-easy-learn-264-268": ("cooking-easy", "learn", range(264, 269), 6),
    "mapreader-learn-264-268": ("mapreader", "learn", range(264, 269), 3),
    "twc-learn-264-268": ("twc", "learn", range(264, 269), 6),
    "coin-learn-facts-2": ("coin", "learn-facts", range(264, 266), 12),
    "mapreader-learn-facts-2": ("mapreader", "learn-facts", range(264, 266), 7),
}
"""For each recording, the game, the mode, its seeds (each begun with the rules of the last) and the most requests."""

PLAYED = {
    "coin-gen-262": ("coin", "gen", 262, 13),
    "coin-act-262": ("coin", "act", 262, 2),
    "cooking-hard-full-edit-264": ("cooking-hard", "full-edit", 264, 3),
    "household-edit-260": ("household", "edit", 260, 2),
    "science-find-animal-edit-0": ("science-find-animal", "edit", 0, 3),
    "miconic-program-1": ("miconic", "program", 1, 3),
    "zenotravel-program-2": ("zenotravel", "program", 2, 3),
    "satellite-heuristic-1": ("satellite", "heuristic", 1, 5),
    "24game-tos-3": ("24game", "tos", 3, 3),
    "crosswords-tos-2": ("crosswords", "tos", 2, 2),
    "deduction-tos-1": ("deduction", "tos", 1, 2),
    "text-battery-build-whole-1": ("text-battery", "build+whole", 1, 2),
    "text-gripper-build-whole-1": ("text-gripper", "build+whole", 1, 2),
}
"""For each recording, the game, the mode, the seed, and the requests that were needed.

Four recordings of `edit` cannot be played any more: the model answered after each place of a list of `look`, which is
now one tour with one request after it.
"""

pytestmark = [pytest.mark.slow, pytest.mark.shared("recorded/strong-2")]


@pytest.mark.parametrize("name", CARRIED)
def test_rules_of_each_episode_save_requests_in_the_next(name: str, tmp_path: Path) -> None:
    model, text, file = ReplayedModel(read(name)), "", tmp_path / "rules.toml"
    game, mode, seeds, most = CARRIED[name]
    for seed in seeds:
        file.write_text(text, encoding="utf-8")
        episode = pddlego.play(game, mode=mode, seed=seed, model=model, from_=str(file) if text else None)
        assert episode.won, (seed, episode.message, model.lost)
        texts = [event.text for event in episode.events if isinstance(event, Accepted) and event.kind == "rules"]
        text = texts[-1] if texts else text
    assert not model.lost
    assert model.requests <= most


@pytest.mark.parametrize("name", PLAYED)
def test_an_episode_finds_its_answers_and_needs_no_more_of_them(name: str) -> None:
    game, mode, seed, most = PLAYED[name]
    model = ReplayedModel(read(name))
    episode = pddlego.play(game, mode=mode, seed=seed, model=model)
    assert not model.lost, model.lost[0]
    assert episode.won, episode.message
    assert model.requests <= most
