"""The time of an episode: what the journal, the last event and the screen say is one time, and it never runs back."""

from __future__ import annotations

import time
from collections.abc import Iterator

from pddlego import events as ev
from pddlego.display.frames import Film
from pddlego.episodes import Retold, Timed, follow
from pddlego.events import Event
from pddlego.models.reader import ReaderModel
from pddlego.oversight import ACCEPTED, Question, Verdict
from pddlego.planning import ProcessPlanner
from pddlego.settings import Setting
from tests.grid_house import small_house
from tests.playing import agent

LOOKED = 0.05
"""Seconds for which each event is looked at."""


class SlowPerson:
    """Accepts every plan, after some thinking."""

    def wants(self, what: str) -> bool:
        return what == "plans"

    def judge(self, question: Question) -> Verdict:
        time.sleep(0.3)
        return ACCEPTED


def test_who_looks_and_who_judges_takes_no_time_of_the_episode(coin: Setting, planner: ProcessPlanner) -> None:
    told: list[tuple[Event, float]] = []

    def slowly(event: Event, seconds: float) -> None:
        time.sleep(LOOKED)
        told.append((event, seconds))

    playing = agent(coin, planner, small_house(), ReaderModel(), overseer=SlowPerson())
    time.sleep(0.2)  # the game is made, and somebody opens the journal
    last = follow(playing.run(), [slowly])
    judged = [event for event, _ in told if isinstance(event, ev.Judged)]
    assert all(each.seconds >= 0.3 for each in judged)
    waited = LOOKED * len(told) + sum(each.seconds for each in judged) + 0.2
    times = [seconds for _, seconds in told]
    assert times == sorted(times)
    assert last.tally.seconds <= times[-1]
    assert times[-1] - last.tally.seconds < waited / 2, "not a part of the waiting is in it"
    film = Film()
    film.add(told)
    assert [each.after.seconds for each in film.frames] == sorted(each.after.seconds for each in film.frames)


def test_what_was_played_elsewhere_keeps_its_times() -> None:
    told = [(ev.Observed(step, None, "a", "a"), step / 10) for step in range(3)]
    retold = Retold(told)
    assert [(event, retold.seconds) for event in retold] == told


def test_an_interrupt_reaches_the_episode() -> None:
    def episode() -> Iterator[Event]:
        try:
            yield ev.Observed(0, None, "a", "a")
        except KeyboardInterrupt:
            yield ev.Observed(1, "caught", "a", "a")

    timed = Timed(episode())
    next(timed)
    caught = timed.throw(KeyboardInterrupt())
    assert isinstance(caught, ev.Observed)
    assert caught.command == "caught"


def test_an_error_is_raised_where_the_events_come_from() -> None:
    def told() -> Iterator[tuple[Event, float]]:
        try:
            yield ev.Observed(0, None, "a", "a"), 0.5
        except KeyboardInterrupt:
            yield ev.Observed(1, "stop", "b", "b"), 0.75

    retold = Retold(told())
    next(retold)
    last = retold.throw(KeyboardInterrupt())
    assert isinstance(last, ev.Observed)
    assert (last.step, retold.seconds) == (1, 0.75)
