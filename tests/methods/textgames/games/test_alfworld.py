"""The engine of ALFWorld: generated households, official games from a folder, and the built-in reader in them."""

from __future__ import annotations

import csv
import hashlib
import itertools
import json
import os
import re
import signal
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from threading import Barrier
from types import SimpleNamespace
from typing import Any

import pytest

import pddlego
from pddlego.errors import EngineError, UsageError
from pddlego.methods.textgames.events import FactsChecked
from pddlego.methods.textgames.games import GameSpec, alfworld, alfworld_program
from pddlego.methods.textgames.games.alfworld import OFFICIAL, HouseholdGame, official_games
from pddlego.methods.textgames.games.alfworld_program import evaluated
from pddlego.methods.textgames.games.households import (
    TASKS,
    TEST,
    Data,
    displayed_names,
    game_of,
    household,
    walkthrough,
)
from pddlego.methods.textgames.reader import ReaderModel
from pddlego.methods.textgames.world import names_any
from pddlego.models import Completion, Request
from pddlego.runs.store import read_configuration, read_results
from tests.cli.command import run
from tests.scale import PATIENCE, scaled

pytestmark = pytest.mark.alfworld

SMALL = {"receptacles": 12, "objects": 20, "closed": 50}
USUAL = {"receptacles": 60, "objects": 40, "closed": 100}


@pytest.fixture(scope="module")
def data() -> Data:
    return Data()


def write(folder: Path, data: Data, seed: int, change: Any = None, kind: str = "") -> Path:
    """Write a household as an official game file."""
    made = household(data, "household", SMALL, seed)
    game = game_of(data, made, seed)
    if change is not None:
        game = change(game)
    name = f"{kind or TASKS[made.task.kind]}-{made.task.thing}-None-{made.task.goal}-{made.plan}"
    path = folder / name / f"trial_{seed:03}" / "game.tw-pddl"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(game))
    return path


def test_households_are_as_their_parameters_say(data: Data) -> None:
    plans: dict[bool, set[int]] = {True: set(), False: set()}
    for seed in (*range(scaled(30, in_ci=120)), *range(TEST, TEST + 60)):
        made = household(data, "household", USUAL, seed)
        plans[seed >= TEST].add(made.plan)
        assert made.task.kind == list(TASKS)[seed % 6]
        assert all(kind in data.fits[made.receptacles[place]] for kind, place in made.things.values())
        assert len(made.things) <= 40 and max(Counter(kind for kind, _ in made.things.values()).values()) <= 3
        assert made.closed == {
            place
            for place, kind in made.receptacles.items()
            if kind in ("Fridge", "Cabinet", "Microwave", "Drawer", "Safe")
        }
        small = household(data, "household", {"receptacles": 1, "objects": 1, "closed": 0}, seed)
        assert len(small.receptacles) <= 3 and len(small.things) <= 2 and not small.closed
        assert len(walkthrough(made)) <= 16
    assert not plans[True] & plans[False]
    assert not plans[False] & {*range(1, 7), 10, 219, 308, 424}  # of the tests of ALFWorld, and of `valid_unseen`


def test_a_seed_gives_the_same_household(data: Data) -> None:
    first, again = (game_of(Data(), household(data, "heat", USUAL, 7), 7) for _ in range(2))
    assert first == again != game_of(data, household(data, "heat", USUAL, 8), 8)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [2, TEST + 5])
def test_the_walkthrough_wins(seed: int) -> None:
    """The program of the game plays it at its start already, for every household."""
    game = HouseholdGame(GameSpec("household", USUAL, seed, "all"))
    solution = game.solution
    observation = game.start()
    assert game.task and game.task in observation.text
    for command in solution:
        assert command in observation.valid_commands
        observation = game.step(command)
    game.close()
    assert (observation.won, observation.score) == (True, 1.0)


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "seed"), [*zip(sorted(TASKS), itertools.cycle((1, TEST + 1)))])
def test_the_reader_wins_and_all_its_facts_are_true(kind: str, seed: int) -> None:
    episode = pddlego.play(f"household-{kind}", seed=seed, truth=True, set=SMALL if seed == 1 else {})
    assert episode.won, episode.events[-1]
    checked = [event for event in episode.events if isinstance(event, FactsChecked)]
    assert sum(sum(event.right.values()) for event in checked) > 20
    assert not [error for event in checked for error in event.errors]
    assert not [fact for event in checked for fact in event.unknown if not fact.startswith("(likely ")]


def test_facts_of_a_model_that_are_not_true_are_wrong() -> None:
    def claim(messages: list[pddlego.Message]) -> str:
        objects = '["shelf_1 - place", "apple_9 - thing"]'
        facts = '["(closed shelf_1)", "(is_in apple_9 shelf_1)", "(needs hot)", "(holding apple_9)"]'
        return f'{{"objects": {{"add": {objects}}}, "init": {{"add": {facts}, "delete": ["(hands_free)"]}}}}'

    episode = pddlego.play("household-look", seed=1, model=claim, truth=True, max_steps=1)
    first = next(event for event in episode.events if isinstance(event, FactsChecked))
    verdicts = {error.fact: error.verdict for error in first.errors}
    assert verdicts["(needs hot)"] == verdicts["(holding apple_9)"] == "wrong"
    assert verdicts["(hands_free)"] == verdicts["(needs_light)"] == "missing"
    assert set(first.unknown) == {"(closed shelf_1)", "(is_in apple_9 shelf_1)"}


@pytest.mark.slow
@pytest.mark.parametrize(("mode", "seeds"), [("edit", (12, 14, 16)), ("gen", (13, 15, 17))])
def test_an_honest_expert_gets_the_whole_reward(mode: str, seeds: tuple[int, ...]) -> None:
    with pddlego.Environment("household", mode, set=SMALL, timeout=PATIENCE) as environment:
        for seed in seeds:
            observed, rewards = environment.reset(seed=seed), 0.0
            while not observed.done:
                observed = environment.step(environment.expert() or "")
                rewards += observed.reward or 0.0
            assert rewards == pytest.approx(1.0), (seed, observed.reasons)
        with pytest.raises(UsageError, match="test seeds are not for training"):
            environment.reset(seed=TEST)


def with_guesses(answer: str) -> str:
    """The first answer of an episode, with the guesses that every place is closed, and that an elephant is in it."""
    edit = json.loads(answer)
    places = [line.split()[0] for line in edit["objects"]["add"] if line.endswith(" - place")]
    edit["objects"]["add"].append("elephant - kind")
    edit["init"]["add"] += [fact for place in places for fact in (f"(closed {place})", f"(likely elephant {place})")]
    return json.dumps(edit)


@pytest.mark.slow
@pytest.mark.parametrize("closed", [0, 50, 100])
def test_guesses_cost_no_reward_and_wrong_ones_are_corrected(closed: int) -> None:
    with pddlego.Environment("household", "edit", set={**SMALL, "closed": closed}) as environment:
        for change in (str, with_guesses):
            observed, rewards = environment.reset(seed=13), 0.0
            while not observed.done:
                observed = environment.step(change(environment.expert() or ""))
                rewards, change = rewards + (observed.reward or 0.0), str
            assert observed.won and rewards == pytest.approx(1.0), observed.reasons


@pytest.mark.parametrize("seed", [2, 3])
def test_a_plan_that_looks_into_places_ends_where_the_thing_is_named(seed: int) -> None:
    steps = pddlego.play("household-place", seed=seed, set=SMALL).trajectory
    problem = steps[0].problem
    assert problem is not None
    kinds = [obj.name for obj in problem.objects if obj.type == "kind"]
    found = next(step for step in steps[1:] if names_any(kinds, step.response))
    assert found.calls
    assert sum(bool(step.calls) for step in steps[1 : found.number]) <= 2, "one request for each goal of looking"


def test_official_games_are_sorted_and_chosen_as_by_the_loader(data: Data, tmp_path: Path) -> None:
    usual = [write(tmp_path, data, seed) for seed in (3, 0, 1)]
    write(tmp_path, data, 4, lambda game: game | {"solvable": False})
    write(tmp_path, data, 5, kind="pick_and_place_with_movable_recep")
    write(tmp_path, data, 6, kind="pick_and_place_simple-AppleSliced")
    assert official_games(tmp_path, False) == tuple(sorted(usual))
    assert len(official_games(tmp_path, True)) == 6


def test_folders_may_be_links(data: Data, tmp_path: Path) -> None:
    """A game behind several links is one game, and links make no loop."""
    place, store = tmp_path / "games", tmp_path / "store"
    linked = [write(store, data, seed) for seed in (0, 1)]
    own = write(place, data, 2)
    (place / linked[0].parent.parent.name).symlink_to(linked[0].parent.parent)
    (place / linked[1].parent.parent.name).mkdir()
    (place / linked[1].parent.parent.name / "trial_1").symlink_to(linked[1].parent)
    for name in ("again", "zagain"):
        (place / name).symlink_to(place)
        (own.parent / name).symlink_to(place / linked[0].parent.parent.name)
    assert sorted(path.resolve() for path in official_games(place, False)) == sorted([*linked, own])
    assert official_games(place, False) == tuple(sorted(official_games(place, False)))


def named(game: dict[str, Any], change: Any = str) -> dict[str, Any]:
    """The game with a walkthrough that names things by their ids."""
    ids = set(re.findall(r"\w+_bar_\w+", game["pddl_problem"]))
    names = {name: change(identity) for identity, name in displayed_names(sorted(ids)).items()}
    walk = [re.sub(r"[a-z]+ \d+", lambda match: names[match[0]], command) for command in game["walkthrough"]]
    assert all("_bar_" in command.lower() for command in walk)
    return game | {"walkthrough": walk}


def upper(game: dict[str, Any]) -> dict[str, Any]:
    return named(game, str.upper)


def with_refused(game: dict[str, Any]) -> dict[str, Any]:
    """The game with commands in its walkthrough that change nothing, or that the game does not have."""
    walk = [text for command in game["walkthrough"] for text in ("slice sink 1", command, command)]
    return game | {"walkthrough": walk}


def older(game: dict[str, Any]) -> dict[str, Any]:
    """The game as in the first release: its grammar, and two receptacles at each location."""
    grammar, problem = game["grammar"], game["pddl_problem"]
    for old, new in (
        ("You arrive at {lend.name}.", "You arrive at {r.name}."),
        ("put {o} in/on {r}", "move {o} to {r}"),
        ("You put the {o.name} in/on the {r.name}.", "You move the {o.name} to the {r.name}."),
    ):
        assert new in grammar
        grammar = grammar.replace(new, old)
    for number in range(2, 15, 2):
        for end in (")", " "):
            problem = problem.replace(f" loc_{number}{end}", f" loc_{number - 1}{end}")
    walk = [re.sub(r"^move (.+) to (.+)$", r"put \1 in/on \2", command) for command in game["walkthrough"]]
    return game | {"grammar": grammar, "pddl_problem": problem, "walkthrough": walk}


WORDINGS = (named, upper, with_refused, lambda game: older(named(game)))


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "change"), [*zip(range(8), itertools.cycle(WORDINGS))])
def test_a_walkthrough_in_other_words_wins(data: Data, tmp_path: Path, seed: int, change: Any) -> None:
    write(tmp_path, data, seed, change)
    assert pddlego.play("alfworld", mode="gold", seed=0, set={"folder": str(tmp_path)}).won


@pytest.mark.slow
@pytest.mark.parametrize(
    ("walk", "said"),
    [
        (None, "It has none."),
        ([], "It has none."),
        ("look", "It has none."),
        ({"look": 1}, "It has none."),
        (["look"], "Its commands do not win; refused: none."),
        (["look"] * 3000, "Its commands do not win; refused: none."),
        ([["look"], 5, "go to desk_bar__minus_09"], "Its commands do not win; refused: 'go to desk_bar__minus_09'."),
    ],
)
def test_a_game_without_a_usable_walkthrough_says_so(
    data: Data, tmp_path: Path, walk: Any, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It can be played in the other modes."""
    monkeypatch.setattr(alfworld, "_MOST_COMMANDS", 100)
    write(tmp_path, data, 0, lambda game: game | {"walkthrough": walk})
    with pytest.raises(UsageError, match=f"no usable walkthrough\n{re.escape(said)}"):
        pddlego.play("alfworld", mode="gold", seed=0, set={"folder": str(tmp_path)})
    if walk is None:
        assert pddlego.play("alfworld", seed=0, set={"folder": str(tmp_path)}).won


@pytest.mark.slow
@pytest.mark.parametrize("change", [None, older])
def test_official_games_are_played(data: Data, tmp_path: Path, change: Any) -> None:
    for seed in range(6):
        write(tmp_path, data, seed, change)
    for seed in range(6)[change is None :: 2]:
        episode = pddlego.play("alfworld", seed=seed, truth=True, set={"folder": str(tmp_path)})
        assert episode.won, (seed, episode.events[-1])
        checked = [event for event in episode.events if isinstance(event, FactsChecked)]
        assert not [error for event in checked for error in event.errors], seed
    assert pddlego.play("alfworld", mode="gold", seed=seed, set={"folder": str(tmp_path)}).won


def official(folder: Path | str, seed: int = 0, fold: str = "test") -> HouseholdGame:
    return HouseholdGame(GameSpec(OFFICIAL, {"folder": str(folder), "all": "false"}, seed, fold))


def test_a_missing_folder_is_explained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALFWORLD_DATA", str(tmp_path))
    with pytest.raises(UsageError, match=r"nowhere is not a folder\.\n.*alfworld-download"):
        official(tmp_path / "nowhere")
    for fold, split in (("train", "train"), ("dev", "valid_seen"), ("test", "valid_unseen")):
        place = tmp_path / "json_2.1.1" / split
        with pytest.raises(UsageError, match=re.escape(f"{place} is not a folder")):
            official("", fold=fold)
        place.mkdir(parents=True)
        with pytest.raises(UsageError, match=r"has no fitting game\.tw-pddl"):
            official("", fold=fold)
    monkeypatch.delenv("ALFWORLD_DATA")
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(UsageError, match=re.escape(f"{tmp_path}/.cache/alfworld/json_2.1.1/valid_unseen")):
        official("")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("content", "said"),
    [
        ('{"solvable": true}', "it has no pddl_domain, grammar, pddl_problem"),
        ('{"solvable": true', "JSONDecodeError"),
        ('{"solvable": true, "x": ' + "[" * 100_000, "RecursionError"),
        ('{"solvable": true, "pddl_domain": "(", "grammar": "", "pddl_problem": ""}', "Error"),
    ],
)
def test_a_damaged_game_is_named(tmp_path: Path, content: str, said: str) -> None:
    path = tmp_path / "pick_and_place_simple-Apple-None-Shelf-1" / "trial_1" / "game.tw-pddl"
    path.parent.mkdir(parents=True)
    path.write_text(content)
    with pytest.raises(EngineError, match=said) as caught:
        official(tmp_path).start()
    assert str(path)[:60] in caught.value.reason


CODE = "__import__('os').mkdir('made')"


@pytest.mark.parametrize("code", [CODE, "r.__class__.__name__", "(lambda: r.name)()", "r.name * 9", "1"])
def test_an_expression_of_the_grammar_runs_no_code(code: str) -> None:
    with pytest.raises(RuntimeError, match="has no such expression"):
        evaluated(code, {"r": SimpleNamespace(name="mug 1")})


@pytest.mark.slow
def test_a_grammar_runs_no_code(data: Data, tmp_path: Path) -> None:
    def hostile(game: dict[str, Any]) -> dict[str, Any]:
        return game | {"grammar": game["grammar"].replace("You arrive at {r.name}.", f"You arrive at {{{CODE}}}.")}

    write(tmp_path, data, 0, hostile)
    game = official(tmp_path)
    room = game.start()
    with pytest.raises(EngineError, match="has no such expression"):
        game.step(next(command for command in room.valid_commands if command.startswith("go to ")))


def test_the_expressions_of_the_grammar_have_their_values() -> None:
    things = {
        "o": SimpleNamespace(name="mug 1", indefinite="a", id="mug_bar_1", definite=""),
        "r": SimpleNamespace(name=""),
    }
    values = ("o.indefinite + ' ' + o.name", "r.name or o.id", "o.definite or r.name", "'x'")
    assert [evaluated(text, things) for text in values] == ["a mug 1", "mug_bar_1", "", "x"]


@pytest.mark.slow
def test_a_goal_that_cannot_be_reached_is_no_game(data: Data, tmp_path: Path) -> None:
    def impossible(game: dict[str, Any]) -> dict[str, Any]:
        problem = game["pddl_problem"]
        return game | {"pddl_problem": re.sub(r"\(pickupable \w+\)", "", problem)}

    write(tmp_path, data, 0, impossible)
    with pytest.raises(EngineError, match="the goal of the game cannot be reached"):
        official(tmp_path).start()


def test_what_is_no_file_is_no_game(data: Data, tmp_path: Path) -> None:
    usual = write(tmp_path, data, 0)
    for name in ("fifo", "zero", "folder", "dangling"):
        place = tmp_path / f"pick_and_place_simple-Apple-None-Shelf-{name}" / "trial_1" / "game.tw-pddl"
        place.parent.mkdir(parents=True)
        if name == "fifo":
            os.mkfifo(place)
        elif name == "folder":
            place.mkdir()
        else:
            place.symlink_to("/dev/zero" if name == "zero" else "/nowhere")
    assert official_games(tmp_path, False) == (usual,)


@pytest.mark.slow
def test_a_run_says_which_file_each_game_was(data: Data, tmp_path: Path) -> None:
    """The manifest, the journal and the results have the path and the digest of the file."""
    files = sorted(write(tmp_path / "games", data, seed) for seed in range(3))
    about = [
        {"path": str(path.relative_to(tmp_path / "games")), "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}
        for path in files
    ]
    options: dict[str, Any] = {"modes": "random", "max_steps": 1, "set": {"folder": str(tmp_path / "games")}}
    place = tmp_path / "run"
    pddlego.evaluate("alfworld", place, seeds="1", **options).wait(PATIENCE)
    results = pddlego.evaluate("alfworld", place, seeds="0-1", **options).wait(PATIENCE)  # with another seed
    games = read_configuration(place)["settings"]["alfworld"]["games"]
    assert games == dict(zip("012", about, strict=True))
    assert {result.cell.seed: result.game_file for result in read_results(place)[0]} == {0: about[0], 1: about[1]}
    named_in_rows = {(row["game_file"], row["game_sha256"]) for row in results.rows()}
    assert named_in_rows == {tuple(game.values()) for game in about[:2]}
    with (place / "results.csv").open(newline="") as table:
        row = next(csv.DictReader(table))
    assert (row["game_file"], row["game_sha256"]) == tuple(about[0].values())
    engine = ", ".join(f"{name} {version(name)}" for name in ("alfworld", "textworld"))
    assert row["engine"] == engine and any(engine in note for note in results.report.notes)
    files[2].write_text(files[2].read_text() + "\n")
    with pytest.raises(UsageError, match=r"settings\.alfworld\.games\.2\.sha256 was"):
        pddlego.evaluate("alfworld", place, seeds="0", **options)


@pytest.mark.parametrize("arguments", [("eval", "--seeds", "0-5", "--run", "r"), ("play", "--seed", "0")])
@pytest.mark.parametrize("games", [None, 0, 2])
def test_a_folder_without_the_games_is_an_error_of_usage(
    data: Data, tmp_path: Path, arguments: tuple[str, ...], games: int | None
) -> None:
    """Before anything is made or played."""
    if games is not None:
        (tmp_path / "games").mkdir()
    for seed in range(games or 0):
        write(tmp_path / "games", data, seed)
    if arguments[0] == "play" and games:
        return
    command, *others = arguments
    done = run(command, "alfworld", *others, "--set", f"folder={tmp_path / 'games'}", cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert len(done.stderr.splitlines()) == 3
    assert not (tmp_path / "runs").exists()


OFFICIAL_GAMES = Path(os.environ.get("PDDLEGO_SHARED") or Path(__file__).parents[5] / "shared") / "alfworld"


@pytest.mark.slow
@pytest.mark.skipif(not OFFICIAL_GAMES.is_dir(), reason="the official games are not in the folder PDDLEGO_SHARED")
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(("fold", "mode"), [("test", "edit"), ("dev", "gold")])
def test_the_official_games_are_won(monkeypatch: pytest.MonkeyPatch, fold: str, seed: int, mode: str) -> None:
    monkeypatch.setenv("ALFWORLD_DATA", str(OFFICIAL_GAMES))
    episode = pddlego.play("alfworld", mode=mode, seed=seed, fold=fold)
    assert episode.won, episode.events[-1]


def test_what_is_no_game_is_no_game_with_all_either(data: Data, tmp_path: Path) -> None:
    usual = write(tmp_path, data, 0)
    for name in ("fifo", "zero", "large"):
        place = tmp_path / f"pick_and_place_simple-Apple-None-Shelf-{name}" / "trial_1" / "game.tw-pddl"
        place.parent.mkdir(parents=True)
        if name == "fifo":
            os.mkfifo(place)
        elif name == "zero":
            place.symlink_to("/dev/zero")
        else:
            with place.open("wb") as file:
                file.write(b'{"solvable": true')
                file.truncate(1 << 33)
    assert official_games(tmp_path, True) == official_games(tmp_path, False) == (usual,)


def test_a_seed_without_a_game_is_refused(data: Data, tmp_path: Path) -> None:
    write(tmp_path, data, 0)
    with pytest.raises(UsageError, match=r"no game with seed 1\n.*has 1 game, from seed 0 on"):
        official(tmp_path, 1)


def test_sizes_out_of_bounds_are_refused() -> None:
    with pytest.raises(UsageError, match="from 1 to 60"):
        pddlego.play("household", set={"receptacles": 0})


def processes() -> Iterator[int]:
    """The processes of games of this process."""
    for place in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            words = (place / "cmdline").read_bytes().split(b"\0")
            if alfworld_program.__name__.encode() in words and str(os.getpid()).encode() in words:
                yield int(place.name)


def told(rows: Sequence[Mapping[str, Any]]) -> list[tuple[Any, ...]]:
    """What does not depend on the time."""
    return sorted((row["seed"], row["outcome"], row["steps"], row["calls"], row["score"]) for row in rows)


class Killer:
    """The built-in reader. Before it answers the first question of the fourth episode, it kills one of the four games.

    All four are at their first question then: none has ended, however busy the machine is.
    """

    name = "killer"
    description: Mapping[str, Any] = {}

    def __init__(self) -> None:
        self._all_asked = Barrier(4, action=self._kill)
        self._asked = 0
        self._others = {*processes()}  # of games that other tests have left open

    def _kill(self) -> None:
        os.kill(next(number for number in processes() if number not in self._others), signal.SIGKILL)

    def complete(self, request: Request) -> Completion:
        self._asked += 1
        if self._asked <= 4:
            self._all_asked.wait(PATIENCE)
        return ReaderModel().complete(request)


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="the processes are found in /proc")
def test_one_of_four_is_killed_and_the_run_can_be_continued(tmp_path: Path) -> None:
    options: dict[str, Any] = {
        "modes": "edit",
        "models": Killer(),
        "seeds": range(4),
        "workers": 4,
        "set": {"receptacles": 20, "objects": 20},
    }
    rows = pddlego.evaluate("household", tmp_path, **options).wait(PATIENCE).rows()
    outcomes = Counter(row["outcome"] for row in rows)
    assert outcomes["crashed"] == 1 and sum(outcomes.values()) == 4
    again = pddlego.evaluate("household", tmp_path, **options).wait(PATIENCE)
    whole = pddlego.evaluate("household", tmp_path / "whole", **options | {"models": "reader"}).wait(PATIENCE)
    assert len(set(told(rows)) - set(told(whole.rows()))) == 1
    assert told(again.rows()) == told(whole.rows())


@pytest.mark.slow
def test_a_game_that_dies_is_a_failure_of_its_own_episode() -> None:
    game = HouseholdGame(GameSpec("household", SMALL, 1, "all"))
    game.start()
    process = game._program._process
    assert process is not None
    os.kill(process.pid, signal.SIGKILL)
    with pytest.raises(EngineError, match="failed to answer 'look'\nIts process failed: it ended with code -9"):
        game.step("look")
    assert game.start().text  # in a new process
    game.close()


@pytest.mark.slow
def test_no_command_breaks_the_game() -> None:
    game = HouseholdGame(GameSpec("household", SMALL, 1, "all"))
    game.start()
    for command in ("", "\x00", "fly", "go to " + "x" * 10_000, "look\nlook", "🦊", "move a to b", "inventory "):
        assert game.step(command).text, command
        assert game.step("look").text.startswith("You are in the middle of a room."), command
    game.close()
