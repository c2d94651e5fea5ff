"""What a method measures."""

from __future__ import annotations

import pytest

from pddlego.episode.events import Outcome
from pddlego.evaluation.table import columns
from pddlego.methods.base import Measuring
from pddlego.runs.cells import Cell
from pddlego.runs.summary import Measures, Summary
from tests.traces import trace_of

FROM_A_FILE = Summary(Cell("coin", "edit", "reader", 1), 1, Outcome.WON, game_file={"path": "a.z8", "sha256": "0"})


def measured(name: str, number: object) -> Measures:
    return Measuring(lambda trace: Measures({name: number})).measured(trace_of(()))  # type: ignore[dict-item]


def test_a_measured_number_has_no_name_of_a_column_that_every_table_has() -> None:
    """Whatever columns there are: a new one needs no second list."""
    for name in columns([FROM_A_FILE]):
        with pytest.raises(ValueError, match=f"measured '{name}', and every table has a column of that name"):
            measured(name, 1)
    with pytest.raises(TypeError, match="measured rooms = 'two'"):
        measured("rooms", "two")
    assert measured("rooms", 2).numbers == {"rooms": 2}
