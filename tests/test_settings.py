from __future__ import annotations

from pathlib import Path

import pytest

from pddlego import resources
from pddlego.errors import SettingError, UsageError
from pddlego.planning import PlanStep
from pddlego.setting_files import load_setting, parse_overrides, parse_range, setting_names
from pddlego.settings import Setting


def test_the_paper_s_setting(coin: Setting) -> None:
    assert {name: each.value for name, each in coin.parameters.items()} == {
        "numLocations": 11,
        "includeDoors": 1,
        "numDistractorItems": 0,
        "limitInventorySize": 0,
    }
    assert (coin.fold, coin.max_steps) == ("train", 50)
    assert (coin.seeds["dev"], coin.seeds["test"]) == (range(10), range(10, 60))
    assert [str(rung.search) for rung in coin.ladder] == ["bfs", "bfs"]
    assert coin.ladder[1].goal == ("exists", ("?x", "-", "location"), ("and", ("at", "?x"), ("not", ("visited", "?x"))))


def test_every_action_is_one_command(coin: Setting) -> None:
    assert coin.command(PlanStep("move", ("a", "b", "north"))) == "move north"
    assert coin.command(PlanStep("open_door", ("a", "b", "south"))) == "open door to south"
    assert coin.command(PlanStep("take", ("coin", "living_room"))) == "take coin"


def test_a_name_is_never_a_template(coin: Setting) -> None:
    assert coin.command(PlanStep("take", ("{l}", "attic"))) == "take {l}"


def test_what_the_user_may_change() -> None:
    setting = load_setting("coin", {"numLocations": "5"}, 9, "dev", "astar(hmax)")
    assert setting.parameters["numLocations"].value == 5
    assert (setting.max_steps, setting.fold) == (9, "dev")
    assert {str(rung.search) for rung in setting.ladder} == {"astar(hmax)"}
    assert setting.manifest()["overrides"] == {"numLocations": "5"}


@pytest.mark.parametrize(
    ("arguments", "lists"),
    [
        ({"name": "chess"}, "coin"),
        ({"name": "coin", "overrides": {"rooms": "3"}}, "numLocations (1-11, now 11)"),
        ({"name": "coin", "overrides": {"numLocations": "12"}}, "from 1 to 11"),
        ({"name": "coin", "overrides": {"numLocations": "x"}}, "from 1 to 11"),
        ({"name": "coin", "fold": "exam"}, "train, dev, test"),
        ({"name": "coin", "max_steps": 0}, "at least 1"),
        ({"name": "coin", "search": "dfs"}, "bfs, astar"),
    ],
)
def test_what_does_not_exist_is_refused_with_what_does(arguments: dict[str, object], lists: str) -> None:
    with pytest.raises(UsageError) as caught:
        load_setting(**arguments)  # type: ignore[arg-type]
    assert lists in str(caught.value)


def test_seeds_belong_to_the_fold(coin: Setting) -> None:
    coin.check_seed(0)
    coin.check_seed(999)
    with pytest.raises(UsageError, match="0-999") as caught:
        coin.check_seed(1000)
    assert "dev 0-9, test 10-59" in str(caught.value)
    with pytest.raises(UsageError, match="10000-10999"):
        load_setting("coin", fold="dev").check_seed(3)


@pytest.mark.parametrize("pair", ["x", "=3", " = 3"])
def test_overrides_are_pairs(pair: str) -> None:
    with pytest.raises(UsageError, match="KEY=VALUE"):
        parse_overrides([pair])


def test_ranges() -> None:
    assert parse_range("10-59") == range(10, 60)
    assert parse_range(" 7 ") == range(7, 8)
    with pytest.raises(ValueError, match="FIRST-LAST"):
        parse_range("a-b")


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with a copy of the coin setting in its own envs/."""
    (tmp_path / "envs").mkdir()
    (tmp_path / "envs" / "mine.toml").write_text(resources.read("envs", "coin.toml"))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "envs" / "mine.toml"


def test_a_folder_in_the_working_directory_adds_to_ours_and_wins(own: Path) -> None:
    assert {"coin", "mine"} <= set(setting_names())
    own.with_name("coin.toml").write_text(own.read_text().replace("max_steps = 50", "max_steps = 7"))
    assert load_setting("coin").max_steps == 7
    assert load_setting("mine").max_steps == 50


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("[game]", "[game", "not TOML"),
        ('title = "Coin Collector"', "", "title: Field required"),
        ("max_steps = 50", "max_steps = -1", "game.max_steps"),
        ("max_steps = 50", "max_steps = 50\ncolour = 3", "game.colour"),
        ('fold = "train"', 'fold = "exam"', "'exam' is none of"),
        ('goal = "(have coin)"', 'goal = "(have gold)"', "gold is not declared"),
        ('goal = "(have coin)"', 'goal = "(have coin"', "not one PDDL condition"),
        ('search = "bfs"', 'search = "dfs"', "there is no search 'dfs'"),
        ("[actions.take]", "[actions.grab]", "no command for ['take'], no such action ['grab']"),
        ('"take {i}"', '"take {x}"', "['x'] is no parameter"),
        ('expect = "^You take the (?P<i>[^.]+)\\\\."', 'expect = "("', "actions|missing|unterminated"),
        ('domain = "coin"', 'domain = "chess"', "no file domains/chess.pddl"),
        ("value = 11", "value = 12", "12 is not from 1 to 11"),
        ('train = "0-999"', 'train = "9-0"', "the last is before the first"),
        ('train = "0-999"', 'train = "many"', "no range of seeds"),
    ],
)
def test_a_wrong_file_says_what_is_wrong(own: Path, old: str, new: str, says: str) -> None:
    import re

    text = own.read_text()
    assert old in text
    own.write_text(text.replace(old, new, 1))
    with pytest.raises(SettingError) as caught:
        load_setting("mine")
    assert says in str(caught.value) or re.search(says.replace("[", r"\["), str(caught.value))
