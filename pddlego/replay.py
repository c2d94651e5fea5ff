"""Plays a recorded episode again, without any model call, and compares."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any

from pddlego.episodes import episode_events
from pddlego.errors import EngineError
from pddlego.events import (
    Answered,
    EpisodeEnded,
    Event,
    Judged,
    Observed,
    Outcome,
    Planned,
    Resumed,
    Retrying,
    event_value,
)
from pddlego.formalize.human import typed_before
from pddlego.games import Game
from pddlego.journal import recorded_calls
from pddlego.models.transcript import TranscriptModel
from pddlego.oversight import RecordedOverseer, Verdict
from pddlego.pddl import parse_problem
from pddlego.planning import Planner
from pddlego.recorded import Recorded
from pddlego.restart import OTHERWISE, Repeated, Restart

FROM_OUTSIDE = frozenset({Outcome.INTERRUPTED, Outcome.MODEL_ERROR, Outcome.CRASHED})
"""Endings that came from outside: nothing in the record brings them about again."""

SHARED = re.compile(r"second|budget of")
"""In the message of a budget that an old journal does not name: time, or the budget of a whole evaluation, which do not
come again as calls and tokens do."""


@dataclass(frozen=True)
class Difference:
    """The first thing that is not what it was: where in the record, which field, what it was and what it is now."""

    step: int
    kind: str
    field: str
    recorded: str
    now: str


@dataclass(frozen=True)
class Replayed:
    """What came of playing again: how many events are the same, and the first difference, if there is one."""

    same: int
    difference: Difference | None = None


def replay(recorded: Recorded, game: Game, planner: Planner) -> Replayed:
    """Play a recorded episode again with its answers and its person's decisions, up to the first difference.

    Times are not compared, and neither is an ending that came from outside: a Ctrl-C, a failing endpoint, the budget of
    an evaluation. Raises `KeyboardInterrupt` if it is interrupted itself, and `EngineError` if the engine fails now.
    """
    same, step = 0, 0
    with closing(_again(recorded, game, planner)) as events:
        for then in _comparable(recorded):
            now = next(events, None)
            _check_itself(then, now)
            if isinstance(then, Observed):
                step = then.step
            difference = _difference(step, then, now)
            if difference is not None:
                return Replayed(same, difference)
            same += 1
    return Replayed(same)


def _comparable(recorded: Recorded) -> list[Event]:
    events: list[Event] = [each for each in recorded.events if not isinstance(each, Retrying)]
    last = events[-1]
    if isinstance(last, EpisodeEnded):
        spent = last.cause in ("seconds", "evaluation") or (
            last.outcome is Outcome.BUDGET and not last.cause and SHARED.search(last.message)
        )
        if last.outcome in FROM_OUTSIDE or spent:
            events.pop()
        if last.cause == "seconds" and isinstance(events[-1], Planned) and events[-1].rung is None:
            events.pop()  # the clock cut it short
    return events


def _check_itself(then: Event, now: Event | None) -> None:
    """What ends the replay, and not the episode in it."""
    if isinstance(now, EpisodeEnded) and not isinstance(then, EpisodeEnded):
        if now.outcome is Outcome.INTERRUPTED:
            raise KeyboardInterrupt
        if now.outcome is Outcome.CRASHED and not now.message.startswith(OTHERWISE):
            raise EngineError("The episode could not be played to its end", now.message, "Run 'pddlego doctor'.")


def _again(recorded: Recorded, game: Game, planner: Planner) -> Any:
    """The events of the recorded episode as it is played again."""
    told = recorded.events
    judged = [(each.what, Verdict(each.verdict, each.text)) for each in told if isinstance(each, Judged)]
    return episode_events(
        recorded.episode,
        game,
        TranscriptModel(recorded_calls(told), str(recorded.journal), recorded.model.name),
        planner,
        overseer=RecordedOverseer(judged),
        restart=restart_of(told),
        person=typed_before(_typed(told)),
    )


def _typed(told: Sequence[Event]) -> list[str]:
    """The commands that a person typed: those before a resumption were repeated, and not typed."""
    resumed = next((number for number, each in enumerate(told) if isinstance(each, Resumed)), 0)
    return [each.command or "" for each in told[resumed:] if isinstance(each, Observed) and each.step and not each.free]


def restart_of(events: tuple[Event, ...]) -> Restart | None:
    """Where a recorded episode began, if it was resumed itself."""
    resumed = next((each for each in events if isinstance(each, Resumed)), None)
    if resumed is None:
        return None
    before = events[: events.index(resumed)]
    observed = [each for each in before if isinstance(each, Observed)]
    commands = [
        Repeated(each.command or "", each.text, each.unforeseen, each.free)
        for each in observed
        if each.command is not None
    ]
    corrected = None if resumed.corrected is None else parse_problem(resumed.corrected)
    known, look = resumed.known, observed[0].text if observed else ""
    return Restart(resumed.source, resumed.step, commands, parse_problem(resumed.before), known, corrected, look)


def _difference(step: int, then: Event, now: Event | None) -> Difference | None:
    if now is None:
        return Difference(step, then.type, "event", then.type, "nothing more happens")
    if then.type != now.type:
        return Difference(step, then.type, "event", _brief(then), _brief(now))
    for field, before, after in _unlike(event_value(_timeless(then)), event_value(_timeless(now))):
        return Difference(step, then.type, field, str(before), str(after))
    return None


def _timeless(event: Event) -> Event:
    """The event without what differs from run to run: seconds."""
    if isinstance(event, (Answered, Judged)):
        return replace(event, seconds=0.0)
    if isinstance(event, Planned):
        return replace(event, tried=tuple(replace(each, seconds=0.0) for each in event.tried))
    if isinstance(event, EpisodeEnded):
        return replace(event, tally=replace(event.tally, seconds=0.0, model_seconds=0.0))
    return event


def _unlike(then: Any, now: Any, path: str = "") -> Iterator[tuple[str, Any, Any]]:
    """The leaves in which two JSON values differ."""
    if isinstance(then, Mapping) and isinstance(now, Mapping):
        for key in then:
            yield from _unlike(then[key], now.get(key), f"{path}.{key}" if path else key)
    elif isinstance(then, list) and isinstance(now, list):
        for number, (before, after) in enumerate(zip_longest(then, now)):
            yield from _unlike(before, after, f"{path}[{number}]")
    elif isinstance(then, str) and isinstance(now, str) and then != now:
        lines = zip_longest(then.split("\n"), now.split("\n"))
        number, pair = next((number, pair) for number, pair in enumerate(lines, start=1) if pair[0] != pair[1])
        yield (f"{path}, line {number}" if "\n" in then else path), pair[0], pair[1]
    elif then != now:
        yield path, then, now


def _brief(event: Event) -> str:
    if isinstance(event, EpisodeEnded):
        return f"{event.type} ({event.outcome.value}{': ' * bool(event.message)}{event.message})"
    return event.type
