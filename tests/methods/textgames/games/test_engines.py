"""An engine of another package is found by its entry point, as pip would install it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pddlego.episode.events import Limits, Outcome
from pddlego.errors import EngineError, UsageError
from pddlego.methods.textgames import games
from pddlego.methods.textgames.games import ForeignGame, Observation, engine_names
from pddlego.methods.textgames.loading import load
from pddlego.methods.textgames.play import episode_events, setting_game
from pddlego.methods.textgames.reader import ReaderModel
from pddlego.methods.textgames.settings import GameSetting
from pddlego.methods.textgames.world import EpisodeSetup
from pddlego.models.base import Completion, Request
from pddlego.planning import ProcessPlanner
from pddlego.runs.journal import follow
from tests.methods.textgames.grid_house import GridHouse

MODULE = """
from tests.methods.textgames.grid_house import GridHouse

def make(spec):
    return GridHouse({("kitchen", "north"): "hall"}, coin="hall" if spec.seed % 2 else "kitchen")

def raising(spec):
    raise KeyError(spec.name)

def leaving(spec):
    raise SystemExit(0)

def nothing(spec):
    return None

number = 3
"""

ENTRIES = """[pddlego.engines]
gridhouse = own_gridhouse:make
nowhere = nowhere:make
number = own_gridhouse:number
raising = own_gridhouse:raising
leaving = own_gridhouse:leaving
nothing = own_gridhouse:nothing
"""


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with an installed package that offers the engine `gridhouse`."""
    site = tmp_path / "site"
    about = site / "gridhouse-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: gridhouse\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(ENTRIES)
    (site / "own_gridhouse.py").write_text(MODULE)
    monkeypatch.syspath_prepend(str(site))
    monkeypatch.delitem(sys.modules, "own_gridhouse", raising=False)
    return site


def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engine: str) -> GameSetting:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "envs").mkdir(exist_ok=True)
    (tmp_path / "envs" / "mine.toml").write_text(f'extends = "coin"\ntitle = "Mine"\n[game]\nengine = "{engine}"\n')
    return load("mine")


def test_an_engine_is_found_and_plays(
    installed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, planner: ProcessPlanner
) -> None:
    setting = mine(tmp_path, monkeypatch, "gridhouse")
    assert {"gridhouse", "textworldexpress"} <= set(engine_names())
    episode = EpisodeSetup(setting, 3, "edit", Limits(10))
    ended = follow(episode_events(episode, setting_game(setting, 3), ReaderModel(), planner), [])
    assert (ended.outcome, ended.usage.steps) == (Outcome.WON, 2)


@pytest.mark.parametrize(
    ("engine", "error", "says"),
    [
        ("chess", UsageError, "Unknown engine 'chess'"),
        ("nowhere", EngineError, "failed to load nowhere:make"),
        ("number", EngineError, "failed to make the game"),
        ("raising", EngineError, "failed to make the game"),
        ("leaving", EngineError, "failed to make the game"),
        ("nothing", EngineError, "made no game"),
    ],
)
def test_an_engine_that_cannot_make_a_game(
    installed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engine: str, error: type[Exception], says: str
) -> None:
    with pytest.raises(error, match=says):
        setting_game(mine(tmp_path, monkeypatch, engine), 3)


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (lambda: None, "gave no observation"),
        (lambda: "text", "gave no observation"),
        (lambda: Observation(3), "gave no observation"),  # type: ignore[arg-type]
        (lambda: Observation("x", valid_commands=None), "gave no observation"),  # type: ignore[arg-type]
        (lambda: 1 / 0, "failed to answer 'go'"),
        (lambda: sys.exit(0), "failed to answer 'go'"),
    ],
)
def test_whatever_an_engine_answers_is_an_observation_or_an_engine_error(
    answer: Callable[[], Observation], says: str
) -> None:
    class Odd(GridHouse):
        def step(self, command: str) -> Observation:
            return answer()

    with pytest.raises(EngineError, match=says):
        ForeignGame("odd", Odd({})).step("go")


CONTROL = [*map(chr, range(0x20)), *map(chr, range(0x7F, 0xA0)), "\ud800", "\udfff"]
"""Letters that no engine is sent."""


@pytest.mark.parametrize("form", ["{}", "go{}north", "go {}{}north", "{}go north{}"])
def test_no_control_character_is_sent(form: str) -> None:
    class Recording(GridHouse):
        def step(self, command: str) -> Observation:
            assert not [letter for letter in command if letter in CONTROL], ascii(command)
            sent.append(command)
            return Observation("Yes.")

    sent: list[str] = []
    game = ForeignGame("odd", Recording({}))
    for letter in CONTROL:
        game.step(form.format(letter, letter))
    game.step("go  north – é 日")
    assert sent.pop() == "go  north – é 日"
    assert {" ".join(command.replace("?", " ").split()) for command in sent} <= {"", "go north"}


def test_text_that_cannot_be_written_is_made_writable() -> None:
    class Odd(GridHouse):
        def start(self) -> Observation:
            return Observation("a \ud800 b", valid_commands=("\udfff",), look="\ud800")

    first = ForeignGame("odd", Odd({})).start()
    assert (first.text, first.valid_commands, first.look) == ("a ? b", ("?",), "?")


def test_a_game_without_valid_commands_is_no_crash(coin: GameSetting, planner: ProcessPlanner) -> None:
    class Mute(GridHouse):
        def start(self) -> Observation:
            return Observation("You are in the hall.")

    episode = EpisodeSetup(coin, 1, "random", Limits(5))
    ended = follow(episode_events(episode, Mute({}), ReaderModel(), planner), [])
    assert ended.outcome is Outcome.NO_PLAN
    assert "lists no valid commands" in ended.message


class Large(GridHouse):
    """A house that gives kinds and things, lists commands on demand, and counts how often it is closed."""

    closed = 0

    def start(self) -> Observation:
        return self.by_kind(super().start())

    def step(self, command: str) -> Observation:
        return self.by_kind(super().step(command))

    def by_kind(self, observation: Observation) -> Observation:
        self.listed = observation.valid_commands
        return replace(observation, valid_commands=(), kinds=("move OBJ", "take OBJ"), things=("north", "coin"))

    def all_commands(self) -> tuple[str, ...]:
        return self.listed

    def close(self) -> None:
        self.closed += 1
        raise OSError("closing may fail")


class Scripted:
    """Answers in turn, and keeps what was asked."""

    name = "scripted"
    description: Mapping[str, Any] = {}

    def __init__(self, *answers: str) -> None:
        self.answers, self.asked = list(answers), list[str]()

    def complete(self, request: Request) -> Completion:
        self.asked.append(request.messages[-1].content)
        return Completion(self.answers.pop(0))


def test_commands_of_a_kind_are_sent_and_others_are_not(coin: GameSetting, planner: ProcessPlanner) -> None:
    house = Large({("kitchen", "north"): "hall"}, coin="hall")
    model = Scripted("eat coin", "move coin tail", "Move North.", "take coin")
    ended = follow(
        episode_events(EpisodeSetup(coin, 1, "act", Limits(5)), ForeignGame("large", house), model, planner), []
    )
    assert (ended.outcome, ended.usage.steps, ended.usage.calls) == (Outcome.WON, 2, 4)
    assert "Kinds of valid actions: move OBJ, take OBJ\nWhat OBJ can be: north, coin" in model.asked[0]
    assert "'eat coin' is not of a kind that the game takes" in model.asked[1]
    assert house.closed == 1


def test_random_play_asks_for_the_whole_list(coin: GameSetting, planner: ProcessPlanner) -> None:
    house = Large({("kitchen", "north"): "hall"}, coin="hall")
    game = ForeignGame("large", house)
    ended = follow(episode_events(EpisodeSetup(coin, 1, "random", Limits(3)), game, ReaderModel(), planner), [])
    assert ended.outcome in (Outcome.WON, Outcome.STEP_LIMIT)
    assert ended.usage.steps


def test_gold_needs_a_solution(coin: GameSetting, planner: ProcessPlanner) -> None:
    with pytest.raises(UsageError, match="cannot be played in mode gold"):
        episode_events(
            EpisodeSetup(coin, 1, "gold", Limits(3)), ForeignGame("x", GridHouse({})), ReaderModel(), planner
        )
    won = follow(
        episode_events(EpisodeSetup(coin, 3, "gold", Limits(9)), setting_game(coin, 3), ReaderModel(), planner), []
    )
    assert won.outcome is Outcome.WON


def test_an_engine_whose_package_is_missing_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    missing = ("no_such_package",)
    far = games.OwnEngine("nowhere:Game", missing, missing, "pip install '.[far]'")
    monkeypatch.setattr(games, "OWN", {"far": far})
    assert games.missing_for("far") == "pip install '.[far]'"
    with pytest.raises(UsageError, match="The engine 'far' is missing\nIts package no_such_package is not installed"):
        games.make_game("far", games.GameSpec("x", {}, 0, "train"))
