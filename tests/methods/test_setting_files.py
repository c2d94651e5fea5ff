"""Where settings are found: in groups or not, of the user, of pddlego, and of an installed package."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from pddlego.errors import UsageError
from pddlego.methods import registry
from pddlego.methods.setting_files import parse_overrides, read_setting, setting_names
from pddlego.util import resources

ROOT = Path(__file__).parents[2]
SHARED = "planning"
"""The group of the settings that several methods play."""


def write(path: Path, title: str, extends: str = "") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    head = f'extends = "{extends}"' if extends else 'kind = "number"'
    path.write_text(f'{head}\ntitle = "{title}"\n', encoding="utf-8")


def title(name: str) -> str:
    return str(read_setting(name).tables["title"])


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the user's settings."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "envs").mkdir()
    return tmp_path / "envs"


@pytest.fixture
def guest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of an installed package that declares two methods, one with the name of a method of pddlego."""
    about = tmp_path / "site" / "guest-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: guest\nVersion: 1.0\n")
    own = next(registry.methods()).name
    (about / "entry_points.txt").write_text(f"[pddlego.methods]\nguest = guest:METHOD\n{own} = guest:METHOD\n")
    monkeypatch.syspath_prepend(str(about.parent))
    (about.parent / "guest").mkdir()
    (about.parent / "guest" / "__init__.py").write_text("METHOD = None\n")
    registry.forget()
    yield about.parent / "guest"
    registry.forget()


def test_settings_are_grouped_by_method_and_no_name_is_in_two_groups() -> None:
    names = Counter(path.name for path in (ROOT / "envs").rglob("*.toml"))
    assert not [name for name, count in names.items() if count > 1]
    assert not list((ROOT / "envs").glob("*.toml"))
    assert {group.name for group in (ROOT / "envs").iterdir()} <= {
        SHARED,
        *(method.name for method in registry.methods()),
    }


def test_a_group_holds_what_its_method_plays() -> None:
    for path in (ROOT / "envs").glob("*/[!_]*.toml"):
        modes = registry.modes_of(read_setting(path.stem).kind)
        players = {registry.method_of(path.stem, mode.name).name for mode in modes}
        assert path.parent.name in players if len(players) == 1 else path.parent.name == SHARED


def test_a_setting_of_the_user_comes_first_and_one_without_a_group_before_that(here: Path) -> None:
    name = setting_names()[0]
    write(here / "mine" / f"{name}.toml", "grouped")
    write(here / "mine" / "deep" / "deeper.toml", "no group")
    assert title(name) == "grouped"
    write(here / f"{name}.toml", "flat")
    assert title(name) == "flat"
    assert "deeper" not in setting_names()


def test_a_setting_extends_one_of_another_group_and_a_run_records_names_without_groups(here: Path) -> None:
    write(here / "bases" / "_base.toml", "base")
    write(here / "mine" / "small.toml", "small", extends="_base")
    assert list(read_setting("small").sources) == ["envs/small.toml", "envs/_base.toml"]
    assert "_base" not in setting_names()


@pytest.mark.parametrize("group", ["", "guest"])
def test_an_installed_package_adds_settings_and_replaces_none(here: Path, guest: Path, group: str) -> None:
    name = setting_names()[0]
    before = title(name)
    write(guest / "envs" / group / "added.toml", "added")
    write(guest / "envs" / group / f"{name}.toml", "replaced")
    assert title("added") == "added"
    assert title(name) == before
    write(here / "mine" / "added.toml", "the user's")
    assert title("added") == "the user's"


def test_an_installed_package_replaces_no_method_of_ours(guest: Path) -> None:
    own = next(registry.methods())
    assert registry.method(own.name) is own
    assert registry.package_of(own.name) is None
    with pytest.raises(UsageError, match="cannot be loaded"):
        registry.method("guest")


def test_a_group_that_leads_out_of_the_folder_is_skipped(here: Path, tmp_path: Path) -> None:
    """It harms no other setting: those of pddlego are read as without it."""
    write(tmp_path / "private" / "secret.toml", "secret")
    (here / "mine").symlink_to(tmp_path / "private")
    assert "secret" not in setting_names()
    assert "coin" in setting_names()


def test_a_group_that_cannot_be_read_is_skipped(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of root, nothing can be kept: what the system says of access is replaced."""
    write(here / "locked" / "small.toml", "small")
    assert "small" in setting_names()
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path).name != "locked")
    assert "small" not in setting_names()


def mutated(here: Path, name: str, old: str, new: str) -> str:
    """What playing a copy of a setting with one change reports."""
    text = resources.read("envs", f"{name}.toml")
    assert re.search(old, text, re.MULTILINE), old
    (here / "mine.toml").write_text(re.sub(old, new, text, count=1, flags=re.MULTILINE), encoding="utf-8")
    with pytest.raises(UsageError) as caught:
        player = registry.method_of("mine", registry.first_mode("mine"))
        player.load("mine", player.options())
    return str(caught.value)


@pytest.mark.parametrize(
    ("name", "old", "new", "line", "near"),
    [
        ("twc", "^title", "titel", "^titel", "title"),
        ("twc", r"^\[planning\]", "[planing]", r"^\[planing\]", "planning"),
        ("twc", "^max_steps", "max_step", "^max_step ", "max_steps"),
        ("twc", "^command = ", "comand = ", "^comand", "command"),
        ("twc", r"^\[game\]", '[protocol]\nwithout = ["feedbak"]\n[game]', "^without", "feedback"),
        ("ferry", "^generator", "genertor", "^genertor", "generator"),
        ("ferry", r"^\[training\]", "[trianing]", r"^\[trianing\]", "training"),
        ("24game", "^rules", "ruels", "^ruels", "rules"),
        ("24game", '^search = "', 'search = "x', "^search", "breadth-first"),
        ("24game", '^about = "There', 'abuot = "There', "^abuot", "about"),
        ("text-battery", "^level = .*", 'level = "tiem"', "^level", "time"),
        ("text-battery", "^title", "titel", "^titel", "title"),
        ("text-battery", "^generator", "genertor", "", "generator"),
        ("text-battery", "^kind = .*", 'kind = "txet"', "^kind", "text"),
        ("twc", "^extends = .*", 'kind = "text gam"', "^kind", "text game"),
    ],
)
def test_a_misspelt_key_or_value_is_named_with_its_line_and_the_nearest(
    here: Path, name: str, old: str, new: str, line: str, near: str
) -> None:
    says = mutated(here, name, old, new)
    lines = (here / "mine.toml").read_text(encoding="utf-8").splitlines()
    numbers = [number for number, text in enumerate(lines, 1) if line and re.search(line, text)]
    assert f"Did you mean '{near}'?" in says
    assert not numbers or f"envs/mine.toml, line {numbers[0]}: " in says
    assert "Field required" not in says, "a key that is missing because it is misspelt is not reported twice"


@pytest.mark.parametrize(
    ("name", "old", "new", "says"),
    [
        ("ferry", "^kind", "knid", "Write kind in place of knid."),
        ("ferry", '^domain = "ferry"', 'domain = "fery"', "Did you mean 'ferry'?"),
        ("ferry", '^generator = "ferry"', 'generator = "fery"', "Did you mean 'ferry'?"),
        ("ferry", "^title", "colour", "Unknown key 'colour'. The keys there are: title, about, "),
        ("twc", "^extends = .*", 'extends = "_egnine"', "Did you mean '_engine'?"),
        ("twc", "^only_planned = .*", 'only_planned = ["stord"]', "Did you mean 'stored'?"),
        ("twc", r"^\[game\]", '[actions.tkae]\ncommand = "take"\n[game]', "Did you mean 'take'?"),
    ],
)
def test_other_names_are_compared_with_those_that_exist(here: Path, name: str, old: str, new: str, says: str) -> None:
    assert says in mutated(here, name, old, new)


def test_a_key_of_the_extended_file_is_reported_there(here: Path) -> None:
    (here / "_base.toml").write_text('kind = "planning"\n\n[trianing]\ncars = [1, 2]\n', encoding="utf-8")
    (here / "mine.toml").write_text('extends = "_base"\ntasks = "folder"\n', encoding="utf-8")
    with pytest.raises(UsageError, match=r"envs/_base\.toml, line 3: Unknown key 'trianing'"):
        registry.method("programs").load("mine", registry.method("programs").options())


def test_a_key_has_one_value() -> None:
    assert parse_overrides(("a=1", "b=2", "a = 1")) == {"a": "1", "b": "2"}
    with pytest.raises(UsageError, match="a has two values"):
        parse_overrides(("a=1", "b=2", "a=3"))
