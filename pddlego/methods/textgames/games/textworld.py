"""TextWorld (Côté et al., 2018) as a `Game`: generated houses of any size, which report the true facts of their world.

A game is generated once and kept in the user's cache folder: the same setting, fold and seed give the same game.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
import threading
from collections import defaultdict
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

from pddlego.errors import EngineError
from pddlego.methods.textgames.games import GameSpec, Observation, sendable, textworld_programs
from pddlego.methods.textgames.games.process import EngineProcess, GameProgram, environment
from pddlego.models.cache import FOLDER, default_path

_TIMEOUT = 900.0
"""Maximum number of seconds to make a game. Most games take 5; mazes with many locks have taken minutes."""

_PROMPT = re.compile(r"\n>\s+-= .*\Z|\n>\s*\Z")
"""The prompt and the status line, which the interpreter prints after an answer."""

_BANNER = re.compile(r"\A.*\${4}\s*\n", re.DOTALL)
"""The name of the program in large letters, which the interpreter prints before the first answer."""

_ENDING = re.compile(r"\s*\*\*\* .+ \*\*\*.*\Z", re.DOTALL)
"""The end of the last answer: the score, and the commands of the interpreter."""

_OUTSIDE = re.compile(
    r"(?:^|[.,;]|\bthen\b)\s*(?:load|quit|q|restart|restore|save|script|transcript|verify)\b", re.IGNORECASE
)
"""Commands to the interpreter, alone or after others: they write files, or restart the game."""

_UNKNOWN = "not-a-verb"
"""The command that is sent instead of a command to the interpreter."""

_making: defaultdict[Path, threading.Lock] = defaultdict(threading.Lock)
"""Held while the game of a path is made, so that two episodes do not make it twice."""


class TextWorldGame:
    """One game of TextWorld. Commands to the interpreter are answered like unknown verbs.

    The first observation has the task and the player's inventory. The description of the room follows an answer if it
    has changed and the answer does not contain it. The score is the share of all possible points.

    Each game has its own process from its start to `close`, and a new one if it is started again after a failure.
    """

    def __init__(self, spec: GameSpec) -> None:
        self._spec = spec
        advice = f"Play again. If it happens again, remove {game_path(spec)}, which makes the game anew."
        self._program = GameProgram("TextWorld", textworld_programs.__name__, advice)
        self._state: Mapping[str, Any] = {}
        self._look = ""
        self.task = ""

    def start(self) -> Observation:
        """Make the game if it is not in the cache, load it, and return its first observation. Raises `EngineError`."""
        self._state = self._program.start(str(game_file(self._spec).absolute()))
        self.task = " ".join(self._state["task"].split())
        self._look = _lines(self._state["look"])
        carried = _lines(self._state["inventory"])
        return self._observation("\n\n".join((self.task, *([carried] if ":" in carried else ()), self._look)))

    def step(self, command: str) -> Observation:
        """Send one command. Raises `EngineError`."""
        command = sendable(command)
        command = _UNKNOWN if _OUTSIDE.search(command) else command
        self._state = self._program.ask(f"answer '{command}'", command)
        answer, look = _lines(self._state["text"]), _lines(self._state["look"])
        is_new = look != self._look and look not in answer and not self._state["won"]
        self._look = look
        return self._observation(f"{answer}\n\n{look}" if is_new else answer)

    @property
    def solution(self) -> tuple[str, ...]:
        """The commands by which the generator made sure that the game can be won. Raises `EngineError`."""
        self.start()
        return tuple(self._state["solution"])

    def facts(self) -> tuple[tuple[str, ...], ...]:
        """The facts that are true now. `r`, `d`, `f` and so on are the types of rooms, doors, foods and so on."""
        return tuple(map(tuple, self._state["facts"]))

    def close(self) -> None:
        """End the game's process, also while another thread waits for its answer."""
        self._program.close()

    def _observation(self, text: str) -> Observation:
        state = self._state
        score, valid = min(1.0, state["score"]), tuple(state["commands"])
        return Observation(text, score, state["won"], state["lost"], valid, self._look)


def _lines(text: str) -> str:
    """The answer without the other output of the interpreter, and with single empty lines."""
    answer = _ENDING.sub("", _PROMPT.sub("", _BANNER.sub("", text)))
    return re.sub(r"\n(?: *\n)+", "\n\n", answer).strip()


def game_file(spec: GameSpec) -> Path:
    """The file of a game, made if it is not there. Raises `EngineError` if it cannot be made."""
    path = game_path(spec)
    with _making[path]:
        return path if path.exists() and path.with_suffix(".json").exists() else _made(spec, path)


def game_path(spec: GameSpec) -> Path:
    """The path of a game in the cache of this version of TextWorld; other versions may generate other games."""
    parameters = [f"{name}={value}" for name, value in sorted(spec.parameters.items())]
    folder = default_path().parent / "games" / f"textworld-{version('textworld')}"
    return folder / "-".join((spec.name, spec.fold, *parameters, f"{spec.seed}.z8"))


def _made(spec: GameSpec, path: Path) -> Path:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=path.parent) as folder:
            _make(spec, Path(folder) / path.name)
            for suffix in (".json", ".z8"):  # the game exists as soon as its last file exists
                made = (Path(folder) / path.name).with_suffix(suffix)
                made.replace(path.with_suffix(suffix))
    except OSError as error:
        reason = f"{path.parent}: {error.strerror or error}."
        advice = f"Free space there, or name another folder in {FOLDER}."
        raise EngineError("A game of TextWorld cannot be kept", reason, advice) from error
    return path


def _make(spec: GameSpec, path: Path) -> None:
    """Make a game in another process, because the generator takes seconds and uses global random numbers."""
    parameters = (f"{name}={value}" for name, value in spec.parameters.items())
    place = ("make", str(os.getpid()), str(path.parent), str(path))
    program = [sys.executable, "-m", textworld_programs.__name__, *place, spec.name, spec.fold, str(spec.seed)]
    maker = EngineProcess([*program, *parameters], environment=environment())
    try:
        code = maker.wait(_TIMEOUT)
        reason = (
            f"It took more than {_TIMEOUT:.0f} seconds." if code is None else f"Its process failed: {maker.state()}."
        )
    finally:
        maker.close()
    if code or not path.exists():
        advice = "Choose another seed or other parameters, or free space for temporary files."
        raise EngineError(f"TextWorld could not make the game {spec.name}", reason, advice)
