"""Reading rules for TextWorld Commonsense: rooms, holders, what lies about, and whether a place was right."""

from __future__ import annotations

from pddlego.methods.textgames.reader.house import House, HouseRules
from pddlego.methods.textgames.reader.sense import last_resort, places
from pddlego.methods.textgames.reader.text import FIXTURES, Room, put_thing, read_opened, taken_thing
from pddlego.methods.textgames.situation import Exchange, Situation


class TidyRules(HouseRules):
    """TextWorld Commonsense by rule. Stateless. Chooses no commands: that takes a planner."""

    def update(self, house: House, situation: Situation) -> None:
        """Take in all that is new, and give each thing a place."""
        super().update(house, situation)
        _assign(house)

    def read(self, house: House, exchange: Exchange) -> None:
        room = house.read(exchange)
        if room is not None:
            _look(house, room)
        elif taken := taken_thing(exchange.text):
            house.take(taken, "item_at")
        elif put := put_thing(exchange.text):
            _put(house, *put, right=exchange.gained > 0)
        elif opened := read_opened(exchange.text):
            house.drop("closed", house.declare(opened.name, "holder"), house.here)
            for thing in opened.contents:
                _see(house, thing.name)


def _look(house: House, room: Room) -> None:
    for thing in room.things:
        if thing.name not in FIXTURES:
            _see(house, thing.name)
    for holder in room.holders:
        name = house.declare(holder.name, "holder")
        house.add("holder_at", name, house.here)
        if holder.closed:
            house.add("closed", name, house.here)
        else:
            house.drop("closed", name, house.here)
        for thing in holder.contents:
            _see(house, thing.name)


def _see(house: House, thing: str) -> None:
    name = house.declare(thing, "item")
    if not house.has("put_away", name):
        house.add("item_at", name, house.here)


def _put(house: House, thing: str, holder: str, right: bool) -> None:
    name, place = house.declare(thing, "item"), house.declare(holder, "holder")
    for predicate in ("have", "item_at", "belongs"):
        house.drop(predicate, name)
    if right:
        house.add("put_away", name)
    else:
        house.add("tried", name, place)
        house.add("item_at", name, house.here)


def _assign(house: House) -> None:
    """Give every thing without a place one.

    As long as there are rooms to see, only the best places count, so that nothing is put where it hardly belongs;
    then every place that makes sense, and in the end any that is left.
    """
    seen = [holder for holder, _ in house.of_predicate("holder_at")]
    settled = {name for predicate in ("put_away", "belongs") for name, *_ in house.of_predicate(predicate)}
    for name in sorted(name for name, kind in house.types.items() if kind == "item" and name not in settled):
        left = [holder for holder in seen if not house.has("tried", name, holder)]
        everything_seen = house.rooms <= house.visited
        groups = places(name) if everything_seen else places(name)[:1]
        sensible = [place for group in groups for place in group if place in left]
        if sensible:
            house.add("belongs", name, sensible[0])
        elif left and everything_seen:
            house.add("belongs", name, min(left, key=last_resort))
