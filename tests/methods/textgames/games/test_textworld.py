"""The real engine of TextWorld, its generated games, and the built-in reader in its settings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

import pddlego
from pddlego.errors import EngineError, SettingError, UsageError
from pddlego.methods.setting_files import setting_names
from pddlego.methods.textgames.events import FactsChecked
from pddlego.methods.textgames.games import GameSpec
from pddlego.methods.textgames.games.textworld import TextWorldGame, game_file
from pddlego.methods.textgames.loading import load
from pddlego.models.cache import FOLDER
from tests.scale import PATIENCE

pytestmark = pytest.mark.slow

SETTINGS = [name for name in setting_names() if name.startswith("textworld-")]


@pytest.fixture(scope="module", autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A cache of generated games for these tests."""
    folder = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(FOLDER, str(folder))
        yield folder


def coin(seed: int, rooms: int = 10) -> GameSpec:
    return GameSpec("coin_collector", {"rooms": rooms, "distance": 5}, seed, "train")


def test_a_seed_gives_the_same_game_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = game_file(coin(3)).with_suffix(".json").read_bytes()
    other = game_file(coin(4)).with_suffix(".json").read_bytes()
    monkeypatch.setenv(FOLDER, str(tmp_path))
    assert game_file(coin(3)).with_suffix(".json").read_bytes() == first != other


def test_the_generators_commands_win(cache: Path) -> None:
    game = TextWorldGame(coin(3))
    solution = game.solution
    observation = game.start()
    assert game.task == "Find the coin, and take it."
    assert observation.text.startswith("Find the coin, and take it.\n\n-= ")
    for command in solution:
        observation = game.step(command)
    assert (observation.won, observation.lost, observation.score) == (True, False, 1.0)
    game.close()
    assert sorted(path.suffix for path in cache.rglob("*5-rooms=10-3.*")) == [".json", ".z8"]


def test_the_game_tells_its_facts_and_its_commands() -> None:
    game = TextWorldGame(coin(3))
    observation = game.start()
    (here,) = [name for predicate, *names in game.facts() for name in names[1:] if (predicate, names[0]) == ("at", "P")]
    assert f"-= {here} =-" in observation.text.lower()
    assert ("r", here) in game.facts()
    assert {"look", "inventory"} <= set(observation.valid_commands)
    assert game.step("fly").text == "That's not a verb I recognise."


def test_a_game_that_cannot_be_made_is_named() -> None:
    with pytest.raises(EngineError, match="TextWorld could not make the game coin_collector"):
        TextWorldGame(GameSpec("coin_collector", {"rooms": 0, "distance": 5}, 3, "train")).start()


def test_a_cache_that_cannot_be_written_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv(FOLDER, str(tmp_path / "file"))
    with pytest.raises(EngineError, match="A game of TextWorld cannot be kept"):
        game_file(coin(3))


@pytest.mark.parametrize("name", SETTINGS)
def test_the_reader_wins_and_all_its_facts_are_true(name: str) -> None:
    episode = pddlego.play(name, seed=11, truth=True)
    assert episode.won, episode.events[-1]
    checked = [event for event in episode.events if isinstance(event, FactsChecked) and not event.rejected]
    assert sum((Counter(event.right) for event in checked), Counter()).total() >= 8
    assert not [error for event in checked for error in event.errors if error.verdict != "missing"]


def test_facts_of_a_model_that_are_not_true_are_wrong() -> None:
    def claim(messages: list[pddlego.Message]) -> str:
        objects = '["loc9 - location", "coin - item"]'
        facts = '["(connected loc9 loc9 north)", "(at loc9)", "(visited loc9)", "(item_at coin loc9)", "(wanted coin)"]'
        return f'{{"objects": {{"add": {objects}}}, "init": {{"add": {facts}}}}}'

    episode = pddlego.play("textworld-coin", seed=11, model=claim, truth=True, max_steps=1)
    first = next(event for event in episode.events if isinstance(event, FactsChecked))
    verdicts = {error.fact: error.verdict for error in first.errors}
    assert verdicts["(connected loc9 loc9 north)"] == verdicts["(item_at coin loc9)"] == "wrong"
    assert first.right == {"at": 1, "visited": 1, "wanted": 1}  # loc9 is the first room, by another name


def test_episodes_at_once() -> None:
    """TextWorld reads its files with one parser, and has one library for each game."""
    modes = ["edit", "random"]
    evaluation = pddlego.evaluate("textworld-coin", modes=modes, seeds=range(20, 24), workers=4, max_steps=60)
    outcomes = {row["outcome"] for row in evaluation.wait(PATIENCE).rows()}
    assert outcomes <= {"won", "step limit"}


@pytest.mark.parametrize("command", ["save", " restart", "QUIT", "restore now", "look. save", "look then q"])
def test_commands_to_the_interpreter_are_unknown(command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    game = TextWorldGame(coin(3))
    game.start()
    monkeypatch.chdir(tmp_path)
    assert game.step(command).text == "That's not a verb I recognise."
    assert game.step("y").text == "That was a rhetorical question."  # nothing was asked
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "answer",
    [
        "You can't go that way.",
        "You already have that.",
        "It isn't something you can open.",
        "That's fixed in place.",
        "The fridge is closed.",
        "Can only prepare meal in the -= Kitchen =-.",
        "Something still needs to be cooked.",
        "Cooking requires a source of heat.",
        "Cutting something requires a knife.",
        "That's plainly inedible.",
        "That doesn't seem to be something you can unlock.",
        "You'll have to say which compass direction to go in.",
        "You need to take the knife first.",
        "The toolbox is welded shut.",
        "That's not a verb I recognise.",
    ],
)
def test_answers_that_mean_that_nothing_happened(answer: str) -> None:
    table = load("textworld-cooking-hard").game
    assert table.is_refused(answer)
    assert not table.is_refused("-= Kitchen =-\nYou see a closed fridge.")
    assert not table.is_refused("You open the fridge, revealing a carrot.")


def test_more_ingredients_to_find_than_the_recipe_has() -> None:
    episode = pddlego.play("textworld-cooking-easy", seed=3, set={"take": 3})
    assert "ValueError: take=3 is more than recipe=1" in episode.message
    with pytest.raises(UsageError, match="go=5 is not possible"):
        pddlego.play("textworld-cooking-easy", set={"go": 5})


def test_facts_need_an_engine_that_reports_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "envs").mkdir()
    rules = '[facts.at]\nwhen = ["at P ?l"]\nadd = ["(at ?l)"]\n'
    (tmp_path / "envs" / "mine.toml").write_text(f'extends = "coin"\n{rules}')
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match="does not report the facts"):
        pddlego.play("mine", truth=True)


def test_what_is_carried_at_the_start_is_known() -> None:
    episode = pddlego.play("textworld-cooking-easy", seed=3, truth=True, set={"recipe": 4, "take": 1})
    assert episode.won, episode.message
    assert "You are carrying: " in episode.trajectory[0].response


def test_rules_for_facts_are_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "envs").mkdir()
    rules = '[facts.at]\nwhen = ["at P ?l"]\nadd = ["(at ?room)"]\n'
    (tmp_path / "envs" / "wrong.toml").write_text(f'extends = "textworld-coin"\n{rules}')
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SettingError, match=r"facts.at: '\(at \?room\)' names \['\?room'\], which nothing matches"):
        load("wrong")
