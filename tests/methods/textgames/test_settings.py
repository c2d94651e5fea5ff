from __future__ import annotations

from pathlib import Path

import pytest

from pddlego.errors import SettingError, UsageError
from pddlego.methods.base import check_seed
from pddlego.methods.setting_files import parse_overrides, setting_names
from pddlego.methods.textgames.loading import load
from pddlego.methods.textgames.options import TextGameOptions
from pddlego.methods.textgames.settings import GameSetting, parse_range
from pddlego.pddl.conditions import parse_condition
from pddlego.planning import PlanStep
from pddlego.util import resources


def test_the_paper_s_setting(coin: GameSetting) -> None:
    assert {name: parameter.value for name, parameter in coin.parameters.items()} == {
        "numLocations": 11,
        "includeDoors": 1,
        "numDistractorItems": 0,
        "limitInventorySize": 0,
    }
    assert (coin.game.fold, coin.max_steps) == ("train", 50)
    assert (coin.seeds["dev"], coin.seeds["test"]) == (range(10), range(10, 60))
    assert [str(rung.search) for rung in coin.start.ladder] == ["bfs", "bfs"]
    assert coin.start.ladder[1].goal == parse_condition("(exists (?x - location) (and (at ?x) (not (visited ?x))))")


def test_every_action_is_one_command(coin: GameSetting) -> None:
    assert coin.start.command(PlanStep("move", ("a", "b", "north"))) == "move north"
    assert coin.start.command(PlanStep("open_door", ("a", "b", "south"))) == "open door to south"
    assert coin.start.command(PlanStep("take", ("coin", "living_room"))) == "take coin"


def test_a_name_is_never_a_template(coin: GameSetting) -> None:
    assert coin.start.command(PlanStep("take", ("{l}", "attic"))) == "take {l}"


def test_what_the_user_may_change() -> None:
    setting = load(
        "coin", TextGameOptions(parameters={"numLocations": "5"}, max_steps=9, fold="dev", search="astar(hmax)")
    )
    assert setting.parameters["numLocations"].value == 5
    assert (setting.max_steps, setting.game.fold) == (9, "dev")
    assert {str(rung.search) for rung in setting.start.ladder} == {"astar(hmax)"}
    assert setting.resolved()["parameters"]["numLocations"] == "5"


@pytest.mark.parametrize(
    ("arguments", "lists"),
    [
        ({"name": "coim"}, "coin"),
        ({"name": "coin", "parameters": {"rooms": "3"}}, "numLocations (1-11, now 11)"),
        ({"name": "coin", "parameters": {"numLocations": "12"}}, "from 1 to 11"),
        ({"name": "coin", "parameters": {"numLocations": "x"}}, "from 1 to 11"),
        ({"name": "coin", "fold": "exam"}, "train, dev, test"),
        ({"name": "coin", "search": "dfs"}, "bfs, astar"),
    ],
)
def test_what_does_not_exist_is_refused_with_what_does(arguments: dict[str, object], lists: str) -> None:
    with pytest.raises(UsageError) as caught:
        load(str(arguments.pop("name")), TextGameOptions.model_validate(arguments))
    assert lists in str(caught.value)


def test_seeds_belong_to_the_fold(coin: GameSetting) -> None:
    check_seed(coin, 0)
    check_seed(coin, 999)
    with pytest.raises(UsageError, match="0-999") as caught:
        check_seed(coin, 1000)
    assert "dev 0-9, test 10-59" in str(caught.value)
    with pytest.raises(UsageError, match="10000-10999"):
        check_seed(load("coin", TextGameOptions(fold="dev")), 3)


@pytest.mark.parametrize("pair", ["x", "=3", " = 3"])
def test_overrides_are_pairs(pair: str) -> None:
    with pytest.raises(UsageError, match="KEY=VALUE"):
        parse_overrides((pair,))


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
    assert load("coin").max_steps == 7
    assert load("mine").max_steps == 50


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("[game]", "[game", "not TOML"),
        ('title = "Coin Collector"', "", "title: Field required"),
        ("max_steps = 50", "max_steps = -1", "game.max_steps"),
        ("max_steps = 50", "max_steps = 50\ncolour = 3", "game.colour"),
        ("max_steps = 50", 'max_steps = 50\nfold = "exam"', "it has no fold 'exam'. Its folds are: train, dev, test."),
        ('goal = "(have coin)"', 'goal = "(have gold)"', "gold is not declared"),
        ('goal = "(have coin)"', 'goal = "(have coin"', "not one PDDL condition"),
        ('search = "bfs"', 'search = "dfs"', "unknown search 'dfs'"),
        ("[prompts]", '[actions.grab]\ncommand = "grab"\n[prompts]', "no such action ['grab']"),
        ("[prompts]", '[actions.take]\ncommand = "take {x}"\n[prompts]', "['x'] is not a parameter"),
        ("[prompts]", '[actions.take]\nexpect = "("\n[prompts]', "actions|missing|unterminated"),
        ('domain = "coin"', 'domain = "chess"', "domains/chess.pddl does not exist"),
        ("value = 11", "value = 12", "12 is not from 1 to 11"),
        ("[planning]", '[planning]\nonly_planned = ["flown"]', "'flown' is not a predicate"),
        ("[planning]", '[planning]\nsought = "(exists"', "not one PDDL condition"),
        ("[planning]", '[planning]\nsought = "(have coin)"', "does not begin with (exists"),
        ("[planning]", '[planning]\nsought = "(exists (?i - item) (owns ?i))"', "owns is not declared"),
        ("[prompts]", '[reading.own]\ntext = "("\n[prompts]', "missing|unterminated"),
        ("[prompts]", '[reading.own]\ntext = "a"\nlike = "a"\n[prompts]', "one of `sentence`, `text` and `like`"),
        ("[prompts]", '[reading.own]\ntext = "a"\nadd = ["(have {x})"]\n[prompts]', "which no slot or group matches"),
        ("[prompts]", '[reading.own]\ntext = "a"\nadd = ["(have ?x)"]\n[prompts]', "which no fact of `find` binds"),
        ("[prompts]", '[reading.own]\ntext = "a"\nadd = ["(owns coin)"]\n[prompts]', "not a fact that the domain has"),
        ("[prompts]", '[reading.own]\ntext = "a"\nfind = ["(have coin)"]\n[prompts]', "reading.own: it does nothing"),
        ("[prompts]", '[reading.own]\nlike = "the {x}"\nadd = "(have {x})"\n[prompts]', "belong to `sentence`"),
        (
            "[prompts]",
            '[reading.own]\ntext = "a"\nadd = ["(have coin)"]\ngiven = true\n[prompts]',
            "belong to `sentence`",
        ),
        ("[prompts]", '[reading.own]\ntext = "a"\nadd = ["(have coin"]\n[prompts]', "is not a fact such as"),
        (
            "[prompts]",
            '[reading.own]\ntext = "a"\nforget = ["(have * *)"]\n[prompts]',
            "not a fact that the domain has",
        ),
        ("[prompts]", '[reading.own]\ntext = "a"\nobjects = ["cup - dish"]\n[prompts]', "is not an object such as"),
        ("[prompts]", '[reading.own]\nsentence = "a {"\n[prompts]', "has a brace that belongs to no"),
        ("[prompts]", '[game.folds]\ntrain = "9-0"\n[prompts]', "the last is before the first"),
        ("[prompts]", '[game.folds]\ntrain = "many"\n[prompts]', "not a range of seeds"),
        ("[prompts]", "[game.folds]\ntrain = 5\n[prompts]", "not a range of seeds"),
    ],
)
def test_a_wrong_file_says_what_is_wrong(own: Path, old: str, new: str, says: str) -> None:
    import re

    text = own.read_text()
    assert old in text
    own.write_text(text.replace(old, new, 1))
    with pytest.raises(SettingError) as caught:
        load("mine")
    assert says in str(caught.value) or re.search(says.replace("[", r"\["), str(caught.value))


def test_a_setting_may_extend_another() -> None:
    easy, full = load("cooking-easy"), load("cooking-full")
    assert (easy.max_steps, full.max_steps) == (20, 150)
    assert full.parameters["numLocations"].value == 11
    assert full.parameters["numLocations"].about == easy.parameters["numLocations"].about
    assert full.start.ladder == easy.start.ladder
    files = ["envs/cooking-full.toml", "envs/cooking-easy.toml", "envs/_house.toml", "envs/_engine.toml"]
    assert [source for source in full.sources if source.startswith("envs/")] == files, "a run records them all"
    assert "_house" not in setting_names()
    with pytest.raises(UsageError, match="Unknown game '_house'"):
        load("_house")


@pytest.mark.parametrize(
    ("extends", "says"),
    [("'mine'", "It extends itself"), ("'chess'", "names no setting: 'chess'"), ("3", "names no setting: 3")],
)
def test_an_extension_that_leads_nowhere(own: Path, extends: str, says: str) -> None:
    own.write_text(own.read_text().replace('extends = "_house"', f"extends = {extends}"))
    with pytest.raises(SettingError, match=r"mine\.toml is not a valid setting") as caught:
        load("mine")
    assert says in str(caught.value)


def test_tables_are_merged_and_lists_replaced(own: Path) -> None:
    own.with_name("other.toml").write_text('extends = "mine"\ntitle = "Other"\n[game]\nrefused = ["no"]\n')
    other = load("other")
    assert (other.title, other.max_steps, other.game.refused) == ("Other", 50, ("no",))
