"""The time of an episode: what the journal, the last event and the screen say is one time, and it never runs back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from pddlego.episode import events as ev
from pddlego.episode.approval import ACCEPTED, Decision, Question
from pddlego.episode.events import Event
from pddlego.episode.trace import Trace
from pddlego.methods.textgames.events import Observed
from pddlego.methods.textgames.reader import ReaderModel
from pddlego.methods.textgames.settings import GameSetting
from pddlego.pddl import Domain, Problem
from pddlego.planning import Planner, PlanResult, ProcessPlanner, Search
from pddlego.runs.journal import Timed, follow
from tests.clock import FakeClock
from tests.methods.textgames.grid_house import small_house
from tests.methods.textgames.playing import agent

LOOKED, THOUGHT, PLANNED = 50.0, 300.0, 7.0
"""Seconds for which each event is looked at, a person thinks, and a planning call takes."""


@dataclass
class SlowPerson:
    """Accepts every plan, after some thinking."""

    clock: FakeClock

    def wants(self, what: str) -> bool:
        return what == "plans"

    def decide(self, question: Question) -> Decision:
        self.clock.advance(THOUGHT)
        return ACCEPTED


@dataclass
class SlowPlanner:
    """Plans as another planner does, and takes its time."""

    clock: FakeClock
    planner: Planner
    description: Mapping[str, Any] = field(default_factory=dict)

    def solve(self, domain: Domain, problem: Problem, search: Search, seconds: float | None = None) -> PlanResult:
        self.clock.advance(PLANNED)
        return self.planner.solve(domain, problem, search)

    def close(self) -> None:
        """The planner belongs to the tests."""


def test_who_looks_and_who_judges_takes_no_time_of_the_episode(coin: GameSetting, planner: ProcessPlanner) -> None:
    clock = FakeClock()
    text: list[tuple[Event, float]] = []

    def slowly(event: Event, seconds: float) -> None:
        clock.advance(LOOKED)
        text.append((event, seconds))

    slow = SlowPlanner(clock, planner)
    playing = agent(coin, slow, small_house(), ReaderModel(), approver=SlowPerson(clock), clock=clock)
    clock.advance(20.0)  # the game is made, and somebody opens the journal
    last = follow(Timed(playing.run(), lambda: playing.seconds), [slowly])
    judged = [event for event, _ in text if isinstance(event, ev.Judged)]
    assert judged and all(item.seconds == THOUGHT for item in judged)
    times = [seconds for _, seconds in text]
    assert times == sorted(times)
    assert last.usage.seconds % PLANNED == 0 < last.usage.seconds, "not a part of the waiting is in it"
    seconds_of_steps = [step.after.seconds for step in Trace(text).steps]
    assert seconds_of_steps == sorted(seconds_of_steps)


def test_an_interrupt_reaches_the_episode() -> None:
    def episode() -> Iterator[Event]:
        try:
            yield Observed(0, None, "a", "a")
        except KeyboardInterrupt:
            yield Observed(1, "caught", "a", "a")

    timed = Timed(episode())
    next(timed)
    caught = timed.throw(KeyboardInterrupt())
    assert isinstance(caught, Observed)
    assert caught.command == "caught"
