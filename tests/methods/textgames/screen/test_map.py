from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pddlego.display.console import ASCII, UNICODE
from pddlego.methods.textgames.loading import load
from pddlego.methods.textgames.screen.map import draw_map, fits, house_of
from pddlego.methods.textgames.settings import MapRule
from pddlego.pddl import Problem, parse_problem
from tests.methods.textgames.houses import explored

COIN_MAP = load("coin").map
assert COIN_MAP is not None
RULE = COIN_MAP

HOUSE = """(define (problem p) (:domain coin-collector) (:objects kitchen pantry loc1 attic - location)
  (:init (at kitchen) (visited kitchen) (visited pantry) (connected kitchen pantry north)
         (connected pantry kitchen south) (connected kitchen loc1 east) (closed_door kitchen loc1)
         (item_at coin pantry))
  (:goal (have coin)))"""


def test_rooms_doors_things_and_rooms_without_a_place() -> None:
    picture = draw_map(house_of(parse_problem(HOUSE), RULE), 40, 7, UNICODE).plain
    assert picture.split("\n") == [
        "pantry ◆",
        "    │",
        "    │",
        "    │",
        "● kitchen───────╫─────── loc1 ?",
        "elsewhere: attic",
    ]


def test_in_ascii() -> None:
    picture = draw_map(house_of(parse_problem(HOUSE), RULE), 40, 3, ASCII).plain
    assert picture.isascii()
    assert "@ kitchen" in picture
    assert "#" in picture


def test_nothing_known() -> None:
    assert draw_map(house_of(Problem("p", "d"), RULE), 40, 7, UNICODE).plain == "nothing is known yet"


def test_two_rooms_on_one_place_do_not_hide_each_other() -> None:
    text = """(define (problem p) (:domain d) (:objects a b c - location)
      (:init (at a) (connected a b north) (connected a c north)) (:goal (have coin)))"""
    house = house_of(parse_problem(text), RULE)
    shown = {room.name for room in house.rooms.values()} | {room.name for room in house.elsewhere}
    assert shown == {"a", "b", "c"}


@given(st.integers(1, 11), st.integers(0, 50), st.integers(8, 120), st.integers(1, 30))
def test_a_map_never_leaves_its_frame_and_always_shows_the_agent(
    visited: int, seed: int, width: int, height: int
) -> None:
    problem = explored(12, visited, seed)
    lines = draw_map(house_of(problem, RULE), width, height, UNICODE).plain.split("\n")
    assert len(lines) <= height
    assert max(len(line) for line in lines) <= width
    assert any("●" in line for line in lines)


def test_a_room_that_is_a_constant_of_the_domain_is_drawn() -> None:
    problem = parse_problem("""(define (problem p) (:domain d) (:objects hall loc1 - location)
      (:init (at hall) (visited hall) (connected hall kitchen north) (connected kitchen hall south)
             (connected kitchen loc1 east) (connected loc1 kitchen west)) (:goal (and)))""")
    house = house_of(problem, RULE)
    assert {room.name for room in house.rooms.values()} == {"hall", "kitchen", "loc1"}
    assert not house.elsewhere


LIST = MapRule(room="place", here="at", visited="visited", things="is_in", holding="holding")


@pytest.mark.parametrize(("width", "height"), [(60, 9), (20, 3), (5, 1)])
def test_rooms_without_exits_are_a_list(width: int, height: int) -> None:
    text = """(define (problem p) (:domain d)
      (:objects cabinet_1 cabinet_2 desk_1 shelf_10 shelf_9 - place mug_1 pen_1 - thing)
      (:init (at cabinet_1) (visited cabinet_1) (visited cabinet_2) (visited desk_1) (is_in mug_1 desk_1)
             (is_in pen_1 desk_1)) (:goal (and)))"""
    house = house_of(parse_problem(text), LIST)
    lines = draw_map(house, width, height, UNICODE).plain.split("\n")
    assert len(lines) <= height and max(map(len, lines)) <= width
    assert fits(house, width, height, UNICODE) is (height >= 4)
    if width == 60:
        assert lines == [
            f"{UNICODE.here} cabinet 1",
            "desk 1: mug 1, pen 1",
            "nothing seen there: cabinet 2",
            f"{UNICODE.unknown} unexplored: shelf 9, shelf 10",
        ]
