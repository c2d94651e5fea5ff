"""Gantt charts fit into their width, say everything in words, and are bounded."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from pddlego.display.gantt import MOST_BARS, MOST_ROWS, Bar, chart_lines, chart_svg
from pddlego.pddl import parse_domain, parse_problem
from pddlego.planning.plan_text import read_plan

PLAN = """0: (lift hoist1 crate-with-a-long-name pallet0 depot0) [1]
0: (drive truck1 depot0 market1) [6.5]
6.501: (refuel truck1) [10]
7: (beep)
16.502: (drive truck1 market1 depot0) [6.5]
24: (beep)
"""

ACTIONS = "".join(f"(:durative-action {name} :duration (and) :effect (and))" for name in ("lift", "drive", "refuel"))
DOMAIN = parse_domain(f"(define (domain d) {ACTIONS} (:action beep :effect (and)) (:action a :effect (and)))")
PROBLEM = parse_problem("(define (problem p) (:domain d) (:init) (:goal (and)))")

TIMES = st.fractions(min_value=0, max_value=10**9) | st.sampled_from([Fraction(10) ** 190, Fraction(1, 10**190)])
BARS = st.lists(
    st.builds(lambda start, lasts, step: Bar(start, start + lasts, step), TIMES, TIMES, st.text(max_size=30)),
    max_size=12,
)


def bars(text: str = PLAN) -> list[Bar]:
    return [Bar(Fraction(step.start), step.end, str(step.step)) for step in read_plan(text, DOMAIN, PROBLEM).plan.timed]


def test_a_terminal_shows_a_row_for_each_step_and_an_axis() -> None:
    assert chart_lines(bars(), 60) == [
        "(lift hoist1 crate-with… ██",
        "(drive truck1 depot0 ma… ██████████",
        "(refuel truck1)                   ████████████████",
        "(beep)                             ◆                       ◆",
        "(drive truck1 market1 d…                         ██████████",
        "                         0             10             20",
    ]


def test_an_empty_plan_and_one_without_duration_can_be_drawn() -> None:
    assert chart_lines([], 30) == [" 0             0.5           1"]
    assert chart_lines(bars("0: (a)"), 20) == ["(a) ◆", "    0       0.5    1"]
    assert "<rect" in chart_svg([], "Nothing")


@given(BARS, st.integers(0, 150))
def test_lines_fit(some: list[Bar], width: int) -> None:
    assert all(cell_len(line) <= max(20, width) for line in chart_lines(some, width))


@given(BARS, st.integers(0, 3000))
def test_a_picture_is_xml_within_its_bounds(some: list[Bar], width: int) -> None:
    root = ElementTree.fromstring(chart_svg(some, "<Plan> & 'more' \"", width))
    wide = int(root.attrib["width"])
    assert 80 <= wide <= 2000
    for rect in root.iter("{http://www.w3.org/2000/svg}rect"):
        right = float(rect.attrib.get("x", 0)) + float(rect.attrib["width"])
        assert right <= wide + 0.1
        assert float(rect.attrib.get("y", 0)) + float(rect.attrib["height"]) <= int(root.attrib["height"])


def test_a_picture_has_a_title_and_words_for_each_bar() -> None:
    root = ElementTree.fromstring(chart_svg(bars(), "Plan of <depot>"))
    titles = [title.text for title in root.iter("{http://www.w3.org/2000/svg}title")]
    assert root.attrib["role"] == "img"
    assert root.attrib["aria-label"] == titles[0] == "Plan of <depot>"
    assert "(refuel truck1): 6.501 to 16.501" in titles
    assert {"(beep): 7", "(beep): 24"} <= set(titles)


def test_a_picture_is_not_wider_than_a_phone() -> None:
    assert "svg{max-width:100%;height:auto}" in chart_svg([Bar(Fraction(0), Fraction(1), "(a)")], "plan")


def test_a_picture_loads_nothing() -> None:
    text = chart_svg(bars(), "Plan").replace('xmlns="http://www.w3.org/2000/svg"', "")
    assert not any(word in text for word in ("http", "url(", "href", "@import", "script"))


@pytest.mark.parametrize("step", ["(s{})", "(s)"])
def test_pictures_are_bounded(step: str) -> None:
    many = [Bar(Fraction(number), Fraction(number + 1), step.format(number)) for number in range(10_000)]
    drawn = MOST_ROWS if "{}" in step else MOST_BARS
    assert chart_svg(many, "Plan").count("<rect") == drawn + 1
    assert chart_lines(many, 80)[-1] == f"and {10_000 - drawn:,} further steps"


def test_long_names_in_a_picture_lack_their_middle_because_they_begin_alike() -> None:
    steps = [f"(at red-truck warehouse-district-north-{number:03})" for number in range(2)]
    picture = chart_svg([Bar(Fraction(0), Fraction(1), step) for step in steps], "plan", 400)
    labels = re.findall(r"<text[^>]*>([^<]*)<title>", picture)
    assert labels[0].endswith("000)") and labels[1].endswith("001)")
    assert all("…" in label for label in labels)
