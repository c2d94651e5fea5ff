"""Which slow tests run: none on a user's machine, and all of them where CI=true is set.

A landing runs a tenth of them, which depends on its commit: `.ci/run` sets `PDDLEGO_LANDING=COMMIT`.
"""

from __future__ import annotations

import os
import zlib

import pytest

SLOW = ("slow", "cluster", "browser")
"""Markers of slow tests."""

LANDING = "PDDLEGO_LANDING"
PART = 10
"""A landing runs one of so many slow tests."""


def left_out(item: pytest.Item) -> bool:
    """Whether a test is slow and does not run here."""
    if not any(item.get_closest_marker(name) for name in SLOW):
        return False
    commit = os.environ.get(LANDING)
    return os.environ.get("CI") != "true" or (commit is not None and not lands(commit, item.nodeid))


def lands(commit: str, test: str) -> bool:
    """Whether the landing of a commit runs a slow test."""
    return zlib.crc32(f"{commit} {test}".encode()) % PART == 0
