"""Two recorded runs are played again with the real engine; every kind of change is noticed.

`pddlego play coin --seed 12` and `pddlego play cooking-easy --mode gen --seed 3` made them; whoever changes a prompt on
purpose records them again.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, cast

import pytest

from pddlego.episode.approval import ACCEPTED, Decision, Question
from pddlego.episode.events import Ended, Judged, Limits, Outcome, Started
from pddlego.episode.trace import Trace
from pddlego.errors import EngineError, JournalError, UsageError
from pddlego.evaluation.replay import Recorded, Replayed, SettingLoader, load_recorded, replay
from pddlego.methods.textgames.events import Observed
from pddlego.methods.textgames.formalize.act import typed_before
from pddlego.methods.textgames.games import Game, Observation
from pddlego.methods.textgames.play import episode_events
from pddlego.methods.textgames.reader import ReaderModel
from pddlego.methods.textgames.resume import recorded_game, restart_at, with_correction
from pddlego.methods.textgames.settings import GameSetting
from pddlego.methods.textgames.world import EpisodeSetup
from pddlego.models.base import ScriptedModel
from pddlego.planning import ProcessPlanner
from pddlego.runs.folders import EpisodeFilter, find_journal, find_journals, find_run, newest_run
from tests.methods.textgames.grid_house import GridHouse, small_house
from tests.runs.stores import kept as recorded_in

RECORDED = Path(__file__).parent.parent / "recorded"
RUNS = ("coin-edit-reader-seed12", "cooking-easy-gen-reader-seed3")


def again(journal: Path, planner: ProcessPlanner) -> Replayed:
    return replay(load_recorded(journal), planner)


def replay_in(game: Game, recorded: Recorded, planner: ProcessPlanner) -> Replayed:
    """Play a recorded episode again in another game than its setting's."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pddlego.methods.textgames.play.setting_game", lambda *_: game)
        return replay(recorded, planner)


@pytest.mark.parametrize("run", RUNS)
def test_a_recorded_run_comes_out_the_same(run: str, planner: ProcessPlanner) -> None:
    journal = find_journal(RECORDED / run)
    replayed = again(journal, planner)
    assert replayed.difference is None
    assert replayed.same == len(journal.read_text().splitlines())


CHANGES = [
    ('"step":2,"command":"move north"', '"step":2,"command":"move south"', "observed", "command"),
    ("revealing the laundry room", "revealing the laundry rum", "observed", "text"),
    (r'"rung":"be in a room not yet visited"', '"rung":"have the coin"', "planned", "rung"),
    (r'"added":\["kitchen - location"', '"added":["cellar - location"', "accepted", "added[0]"),
    ("Answer with one JSON object", "Answer with two JSON objects", "asked", "messages[0].content"),
    (r'"outcome":"won"', '"outcome":"lost"', "ended", "outcome"),
    ('"here":"at"', '"here":"in"', "started", "details.map.here"),
]


@pytest.mark.parametrize(("old", "new", "kind", "field"), CHANGES)
def test_what_was_changed_is_found(
    tmp_path: Path, planner: ProcessPlanner, old: str, new: str, kind: str, field: str
) -> None:
    shutil.copytree(RECORDED / RUNS[0], tmp_path / "run")
    journal = find_journal(tmp_path / "run")
    text, count = re.subn(old, new, journal.read_text(), count=1)
    assert count == 1
    journal.write_text(text)
    difference = again(journal, planner).difference
    assert difference is not None
    assert (difference.kind, difference.field.partition(",")[0]) == (kind, field)


def test_a_run_that_was_broken_off_is_the_same_as_far_as_it_goes(tmp_path: Path, planner: ProcessPlanner) -> None:
    shutil.copytree(RECORDED / RUNS[0], tmp_path / "run")
    journal = find_journal(tmp_path / "run")
    lines = journal.read_text().splitlines(keepends=True)
    journal.write_text("".join(lines[:20]) + lines[20][:30])
    assert again(journal, planner) == Replayed(20)
    stopped = re.sub(r'"outcome":"\w+"', f'"outcome":"{Outcome.INTERRUPTED.value}"', lines[-1])
    journal.write_text("".join([*lines[:20], stopped]))
    assert again(journal, planner) == Replayed(20)


def test_an_unfinished_beginning_is_no_episode(tmp_path: Path) -> None:
    shutil.copytree(RECORDED / RUNS[0], tmp_path / "run")
    journal = find_journal(tmp_path / "run")
    journal.write_text("")
    with pytest.raises(JournalError, match="holds no episode"):
        load_recorded(journal)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda kept: kept.clear(), "is damaged"),
        (lambda kept: kept["configuration"].update(planner=3), "is damaged"),
        (lambda kept: kept["configuration"].update(settings=[]), "is damaged"),
        (lambda kept: kept["configuration"].update(settings={}), "is damaged"),
        (lambda kept: kept["configuration"].update(dict.fromkeys(kept["configuration"], 17)), "is damaged"),
        (lambda kept: kept.update(schema=1), "another version of pddlego"),
        (lambda kept: kept["configuration"]["settings"]["coin"].update(method="chess"), "cannot be played again"),
        (lambda kept: kept["configuration"]["settings"]["coin"]["options"].update(max_steps=0), "is damaged"),
    ],
)
def test_a_manifest_that_is_none_is_refused(tmp_path: Path, change: object, says: str) -> None:
    shutil.copytree(RECORDED / RUNS[0], tmp_path / "run")
    place = tmp_path / "run" / "manifest.json"
    kept = json.loads(place.read_text())
    assert callable(change)
    change(kept)
    place.write_text(json.dumps(kept))
    with pytest.raises(UsageError, match=says):
        load_recorded(find_journal(tmp_path / "run"))
    place.unlink()
    with pytest.raises(UsageError, match=r"manifest\.json: No such file"):
        load_recorded(find_journal(tmp_path / "run"))


def test_files_that_have_changed_since_are_named(tmp_path: Path) -> None:
    shutil.copytree(RECORDED / RUNS[0], tmp_path / "run")
    place = tmp_path / "run" / "manifest.json"
    kept = json.loads(place.read_text())
    kept["configuration"]["settings"]["coin"]["files"] |= {"envs/coin.toml": "0" * 16, "envs/gone.toml": "0" * 16}
    place.write_text(json.dumps(kept))
    assert {"envs/coin.toml", "envs/gone.toml"} <= set(load_recorded(find_journal(tmp_path / "run")).changed)


def test_run_folders_and_journals_are_found(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no runs"):
        newest_run(tmp_path / "nowhere")
    for name, seeds in (("old", (1,)), ("new", (2, 10, 2))):
        (tmp_path / name / "episodes").mkdir(parents=True)
        for number, seed in enumerate(seeds):
            event = {"event": {"setting": "coin", "mode": "edit", "seed": seed}}
            (tmp_path / name / "episodes" / f"coin-{number}-seed{seed}.jsonl").write_text(json.dumps(event) + "\n")
    for path in ("old/episodes/coin-0-seed1.jsonl", "old/episodes"):
        os.utime(tmp_path / path, (1, 1))  # files of one moment may have the same time
    assert newest_run(tmp_path) == tmp_path / "new"
    assert newest_run(tmp_path, lambda path: path.name == "old") == tmp_path / "old"
    assert find_run("old", tmp_path) == tmp_path / "old"
    assert find_run("old/episodes/coin-0-seed1.jsonl", tmp_path).is_file()
    assert find_run("ol", tmp_path) == tmp_path / "old"
    with pytest.raises(UsageError, match="Did you mean 'old'"):
        find_run("olld", tmp_path)
    (tmp_path / "older").mkdir()
    with pytest.raises(UsageError, match="2 runs begin with it: old, older"):
        find_run("ol", tmp_path)
    assert [journal.name for journal in find_journals(tmp_path / "new", EpisodeFilter(seed=2))] == [
        "coin-0-seed2.jsonl",
        "coin-2-seed2.jsonl",
    ]
    with pytest.raises(UsageError, match="2 episodes match in"):
        find_journal(tmp_path / "new", EpisodeFilter(seed=2))
    with pytest.raises(UsageError, match="none with mode act, seed 5"):
        find_journal(tmp_path / "new", EpisodeFilter(mode="act", seed=5))
    assert find_journal(tmp_path / "new", EpisodeFilter("coin", "edit", seed=10)).name == "coin-1-seed10.jsonl"
    assert find_journal(tmp_path / "old" / "episodes" / "coin-0-seed1.jsonl").exists()


def test_the_last_attempt_at_an_episode_is_the_default(tmp_path: Path) -> None:
    (tmp_path / "episodes").mkdir()
    event = {"event": {"setting": "coin", "mode": "edit", "seed": 12}}
    for attempt in ("", ".2", ".10"):
        (tmp_path / "episodes" / f"coin-edit-m-seed12{attempt}.jsonl").write_text(json.dumps(event) + "\n")
    assert find_journal(tmp_path, EpisodeFilter("coin", "edit", seed=12)).name == "coin-edit-m-seed12.10.jsonl"
    with pytest.raises(UsageError) as refused:
        find_journal(tmp_path, EpisodeFilter(seed=5))
    assert "It has 1 episode, but none with seed 5" in refused.value.reason


def test_existing_seeds_are_named_in_the_order_of_numbers(tmp_path: Path) -> None:
    (tmp_path / "episodes").mkdir()
    for seed in (10, 2, 1):
        (tmp_path / "episodes" / f"coin-{seed}.jsonl").write_text(json.dumps({"event": {"seed": seed}}) + "\n")
    with pytest.raises(UsageError) as refused:
        find_journal(tmp_path, EpisodeFilter(seed=5))
    assert refused.value.next_step == "Its values of --seed are: 1, 2, 10."


@dataclass
class Wired:
    """A game that fails in one way at its third command."""

    error: BaseException
    game: GridHouse = field(default_factory=small_house)
    task: str = small_house().task

    def start(self) -> Observation:
        return self.game.start()

    def step(self, command: str) -> Observation:
        if len(self.game.commands) == 2:
            raise self.error
        return self.game.step(command)


@pytest.mark.parametrize("error", [KeyboardInterrupt(), EngineError("The engine died")])
def test_what_ends_the_replay_is_no_difference(
    tmp_path: Path, coin: GameSetting, planner: ProcessPlanner, error: BaseException
) -> None:
    recorded = kept(tmp_path, coin, planner, "edit")
    with pytest.raises(type(error)):
        replay_in(Wired(error), recorded, planner)


def kept(
    folder: Path, coin: GameSetting, planner: ProcessPlanner, mode: str, limits: Limits | None = None, **people: Any
) -> Recorded:
    """An episode of the pure-Python game, recorded and read back."""
    episode = EpisodeSetup(coin, 1, mode, limits or Limits(50))
    model = ReaderModel() if mode != "human" else ScriptedModel(("",), "none")
    events = episode_events(episode, small_house(), model, planner, **people)
    return recorded_in(folder, coin, 1, mode, events)


@dataclass
class Deciding:
    """Says one thing once, then accepts."""

    what: str
    verdict: Decision

    def wants(self, what: str) -> bool:
        return what == self.what

    def decide(self, question: Question) -> Decision:
        text, self.verdict = self.verdict, ACCEPTED
        return text


@pytest.mark.parametrize(
    ("what", "verdict"),
    [
        ("edits", Decision("rejected", "no")),
        ("plans", Decision("rejected", "no")),
        ("plans", Decision("replaced", "look around\nmove east")),
        ("commands", Decision("rejected", "no")),
        ("commands", Decision("replaced", "look around")),
    ],
)
def test_what_a_person_said_is_played_again(
    tmp_path: Path, coin: GameSetting, planner: ProcessPlanner, what: str, verdict: Decision
) -> None:
    recorded = kept(tmp_path, coin, planner, "edit", approver=Deciding(what, verdict))
    assert any(isinstance(event, Judged) for event in recorded.trace.events)
    assert replay_in(small_house(), recorded, planner) == Replayed(len(recorded.trace.events))


def test_a_person_who_played_is_played_again_also_after_a_resumption(
    tmp_path: Path, coin: GameSetting, planner: ProcessPlanner
) -> None:
    typed = ["look around", "dance", "move east", "open door to east", "move east"]
    recorded = kept(tmp_path, coin, planner, "human", Limits(4), person=typed_before(typed))
    assert replay_in(small_house(), recorded, planner).difference is None
    moment = restart_at(recorded_game(recorded.path, recorded.trace, recorded.played.setting), 2)
    restart = with_correction(moment, None)
    again = kept(tmp_path, coin, planner, "human", Limits(4), person=typed_before(typed[2:]), restart=restart)
    assert replay_in(small_house(), again, planner).difference is None


def test_a_budget_of_calls_comes_again(tmp_path: Path, coin: GameSetting, planner: ProcessPlanner) -> None:
    recorded = kept(tmp_path, coin, planner, "edit", Limits(50, calls=1))
    assert replay_in(small_house(), recorded, planner) == Replayed(len(recorded.trace.events))


def test_time_that_was_up_excuses_no_other_difference(
    tmp_path: Path, coin: GameSetting, planner: ProcessPlanner
) -> None:
    recorded = kept(tmp_path, coin, planner, "edit", Limits(50, calls=1))
    *events, last = recorded.trace.events
    ended = replace(cast(Ended, last), outcome=Outcome.BUDGET, cause="seconds")
    observed = next(number for number, event in enumerate(events) if isinstance(event, Observed))
    events[observed:] = [replace(cast(Observed, events[observed]), text="BOGUS")]
    changed = replace(recorded, trace=Trace((event, 0.0) for event in (*events, ended)))
    result = replay_in(small_house(), changed, planner).difference
    assert result is not None
    assert (result.kind, result.recorded) == ("observed", "BOGUS")


def test_limits_are_compared_and_times_are_not(tmp_path: Path, coin: GameSetting, planner: ProcessPlanner) -> None:
    recorded = kept(tmp_path, coin, planner, "edit", Limits(50, calls=2))
    times = [event for event in recorded.trace.events if event.times]
    assert {event.type for event in times} >= {"answered", "planned", "ended"}
    assert replay_in(small_house(), recorded, planner).difference is None


def test_another_version_of_the_engine_is_no_difference(
    tmp_path: Path, coin: GameSetting, planner: ProcessPlanner
) -> None:
    recorded = kept(tmp_path, coin, planner, "edit", Limits(50, calls=2))
    begun, *events = recorded.trace.events
    assert isinstance(begun, Started) and f"textworld-express {version('textworld-express')}" in begun.details["engine"]
    older = replace(begun, details={**begun.details, "engine": "textworld-express 0.1"})
    changed = replace(recorded, trace=Trace((event, 0.0) for event in (older, *events)))
    assert replay_in(small_house(), changed, planner) == Replayed(len(changed.trace.events))


def test_a_model_is_asked_again_as_it_was_asked(tmp_path: Path) -> None:
    """What was sent besides the messages belongs to a recorded episode, and who resumes it sends it, too."""
    shutil.copytree(RECORDED / RUNS[0], tmp_path / "run")
    place = tmp_path / "run" / "manifest.json"
    kept = json.loads(place.read_text())
    kept["configuration"]["endpoint"] |= {"reasoning_effort": "low", "extra_body": {"top_k": 3}}
    place.write_text(json.dumps(kept))
    model = load_recorded(find_journal(tmp_path / "run")).config.endpoint
    assert (model.reasoning_effort, model.extra_body) == ("low", {"top_k": 3})


def test_episodes_of_one_configuration_share_their_setting() -> None:
    loader, journal = SettingLoader(), find_journal(RECORDED / RUNS[0])
    first, second = (load_recorded(journal, loader=loader) for _ in range(2))
    assert first.played.setting is second.played.setting
    longer = load_recorded(journal, {"max_steps": 7}, loader)
    assert longer.played.setting is not first.played.setting and longer.played.setting.max_steps == 7
    other = load_recorded(find_journal(RECORDED / RUNS[1]), loader=loader)
    assert other.played.setting is not first.played.setting
