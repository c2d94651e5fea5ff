"""Panels: how long lines are broken."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.text import Text

from pddlego.display.rows import wrapped


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
