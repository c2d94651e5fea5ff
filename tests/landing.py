"""Which slow tests run: none on a user's machine, and all of them where CI=true is set.

A landing runs a part of them: `.ci/run` sets `PDDLEGO_LANDING=PASSED..COMMIT`, where everything has passed at PASSED.
Then slow tests run in the folders that differ between both, and of the others a tenth, which depends on COMMIT.
"""

from __future__ import annotations

import os
import subprocess
import zlib
from functools import cache
from pathlib import Path, PurePath

import pytest

TESTS = Path(__file__).parent
SLOW = ("slow", "cluster", "browser")
"""Markers of slow tests."""

LANDING = "PDDLEGO_LANDING"
PART = 10
"""One of so many functions that a landing does not concern is run."""


def left_out(item: pytest.Item) -> bool:
    """Whether a test is slow and does not run here."""
    if not any(item.get_closest_marker(name) for name in SLOW):
        return False
    if os.environ.get("CI") != "true":
        return True
    return LANDING in os.environ and not lands(item.path.relative_to(TESTS), item.name.partition("[")[0])


def lands(path: Path, function: str) -> bool:
    """Whether a landing runs a slow test."""
    commits = os.environ[LANDING]
    folders = {folder_of(name) for name in _changed(commits)}
    if path.parent in folders or any(folder in path.parents for folder in folders - {Path()}):
        return True
    return zlib.crc32(f"{commits.partition('..')[2]} {path.as_posix()} {function}".encode()) % PART == 0


def folder_of(name: str) -> Path:
    """The folder of `tests` with the tests of a file of the repository.

    Tests mirror the package; data belong to their method, or to all of them; other files to the top.
    """
    top, *parts = PurePath(name).parent.parts or ("",)
    if top in ("envs", "domains", "prompts"):
        parts = ["methods", *parts]
    elif top not in ("pddlego", "tests"):
        parts = []
    folder = TESTS.joinpath(*parts)
    while folder != TESTS and not any(folder.glob("**/test_*.py")):
        folder = folder.parent
    return folder.relative_to(TESTS)


@cache
def _changed(commits: str) -> list[str]:
    """The files that differ between two commits."""
    command = ("git", "diff", "--name-only", "-z", commits)
    done = subprocess.run(command, cwd=TESTS.parent, capture_output=True, text=True, check=True)
    return done.stdout.split("\0")[:-1]
