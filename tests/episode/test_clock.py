"""The time of an episode: what the journal, the last event and the screen say is one time, and it never runs back."""

from __future__ import annotations

import time
from collections.abc import Iterator

from pddlego.episode import events as ev
from pddlego.episode.approval import ACCEPTED, Decision, Question
from pddlego.episode.events import Event
from pddlego.episode.trace import Trace
from pddlego.methods.textgames.events import Observed
from pddlego.methods.textgames.reader import ReaderModel
from pddlego.methods.textgames.settings import GameSetting
from pddlego.planning import ProcessPlanner
from pddlego.runs.journal import Timed, follow
from tests.methods.textgames.grid_house import small_house
from tests.methods.textgames.playing import agent

LOOKED = 0.05
"""Seconds for which each event is looked at."""


class SlowPerson:
    """Accepts every plan, after some thinking."""

    def wants(self, what: str) -> bool:
        return what == "plans"

    def decide(self, question: Question) -> Decision:
        time.sleep(0.3)
        return ACCEPTED


def test_who_looks_and_who_judges_takes_no_time_of_the_episode(coin: GameSetting, planner: ProcessPlanner) -> None:
    text: list[tuple[Event, float]] = []

    def slowly(event: Event, seconds: float) -> None:
        time.sleep(LOOKED)
        text.append((event, seconds))

    playing = agent(coin, planner, small_house(), ReaderModel(), approver=SlowPerson())
    time.sleep(0.2)  # the game is made, and somebody opens the journal
    last = follow(playing.run(), [slowly])
    judged = [event for event, _ in text if isinstance(event, ev.Judged)]
    assert all(item.seconds >= 0.3 for item in judged)
    waited = LOOKED * len(text) + sum(item.seconds for item in judged) + 0.2
    times = [seconds for _, seconds in text]
    assert times == sorted(times)
    assert last.usage.seconds <= times[-1]
    assert times[-1] - last.usage.seconds < waited / 2, "not a part of the waiting is in it"
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
