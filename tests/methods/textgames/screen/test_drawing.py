"""The map as a picture: what it shows, with a text alternative for everything, and no text of a game that is markup."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from xml.etree import ElementTree

import pytest

from pddlego.display.console import UNICODE
from pddlego.episode.events import Accepted, Event, Started
from pddlego.methods.textgames.events import FactError, FactsChecked
from pddlego.methods.textgames.screen import map_pane
from pddlego.methods.textgames.screen.drawing import hidden_rooms, map_parts
from pddlego.methods.textgames.screen.map import house_of
from pddlego.methods.textgames.screen.view import GameView, expected_problem
from tests.display.rendering import prefixes, shown

EVIL = "<img/src=x/onerror=alert`1`>&"
"""A name of PDDL that would be an element of HTML."""
PARTS = {"svg", "g", "title", "path", "rect", "text"}


def picture(view: GameView) -> ElementTree.Element:
    """The picture of a map, which must be well formed."""
    assert view.map_rule is not None
    drawing = map_pane(view, UNICODE).on_page()[1]
    return ElementTree.fromstring("".join(drawing.parts))


def titles(root: ElementTree.Element, kind: str) -> list[str]:
    groups = (group for group in root.iter("g") if kind in group.get("class", "").split())
    return [group.findtext("title") or "" for group in groups]


def test_every_room_of_the_letters_is_in_the_picture(story: list[Event]) -> None:
    for trace in prefixes(story):
        view = GameView(trace)
        if view.map_rule is not None and view.problem:
            house, root = house_of(expected_problem(view), view.map_rule), picture(view)
            rooms = titles(root, "room")
            assert len(rooms) == len(house.rooms) + len(house.elsewhere)
            assert sum("the agent is here" in room for room in rooms) == 1
            assert len(titles(root, "exit")) == len(house.exits) + len(house.far)
            assert sum("a closed door" in title for title in titles(root, "exit")) == sum(house.exits.values())
            assert {part.tag for part in root.iter()} <= PARTS
            assert all(group.find("title") is not None for group in root.iter("g")), "all have a text alternative"


def test_a_fact_has_the_step_since_which_it_is_known(story: list[Event]) -> None:
    root = picture(GameView(shown(story)))
    facts = [line for room in titles(root, "room") for line in room.splitlines()[1:]]
    assert "(visited kitchen) since step 0" in facts
    assert any(line.endswith(" since step 1") for line in facts)
    assert titles(root, "way") == ["the way so far"]


def test_a_missing_exit_is_drawn_and_said(story: list[Event]) -> None:
    last = next(number for number, event in enumerate(story) if isinstance(event, Accepted)) + 1
    view = GameView(shown(story[:last]))
    rooms = [room.split(",")[0] for room in titles(picture(view), "room")]
    fact = f"(connected {rooms[0]} {rooms[1]} north)"
    checked = FactsChecked({}, (FactError("missing", fact, 0),))
    root = picture(GameView(shown([*story[:last], checked])))
    assert titles(root, "missing") == [f"missing: {fact}"]
    assert sum(f"missing: {fact}" in room for room in titles(root, "room")) == 2


def evil(story: list[Event]) -> Iterator[Event]:
    for event in story:
        is_problem = isinstance(event, Accepted) and event.kind == "problem"
        yield replace(event, text=event.text.replace("kitchen", EVIL)) if is_problem else event  # type: ignore[type-var,attr-defined]


def test_a_name_that_is_markup_is_text(story: list[Event]) -> None:
    view = GameView(shown([*evil(story)]))
    assert view.map_rule is not None
    root = picture(view)
    assert {part.tag for part in root.iter()} <= PARTS
    assert not [name for part in root.iter() for name in part.attrib if name.startswith("on")]
    assert any("<img" in (title or "") for title in titles(root, "room"))


@pytest.mark.parametrize("bearings", [True, False])
def test_a_large_house_is_drawn_in_part(story: list[Event], bearings: bool) -> None:
    started = story[0]
    assert isinstance(started, Started)
    rule = {**started.details["map"], **({} if bearings else {"exit": ""})}
    rooms = " ".join(f"r{number}" for number in range(300))
    ways = " ".join(f"(connected r{number} r{number + 1} east)" for number in range(299))
    text = f"(define (problem p) (:domain d) (:objects {rooms} - location) (:init (at r7) {ways}) (:goal (have coin)))"
    events = [replace(started, details={**started.details, "map": rule}), Accepted("problem", text)]
    view = GameView(shown(events))
    assert view.map_rule is not None
    house = house_of(expected_problem(view), view.map_rule)
    drawn = titles(picture(view), "room")
    assert len(drawn) + hidden_rooms(house) == 300
    assert len("".join(map_parts(view, house, view.map_rule))) < 50_000
    assert any("the agent is here" in room for room in drawn)
