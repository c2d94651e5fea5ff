"""The page that adds an engine, followed literally; the package is found by its entry point."""

from __future__ import annotations

import doctest
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from pddlego.methods import registry
from tests.cli.command import run
from tests.pages import files_of, write_files

PAGE = (Path(__file__).parents[4] / "docs" / "adding-an-engine.md").read_text(encoding="utf-8")
FILES = files_of(PAGE)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The files of the page, and what pip makes of its `pyproject.toml`."""
    write_files(PAGE, tmp_path)
    about = tmp_path / "site" / "building-1.0.dist-info"
    about.mkdir(parents=True)
    (tmp_path / "building.py").rename(tmp_path / "site" / "building.py")
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: building\nVersion: 1.0\n")
    entries = FILES["pyproject.toml"].partition('"pddlego.engines"]\n')[2].partition("\n\n")[0].replace('"', "")
    (about / "entry_points.txt").write_text(f"[pddlego.engines]\n{entries}\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "site"))
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    monkeypatch.delitem(sys.modules, "building", raising=False)
    monkeypatch.setenv("COLUMNS", "200")
    registry.forget()
    yield tmp_path
    registry.forget()


def test_the_page_followed_literally(folder: Path) -> None:
    (block,) = re.findall(r"^```console\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    session = block.split("$ ")[1:]
    assert len(session) == 4
    for text in session:
        command, _, wanted = text.partition("\n")
        done = run(*command.split()[1:], cwd=folder)
        assert done.returncode == 0, done.stderr
        printed = done.stdout + done.stderr
        assert doctest.OutputChecker().check_output(wanted, printed, flags), f"{command}: {printed}"
    results = [line.split(",") for line in (folder / "runs" / "floors" / "results.csv").read_text().splitlines()]
    assert sum("won" in line for line in results if "random" not in line) == 20


@pytest.mark.parametrize(("value", "says"), [("hat", "It takes umbrella or bag"), ("", "It takes umbrella or bag")])
def test_a_text_that_is_no_choice_is_refused(folder: Path, value: str, says: str) -> None:
    done = run("play", "umbrella", "--set", f"thing={value}", cwd=folder)
    assert done.returncode == 2
    assert says in done.stderr


def test_an_error_in_the_engine_names_the_package_and_the_line(folder: Path) -> None:
    place = folder / "site" / "building.py"
    number = FILES["building.py"].splitlines().index("        if command not in self.commands():") + 1
    place.write_text(FILES["building.py"].replace("command not in self.commands()", "{}[command]"))
    done = run("play", "umbrella", "--seed", "2", cwd=folder)
    assert done.returncode == 3
    says = f"failed to answer 'go up': package building (building.py, line {number}): KeyError: 'go up'."
    assert says in " ".join(done.stdout.split())


def test_an_error_in_reading_rules_names_the_package_and_the_line(folder: Path) -> None:
    with (folder / "site" / "building-1.0.dist-info" / "entry_points.txt").open("a") as entries:
        entries.write("[pddlego.readers]\nbuilding = building:Rules\n")
    text = FILES["building.py"] + "\n\nclass Rules:\n    def edit(self, situation):\n        return situation.nothing\n"
    (folder / "site" / "building.py").write_text(text)
    (folder / "envs" / "umbrella.toml").write_text(FILES["envs/umbrella.toml"].partition("[[reading]]")[0])
    done = run("play", "umbrella", cwd=folder)
    assert done.returncode == 3
    line = len(text.splitlines())
    assert f"an error in package building (building.py, line {line}): AttributeError" in " ".join(done.stdout.split())


def test_without_the_package_the_setting_says_what_is_missing(folder: Path) -> None:
    shutil.rmtree(folder / "site")
    done = run("play", "umbrella", cwd=folder)
    assert done.returncode == 2
    assert "Unknown engine 'building'" in done.stderr
