"""The picture of a search."""

from __future__ import annotations

import re

from pddlego.cli.search_tree import tree_drawing
from pddlego.planning.result import SearchedState, SearchTree

STATES = (
    SearchedState(None, "", 3, 1, True),
    SearchedState(0, "(go a b)", 2.5, 2, True),
    SearchedState(0, "(go a <c>)", 4),
    SearchedState(1, "(take x)", 0, None, True),
)


def test_a_state_is_below_the_one_before_it() -> None:
    drawing = tree_drawing(SearchTree(STATES, ((1, 1), (2, 1), (1, 0))))
    picture = "".join(drawing.parts)
    labels = ["1. the initial state, h 3", "2. (go a b), h 2.5", "(take x), h 0", "(go a &lt;c&gt;), h 4"]
    assert [*map(picture.index, (f">{label}</text>" for label in labels))] == sorted(
        picture.index(f">{label}</text>") for label in labels
    )
    kinds = ("state expanded planned", "state planned", "state")
    assert [picture.count(f'class="{kind}"') for kind in kinds] == [2, 1, 1]
    assert drawing.lines[0].plain == "4 states, 2 of them expanded"


def test_a_search_of_too_many_states_is_counted_by_depth() -> None:
    drawing = tree_drawing(SearchTree(STATES, ((1, 1), (2, 1), (30, 7))))
    assert not drawing.parts
    assert [line.plain for line in drawing.lines][1:] == [
        "0 actions: 1 state, 1 expanded",
        "1 action: 2 states, 1 expanded",
        "2 actions: 30 states, 7 expanded",
    ]


def test_a_deep_tree_is_narrow_and_a_long_label_is_cut() -> None:
    states = (*(SearchedState(number - 1 if number else None, "(go)", 1, number) for number in range(300)),)
    states = (*states, SearchedState(0, f"(go {'x' * 200})"))
    parts = "".join(tree_drawing(SearchTree(states, ((len(states), 0),))).parts)
    width = re.search(r'width="(\d+)"', parts)
    assert width is not None and int(width[1]) < 1_000
    assert f"(go {'x' * 200})</title>" in parts and "x…x" in parts
