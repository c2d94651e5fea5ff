"""What a method measures."""

from __future__ import annotations

from dataclasses import fields

import pytest

from pddlego.episode.events import Outcome
from pddlego.errors import ReservedNameError
from pddlego.evaluation.table import Row, columns
from pddlego.methods.base import Measuring, _Part
from pddlego.methods.registry import methods
from pddlego.runs.cells import Cell
from pddlego.runs.summary import Measures, Summary
from tests.traces import trace_of

FROM_A_FILE = Summary(Cell("coin", "edit", "reader", 1), 1, Outcome.WON, game_file={"path": "a.z8", "sha256": "0"})


def measured(name: str, number: object) -> Measures:
    return Measuring(lambda trace: Measures({name: number})).measured(trace_of(()))  # type: ignore[dict-item]


def test_what_is_imported_on_first_use_exists() -> None:
    for method in methods():
        for kind in type(method).__mro__:
            for name, value in vars(kind).items():
                assert not isinstance(value, _Part) or getattr(method, name) is not None


def test_a_measured_number_has_no_name_of_a_column_that_every_table_has() -> None:
    """Whatever columns there are: a new one needs no second list."""
    of_rows = {field.name for field in fields(Row)} - {"common", "measured"}
    for name in {*columns([FROM_A_FILE]), *of_rows, "success"}:
        with pytest.raises(ReservedNameError, match=f"measures '{name}', which is a reserved name"):
            measured(name, 1)
    with pytest.raises(TypeError, match="measured rooms = 'two'"):
        measured("rooms", "two")
    assert measured("rooms", 2).numbers == {"rooms": 2}
