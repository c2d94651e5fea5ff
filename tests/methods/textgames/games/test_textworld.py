"""The real engine of TextWorld, its generated games, and the built-in reader in its settings."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import pddlego
from pddlego.errors import EngineError, SettingError, UsageError
from pddlego.methods.setting_files import setting_names
from pddlego.methods.textgames.events import FactsChecked
from pddlego.methods.textgames.games import GameSpec
from pddlego.methods.textgames.games.process import EngineProcess
from pddlego.methods.textgames.games.textworld import TextWorldGame, game_file, game_path
from pddlego.methods.textgames.loading import load
from pddlego.models.cache import FOLDER
from tests.children import started
from tests.methods.textgames.games.test_engines import CONTROL
from tests.planning.test_process import alive
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
    evaluation = pddlego.evaluate("textworld-coin", modes=modes, seeds=range(20, 22), workers=4, max_steps=60)
    outcomes = {row["outcome"] for row in evaluation.wait(PATIENCE).rows()}
    assert outcomes <= {"won", "step limit"}


def test_commands_to_the_interpreter_are_unknown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    game = TextWorldGame(coin(3))
    game.start()
    monkeypatch.chdir(tmp_path)
    for command in ("save", " restart", "QUIT", "restore now", "look. save", "look then q"):
        assert game.step(command).text == "That's not a verb I recognise.", command
        assert game.step("y").text == "That was a rhetorical question.", command  # nothing was asked
    game.close()
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


def process_of(game: TextWorldGame) -> EngineProcess:
    assert game._program._process is not None
    return game._program._process


def test_no_command_ends_the_interpreter_or_puts_it_out_of_step() -> None:
    """On some of these the interpreter loops for ever, ends its process, or takes one command for two."""
    game = TextWorldGame(coin(3))
    room = game.start().look
    process = process_of(game)
    cut_in_two = ["\N{WHITE SMILING FACE}" * 67, "a" + "\N{WHITE SMILING FACE}" * 67, "a" * 197 + "é"]
    commands = [form.format(letter) for letter in CONTROL for form in ("{}", "look{}", "look. {}", "{}look")]
    for command in [*commands, *cut_in_two, "x" * 100_000, "", " ", "\n\n"]:
        assert game.step(command).text, repr(command)
        assert game.step("look").text.startswith(room.split("\n")[0]), repr(command)
    assert game._program._process is process
    assert process.alive
    game.close()


def test_what_is_hidden_behind_a_control_character_is_no_command_to_the_interpreter() -> None:
    game = TextWorldGame(coin(3))
    game.start()
    for command in ("\0save", "look.\x1bquit", "look then\x0brestart", "look\x00\x00.\x01restart"):
        assert game.step(command).text == "That's not a verb I recognise."
    game.close()


@pytest.mark.parametrize("question", ['"\\u0000"', '"look.\\u0000"', '"\\u0011"', "not JSON", '{"a": 1}'])
def test_a_process_that_fails_is_an_error_and_the_next_start_gets_a_new_one(question: str) -> None:
    """The interpreter loops for ever on some of these, and ends its process on others."""
    game = TextWorldGame(coin(3))
    first = game.start()
    process = process_of(game)
    assert process.ask(f"{question}\n".encode(), 0.5) == b""
    assert not process.alive
    with pytest.raises(EngineError, match="TextWorld failed to answer 'look'") as caught:
        game.step("look")
    assert str(game_path(coin(3))) in caught.value.next_step
    assert game.start() == first
    assert game._program._process is not process
    game.close()


def test_an_answer_has_a_time_limit() -> None:
    game = TextWorldGame(coin(3))
    game.start()
    process = process_of(game)
    os.kill(process.pid, signal.SIGSTOP)
    assert process.ask(b'"look"\n', 0.2) == b""
    assert not process.alive
    assert process.state() == "it did not answer within 0.2 seconds"


def damaged(data: bytes, how: str) -> bytes:
    kind, _, number = how.partition(" ")
    if kind == "cut":
        return data[: int(len(data) * float(number))]
    if kind == "of":
        return number.encode() * (1 + len(data) // len(number))
    changed, chance = bytearray(data), random.Random(int(number))
    for _ in range(500):
        changed[chance.randrange(len(changed))] = chance.randrange(256)
    return bytes(changed)


@pytest.mark.parametrize(
    ("how", "suffix"),
    [
        *((how, ".z8") for how in ("cut 0", "cut 0.9", "of \0", "of hello", "flip 1", "flip 2")),
        *((how, ".json") for how in ("cut 0.1", "of [", "of {}", "flip 1")),
    ],
)
def test_a_damaged_file_ends_its_episode_only(how: str, suffix: str) -> None:
    path = game_file(coin(5)).with_suffix(suffix)
    whole = path.read_bytes()
    path.write_bytes(damaged(whole, how))
    game = TextWorldGame(coin(5))
    try:
        solution = game.solution
        for command in solution:
            game.step(command)
    except EngineError as error:
        assert "Its process failed: it " in error.reason
        assert str(game_path(coin(5))) in error.next_step
    else:
        assert how.startswith("flip")  # in a part that is not used
    finally:
        game.close()
        path.write_bytes(whole)


def test_a_damaged_game_is_an_outcome() -> None:
    first = pddlego.play("textworld-coin", seed=13, max_steps=1)
    (path,) = (path for path in default_folder().rglob("*-13.z8") if "rooms=20" in path.name)
    path.write_bytes(b"not a game")
    episode = pddlego.play("textworld-coin", seed=13, max_steps=1)
    path.unlink()
    assert (first.outcome, episode.outcome) == ("step limit", "crashed")
    assert "Story file read error" in episode.message
    assert f"remove {path}" in episode.message


def default_folder() -> Path:
    return Path(os.environ[FOLDER])


def test_games_at_once_have_processes_of_their_own() -> None:
    games = [TextWorldGame(coin(3 + number % 3)) for number in range(6)]
    with ThreadPoolExecutor(len(games)) as pool:
        firsts = list(pool.map(TextWorldGame.start, games))
        solutions = [TextWorldGame(coin(seed)).solution for seed in (3, 4, 5)]
        assert all(first == firsts[number % 3] for number, first in enumerate(firsts))
        processes = [process_of(game) for game in games]
        assert len({process.pid for process in processes}) == len(games)

        def won(number: int) -> bool:
            return [games[number].step(command) for command in solutions[number % 3]][-1].won

        assert all(pool.map(won, range(len(games))))
        list(pool.map(TextWorldGame.close, games))
    assert not any(process.alive for process in processes)


def test_closing_at_any_moment() -> None:
    game = TextWorldGame(coin(3))
    game.close()
    with pytest.raises(EngineError, match="The game is not running"):
        game.start()
    with pytest.raises(EngineError, match="The game is not running"):
        TextWorldGame(coin(3)).step("look")
    for moment in (0.0, 0.01, 0.1, 0.3, 1.0, 2.0):  # before, while and after it starts
        game = TextWorldGame(coin(3))
        with ThreadPoolExecutor(1) as pool:
            starting = pool.submit(game.start)
            time.sleep(moment)
            game.close()
            game.close()
            assert starting.exception(PATIENCE) is None or isinstance(starting.exception(), EngineError)
        assert game._program._process is None or not game._program._process.alive
        assert game._program._folder is None or not Path(game._program._folder.name).exists()


def test_closing_while_an_answer_is_awaited(monkeypatch: pytest.MonkeyPatch) -> None:
    game = TextWorldGame(coin(3))
    game.start()
    process = process_of(game)
    os.kill(process.pid, signal.SIGSTOP)
    wait_for_line = process.line

    def close_meanwhile(seconds: float) -> bytes:
        threading.Thread(target=game.close).start()
        return wait_for_line(seconds)

    monkeypatch.setattr(process, "line", close_meanwhile)
    with pytest.raises(EngineError, match="ended with code -9"):
        game.step("look")


@pytest.mark.parametrize("how", ["kill", "terminate", "exit"])
def test_no_process_is_left_when_ours_ends(how: str, cache: Path) -> None:
    """Not even while the interpreter loops."""
    script = (
        "import sys; from pddlego.methods.textgames.games import GameSpec\n"
        "from pddlego.methods.textgames.games.textworld import TextWorldGame\n"
        "game = TextWorldGame(GameSpec('coin_collector', {'rooms': 10, 'distance': 5}, 3, 'train')); game.start()\n"
        "process = game._program._process._process; process.stdin.write(b'\"\\\\u0000\"\\n'); process.stdin.flush()\n"
        "print(game._program._process.pid, game._program._folder.name, flush=True); sys.stdin.readline()"
    )
    with started([sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        assert parent.stdin is not None
        pid, _, folder = parent.stdout.readline().strip().partition(" ")
        assert alive(int(pid))
        if how == "exit":
            parent.stdin.close()
        else:
            getattr(parent, how)()
        parent.wait(PATIENCE)
        deadline = time.monotonic() + PATIENCE
        while (alive(int(pid)) or Path(folder).exists()) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert not alive(int(pid))
        assert not Path(folder).exists()
