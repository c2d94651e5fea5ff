"""What the Python files of settings say is right, and what they say of values that are none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from pddlego.methods.thought_of_search.options import SearchOptions, load
from pddlego.methods.thought_of_search.space import Instance, Search
from pddlego.sandbox import Sandbox
from tests.sandbox.ordinary import needs_locks

pytestmark = needs_locks


@pytest.mark.parametrize(
    ("path", "right"),
    [
        ([[1, 1, 1, 1], [0.0009, 1, 1], [0.0009, 0.0000375], [24.0]], False),  # every step is within the tolerance
        ([[3, 3, 8, 8], [3, 8, 8 / 3], [8, 3 - 8 / 3], [8 / (3 - 8 / 3)]], True),
        ([[3, 3, 8, 8], [3, 8, 2.666667], [8, 0.333333], [24.000024]], True),  # rounded
        ([[1, 5, 5, 5], [5, 5, 0.2], [5, 4.8], [24.0]], True),
        ([[1, 2, 3, 4], [3, 3, 4], [3, 12], [36]], False),
        ([[1, 2, 3, 4], [2, 3, 4], [6, 4], [24]], True),
        ([[1, 2, 3, 4], [float("nan"), 2, 3], [float("inf"), 1], [24]], False),
    ],
)
def test_24_is_made_of_exact_numbers(path: Sequence[Any], right: bool) -> None:
    with Sandbox() as sandbox, load("24game", SearchOptions()).space.judge(sandbox, 0) as judge:
        instance = Instance("1", (Search(path[0]),), {"state": path[0]})
        assert (judge.fault(instance, 0, path) == "") is right
