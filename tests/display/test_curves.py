"""Curves of numbers: level between steps, with their names beside each other, and no text is markup."""

from __future__ import annotations

import re
from fractions import Fraction
from itertools import pairwise
from xml.etree import ElementTree

import hypothesis.strategies as st
import pytest
from hypothesis import given

from pddlego.display.curves import MOST_CURVES, Curves

NUMBERS = st.none() | st.fractions() | st.integers(-(10**400), 10**400).map(Fraction)


def picture(curves: Curves, step: int = 0) -> ElementTree.Element:
    return ElementTree.fromstring("".join(curves.drawing(step).parts))


def group(drawn: ElementTree.Element, kind: str) -> list[ElementTree.Element]:
    return [element for element in drawn.iter("g") if element.attrib["class"].split()[0] == kind]


def test_a_curve_is_level_until_the_value_changes() -> None:
    curves = Curves("fuel", {"red": [Fraction(4), Fraction(2), Fraction(2)], "blue": [None, Fraction(0), Fraction(4)]})
    red, blue = group(picture(curves), "curve")[::-1]
    assert [child.text for child in red if child.text] == ["red: 4 after step 0, 2 after step 1", "red"]
    assert [child.text for child in blue if child.text] == [
        "blue: no value after step 0, 0 after step 1, 4 after step 2",
        "blue",
    ]
    path = red[1].attrib["d"]
    assert re.fullmatch(r"M\d+ 14H\d+V67H\d+V67M280 67L292 67", path), "two intervals, the second one level"
    assert blue[1].attrib["d"].startswith("M150 120H280V14"), "from the step at which it has a value"
    assert red[1].attrib["stroke-dasharray"] != blue[1].attrib["stroke-dasharray"], "they differ without colours"
    assert [line.plain for line in curves.drawing(0).lines] == ["red: 4", "blue: no value"]


def test_only_the_mark_of_the_step_differs() -> None:
    curves = Curves("n", {"n": [Fraction(1), Fraction(2), Fraction(3)]})
    first, second = curves.drawing(0).parts, curves.drawing(2).parts
    assert [one for one, other in zip(first, second, strict=True) if one != other] == [first[-2]]
    assert "<title>step 0</title>" in first[-2]


@given(st.lists(st.lists(NUMBERS, min_size=3, max_size=3), min_size=1, max_size=MOST_CURVES))
def test_names_do_not_lie_on_each_other_and_all_is_in_the_frame(rows: list[list[Fraction | None]]) -> None:
    if all(value is None for row in rows for value in row):
        return
    drawn = picture(Curves("f", {f"n{number}": row for number, row in enumerate(rows)}), 1)
    width, height = map(int, drawn.attrib["viewBox"].split()[2:])
    heights = sorted(int(label.attrib["y"]) for curve in group(drawn, "curve") for label in curve.iter("text"))
    assert all(below - above >= 14 for above, below in pairwise(heights))
    for label in drawn.iter("text"):
        assert 0 <= int(label.attrib["x"]) <= width
        assert 8 <= int(label.attrib["y"]) <= height
    for path in drawn.iter("path"):
        assert all(0 <= int(number) <= width for number in re.findall(r"-?\d+", path.attrib["d"]))


def test_the_text_alternative_has_a_bound() -> None:
    curves = Curves("n", {"n": [Fraction(number) for number in range(100)]})
    assert "19 after step 19, and 80 further changes</title>" in "".join(curves.drawing(0).parts)


@pytest.mark.parametrize("evil", ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "a\x1b[31m&b"])
def test_names_are_text(evil: str) -> None:
    drawn = "".join(Curves(evil, {evil: [Fraction(1), Fraction(2)]}).drawing(0).parts)
    tags = {element.tag for element in ElementTree.fromstring(drawn).iter()}
    assert tags == {"svg", "g", "title", "path", "text"}
    assert "\x1b" not in drawn
