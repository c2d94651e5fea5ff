"""How much is tested, and how long is waited: everything in CI, and a part of what takes long before a landing and on a
user's machine."""

from __future__ import annotations

import os
from typing import TypeVar

from tests.landing import LANDING

T = TypeVar("T")

IN_CI = os.environ.get("CI") == "true" and LANDING not in os.environ

PATIENCE = 300.0
"""Seconds that a test waits for what happens at once on an idle machine: only what hangs takes so long."""

PATIENT = 1_000.0
"""How many times as long as its CPU time a program may take that is not tested for time-outs."""


def scaled(everywhere: T, in_ci: T) -> T:
    """The one of both that suits where the tests run."""
    return in_ci if IN_CI else everywhere
