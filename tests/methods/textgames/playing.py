"""Plays an episode of the agent's own tests, and models that err in one way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pddlego.episode.events import Ended, Event, Limits
from pddlego.methods.textgames.agent import Agent, Agents
from pddlego.methods.textgames.games import Game
from pddlego.methods.textgames.options import TextGameOptions
from pddlego.methods.textgames.play import make_method
from pddlego.methods.textgames.reader import ReaderModel
from pddlego.methods.textgames.settings import GameSetting
from pddlego.methods.textgames.world import EpisodeSetup
from pddlego.models import Completion, Model, Request
from pddlego.planning import Planner


def play(
    setting: GameSetting,
    planner: Planner,
    game: Game,
    model: Model,
    mode: str = "edit",
    limits: Limits | None = None,
    **options: Any,
) -> list[Event]:
    return list(agent(setting, planner, game, model, mode, limits, **options).run())


def agent(
    setting: GameSetting,
    planner: Planner,
    game: Game,
    model: Model,
    mode: str = "edit",
    limits: Limits | None = None,
    retries: int = 5,
    **options: Any,
) -> Agent:
    played = TextGameOptions(**{name: options.pop(name) for name in TextGameOptions.model_fields if name in options})
    episode = EpisodeSetup(setting, 1, mode, limits or Limits(50), retries, played)
    asked = {name: options.pop(name) for name in ("approver", "advisers") if name in options}
    return Agent(episode, game, Agents(make_method(mode, setting, 1), model, planner, **asked), **options)


def ended(events: Sequence[Event]) -> Ended:
    last = events[-1]
    assert isinstance(last, Ended)
    assert sum(isinstance(event, Ended) for event in events) == 1
    return last


def of(events: Sequence[Event], kind: type[Any]) -> list[Any]:
    return [event for event in events if isinstance(event, kind)]


@dataclass
class BrokenModel:
    """Answers like the reader until a call, then raises."""

    error: BaseException
    after: int = 0
    reader: ReaderModel = field(default_factory=ReaderModel)
    calls: int = 0
    name: str = "broken"
    description: Mapping[str, Any] = field(default_factory=dict)

    def complete(self, request: Request) -> Completion:
        self.calls += 1
        if self.calls > self.after:
            raise self.error
        return self.reader.complete(request)


@dataclass
class ForgetfulModel:
    """The reader, but its first answers are the given ones, which ended as `finish` says. Keeps the requests."""

    first: list[str]
    finish: str = "stop"
    reader: ReaderModel = field(default_factory=ReaderModel)
    requests: list[Request] = field(default_factory=list)
    name: str = "forgetful"
    description: Mapping[str, Any] = field(default_factory=dict)

    def complete(self, request: Request) -> Completion:
        self.requests.append(request)
        if len(self.requests) <= len(self.first):
            return Completion(self.first[len(self.requests) - 1], 10, 5, finish=self.finish)
        return self.reader.complete(request)
