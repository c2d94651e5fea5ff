"""Pictures of relations: blocks are towers that stay where they are, roads are layers, and no text is markup."""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise
from xml.etree import ElementTree

import hypothesis.strategies as st
import pytest
from hypothesis import given

from pddlego.display.relation import Pair, Relation
from pddlego.display.shapes import BOX, PITCH, Place, box

NAMES = ("a", "b", "c", "d", "e")
PAIRS = st.frozensets(st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES)).filter(lambda pair: pair[0] != pair[1]))


def drawn(relation: Relation, step: int) -> tuple[dict[str, Place], str]:
    """The places of the boxes, and the whole picture."""
    places = dict[str, Place]()

    def box_at(name: str, middle: Place) -> str:
        places[name] = middle
        return box([], name, [(name, "name")], middle)

    return places, "".join(relation.parts(step, box_at))


def test_blocks_are_towers_that_stay_in_their_columns() -> None:
    states: list[frozenset[Pair]] = [frozenset({("a", "b")}), frozenset(), frozenset({("a", "c")})]
    first, second, third = (drawn(Relation("on", NAMES[:3], states), step)[0] for step in range(3))
    assert first["a"][0] == first["b"][0] != first["c"][0]
    assert first["a"][1] < first["b"][1] == first["c"][1], "a is above b"
    assert (second["b"], second["c"]) == (first["b"], first["c"])
    assert second["a"][0] not in (second["b"][0], second["c"][0])
    assert (third["b"], third["c"]) == (first["b"], first["c"])
    assert third["a"][0] == third["c"][0]


def test_roads_are_layers_and_their_parts_are_side_by_side() -> None:
    roads = [("a", "b"), ("b", "c"), ("c", "a"), ("d", "e")]
    states = [frozenset(roads + [(end, start) for start, end in roads])]
    places, picture = drawn(Relation("road", NAMES, states), 0)
    assert places["b"][1] == places["c"][1] < places["a"][1]
    assert min(places["d"][0], places["e"][0]) > max(places[name][0] for name in "abc")
    assert len(re.findall('<g class="exit"', picture)) == len(roads), "one line for both directions"
    assert "tip" not in picture


def test_one_way_has_an_arrow_and_a_new_pair_is_marked() -> None:
    states: list[frozenset[Pair]] = [frozenset({("a", "b"), ("b", "a")}), frozenset({("b", "a"), ("b", "c")})]
    relation = Relation("road", NAMES[:4], states)
    assert "added" not in drawn(relation, 0)[1]
    picture = drawn(relation, 1)[1]
    assert re.findall(r'<g class="(exit[ \w]*)"><title>([^<]*)', picture) == [
        ("exit", "(road b a)"),
        ("exit added", "(road b c)"),
    ]
    assert picture.count('class="tip"') == 2, "also straight down"


def curves(picture: str) -> dict[str, list[int]]:
    """The numbers of the path of each line, by its title."""
    paths = re.findall(r'<g class="exit[^"]*"><title>([^<]*)</title><path d="([^"]*)"', picture)
    return {title: [int(number) for number in re.findall(r"-?\d+", path)] for title, path in paths}


@pytest.mark.parametrize("pairs", [["ab", "bc", "ac"], ["ad", "bd", "cd", "ab", "bc", "ac"]], ids=["column", "row"])
def test_a_line_does_not_pass_behind_a_box(pairs: list[str]) -> None:
    relation = Relation("road", NAMES[:4], [frozenset((pair[0], pair[1]) for pair in pairs)])
    places, picture = drawn(relation, 0)
    x, y, bend, rise, u, v = curves(picture)["(road a c)"]
    middle = (x + 2 * bend + u) / 4, (y + 2 * rise + v) / 4
    for name in "bd":
        outside = abs(middle[0] - places[name][0]) > BOX[0] / 2 or abs(middle[1] - places[name][1]) > BOX[1] / 2
        assert outside, name
    tip = re.search(r"translate\((-?\d+) (-?\d+)\)", picture.partition("<title>(road a c)")[2])
    assert tip is not None
    assert (int(tip[1]), int(tip[2])) == pytest.approx(middle, abs=1), "the arrow is on the curve"


def test_a_long_way_of_a_map_fits_and_a_tower_stays_a_tower() -> None:
    names = [f"n{number:02}" for number in range(24)]
    chain = frozenset(pairwise(names))
    moving, _ = drawn(Relation("on", names, [chain, frozenset()]), 0)
    assert len({x for x, _ in moving.values()}) == 1
    still, picture = drawn(Relation("road", names, [chain, chain]), 0)
    assert sorted(Counter(x for x, _ in still.values()).values()) == [8, 8, 8]
    ends = [(still[start], still[end]) for start, end in chain]
    assert all(abs(x - u) + abs(y - v) <= PITCH[0] for (x, y), (u, v) in ends), "neighbours stay side by side"
    assert "wide" not in picture
    columns, picture = drawn(Relation("road", names, [frozenset(), frozenset()]), 0)
    assert len({x for x, _ in columns.values()}) == 6
    assert 'class="wide"' in drawn(Relation("on", names, [chain, frozenset()]), 1)[1], "one column for each"


@given(st.lists(PAIRS, min_size=1, max_size=4))
def test_boxes_never_lie_on_each_other_and_the_frame_has_all(states: list[frozenset[Pair]]) -> None:
    relation = Relation("r", NAMES, states)
    for step in range(len(states)):
        places, picture = drawn(relation, step)
        assert places.keys() == {*NAMES}
        assert len({*places.values()}) == len(NAMES)
        left, top, width, height = map(int, ElementTree.fromstring(picture).attrib["viewBox"].split())
        for x, y in places.values():
            assert left <= x - BOX[0] // 2 and x + BOX[0] // 2 <= left + width
            assert top <= y - BOX[1] // 2 and y + BOX[1] // 2 <= top + height


@pytest.mark.parametrize("evil", ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "a\x1b[31m&b"])
def test_names_are_text(evil: str) -> None:
    picture = drawn(Relation(evil, (evil, "b"), [frozenset({(evil, "b")})]), 0)[1]
    tags = {element.tag for element in ElementTree.fromstring(picture).iter()}
    assert tags == {"svg", "g", "title", "path", "rect", "text"}
    assert "\x1b" not in picture
