"""Plays one episode: puts game, method, model, planner and journal together. The Python side of `pddlego play`."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from pddlego import resources
from pddlego.agent import Agent
from pddlego.episode import Episode
from pddlego.errors import EngineError, SettingError, UsageError
from pddlego.events import EpisodeEnded, Event, Judged
from pddlego.formalize import ActionGen, CommandSource, Formalizer, HumanActions, PddlEdit, PddlGen, RandomActions
from pddlego.formalize.human import Person
from pddlego.formalize.prompts import Prompts
from pddlego.games import Game
from pddlego.games.engines import BUILT_IN, GameSpec, foreign_game
from pddlego.journal import JournalWriter, RunFolder, environment_manifest
from pddlego.models import Model
from pddlego.modes import parse_mode
from pddlego.oversight import Overseer
from pddlego.planning import Planner, PlanStatus, ProcessPlanner
from pddlego.restart import Restart
from pddlego.settings import Setting
from pddlego.situation import Exchange, Feedback, Situation

MIN_MEMORY = 128
"""MiB below which no planner starts."""

Listener = Callable[[Event, float], None]
"""Called with every event and the seconds that the episode had taken, in order."""


def manifest(episode: Episode, model: Model, planner: Planner) -> dict[str, Any]:
    """What the run folder records of an episode, without anything secret."""
    setting = episode.setting
    prompts = {f"prompts/{name}.j2": text for name, text in prompt_texts(setting.prompts)}
    texts = {**setting.sources, **prompts}
    return {
        "setting": setting.manifest(),
        "mode": episode.mode,
        "model": {"name": model.name, **model.description},
        "seeds": [episode.seed],
        "limits": asdict(episode.limits),
        "retries": episode.retries,
        "replan": "every-step" if episode.replan_every_step else "on-surprise",
        "planner": dict(planner.description),
        **environment_manifest(texts),
    }


def make_method(mode: str, setting: Setting, seed: int, person: Person | None = None) -> Formalizer | CommandSource:
    """The method of a mode, its prompts tried out once.

    Raises `UsageError` for an unknown mode and `SettingError` for a prompt that cannot be rendered.
    """
    method = _method(mode, setting, seed, person)
    again = Feedback("trial", "trial", ("trial",))
    looked = (Exchange(None, "trial"), Exchange("trial", "trial"))
    first = Situation(setting.prompts, "trial", setting.domain, setting.start, looked, looked, ("trial",), ("trial",))
    for situation in (first, replace(first, feedback=again, rejected="trial", attempt=1)):
        method.request(situation)
    return method


def _method(name: str, setting: Setting, seed: int, person: Person | None) -> Formalizer | CommandSource:
    prompts, mode = Prompts(setting.prompts), parse_mode(name)
    tolerant = "tolerance" not in mode.without
    if mode.base == "edit":
        return PddlEdit(prompts, tolerant)
    if mode.base == "gen":
        return PddlGen(prompts, tolerant)
    if mode.base == "act":
        return ActionGen(prompts)
    if mode.base == "random":
        return RandomActions(seed)
    if person is None:
        raise UsageError("Nobody is there to play", "Mode human needs a person.", "Use 'pddlego play'.")
    return HumanActions(person)


def check_reader(setting: Setting, mode: str) -> None:
    """Raises `UsageError` if the built-in reader cannot play the setting in this mode."""
    from pddlego.models.reader import can_answer

    why = can_answer(setting.prompts, bool(setting.reading), parse_mode(mode).base)
    if why:
        raise UsageError(f"The built-in reader cannot play {setting.name} in mode {mode}", *why)


def make_planner(engine: str, timeout: float = 30.0, memory: int = 4096) -> ProcessPlanner:
    """The planner of a name. Raises `UsageError` if there is none of that name or its packages are missing."""
    if engine == "fast-downward":
        missing = [name for name in ("unified_planning", "up_fast_downward") if find_spec(name) is None]
        if missing:
            raise UsageError(
                "The planner fast-downward is not installed",
                f"Missing: {', '.join(missing)}.",
                "Install pddlego with its extra: pip install '.[fast-downward]'.",
            )
    if 0 < memory < MIN_MEMORY:
        why = f"The planner itself needs about {MIN_MEMORY} MiB, and {memory} were given."
        raise UsageError("--planner-memory is too small", why, "Give more, or 0 for no limit.")
    try:
        return ProcessPlanner(engine, timeout, memory)
    except ValueError as error:
        raise UsageError(f"'{engine}' is no planner", f"{error}.", "Choose one with --planner.") from error


def check_ladder(setting: Setting, planner: Planner) -> None:
    """Raises `SettingError` if the planner cannot plan for a goal of the ladder at all: no model could mend that."""
    for rung in setting.ladder:
        result = planner.solve(setting.domain, setting.start.with_goal(rung.goal), rung.search)
        if result.status is PlanStatus.INVALID:
            why = f"Goal '{rung.name}': {result.message}."
            raise SettingError(f"{setting.name} cannot be planned for", why, "Mend the domain or the goal.")
        if result.status is PlanStatus.CRASHED:
            raise EngineError("The planner does not work", f"{result.message}.", "Run 'pddlego doctor'.")


def make_game(setting: Setting, seed: int, java: str | None = None) -> Game:
    """The game of a setting. Raises `UsageError` for an unknown engine or seed, `EngineError` if the engine fails."""
    setting.check_seed(seed)
    values = {name: each.value for name, each in setting.parameters.items()}
    if setting.engine != BUILT_IN:
        return foreign_game(setting.engine, GameSpec(setting.game, values, seed, setting.fold))
    from pddlego.games.java import shared_machine
    from pddlego.games.textworld import TextWorldGame

    return TextWorldGame(setting.game, values, seed, setting.fold, lambda: shared_machine(java))


def episode_events(
    episode: Episode,
    game: Game,
    model: Model,
    planner: Planner,
    overseer: Overseer | None = None,
    restart: Restart | None = None,
    person: Person | None = None,
) -> Timed:
    """Play and yield every event. `overseer` is asked before things take effect, `person` types in mode human."""
    method = make_method(episode.mode, episode.setting, episode.seed, person)
    agent = Agent(episode, game, method, model, planner, overseer=overseer, restart=restart)
    return Timed(agent.run(), lambda: agent.seconds)


class Timed:
    """Events of an episode, with the seconds that it had taken when the last of them happened.

    Time stands still while an event is looked at. An episode that knows its own time says it with its `clock`; without
    one the time is taken here, and what a person took to judge is no part of it.
    """

    def __init__(self, events: Iterable[Event], clock: Callable[[], float] | None = None) -> None:
        self._events = iter(events)
        self._clock = clock
        self.seconds = 0.0

    def __iter__(self) -> Timed:
        return self

    def __next__(self) -> Event:
        return self._taken(lambda: next(self._events))

    def throw(self, error: BaseException) -> Event:
        """Raise an error inside the episode; the next event."""
        return self._taken(lambda: self._events.throw(error))  # type: ignore[attr-defined]

    def close(self) -> None:
        """Stop the episode."""
        close = getattr(self._events, "close", None)
        if close is not None:
            close()

    def _taken(self, happen: Callable[[], Event]) -> Event:
        began = time.monotonic()
        event = happen()
        if self._clock is not None:
            self.seconds = max(self.seconds, self._clock())
        else:
            self.seconds += time.monotonic() - began - (event.seconds if isinstance(event, Judged) else 0.0)
        return event


class Retold(Timed):
    """Events that happened elsewhere, with the times that were taken there."""

    def __init__(self, told: Iterable[tuple[Event, float]]) -> None:
        super().__init__(())
        self._told = iter(told)

    def __next__(self) -> Event:
        event, self.seconds = next(self._told)
        return event

    def throw(self, error: BaseException) -> Event:
        """Raise an error where the events come from; the next of them."""
        event: Event
        event, self.seconds = self._told.throw(error)  # type: ignore[attr-defined]
        return event


def follow(events: Iterable[Event], listeners: Iterable[Listener]) -> EpisodeEnded:
    """Hand every event to every listener, in order, with the seconds that the episode took (see `Timed`).

    Returns the last one. An interrupt that arrives while a listener works is passed on to the agent, which then ends
    its episode properly.
    """
    listening = list(listeners)
    source = events if isinstance(events, Timed) else Timed(events)
    last: Event | None = None
    pending: KeyboardInterrupt | None = None
    while True:
        try:
            event = source.throw(pending) if pending is not None else next(source)
        except StopIteration:
            break
        pending = None
        last = event
        try:
            for listen in listening:
                listen(event, source.seconds)
        except KeyboardInterrupt as error:
            if isinstance(event, EpisodeEnded):
                break
            pending = error
    assert isinstance(last, EpisodeEnded)
    return last


def open_run(
    root: Path, episode: Episode, model: Model, planner: Planner, restart: Restart | None = None
) -> tuple[RunFolder, JournalWriter]:
    """A new run folder for one episode, and its journal."""
    label = f"{episode.setting.name}-{episode.mode}-{_label(model.name)}-seed{episode.seed}"
    origin = {"resumed": {"source": restart.source, "step": restart.step}} if restart else {}
    run = RunFolder(root, label + "-resumed" * bool(restart), {**manifest(episode, model, planner), **origin})
    return run, run.episode(episode.seed)


def _label(name: str) -> str:
    """A model's name as part of a folder's name: no separators, no surprises."""
    return "".join(each if each.isalnum() or each in "-." else "_" for each in name)[:40].strip(".") or "model"


def prompt_texts(folder: str) -> Iterable[tuple[str, str]]:
    """The name and text of every prompt that a game with this folder of prompts may use."""
    for name in (*resources.names("prompts", ".j2"), *(f"{folder}/{each}" for each in _parts(folder))):
        yield name, resources.read("prompts", f"{name}.j2")


def _parts(folder: str) -> list[str]:
    found: Mapping[str, None] = {
        each.name[:-3]: None
        for root in resources.roots("prompts")
        for place in [resources.inside(root, "prompts", folder)]
        if place.is_dir()
        for each in place.iterdir()
        if each.name.endswith(".j2")
    }
    return sorted(found)
