"""TextWorld (Côté et al., 2018) as a `Game`: generated houses of any size, which report the true facts of their world.

A game is generated once and kept in the user's cache folder: the same setting, fold and seed give the same game.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
from collections import defaultdict
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar

from pddlego.errors import EngineError
from pddlego.methods.textgames.games import GameSpec, Observation, textworld_maker
from pddlego.methods.textgames.games.textworld_maker import import_textworld
from pddlego.models.cache import FOLDER, default_path
from pddlego.util.children import for_children

_TIMEOUT = 900.0
"""Seconds that making a game may take. Most take 5; mazes with many locks have taken minutes."""

_PROMPT = re.compile(r"\n>\s+-= .*\Z|\n>\s*\Z")
"""What the interpreter prints after an answer: its prompt, and the status line."""

_BANNER = re.compile(r"\A.*\${4}\s*\n", re.DOTALL)
"""The name of the program in large letters, before the first answer."""

_ENDING = re.compile(r"\s*\*\*\* .+ \*\*\*.*\Z", re.DOTALL)
"""What follows the last answer: the score, and what can be typed then."""

_OUTSIDE = re.compile(
    r"(?:^|[.,;]|\bthen\b)\s*(?:load|quit|q|restart|restore|save|script|transcript|verify)\b", re.IGNORECASE
)
"""Commands to the interpreter, alone or after others: they write files, or begin the game anew."""

_UNKNOWN = "not-a-verb"
"""What is sent in their place."""

_loading = threading.Lock()
"""Held while a game is loaded: TextWorld reads its files with one parser."""

_making: defaultdict[Path, threading.Lock] = defaultdict(threading.Lock)
"""Held while the game of a path is made, so that two episodes do not make it twice."""

T = TypeVar("T")


class TextWorldGame:
    """One game of TextWorld. Commands to the interpreter are answered like unknown verbs.

    It begins with the task, and with what the player carries. The description of the room follows an answer where it
    has changed and the answer does not contain it. The score is the share of the points that can be had.
    """

    def __init__(self, spec: GameSpec) -> None:
        self._spec = spec
        self._game: Any = None
        self._state: Any = None
        self._look = ""
        self.task = ""

    def start(self) -> Observation:
        """Make the game if it is not in the cache, load it, and look around. Raises `EngineError`."""
        textworld, path = import_textworld(), str(game_file(self._spec))
        if self._game is None:
            about = ("description", "inventory", "admissible_commands", "facts", "objective", "max_score")
            wanted = textworld.EnvInfos(**dict.fromkeys(about, True), extras=["walkthrough"])
            with _loading:
                self._game = self._call("load the game", lambda: textworld.start(path, wanted))
        self._state = self._call("start the game", self._game.reset)
        self.task = " ".join(self._state.objective.split())
        self._look = _lines(self._state.description)
        carried = _lines(self._state.inventory)
        return self._observation("\n\n".join((self.task, *([carried] if ":" in carried else ()), self._look)))

    def step(self, command: str) -> Observation:
        """Send one command. Raises `EngineError`."""
        command = _UNKNOWN if _OUTSIDE.search(command) else command
        self._state = self._call(f"answer '{command}'", lambda: self._game.step(command))[0]
        answer, look = _lines(self._state.feedback), _lines(self._state.description)
        is_new = look != self._look and look not in answer and not self._state.won
        self._look = look
        return self._observation(f"{answer}\n\n{look}" if is_new else answer)

    @property
    def solution(self) -> tuple[str, ...]:
        """The commands by which the generator made sure that the game can be won. Raises `EngineError`."""
        self.start()
        return tuple(self._state["extra.walkthrough"])

    def facts(self) -> tuple[tuple[str, ...], ...]:
        """What is true in the game now. `r`, `d`, `f`, … are the types of rooms, doors, foods and so on."""
        facts = self._state.facts
        kinds = {argument.name: argument.type for fact in facts for argument in fact.arguments}
        named = ((fact.name, *(argument.name for argument in fact.arguments)) for fact in facts)
        return (*named, *((kind, name) for name, kind in kinds.items()))

    def close(self) -> None:
        """Unload the game."""
        if self._game is not None:
            self._game.close()

    def _observation(self, text: str) -> Observation:
        state = self._state
        score = (state.score or 0) / (state.max_score or 1)
        valid = tuple(state.admissible_commands)
        return Observation(text, min(1.0, score), bool(state.won), bool(state.lost), valid, self._look)

    def _call(self, what: str, call: Callable[[], T]) -> T:
        try:
            return call()
        except (OSError, RuntimeError, ValueError, KeyError, IndexError, AssertionError) as error:
            reason = f"{type(error).__name__}: {error}"
            advice = f"Remove {game_path(self._spec)} and play again."
            raise EngineError(f"TextWorld failed to {what}", reason, advice) from error


def _lines(text: str) -> str:
    """An answer without what the interpreter prints around it, and with single empty lines."""
    answer = _ENDING.sub("", _PROMPT.sub("", _BANNER.sub("", text)))
    return re.sub(r"\n(?: *\n)+", "\n\n", answer).strip()


def cache_folder() -> Path:
    """Where generated games are kept; another version of TextWorld may make other games."""
    return default_path().parent / "games" / f"textworld-{version('textworld')}"


def game_file(spec: GameSpec) -> Path:
    """The file of a game, made if it is not there. Raises `EngineError` if it cannot be made."""
    path = game_path(spec)
    with _making[path]:
        return path if path.exists() and path.with_suffix(".json").exists() else _made(spec, path)


def game_path(spec: GameSpec) -> Path:
    """Where the game is kept."""
    parameters = [f"{name}={value}" for name, value in sorted(spec.parameters.items())]
    return cache_folder() / "-".join((spec.name, spec.fold, *parameters, f"{spec.seed}.z8"))


def _made(spec: GameSpec, path: Path) -> Path:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=path.parent) as folder:
            _make(spec, Path(folder) / path.name)
            for suffix in (".json", ".z8"):  # the game is there when its last file is
                made = (Path(folder) / path.name).with_suffix(suffix)
                made.replace(path.with_suffix(suffix))
    except OSError as error:
        reason = f"{path.parent}: {error.strerror or error}."
        advice = f"Free space there, or name another folder in {FOLDER}."
        raise EngineError("A game of TextWorld cannot be kept", reason, advice) from error
    return path


def _make(spec: GameSpec, path: Path) -> None:
    """Make a game in a process of its own: the generator uses one processor for seconds, and global random numbers."""
    parameters = (f"{name}={value}" for name, value in spec.parameters.items())
    program = [sys.executable, "-m", textworld_maker.__name__, str(os.getpid())]
    command = [*program, spec.name, spec.fold, str(spec.seed), str(path), *parameters]
    # The order of sets must not decide which game a seed gives.
    environment = for_children(PYTHONHASHSEED="0", PYTHONPATH=os.pathsep.join(sys.path))
    reason = f"It took more than {_TIMEOUT:.0f} seconds."
    with tempfile.TemporaryFile() as errors:  # not a pipe: its compilers would keep that open
        # A session of its own: Ctrl-C is ours to handle.
        maker = subprocess.Popen(command, env=environment, stdout=errors, stderr=errors, start_new_session=True)
        try:
            maker.wait(_TIMEOUT)
            errors.seek(0)
            reason = errors.read().decode(errors="replace").strip().rpartition("\n")[2]
        except subprocess.TimeoutExpired:
            pass  # it is named below
        finally:
            if maker.poll() is None:
                os.killpg(maker.pid, signal.SIGKILL)
                maker.wait()
    if maker.returncode or not path.exists():
        advice = "Choose another seed or other parameters, or free space for temporary files."
        raise EngineError(f"TextWorld could not make the game {spec.name}", reason or "It does not say why.", advice)
