"""ALFWorld (Shridhar et al., 2021) as a `Game`: generated households, and the official games from their folder."""

from __future__ import annotations

import json
import os
import re
import threading
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from pddlego.errors import UsageError
from pddlego.methods.textgames.games import GameSpec, Observation, alfworld_program, sendable
from pddlego.methods.textgames.games.households import TASKS
from pddlego.methods.textgames.games.process import GameProgram
from pddlego.util.text import count, writable

OFFICIAL = "official"
"""The name of the game whose seeds are the files of a folder. The others are `household` and the types of tasks."""

_DATA = "ALFWORLD_DATA"
_SPLITS = {"train": "train", "dev": "valid_seen", "test": "valid_unseen"}
"""The folders of the official games by fold."""

_FILE = "game.tw-pddl"
_LARGEST = 50_000_000
"""Maximum number of bytes of a game file. Official ones have 0.2 million."""

_listing = threading.Lock()
"""Held while the games of a folder are listed, so that many episodes do not list them at once."""


class HouseholdGame:
    """One game of ALFWorld, in a process of its own from its start to `close`.

    The first observation has the task. The score is 1 once the game is won, and 0 before.
    """

    def __init__(self, spec: GameSpec) -> None:
        """Find the file of an official game. Raises `UsageError` if there is no such game."""
        advice = "Download it again." if spec.name == OFFICIAL else "If it happens again, choose another seed."
        self._argument = json.dumps(_argument(spec))
        self._program = GameProgram("ALFWorld", alfworld_program.__name__, advice)
        self._state: Mapping[str, Any] = {}
        self.task = ""

    def start(self) -> Observation:
        """Make or load the game, and return its first observation. Raises `EngineError`."""
        self._state = self._program.start(self._argument)
        self.task = writable(self._state["task"])
        return self._observation()

    def step(self, command: str) -> Observation:
        """Send one command. Raises `EngineError`."""
        sent = sendable(command)
        self._state = self._program.ask(f"answer '{sent}'", sent)
        return self._observation()

    @property
    def solution(self) -> tuple[str, ...]:
        """The walkthrough of the game. Raises `EngineError`."""
        self.start()
        return tuple(self._state["solution"])

    def facts(self) -> tuple[tuple[str, ...], ...]:
        """The facts that are true now, in ALFWorld's predicates, and those of `alfworld_program._derived`."""
        return tuple(map(tuple, self._state["facts"]))

    def close(self) -> None:
        """End the game's process, also while another thread waits for its answer."""
        self._program.close()

    def _observation(self) -> Observation:
        text, won = writable(self._state["text"]), bool(self._state["won"])
        return Observation(text, float(won), won, valid_commands=tuple(map(writable, self._state["commands"])))


def _argument(spec: GameSpec) -> Mapping[str, Any]:
    if spec.name != OFFICIAL:
        return {"name": spec.name, "parameters": dict(spec.parameters), "seed": spec.seed}
    folder = official_folder(str(spec.parameters["folder"]), spec.fold)
    with _listing:
        files = official_games(folder, spec.parameters["all"] == "true")
    if spec.seed >= len(files):
        reason = f"{folder} has {count(len(files), 'game')}, from seed 0 on."
        raise UsageError(f"There is no game with seed {spec.seed}", reason, "Choose a smaller --seed.")
    return {"path": str(files[spec.seed].absolute())}


def official_folder(folder: str, fold: str) -> Path:
    """The folder of official games, by default that of the fold. Raises `UsageError` if there is no such folder."""
    data = Path(os.environ.get(_DATA) or "~/.cache/alfworld").expanduser()  # where `alfworld-download` puts it
    path = Path(folder).expanduser() if folder else data / "json_2.1.1" / _SPLITS[fold]
    if path.is_dir():
        return path
    advice = f"Get the games with 'alfworld-download', and set {_DATA}, or add --set folder=PATH."
    raise UsageError("The folder of ALFWorld's games is missing", f"{path} is not a folder.", advice)


@lru_cache(maxsize=4)
def official_games(folder: Path, with_all: bool) -> tuple[Path, ...]:
    """The sorted game files in a folder. Raises `UsageError` if it has no games.

    As ALFWorld's own loader does, it leaves out games that are not known to be solvable, sliced objects and movable
    receptacles, and other types of tasks; `with_all` keeps them. Whole splits are read, so the result is kept.
    """
    files = sorted(folder.rglob(_FILE))
    games = tuple(path for path in files if with_all or _is_usual(path, str(path.relative_to(folder))))
    if not games:
        advice = (
            f"It must contain TYPE-…/trial_…/{_FILE}; --set all=true keeps games that ALFWorld's loader leaves out."
        )
        raise UsageError("There are no games of ALFWorld", f"{folder} has no fitting {_FILE}.", advice)
    return games


def _is_usual(path: Path, place: str) -> bool:
    if "movable" in place or "Sliced" in place or not any(f"{kind}-" in place for kind in TASKS.values()):
        return False
    try:
        if not path.is_file():
            return False
        with path.open("rb") as file:
            return re.search(rb'"solvable":\s*true', file.read(_LARGEST)) is not None
    except OSError as error:
        reason = f"{path}: {error.strerror or error}."
        raise UsageError("A game of ALFWorld cannot be read", reason, "Allow to read it, or remove it.") from error
