"""Episodes with the built-in reader, and what they cost."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from pddlego.episode.events import Ended, Limits, Outcome
from pddlego.methods.textgames.games import Game, Observation
from pddlego.methods.textgames.play import episode_events, setting_game
from pddlego.methods.textgames.reader import ReaderModel
from pddlego.methods.textgames.settings import GameSetting
from pddlego.methods.textgames.world import EpisodeSetup
from pddlego.models import Model
from pddlego.planning import Planner
from pddlego.runs.journal import follow


class TimedGame:
    """A game that adds up the time it takes itself."""

    def __init__(self, game: Game) -> None:
        self._game = game
        self.seconds = 0.0

    @property
    def task(self) -> str:
        return self._game.task

    def start(self) -> Observation:
        return self._timed(self._game.start)

    def step(self, command: str) -> Observation:
        return self._timed(lambda: self._game.step(command))

    def _timed(self, call: object) -> Observation:
        assert callable(call)
        started = time.perf_counter()
        observation = call()
        self.seconds += time.perf_counter() - started
        assert isinstance(observation, Observation)
        return observation


@dataclass(frozen=True)
class Played:
    """Some episodes of one setting and mode; `own` is pddlego's own time, planning included, in seconds."""

    ends: tuple[Ended, ...]
    own: float

    @property
    def won(self) -> str:
        return f"{len(self._won)}/{len(self.ends)}"

    @property
    def success(self) -> str:
        return f"{100 * len(self._won) / len(self.ends):.0f}%"

    @property
    def steps(self) -> str:
        """The mean over the episodes that were won."""
        return f"{statistics.mean(ended.usage.steps for ended in self._won):.2f}" if self._won else "-"

    @property
    def most_steps(self) -> str:
        return str(max((ended.usage.steps for ended in self._won), default="-"))

    @property
    def refused(self) -> str:
        return str(sum(ended.usage.refused for ended in self.ends))

    @property
    def lost(self) -> str:
        """Episodes that ended in an error that cannot be corrected."""
        return str(sum(ended.outcome is Outcome.LOST for ended in self.ends))

    @property
    def calls(self) -> str:
        return f"{statistics.mean(ended.usage.calls for ended in self.ends):.2f}"

    @property
    def characters(self) -> str:
        return f"{statistics.mean(ended.usage.characters for ended in self.ends):,.0f}"

    @property
    def own_milliseconds(self) -> str:
        """A step."""
        return f"{self.own / sum(ended.usage.steps for ended in self.ends) * 1000:.1f}"

    @property
    def _won(self) -> list[Ended]:
        return [ended for ended in self.ends if ended.outcome is Outcome.WON]


def play(
    setting: GameSetting,
    mode: str,
    seeds: Iterable[int],
    planner: Planner,
    model_of: Callable[[int], Model] = lambda seed: ReaderModel(),
) -> Played:
    """Play one episode for each seed, one after another, each with the model of its seed."""
    ends: list[Ended] = []
    own = 0.0
    for seed in seeds:
        game = TimedGame(setting_game(setting, seed))
        started = time.perf_counter()
        episode = EpisodeSetup(setting, seed, mode, Limits(setting.max_steps))
        ends.append(follow(episode_events(episode, game, model_of(seed), planner), []))
        own += time.perf_counter() - started - game.seconds
    return Played(tuple(ends), own)
