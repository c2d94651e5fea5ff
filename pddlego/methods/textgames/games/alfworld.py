"""ALFWorld (Shridhar et al., 2021) as a `Game`: generated households, and the official games from their folder."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from pddlego.errors import EngineError
from pddlego.methods.textgames.games import GameSpec, Observation, alfworld_program, sendable
from pddlego.methods.textgames.games.households import TASKS
from pddlego.methods.textgames.games.process import GameProgram

OFFICIAL = "official"
"""The name of the game whose seeds are the files of a folder. The others are `household` and the types of tasks."""

_DATA = "ALFWORLD_DATA"
_FILE = "game.tw-pddl"


class HouseholdGame:
    """One game of ALFWorld, in a process of its own from its start to `close`.

    The first observation has the task. The score is 1 as soon as the game is won, and before 0.
    """

    def __init__(self, spec: GameSpec) -> None:
        self._spec = spec
        self._program = GameProgram("ALFWorld", alfworld_program.__name__, "If it happens again, choose another seed.")
        self._state: Mapping[str, Any] = {}
        self.task = ""

    def start(self) -> Observation:
        """Make or load the game, and return its first observation. Raises `EngineError`."""
        self._state = self._program.start(json.dumps(self._about()))
        self.task = self._state["task"]
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
        state = self._state
        won = bool(state["won"])
        return Observation(state["text"], float(won), won, valid_commands=tuple(state["commands"]))

    def _about(self) -> Mapping[str, Any]:
        spec = self._spec
        if spec.name != OFFICIAL:
            return {"name": spec.name, "parameters": dict(spec.parameters), "seed": spec.seed}
        folder = official_folder(str(spec.parameters["folder"]))
        files = official_games(folder, spec.parameters["all"] == "true")
        if spec.seed >= len(files):
            reason = f"{folder} has {len(files)} games, from seed 0 on."
            raise EngineError(f"There is no game with seed {spec.seed}", reason, "Choose a smaller --seed.")
        return {"path": str(files[spec.seed].absolute())}


def official_folder(folder: str) -> Path:
    """The folder of official games: a path, or the name of a split. Raises `EngineError` if there is no such folder."""
    data = os.environ.get(_DATA, "")
    places = [Path(folder), *([Path(data, "json_2.1.1", folder)] if data else [])]
    for path in places:
        if folder and path.is_dir():
            return path
    reason = f"{' and '.join(map(str, places))}: no such folder{'' if data else f', and {_DATA} is not set'}."
    advice = f"Get the games with 'alfworld-download', and set {_DATA}, or add --set folder=PATH."
    raise EngineError("The folder of ALFWorld's games is missing", reason, advice)


@lru_cache(maxsize=4)
def official_games(folder: Path, with_all: bool) -> tuple[Path, ...]:
    """The sorted game files in a folder. Raises `EngineError` if it has no games.

    As ALFWorld's own loader does, it leaves out games that are not known to be solvable, sliced objects and movable
    receptacles, and other types of tasks; `with_all` keeps them. Whole splits are read, so the result is kept.
    """
    files = tuple(path for path in sorted(folder.rglob(_FILE)) if with_all or _is_usual(path))
    if not files:
        advice = (
            f"It must contain TYPE-…/trial_…/{_FILE}; --set all=true keeps games that ALFWorld's loader leaves out."
        )
        raise EngineError("There are no games of ALFWorld", f"{folder} has no fitting {_FILE}.", advice)
    return files


def _is_usual(path: Path) -> bool:
    place = str(path)
    if "movable" in place or "Sliced" in place or not any(f"{kind}-" in place for kind in TASKS.values()):
        return False
    try:
        return json.loads(path.read_text(encoding="utf-8")).get("solvable") is True
    except (OSError, ValueError, AttributeError) as error:
        raise EngineError("A game of ALFWorld cannot be read", f"{path}: {error}.", "Download it again.") from error
