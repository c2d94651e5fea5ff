"""What the README promises of the games with the built-in reader, on the real engine.

Coin Collector on all of its 60 seeds in mode edit; of the other games and modes a few seeds here, all of them in
`python -m benchmarks games`.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable

import pytest

from pddlego.episode.events import Ended, Limits, Outcome
from pddlego.methods.textgames.events import Observed
from pddlego.methods.textgames.loading import load
from pddlego.methods.textgames.options import TextGameOptions
from pddlego.methods.textgames.play import episode_events, setting_game
from pddlego.methods.textgames.reader import ReaderModel
from pddlego.methods.textgames.settings import GameSetting
from pddlego.methods.textgames.world import EpisodeSetup
from pddlego.planning import ProcessPlanner
from pddlego.runs.journal import follow
from tests.scale import scaled


def play(setting: GameSetting, mode: str, seeds: Iterable[int], planner: ProcessPlanner) -> list[Ended]:
    ends = []
    for seed in seeds:
        episode = EpisodeSetup(setting, seed, mode, Limits(setting.max_steps))
        events = list(episode_events(episode, setting_game(setting, seed), ReaderModel(), planner))
        assert not [event for event in events if isinstance(event, Observed) and event.lost]
        ends.append(follow(events, []))
    return ends


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mode", "seeds", "calls"),
    [("edit", scaled(range(1, 60, 2), in_ci=range(60)), 5.9), ("gen", range(0, 60, 3), 6.2)],
)
def test_every_seed_is_won(coin: GameSetting, planner: ProcessPlanner, mode: str, seeds: range, calls: float) -> None:
    ends = play(coin, mode, seeds, planner)
    assert [end.outcome for end in ends] == [Outcome.WON] * len(seeds)
    assert sum(end.usage.refused for end in ends) == 0
    assert statistics.mean(end.usage.steps for end in ends) <= 11.6
    test_seeds = [each.usage for seed, each in zip(seeds, ends, strict=True) if seed >= 10]
    assert statistics.mean(seed.calls for seed in test_seeds) <= calls
    assert statistics.mean(seed.characters for seed in test_seeds) <= 22_000


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "mode", "fold", "seeds", "steps"),
    [
        ("cooking-easy", "edit", "train", range(0, 60, 12), 11.5),
        ("cooking-easy", "gen", "train", range(3, 60, 12), 11.5),
        ("cooking-hard", "edit", "train", range(0, 60, 15), 27),
        ("cooking-hard", "gen", "test", range(20000, 20003), 27),
        ("cooking-full", "edit", "train", range(0, 60, 20), 60),
        ("mapreader", "edit", "train", range(0, 60, 10), 11),
        ("mapreader", "gen", "dev", range(10000, 10005), 11),
        ("twc", "edit", "train", range(0, 60, 12), 25),
        ("twc", "gen", "test", range(20000, 20005), 25),
    ],
)
def test_the_other_games(planner: ProcessPlanner, name: str, mode: str, fold: str, seeds: range, steps: float) -> None:
    ends = play(load(name, TextGameOptions(fold=fold)), mode, seeds, planner)
    assert [end.outcome for end in ends] == [Outcome.WON] * len(seeds)
    assert sum(end.usage.refused for end in ends) == 0
    assert statistics.mean(end.usage.steps for end in ends) <= steps
