"""Coin Collector with the built-in reader: steps, calls, characters, pddlego's own time, memory."""

from __future__ import annotations

import re
import statistics
import time
from pathlib import Path

from benchmarks.table import show
from pddlego.events import EpisodeEnded, Limits, Outcome
from pddlego.games import Game, Observation
from pddlego.games.java import shared_machine
from pddlego.models.reader import ReaderModel
from pddlego.planning import ProcessPlanner
from pddlego.play import Episode, episode_events, follow, make_game
from pddlego.setting_files import load_setting


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


def main() -> None:
    with ProcessPlanner() as planner:
        for title, seeds in (
            ("seeds 0-59", range(60)),
            ("test seeds 10-59", range(10, 60)),
            ("seeds 100-399", range(100, 400)),
        ):
            _play(title, seeds, planner)
            print()
        _memory(planner)


def _play(title: str, seeds: range, planner: ProcessPlanner) -> None:
    setting = load_setting("coin")
    rows = []
    for mode in ("edit", "gen", "act", "random"):
        ends: list[EpisodeEnded] = []
        own: list[float] = []
        for seed in seeds:
            game = TimedGame(make_game(setting, seed))
            started = time.perf_counter()
            episode = Episode(setting, seed, mode, Limits(setting.max_steps))
            ends.append(follow(episode_events(episode, game, ReaderModel(), planner), []))
            own.append(time.perf_counter() - started - game.seconds)
        won = [each for each in ends if each.outcome is Outcome.WON]
        steps = sum(each.tally.steps for each in ends)
        rows.append(
            [
                mode,
                f"{len(won)}/{len(ends)}",
                f"{statistics.mean(each.tally.steps for each in won):.2f}",
                str(sum(each.tally.refused for each in ends)),
                f"{statistics.mean(each.tally.calls for each in ends):.2f}",
                f"{statistics.mean(each.tally.characters for each in ends):,.0f}",
                f"{sum(own) / steps * 1000:.1f}",
            ]
        )
    head = ["mode", "won", "steps (won)", "refused", "calls", "characters sent", "own ms a step"]
    show(f"Coin Collector, built-in reader (rules, no language model), {title}", head, rows)


def _memory(planner: ProcessPlanner) -> None:
    processes = [("pddlego", "self"), ("Java", str(shared_machine().pid)), ("planner", str(planner._process.pid))]
    rows = [[name, *(_mebibytes(pid, field) for field in ("VmRSS", "VmHWM"))] for name, pid in processes]
    show("Memory after these games; MiB", ["process", "now", "peak"], rows)


def _mebibytes(pid: str, field: str) -> str:
    path = Path(f"/proc/{pid}/status")
    if not path.exists():
        return "n/a"
    found = re.search(rf"{field}:\s+(\d+) kB", path.read_text())
    return f"{int(found.group(1)) / 1024:.0f}" if found else "n/a"
