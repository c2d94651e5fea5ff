"""Where settings are found: in groups or not, of the user, of pddlego, and of an installed package."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from pddlego.errors import UsageError
from pddlego.methods import registry
from pddlego.methods.setting_files import read_setting, setting_names

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
