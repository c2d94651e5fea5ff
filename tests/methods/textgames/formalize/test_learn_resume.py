"""An episode of mode `learn` that is resumed or replayed goes on exactly as the uninterrupted one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pddlego.episode.events import Answered, Asked, Ended, Event, Limits, Outcome
from pddlego.episode.trace import Trace
from pddlego.evaluation.replay import replay
from pddlego.methods.base import Tools
from pddlego.methods.registry import method
from pddlego.methods.textgames.events import Observed, Resumed
from pddlego.methods.textgames.loading import load
from pddlego.methods.textgames.options import TextGameOptions
from pddlego.methods.textgames.reader import ReaderModel
from pddlego.methods.textgames.reference_model import NoisyReader
from pddlego.methods.textgames.resume import recorded_game, restart_at
from pddlego.methods.textgames.settings import GameSetting
from pddlego.methods.textgames.world import Restart
from pddlego.models import Model
from pddlego.models.base import ScriptedModel
from pddlego.models.transcript import TranscriptModel
from pddlego.pddl import Domain, Problem
from pddlego.planning import PlanResult, ProcessPlanner, Search
from pddlego.runs.cells import Cell
from pddlego.runs.journal import event_value
from pddlego.runs.store import last_text
from tests.methods.textgames.playing import ended
from tests.methods.textgames.reading.rule_writer import RuleWriter
from tests.runs.stores import kept
from tests.traces import trace_of

GAMES = ("coin", "mapreader", "twc", "cooking-easy")


class Remembering:
    """A planner that plans for each problem once."""

    def __init__(self, planner: ProcessPlanner) -> None:
        self._planner, self._results = planner, dict[tuple[Domain, Problem, Search], PlanResult]()
        self.description = planner.description

    def close(self) -> None:
        pass

    def solve(self, domain: Domain, problem: Problem, search: Search, seconds: float | None = None) -> PlanResult:
        key = domain, problem, search
        if key not in self._results:
            self._results[key] = self._planner.solve(domain, problem, search)
        return self._results[key]


@pytest.fixture(scope="module")
def remembering(planner: ProcessPlanner) -> Remembering:
    return Remembering(planner)


def played(
    game: str, model: Model, planner: Remembering, restart: Restart | None = None, carried: str = ""
) -> list[Event]:
    cell = Cell(game, "learn", model.name, 203)
    tools = Tools(model, planner, Limits(None), first_text=carried, restart=restart)
    return list(method("textgames").run(cell, load(game), TextGameOptions(), tools))


def shown(events: Sequence[Event]) -> list[dict[str, Any]]:
    """The events without times, and without the tokens of answers, which cost nothing if they are repeated."""
    values = []
    for event in events:
        value = event_value(event)
        if isinstance(event, Ended):
            value["usage"] = {key: value["usage"][key] for key in ("steps", "refused", "calls", "characters")}
        for tried in value.get("tried", []):
            del tried["seconds"]
        value.get("completion", {}).pop("seconds", None)
        values.append(value)
    return values


def resumed(trace: Trace, end: int, game: str, planner: Remembering) -> Trace:
    """The episode that goes on where the journal `trace` was cut off after `end` events, with the same answers."""
    cut = trace.until(end)
    restart = restart_at(recorded_game(Path("cut.jsonl"), cut, load(game)), cut.all(Observed)[-1].step)
    later = [(call.request, call.completion) for call in trace.calls if call.place >= end]
    return trace_of(played(game, TranscriptModel(later, "the rest"), planner, restart))


@pytest.mark.slow
@pytest.mark.parametrize("is_wrong", [False, True])
@pytest.mark.parametrize("game", GAMES)
def test_wherever_a_journal_was_cut_off_the_rest_is_the_same(
    game: str, is_wrong: bool, remembering: Remembering
) -> None:
    model = NoisyReader(0.6, seed=2, kinds=("wrong-rule",)) if is_wrong else ReaderModel()
    trace = trace_of(played(game, model, remembering))
    assert is_wrong == any(call.completion.mistake for call in trace.calls)
    for end in range(2, len(trace), 3):
        again = resumed(trace, end, game, remembering)
        place = end - isinstance(trace.events[end - 1], Asked)  # a request without an answer is sent again
        assert again.place(Resumed) == place, (end, again.events[-1])
        assert shown(again.since(place)) == shown(trace.since(place - 1)), end


@pytest.mark.slow
def test_a_resumed_episode_is_replayed_and_resumed_again(
    coin: GameSetting, planner: ProcessPlanner, remembering: Remembering, tmp_path: Path
) -> None:
    carried = last_text(trace_of(played("coin", ReaderModel(), remembering)), "rules")
    trace = trace_of(played("coin", RuleWriter(), remembering, carried=carried.split("\n\n[[reading]]")[0]))
    end = len(trace) - 4
    assert 0 < trace.place(Answered) < end < len(trace)
    again = resumed(trace, end, "coin", remembering)
    assert shown(again.since(end)) == shown(trace.since(end - 1))
    answers = again.all(Answered)
    assert [answer.completion.from_cache for answer in answers] == [True] * len(answers)
    recorded = kept(tmp_path, coin, 203, "learn", again.events)
    assert replay(recorded, planner).difference is None
    twice = resumed(recorded.trace, len(again) - 2, "coin", remembering)
    assert shown(twice.since(len(again) - 3)) == shown(again.since(len(again) - 3))


def test_a_game_that_answers_otherwise_is_noticed(remembering: Remembering) -> None:
    trace = trace_of(played("coin", ReaderModel(), remembering))
    place = trace.place(Observed, where=lambda event: event.step == 2)
    other = replace(trace.all(Observed)[2], text="You are on the moon.")
    changed = trace_of([*trace.events[:place], other, *trace.events[place + 1 :]])
    again = resumed(changed, len(trace) - 2, "coin", remembering)
    assert "answers otherwise than recorded" in ended(again.events).message


def test_a_failed_decision_is_made_again(coin: GameSetting, remembering: Remembering) -> None:
    """The repetition ends with what the game said, so that a better model can go on."""
    trace = trace_of(played("coin", ScriptedModel(("no rules",)), remembering))
    assert ended(trace.events).outcome is Outcome.NO_PLAN
    restart = restart_at(recorded_game(Path("x.jsonl"), trace, coin), 0)
    assert ended(played("coin", ReaderModel(), remembering, restart)).outcome is Outcome.WON


def test_an_interrupted_decision_keeps_its_answers(remembering: Remembering) -> None:
    trace = trace_of(played("coin", ReaderModel(), remembering))
    end = trace.place(Answered) + 1
    stopped = trace_of([*trace.events[:end], Ended(Outcome.INTERRUPTED, "", 0.0)])
    again = resumed(stopped, end + 1, "coin", remembering)
    assert again.place(Resumed) == end
    restart = restart_at(recorded_game(Path("x.jsonl"), stopped, load("coin")), stopped.all(Observed)[-1].step)
    assert restart.repeated is not None
    assert len(restart.repeated.calls) == len(stopped.calls)


class Windowed(ReaderModel):
    """The built-in reader as a model with a small window."""

    window = 2_200


@pytest.mark.slow
def test_shortened_requests_are_repeated_and_replayed(remembering: Remembering, tmp_path: Path) -> None:
    trace = trace_of(played("twc", Windowed(), remembering))
    assert ended(trace.events).outcome is Outcome.WON
    assert any("the request was too long for 2,200 tokens" in call.completion.note for call in trace.calls)
    end = len(trace) - 2
    again = resumed(trace, end, "twc", remembering)
    assert again.place(Resumed) == end, again.events[-1]
    recorded = kept(tmp_path, load("twc"), 203, "learn", trace.events)
    assert replay(recorded, remembering).difference is None
