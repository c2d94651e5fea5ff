"""Panels: how long lines are broken."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.text import Text

from pddlego.display.rows import truncated, wrapped


def rows(line: str, width: int) -> list[str]:
    return [row.plain for row in wrapped([Text(line)], width)]


def test_a_line_is_broken_after_a_space() -> None:
    assert rows("predicate conected is not declared", 20) == ["predicate conected ", "is not declared"]
    assert rows("    a-word-that-is-longer", 10) == ["    a-word", "-that-is-l", "onger"]
    assert rows("", 10) == [""]
    assert "".join(rows("漢字 漢", 1)) == "漢字 漢"


@given(st.text(st.sampled_from("ab (-)漢")), st.integers(2, 12))
def test_nothing_is_lost_or_too_wide(line: str, width: int) -> None:
    assert "".join(rows(line, width)) == line
    assert all(cell_len(row) <= width for row in rows(line, width))


def test_rows_that_do_not_fit_are_counted_on_the_last_row() -> None:
    rows = [Text("a"), Text("b"), Text("c")]
    assert [[row.plain for row in truncated(rows, height)] for height in (3, 2, 1, 0)] == [
        ["a", "b", "c"],
        ["a", "2 more"],
        ["3 more"],
        [],
    ]
