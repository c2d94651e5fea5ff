"""ALFWorld (Shridhar et al., 2021) as a `Game`: generated households, and the official games from their folder."""

from __future__ import annotations

import hashlib
import json
import os
import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
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

_MOST_COMMANDS = 1000
"""Maximum number of commands of a walkthrough that are tried. Official ones have up to 20."""

_listing = threading.Lock()
"""Held while the games of a folder are listed, so that many episodes do not list them at once."""


class HouseholdGame:
    """One game of ALFWorld, in a process of its own from its start to `close`.

    The first observation has the task. The score is 1 once the game is won, and 0 before.
    """

    def __init__(self, spec: GameSpec) -> None:
        """Find the file of an official game. Raises `UsageError` if there is no such game."""
        advice = "Download it again." if spec.name == OFFICIAL else "If it happens again, choose another seed."
        self.file: Mapping[str, str] = {}
        argument: Mapping[str, Any] = {"name": spec.name, "parameters": dict(spec.parameters), "seed": spec.seed}
        if spec.name == OFFICIAL:
            folder, files = _official(spec)
            self.file, argument = _about(files[spec.seed], folder), {"path": str(files[spec.seed].absolute())}
        self._argument = json.dumps(argument)
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
        """The commands of the walkthrough that are valid when it comes to them.

        Others change nothing, such as going to a place that is beside the agent already. Raises `UsageError` if the
        walkthrough does not win, and `EngineError`.
        """
        self.start()
        walkthrough, valid, refused = self._state["solution"], list[str](), list[str]()
        for command in walkthrough[:_MOST_COMMANDS]:
            is_valid = command in self._state["commands"]
            (valid if is_valid else refused).append(command)
            if is_valid and self.step(command).won:
                return tuple(valid)
        reason = f"Its commands do not win; refused: {', '.join(map(repr, refused[:3])) or 'none'}."
        advice = "Choose another --mode or --seed."
        raise UsageError("The game has no usable walkthrough", reason if walkthrough else "It has none.", advice)

    def facts(self) -> tuple[tuple[str, ...], ...]:
        """The facts that are true now, in ALFWorld's predicates, and those of `alfworld_program._derived`."""
        return tuple(map(tuple, self._state["facts"]))

    def close(self) -> None:
        """End the game's process, also while another thread waits for its answer."""
        self._program.close()

    def _observation(self) -> Observation:
        text, won = writable(self._state["text"]), bool(self._state["won"])
        return Observation(text, float(won), won, valid_commands=tuple(map(writable, self._state["commands"])))


def game_files(spec: GameSpec) -> Mapping[str, Mapping[str, str]]:
    """The files of all official games of a fold by seed; empty for generated households.

    Raises `UsageError` if there are no games, or none with the seed.
    """
    if spec.name != OFFICIAL:
        return {}
    folder, files = _official(spec)
    return {str(seed): _about(path, folder) for seed, path in enumerate(files)}


def _about(path: Path, folder: Path) -> Mapping[str, str]:
    """The path of a game file below the folder of games, and its SHA-256."""
    with _readable(path), path.open("rb") as file:
        digest = hashlib.sha256(file.read(_LARGEST)).hexdigest()
    return {"path": path.relative_to(folder).as_posix(), "sha256": digest}


def _official(spec: GameSpec) -> tuple[Path, tuple[Path, ...]]:
    """The folder of official games, and its files in the order of seeds. Raises `UsageError`."""
    folder = official_folder(str(spec.parameters["folder"]), spec.fold)
    with _listing:
        files = official_games(folder, spec.parameters["all"] == "true")
    if spec.seed >= len(files):
        reason = f"{folder} has {count(len(files), 'game')}, from seed 0 on."
        raise UsageError(f"There is no game with seed {spec.seed}", reason, "Choose smaller seeds.")
    return folder, files


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
    files = filter(_is_small, sorted(_files(folder)))
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
    with _readable(path), path.open("rb") as file:
        return re.search(rb'"solvable":\s*true', file.read(_LARGEST)) is not None


def _is_small(path: Path) -> bool:
    """Whether a path is a file that can be a game, and neither a device nor a pipe."""
    with _readable(path):
        return path.is_file() and path.stat().st_size <= _LARGEST


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    """Raise `UsageError` for a file that cannot be read."""
    try:
        yield
    except OSError as error:
        reason = f"{path}: {error.strerror or error}."
        raise UsageError("A game of ALFWorld cannot be read", reason, "Allow to read it, or remove it.") from error


def _files(folder: Path) -> Iterator[Path]:
    """The game files in a folder, also behind links to folders. No folder is read twice, so that links make no loop."""
    known = set[tuple[int, int]]()
    for place, folders, names in os.walk(folder, followlinks=True):
        status = Path(place).stat()
        if (status.st_dev, status.st_ino) in known:
            folders.clear()
            continue
        known.add((status.st_dev, status.st_ino))
        folders.sort()
        yield from (Path(place) / name for name in names if name == _FILE)
