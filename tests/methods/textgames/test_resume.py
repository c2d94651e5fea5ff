"""Going back to a step, with and without a correction: on the real engine, and on a game that has changed."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from examples.forgetful import Forgetful
from pddlego.episode import events as ev
from pddlego.episode.events import Event, Limits, Outcome
from pddlego.errors import JournalError, UsageError
from pddlego.evaluation.replay import Recorded, load_recorded, replay
from pddlego.methods.base import Tools
from pddlego.methods.registry import method
from pddlego.methods.textgames.events import Observed, Planned, Resumed
from pddlego.methods.textgames.options import TextGameOptions
from pddlego.methods.textgames.play import episode_events, setting_game
from pddlego.methods.textgames.reader import ReaderModel
from pddlego.methods.textgames.resume import (
    RecordedGame,
    check_not_over,
    knowledge_at,
    read_correction,
    recorded_game,
    restart_at,
    with_correction,
)
from pddlego.methods.textgames.settings import GameSetting
from pddlego.methods.textgames.world import EpisodeSetup, Restart
from pddlego.pddl import parse_problem
from pddlego.planning import ProcessPlanner
from pddlego.runs.cells import Cell
from pddlego.runs.folders import find_journal
from tests.evaluation.test_replay import RECORDED, RUNS
from tests.methods.textgames.grid_house import small_house
from tests.methods.textgames.playing import ForgetfulModel, ended, of, play
from tests.runs.stores import kept


@pytest.fixture(scope="module")
def failed(tmp_path_factory: pytest.TempPathFactory, coin: GameSetting, planner: ProcessPlanner) -> RecordedGame:
    """An episode that failed because the model never says that the kitchen has an exit to the west."""
    episode = EpisodeSetup(coin, 4, "edit", Limits(50), retries=1)
    events = episode_events(episode, setting_game(coin, 4), Forgetful("kitchen", "west"), planner)
    recorded = kept(tmp_path_factory.mktemp("runs"), coin, 4, "edit", events, retries=1)
    assert ended(recorded.trace.events).outcome is Outcome.NO_PLAN
    return game_of(recorded)


def game_of(recorded: Recorded) -> RecordedGame:
    return recorded_game(recorded.path, recorded.trace, recorded.played.setting)


def resumed(played: RecordedGame, restart: Restart, planner: ProcessPlanner) -> list[Event]:
    game = setting_game(played.setting, played.seed)
    episode = EpisodeSetup(played.setting, played.seed, played.trace.begun.mode, played.trace.begun.limits)
    return list(episode_events(episode, game, ReaderModel(), planner, restart=restart))


def first_recorded() -> RecordedGame:
    return game_of(load_recorded(find_journal(RECORDED / RUNS[0])))


def test_one_corrected_fact_brings_a_failed_episode_to_success(
    failed: RecordedGame, planner: ProcessPlanner, tmp_path: Path
) -> None:
    moment = restart_at(failed, 13)
    assert moment.rejected is not None
    assert "(at pantry)" in str(moment.latest)
    fact = "(connected kitchen corridor west)"
    text = str(moment.latest).replace("(:init", f"(:init {fact}")
    corrected = read_correction(failed, moment, text)
    assert corrected.feedback is None
    restart = with_correction(moment, corrected.problem)
    events = resumed(failed, restart, planner)
    (told,) = of(events, Resumed)
    assert told.added == (fact,)
    assert told.removed == ()
    assert told.source == str(failed.journal)
    assert ended(events).outcome is Outcome.WON
    assert [item.text for item in of(events, Observed)][:14] == [item.text for item in failed.trace.all(Observed)]
    assert of(events, Planned)[0].plan[0].command == "move west"
    assert of(events, ev.Asked)[0].call == 1


def test_a_resumed_episode_can_be_replayed_and_resumed(
    failed: RecordedGame, planner: ProcessPlanner, tmp_path: Path, coin: GameSetting
) -> None:
    moment = restart_at(failed, 13)
    corrected = parse_problem(str(moment.latest).replace("(:init", "(:init (connected kitchen corridor west)"))
    restart = with_correction(moment, corrected)
    events = resumed(failed, restart, planner)
    recorded = kept(tmp_path, coin, 4, "edit", events, retries=1)
    assert replay(recorded, planner).difference is None
    again = game_of(recorded)
    later = restart_at(again, 15)
    assert len(later.commands) == 15
    events = resumed(again, with_correction(later, None), planner)
    assert ended(events).outcome is Outcome.WON


def test_without_a_correction_the_model_is_asked_again(coin: GameSetting, planner: ProcessPlanner) -> None:
    recorded = first_recorded()
    moment = restart_at(recorded, 7)
    events = resumed(recorded, with_correction(moment, None), planner)
    (text,) = of(events, Resumed)
    assert (text.step, text.corrected, text.added) == (7, None, ())
    assert ended(events).outcome is Outcome.WON
    asked = of(events, ev.Asked)[0].messages[-1].content
    assert str(moment.before) in asked
    assert asked.count("The agent did:") == 8 - moment.covered_observations


def test_what_a_correction_does_not_cover_is_still_news(coin: GameSetting, planner: ProcessPlanner) -> None:
    """The model's last answer could not be read at all: the person's problem is of the step before."""
    before = parse_problem(
        "(define (problem h) (:domain coin-collector) (:objects kitchen corridor - location)"
        " (:init (at kitchen) (visited kitchen) (connected kitchen corridor east)) (:goal (have coin)))"
    )
    game = small_house()
    game.start()
    moved = game.step("move east").text
    restart = Restart("elsewhere", 1, (Observed(1, "move east", moved, ""),), before, 1, before)
    events = play(coin, planner, small_house(), ReaderModel(), restart=restart)
    asked = of(events, ev.Asked)[0].messages[-1].content
    assert asked.count("The agent did:") >= 2
    assert moved.split(".")[0] in asked


def test_another_game_is_noticed(coin: GameSetting, planner: ProcessPlanner) -> None:
    restart = Restart("elsewhere", 1, (Observed(1, "move east", "You are on the moon.", ""),), coin.start.problem, 1)
    events = play(coin, planner, small_house(), ReaderModel(), restart=restart)
    assert ended(events).outcome is Outcome.CRASHED
    assert "answers otherwise than recorded to 'move east'" in ended(events).message


@pytest.mark.parametrize("step", [-1, 22, 1000])
def test_there_is_no_such_step(step: int) -> None:
    recorded = first_recorded()
    with pytest.raises(UsageError, match=f"Unknown step {step}"):
        restart_at(recorded, step)


def test_a_recorded_problem_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    shutil.copytree(RECORDED / RUNS[0], tmp_path / "run")
    journal = find_journal(tmp_path / "run")
    changed = journal.read_text().replace('"text":"(define', '"text":"(defined \\u001b[31m')
    journal.write_text(changed)
    with pytest.raises(JournalError, match="is damaged"):
        restart_at(game_of(load_recorded(journal)), 3)


def test_a_game_that_was_over_does_not_go_on() -> None:
    recorded = first_recorded()
    check_not_over(recorded, 20)
    with pytest.raises(UsageError, match="Cannot resume from step 21"):
        check_not_over(recorded, 21)


def test_a_correction_with_faults_is_not_taken(failed: RecordedGame) -> None:
    moment = restart_at(failed, 13)
    result = read_correction(failed, moment, "(define (problem p) (:init (at moon)))")
    assert result.feedback is not None


def test_where_the_model_had_accepted_there_is_nothing_to_ask(planner: ProcessPlanner) -> None:
    recorded = first_recorded()
    moment = restart_at(recorded, 2)
    assert moment.covered_observations == 3
    events = resumed(recorded, with_correction(moment, None), planner)
    assert ended(events).outcome is Outcome.WON
    after = events[events.index(of(events, Resumed)[0]) + 1 :]
    assert next(item.type for item in after if item.type in ("asked", "planned")) == "planned"


def test_a_correction_stands_even_if_it_takes_more_for_a_plan(coin: GameSetting, planner: ProcessPlanner) -> None:
    """The person mends one of two errors; the model mends the other, in the problem that the person has mended."""
    recorded = first_recorded()
    moment = restart_at(recorded, 2)
    blocked = parse_problem(
        "(define (problem h) (:domain coin-collector) (:objects kitchen attic - location)"
        " (:init (at kitchen) (visited kitchen) (visited attic)) (:goal (have coin)))"
    )
    events = resumed(recorded, with_correction(moment, blocked), planner)
    assert [event.type for event in events if event.type in ("resumed", "rejected", "asked")][:3] == [
        "resumed",
        "rejected",
        "asked",
    ]
    assert "attic" in of(events, ev.Asked)[0].messages[-1].content


def test_the_steps_before_a_resumption_are_in_the_other_journal(
    planner: ProcessPlanner, coin: GameSetting, tmp_path: Path
) -> None:
    recorded = first_recorded()
    restart = with_correction(restart_at(recorded, 7), None)
    again = game_of(kept(tmp_path, coin, 12, "edit", resumed(recorded, restart, planner)))
    with pytest.raises(UsageError, match="Step 6 was only repeated here"):
        restart_at(again, 6)
    assert len(restart_at(again, 7).commands) == 7


def test_the_first_look_must_be_the_same(coin: GameSetting, planner: ProcessPlanner) -> None:
    restart = Restart("elsewhere", 0, (), coin.start.problem, 0, None, "You are on the moon.")
    events = play(coin, planner, small_house(), ReaderModel(), restart=restart)
    assert "answers otherwise than recorded to the first look" in ended(events).message


def test_what_the_plan_had_expected_is_known_after_a_resumption(coin: GameSetting, planner: ProcessPlanner) -> None:
    """The step at which the game answered otherwise is just where one goes back to."""
    wrong = {
        "objects": {"add": ["kitchen - location", "loc1 - location"]},
        "init": {
            "add": [
                "(at kitchen)",
                "(visited kitchen)",
                "(connected kitchen loc1 west)",
                "(connected loc1 kitchen east)",
            ]
        },
    }
    model = ForgetfulModel([json.dumps(wrong)])
    first = play(coin, planner, small_house(), model)
    before, refused = of(first, Observed)[:2]
    assert "was to make (at loc1) true" in refused.unforeseen
    problem = parse_problem(of(first, ev.Accepted)[0].text)
    again = ForgetfulModel([])
    play(
        coin,
        planner,
        small_house(),
        again,
        restart=Restart("elsewhere", 1, (refused,), problem, 1, first_observation=before.text),
    )
    assert again.requests[0].messages == model.requests[1].messages


def recorded_in(mode: str, root: Path, coin: GameSetting, planner: ProcessPlanner, carried: str = "") -> RecordedGame:
    """An episode of seed 4 that the method itself assembled, as `play` and `eval` do."""
    tools = Tools(ReaderModel(), planner, Limits(None), first_text=carried)
    cell = Cell("coin", mode, "reader", 4)
    events = method("textgames").run(cell, coin, TextGameOptions.model_validate({}), tools)
    return game_of(kept(root, coin, 4, mode, events))


@pytest.mark.parametrize("mode", ["edit-no-domain", "gen-no-domain-no-prompts"])
def test_a_variant_with_another_domain_is_resumed_with_that_domain(
    mode: str, coin: GameSetting, planner: ProcessPlanner, tmp_path: Path
) -> None:
    played = recorded_in(mode, tmp_path, coin, planner)
    first = restart_at(played, 0)
    assert "(at kitchen)" in str(first.latest)
    extended = str(first.latest).replace("(:init", "(:init (connected kitchen corridor south)")
    corrected = read_correction(played, first, extended.replace("kitchen - location", "kitchen corridor - location"))
    assert corrected.faults == ()
    assert "visited" in str(played.setting.start.ladder[0].goal)
    item = str(first.latest).replace("(:init", "(:init (have coin)")
    assert any("have" in fault for fault in read_correction(played, first, item).faults)
    events = resumed(played, with_correction(first, corrected.problem), planner)
    assert of(events, Planned)[0].plan[0].action == "(move kitchen corridor south)"


def test_an_episode_that_began_with_a_domain_is_resumed_with_it(
    coin: GameSetting, planner: ProcessPlanner, tmp_path: Path
) -> None:
    domain = coin.start.domain.text.replace("(define (domain coin-collector)", "(define (domain carried)")
    played = recorded_in("full", tmp_path, coin, planner, carried=domain)
    first = restart_at(played, 0)
    assert first.written == domain
    assert first.before.domain == "carried"
    assert knowledge_at(played, first).domain.name == "carried"
    events = resumed(played, with_correction(first, None), planner)
    assert ended(events).outcome is Outcome.WON
    assert not [event for event in of(events, ev.Accepted) if event.kind == "domain"]
