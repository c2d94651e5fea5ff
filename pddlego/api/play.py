"""The Python interface: play one episode, evaluate many, load results.

    >>> import pddlego
    >>> pddlego.play("coin", seed=12)
    <Episode coin edit reader seed 12: won after 21 steps>

Importing this module is fast; each function imports what it needs.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable, Collection, Generator, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pddlego.errors import PddlegoError, UsageError

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from pddlego.api.options import EpisodeOptions, EvaluationOptions
    from pddlego.api.results import Episode, Evaluation
    from pddlego.episode.events import Event
    from pddlego.episode.trace import Trace
    from pddlego.evaluation.config import Resolved
    from pddlego.evaluation.setup import Setup
    from pddlego.models.base import Model
    from pddlego.models.function import Answer
    from pddlego.runs.cells import Cell
    from pddlego.runs.summary import Summary


def play(
    game: str,
    mode: str | None = None,
    seed: int = 0,
    model: str | Answer | Model | None = None,
    **options: Unpack[EpisodeOptions],
) -> Episode:
    """Play one episode to its end. Writes no files; see `Episode.save`.

    If `mode` is None, the game's default mode is played, as with `pddlego play`. `model` is a name, a function from
    messages to an answer, or an object with `complete` (see `Model`); if it is None, the built-in model plays.

    Raises `PddlegoError` for errors that occur before the first event. An error of the model or of the game ends the
    episode with an outcome that says so.
    """
    playing = Stream(game, mode, seed, model, options)
    for _ in playing:
        pass
    return playing.episode


def stream(
    game: str,
    mode: str | None = None,
    seed: int = 0,
    model: str | Answer | Model | None = None,
    **options: Unpack[EpisodeOptions],
) -> Stream:
    """Play one episode, event by event, with the arguments of `play`.

    The episode is played while the result is iterated; its property `episode` is the episode so far. `async for` does
    not block the event loop.
    """
    return Stream(game, mode, seed, model, options)


async def play_async(
    game: str,
    mode: str | None = None,
    seed: int = 0,
    model: str | Answer | Model | None = None,
    **options: Unpack[EpisodeOptions],
) -> Episode:
    """`play` without blocking the event loop. If it is cancelled, the episode ends at its next event."""
    playing = Stream(game, mode, seed, model, options)
    async for _ in playing:
        pass
    return playing.episode


class Stream(AbstractContextManager["Stream"]):
    """The events of one episode, which is played while the events are iterated."""

    def __init__(
        self, game: str, mode: str | None, seed: int, model: str | Answer | Model | None, options: Mapping[str, Any]
    ) -> None:
        from pddlego.episode.trace import Trace

        self._setup = episode_setup(game, mode, seed, model, options, workers=1)
        self._trace = Trace()
        self._events = self._play(self._setup, self._trace)

    @staticmethod
    def _play(setup: Setup, trace: Trace) -> Generator[Event, None, None]:
        from pddlego.episode.events import Ended, Outcome
        from pddlego.evaluation.playing import play
        from pddlego.evaluation.resources import make_limiter, make_planners
        from pddlego.evaluation.setup import one_cell

        with arguments_named(), make_planners(setup) as planner:
            events = play(one_cell(setup), setup, planner, make_limiter(setup, None, setup.prices))
            try:
                for event in events:
                    if not event.passing:
                        trace.add(event, events.seconds)
                    yield event
                    if isinstance(event, Ended) and event.outcome is Outcome.INTERRUPTED:
                        raise KeyboardInterrupt
            finally:
                events.close()

    def __iter__(self) -> Iterator[Event]:
        return self._events

    async def __aiter__(self) -> AsyncIterator[Event]:
        import asyncio

        while (event := await asyncio.to_thread(next, self._events, None)) is not None:
            yield event

    def close(self) -> None:
        """End the episode, and close its game and planner. This is not necessary after the last event."""
        self._events.close()

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def episode(self) -> Episode:
        """The episode so far. Raises `ValueError` before the first event."""
        from pddlego.evaluation.setup import one_cell

        if self._trace.started is None:
            raise ValueError("the episode has not begun: iterate the stream first")
        return episode_so_far(self._setup, one_cell(self._setup), self._trace)


def episode_setup(
    game: str,
    mode: str | None,
    seed: int,
    model: str | Answer | Model | None,
    options: Mapping[str, Any],
    **run: int,
) -> Setup:
    """The setup of one episode. Raises `PddlegoError` for what does not exist or is not compatible."""
    _check_one(seed, options)
    arguments: dict[str, Any] = {"games": (game,), "seeds": str(seed), "repeats": 1, **run}
    arguments |= {"modes": (mode,)} if mode is not None else {}
    arguments |= {"models": model} if model is not None else {}
    return _setup({**arguments, **options})


def first_seed(game: str, mode: str | None, options: Mapping[str, Any]) -> int:
    """The first seed of a game, which its options may change. Raises `PddlegoError` for what does not exist."""
    from pddlego.evaluation.config import with_overrides
    from pddlego.methods.registry import first_mode, method_of
    from pddlego.methods.setting_files import parse_overrides

    _check_one(0, options)
    method, config = method_of(game, mode or first_mode(game)), resolved(dict(options)).config
    method_options = with_overrides(method.name, config.methods[method.name], parse_overrides(config.what.set))
    return method.load(game, method_options).all_seeds[0]


def episode_so_far(setup: Setup, cell: Cell, trace: Trace) -> Episode:
    """The episode of a cell up to the last event of its trace."""
    from pddlego.api.results import Episode
    from pddlego.evaluation.replay import Recorded

    recorded = Recorded(Path("(not saved)"), trace.until(len(trace)), setup.played_in(cell), setup.config)
    return Episode(cell, recorded, setup.configuration())


def _check_one(seed: object, options: Mapping[str, Any]) -> None:
    """Raise `UsageError` for an invalid seed, and for options that one episode does not have."""
    from pddlego.api.options import EpisodeOptions
    from pddlego.util.text import is_whole, suggestion

    if isinstance(seed, bool) or not is_whole(seed):
        raise UsageError(f"seed = {seed!r} is invalid", "A seed is a whole number.", "Play many seeds with evaluate.")
    known = EpisodeOptions.__annotations__
    for name in options:
        if name not in known:
            advice = suggestion(name, known, "Options of an evaluation belong to evaluate.")
            raise UsageError(f"Unknown option '{name}'", "", advice)


def evaluate(
    games: Sequence[str] | str,
    run: str | Path | None = None,
    *,
    models: str | Answer | Model | Sequence[str | Answer | Model] | None = None,
    on_episode: Callable[[Summary], None] | None = None,
    **options: Unpack[EvaluationOptions],
) -> Evaluation:
    """Play many episodes, or continue an interrupted evaluation, in the background.

    `run` is the folder in which the evaluation is saved; if it is None, a folder in `runs` is named after the cells, as
    with `pddlego eval`. Iterate the result to get each episode when it has ended. All properties of the result wait
    until all episodes have ended. `models` are as in `play`, one or several.

    `on_episode` is called with the result of each episode that ends, in the thread of the evaluation, but not with the
    results that a continued evaluation begins with. If it raises an exception, the evaluation warns and goes on.

    Raises `PddlegoError`, for example if the folder was created with another configuration.
    """
    from pddlego.api.results import Evaluation
    from pddlego.evaluation.setup import run_path

    setup = _setup({"games": games, **({"models": models} if models is not None else {}), **options})
    with arguments_named():
        return Evaluation([Path(run) if run is not None else run_path(setup)], setup, on_episode)


def load(*runs: str | Path) -> Evaluation:
    """The episodes of one or several run folders.

    A run is a path, a name in the folder `runs`, a unique prefix of one, or `latest`. If several folders have the same
    episode, the last folder counts. Raises `UsageError` for a folder without an evaluation.
    """
    from pddlego.api.results import Evaluation
    from pddlego.runs.folders import find_run

    if not runs:
        raise UsageError("There is nothing to load", "No run was named.", "Name run folders, or latest.")
    with arguments_named():
        return Evaluation([find_run(str(run)) for run in runs])


@contextmanager
def arguments_named() -> Iterator[None]:
    """Make errors name Python arguments instead of command-line options."""
    try:
        yield
    except PddlegoError as error:
        error.what, error.reason, error.next_step = map(_with_arguments, (error.what, error.reason, error.next_step))
        error.args = (error.what,)
        raise


def _with_arguments(text: str) -> str:
    from pddlego.evaluation.config import groups
    from pddlego.util.options import names_of

    text = text.replace(": see the command's --help", "")
    known = names_of(*groups().values()) | {"model", "mode", "seed"}

    def argument(flag: re.Match[str]) -> str:
        name = flag[1].replace("-", "_")
        return name if name in known else flag[0]

    return re.sub(r"(?<![\w-])--([a-z][a-z-]*)", argument, text)


def _setup(arguments: dict[str, Any]) -> Setup:
    """The setup for these arguments. Models that are functions or objects are replaced by their names."""
    from pddlego.evaluation.prepare import make_setup
    from pddlego.models.function import OwnModel, own_model

    value = arguments.get("models")
    models = list(value) if isinstance(value, (list, tuple)) else [] if value is None else [value]
    own_models: dict[str, OwnModel] = {}
    names = []
    for model in models:
        if not isinstance(model, str):
            wrapped = own_model(model)
            if wrapped.name in own_models:
                reason = "Their results could not be distinguished."
                raise UsageError(f"Two models are called {wrapped.name}", reason, "Give them different names.")
            model, own_models[wrapped.name] = wrapped.name, wrapped
        names.append(model)
    replaced = {"models": tuple(names)} if own_models else {}
    with arguments_named():
        return make_setup(resolved({**arguments, **replaced}), own_models=own_models)


def resolved(arguments: dict[str, Any], names: Collection[str] | None = None) -> Resolved:
    """The configuration. Arguments have precedence over the environment, and that over defaults."""
    import os

    from pddlego.evaluation.config import ARGUMENT, resolve

    return resolve(arguments, os.environ, names=names, origin=ARGUMENT)
