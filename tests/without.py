"""Runs tests in a copy of the repository without a method: `python -m tests.without METHOD… [--all] [OPTION…]`.

The copy lacks the folders of each METHOD. Of the other tests, a part that takes less than a minute runs, the same one
each time and none that is slow; with `--all` every one. Other options are those of pytest.

What a test needs of a method is known in three ways. A module of tests that imports a module of the method or names one
of its settings, such as "coin", itself or through modules of tests, is not collected. A test with the marker
`method(NAME)` is skipped; so is one with the marker `whole`, which compares the code with what is written or recorded
of all methods.
"""

from __future__ import annotations

import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FOLDERS = ("pddlego/methods", "envs", "domains", "prompts", "tests/methods")
"""The folders that have a folder of each method."""
METHODS = sorted(path.parent.name for path in (ROOT / "pddlego" / "methods").glob("*/__init__.py"))

SETTINGS = "PDDLEGO_TESTS_WITHOUT"
"""The variable with the names of the settings of the methods that were taken out, separated by `|`."""

PART = 40
"""One of so many functions of each folder is run, with one of its parameters."""

_IMPORTED = re.compile(r"^(?:from|import) ((?:pddlego\.methods|tests)\.[\w.]+)", re.MULTILINE)


def need(method: str) -> None:
    """Skip a test that plays with a method which was taken out."""
    if not _is_here(method):
        pytest.skip(f"the method {method} is not here")


def _is_here(name: str) -> bool:
    """Whether there is a method of that name, or a module beside the methods."""
    return any((ROOT / "pddlego" / "methods" / file).exists() for file in (name, f"{name}.py"))


def absent(path: Path) -> set[str]:
    """What a module of tests needs, itself or through others that it imports, and what is not here."""
    names: set[str] = set()
    paths = [path]
    for module in (module for path in paths for module in _imported_by(path)):
        parts = module.split(".")
        helper = (ROOT / Path(*parts)).with_suffix(".py")
        if parts[1] == "methods" and not _is_here(parts[2]):
            names.add(parts[2])
        elif parts[0] == "tests" and helper.is_file() and helper not in paths:
            paths.append(helper)
    if settings := os.environ.get(SETTINGS):
        names |= {"a setting" for path in paths if re.search(f'"({settings})["@ ]', path.read_text(encoding="utf-8"))}
    return names


@cache
def _imported_by(path: Path) -> list[str]:
    """The modules of tests and of methods that a module imports."""
    return _IMPORTED.findall(path.read_text(encoding="utf-8"))


def copy(methods: list[str], folder: Path) -> None:
    """Copy what git does not ignore, without the methods."""
    removed = tuple(f"{place}/{method}/" for place in FOLDERS for method in methods)
    listed = subprocess.run(
        ("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"),
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    for name in filter(None, listed.split("\0")):
        source = ROOT / name
        if not name.startswith(removed) and (source.is_file() or source.is_symlink()):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, folder / name, follow_symlinks=False)


def run(methods: list[str], options: list[str]) -> int:
    """The exit code of the tests in a copy without the methods."""
    with tempfile.TemporaryDirectory(prefix="pddlego-without-") as folder:
        copy(methods, Path(folder))
        everything = "--all" in options
        command = [sys.executable, "-m", "pytest", "-m", "not whole", *([] if everything else ["-p", "tests.without"])]
        command += [option for option in options if option != "--all"]
        # The copy precedes the installed package: also in the processes that tests start, in whichever folder.
        files = (file.stem for method in methods for file in (ROOT / "envs" / method).glob("[!_]*.toml"))
        environment = {
            SETTINGS: "|".join(files),
            **os.environ,
            "PYTHONPATH": folder,
            "CI": os.environ.get("CI", "") if everything else "",
        }
        return subprocess.run(command, cwd=folder, env=environment).returncode


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep the part of the tests that is run without `--all`."""
    items[:] = _part(items)


def _part(items: list[pytest.Item]) -> Iterator[pytest.Item]:
    functions: dict[Path, dict[str, list[pytest.Item]]] = {}
    for item in items:
        functions.setdefault(item.path.parent, {}).setdefault(item.name.partition("[")[0], []).append(item)
    for path, named in functions.items():
        chosen = random.Random(path.name).sample(sorted(named), -(-len(named) // PART))
        yield from (random.Random(name).choice(named[name]) for name in chosen)


if __name__ == "__main__":
    named = [argument for argument in sys.argv[1:] if argument in METHODS]
    if not named:
        sys.exit(f"Which method? Name some of: {', '.join(METHODS)}.")
    sys.exit(run(named, [argument for argument in sys.argv[1:] if argument not in METHODS]))
