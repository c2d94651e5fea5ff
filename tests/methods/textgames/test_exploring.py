"""Actions that are learned while a game is played, and from recorded games."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pddlego.episode.events import Event, Outcome
from pddlego.episode.trace import Trace
from pddlego.errors import UsageError
from pddlego.methods.textgames.events import ActionsCertified, Observed, Planned
from pddlego.methods.textgames.exploring import TRY, ExploringPolicy
from pddlego.methods.textgames.first_error import check_recorded
from pddlego.methods.textgames.lessons import Lessons, transition_between
from pddlego.methods.textgames.options import LEARN_ACTIONS, TRANSITIONS, TextGameOptions
from pddlego.methods.textgames.reader import ReaderModel
from pddlego.methods.textgames.settings import GameSetting
from pddlego.methods.textgames.transitions import learned_from_games
from pddlego.pddl import Problem
from pddlego.pddl.conditions import TypedName
from pddlego.planning import PlanStep, ProcessPlanner
from pddlego.runs.store import last_text
from tests.methods.textgames.grid_house import small_house
from tests.methods.textgames.playing import ended, of, play
from tests.planning.learning.test_learner import fact


def trace_of(events: list[Event]) -> Trace:
    return Trace((event, 0.0) for event in events)


def explore(setting: GameSetting, planner: ProcessPlanner, text: str = "") -> list[Event]:
    begun = replace(setting, sources={**setting.sources, TRANSITIONS.option: text})
    return play(begun, planner, small_house("pantry"), ReaderModel(), LEARN_ACTIONS, policy=ExploringPolicy)


def test_unknown_actions_are_tried_and_planned_with_in_the_next_game(
    coin: GameSetting, planner: ProcessPlanner
) -> None:
    first = explore(coin, planner)
    assert ended(first).outcome is Outcome.WON
    planned = of(first, Planned)
    assert planned[0].rung == TRY
    text = last_text(trace_of(first), TRANSITIONS.kind)
    assert Lessons.begin(coin, text).learned.unknown == ()
    second = explore(coin, planner, text)
    assert ended(second).outcome is Outcome.WON
    assert ended(second).usage.refused == 0
    assert not any(event.rung == TRY for event in of(second, Planned))


@pytest.mark.slow
def test_learned_actions_are_certified(coin: GameSetting, planner: ProcessPlanner) -> None:
    trace = check_recorded(trace_of(explore(coin, planner)), coin, TextGameOptions())
    (certified,) = trace.all(ActionsCertified)
    assert {one.split(": ")[1] for one in certified.certificates} <= {"same", "safe", "unknown"}
    assert "move: safe" in certified.certificates


@pytest.mark.parametrize("true", [False, True])
def test_plans_of_a_recorded_game_teach(coin: GameSetting, planner: ProcessPlanner, true: bool) -> None:
    trace = trace_of(play(coin, planner, small_house("pantry"), ReaderModel(), replan="every-step"))
    actions = {one.name: one for one in learned_from_games([(trace, coin, None)], true).actions}
    sent = [event.command.split(" ")[0] for event in trace.all(Observed) if event.command]
    assert actions["move"].successes == sent.count("move")
    assert actions["open_door"].successes == sent.count("open")
    assert "(connected ?from ?to ?d)" in map(str, actions["move"].open)
    assert str(actions["move"].optimistic.effect) == "(and (at ?to) (not (at ?from)))"


def problem(coin: GameSetting, facts: str) -> Problem:
    rooms = frozenset(TypedName(name, "location") for name in ("kitchen", "loc1", "pantry"))
    return replace(coin.start.problem, objects=rooms, facts=frozenset(map(fact, facts.split(", "))))


def test_what_is_seen_for_the_first_time_is_no_effect(coin: GameSetting) -> None:
    before = problem(coin, "at kitchen, visited kitchen, connected kitchen loc1 south")
    seen = "visited pantry, connected kitchen pantry south, item_at coin pantry, connected pantry kitchen north"
    after = problem(coin, f"at pantry, visited kitchen, {seen}")
    step = PlanStep("move", ("kitchen", "loc1", "south"))
    moved = transition_between(coin, before, step, after, [("loc1", "pantry")])
    assert moved is not None
    assert moved.after is not None
    assert str(moved.action) == "(move kitchen pantry south)"
    assert set(map(str, moved.after - moved.before)) == {"(at pantry)"}
    assert set(map(str, moved.before - moved.after)) == {"(at kitchen)"}
    assert fact("item_at coin pantry") in moved.before, "it was there before"
    assert fact("visited pantry") not in moved.before | moved.after, "a note of the agent, not of the game"


def test_a_refusal_for_an_unknown_reason_is_left_out(coin: GameSetting) -> None:
    before, after = (
        problem(coin, "at kitchen, connected kitchen pantry south"),
        problem(coin, "at pantry, connected kitchen pantry south"),
    )
    step = PlanStep("move", ("kitchen", "pantry", "south"))
    moved, refused = (transition_between(coin, before, step, one) for one in (after, None))
    assert moved is not None
    assert refused is not None
    for order in ((moved, refused), (refused, moved)):
        assert Lessons.begin(coin).with_all(order).transitions == (moved,)


def test_damaged_transitions_to_begin_with_are_an_error(coin: GameSetting) -> None:
    with pytest.raises(UsageError, match="transitions to begin with are invalid"):
        Lessons.begin(coin, '{"objects": []')
