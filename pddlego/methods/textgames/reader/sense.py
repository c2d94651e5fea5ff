"""The reader's common sense about kitchens: in which closed containers and unseen rooms a thing is likely to be.

Written by people who had seen the games, so it is an optimistic stand-in for what a language model knows.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from pddlego.methods.textgames.reader.house import House, is_placeholder
from pddlego.methods.textgames.reader.text import read_room
from pddlego.methods.textgames.situation import Exchange
from pddlego.pddl import from_name, to_name

# Words of a thing's name, and where such things are: containers and rooms. The first line that fits counts.
_PLACES: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"knife", ("cutlery drawer", "kitchen cupboard")),
    (r"cookbook|toaster|stove|oven", ("kitchen",)),
    (r"barbeque", ("backyard",)),
    (r"salt|flour|sugar|oil|vinegar|black pepper|rice|pasta", ("pantry",)),
    (r"cheese|milk|butter|egg|chicken|pork|beef|fish|tuna|water|juice", ("fridge", "supermarket")),
    (r"onion|carrot|lettuce|cilantro|parsley|bell pepper", ("fridge", "backyard")),
    (r"banana|apple|potato|hot pepper|tomato", ("backyard",)),
    (r"", ("fridge", "pantry", "backyard", "supermarket")),
)

# Which doors lead to a room that was not seen yet, and which rooms lead on towards it.
_OUTDOORS = r"patio|screen"
_DOORS = {
    "backyard": _OUTDOORS,
    "supermarket": r"sliding door|commercial",
    "pantry": r"^door$|frosted",
    "kitchen": r"^door$|frosted|patio|screen|wood",
}
_PRIVATE = r"wood"
_LEAD_NOWHERE = ("bedroom", "bathroom", "laundry room", "pantry")


def likely_places(thing: str, closed: Iterable[str], house: House, history: Iterable[Exchange]) -> Iterator[str]:
    """The PDDL names of closed containers and rooms not yet visited where `thing` (a PDDL name) may be."""
    wanted = next(places for words, places in _PLACES if re.search(words, from_name(thing)))
    names = {to_name(place) for place in wanted}
    yield from sorted(names & set(closed))
    unseen = house.rooms - house.visited
    doors = _doors(house, history)
    for place in sorted(names):
        if place in unseen:
            yield place
        elif place not in house.rooms and place in map(to_name, _DOORS):
            yield from sorted(_towards(place, unseen, doors))


def _towards(place: str, unseen: set[str], doors: dict[str, set[str]]) -> set[str]:
    """Rooms that may be `place`, judged by their doors; if there are none, rooms from which one may get there."""
    hidden = {room for room in unseen if is_placeholder(room)}
    fitting = {room for room in hidden if any(re.search(_DOORS[place], door) for door in doors.get(room, ()))}
    if fitting:
        return fitting
    named = {room for room in unseen - hidden if from_name(room) not in _LEAD_NOWHERE}
    return named or {room for room in hidden if not all(re.search(_PRIVATE, door) for door in doors.get(room, ()))}


def _doors(house: House, history: Iterable[Exchange]) -> dict[str, set[str]]:
    """The kinds of doors that lead to each room."""
    found: dict[str, set[str]] = {}
    for exchange in history:
        room = read_room(exchange.text)
        for each in room.exits if room else ():
            other = house.exits.get((to_name(room.name if room else ""), each.direction))
            if other is not None and each.door is not None:
                found.setdefault(other, set()).add(each.door)
    return found
