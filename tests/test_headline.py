"""What the README promises of Coin Collector with the built-in reader, on the real engine."""

from __future__ import annotations

import statistics

import pytest

from pddlego.events import EpisodeEnded, Limits, Outcome
from pddlego.models.reader import ReaderModel
from pddlego.planning import ProcessPlanner
from pddlego.play import Episode, episode_events, follow, make_game
from pddlego.settings import Setting


@pytest.mark.parametrize("mode", ["edit", "gen"])
def test_60_of_60(coin: Setting, planner: ProcessPlanner, mode: str) -> None:
    ends: list[EpisodeEnded] = []
    for seed in range(60):
        episode = Episode(coin, seed, mode, Limits(coin.max_steps))
        ends.append(follow(episode_events(episode, make_game(coin, seed), ReaderModel(), planner), []))
    assert [each.outcome for each in ends] == [Outcome.WON] * 60
    assert sum(each.tally.refused for each in ends) == 0
    assert statistics.mean(each.tally.steps for each in ends) <= 11.6
    test_seeds = [each.tally for each in ends[10:]]
    assert statistics.mean(each.calls for each in test_seeds) <= 5.9
    assert statistics.mean(each.characters for each in test_seeds) <= 22_000
