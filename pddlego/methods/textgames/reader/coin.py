"""Coin Collector and Map Reader by rule."""

from __future__ import annotations

import re

from pddlego.methods.textgames.reader.house import House, HouseRules, towards
from pddlego.methods.textgames.reader.text import put_thing, read_map, taken_thing
from pddlego.methods.textgames.situation import Exchange, Situation
from pddlego.pddl import to_name


class CoinRules(HouseRules):
    """Coin Collector by rule. Stateless."""

    def read(self, house: House, exchange: Exchange) -> None:
        room = house.read(exchange)
        if room is not None and any(thing.name == "coin" for thing in room.in_sight()):
            house.add("item_at", "coin", house.here)
        if taken_thing(exchange.text) == "coin":
            house.take("coin", "item_at")

    def command(self, situation: Situation) -> str:
        """Take the coin if it is here, else go towards the nearest room that was not visited."""
        house = House()
        for exchange in situation.seen.history:
            self.read(house, exchange)
        if house.has("item_at", "coin", house.here):
            return "take coin"
        return towards(house, lambda room: room not in house.visited) or "look around"


_TASK = re.compile(
    r"take the coin that is located in the ([^,.\n]+), and put it into the box found in the ([^,.\n]+)\."
)


class MapReaderRules(HouseRules):
    """Map Reader by rule. Stateless. Chooses no commands: that takes a planner."""

    def update(self, house: House, situation: Situation) -> None:
        """Take in the task with the first answer, and all that is new."""
        if situation.seen.news and situation.seen.news[0].command is None:
            _read_task(house, situation.task)
        super().update(house, situation)

    def read(self, house: House, exchange: Exchange) -> None:
        room = house.read(exchange)
        if room is not None:
            if any(thing.name == "coin" for thing in room.in_sight()):
                house.add("item_at", "coin", house.here)
            if any(holder.name == "box" for holder in room.holders):
                house.add("box_at", house.here)
        elif pairs := read_map(exchange.text):
            house.add("map_known")
            for one, other in pairs:
                first, second = to_name(one), to_name(other)
                house.rooms |= {first, second}
                if not house.has("on_map", second, first):
                    house.add("on_map", first, second)
        elif taken_thing(exchange.text) == "coin":
            house.take("coin", "item_at")
        elif put_thing(exchange.text) == ("coin", "box"):
            house.drop("have", "coin")
            house.add("in_box", "coin")


def _read_task(house: House, task: str) -> None:
    match = _TASK.search(task)
    if match is not None:
        coin, box = (to_name(name) for name in match.groups())
        house.rooms |= {coin, box}
        house.add("item_at", "coin", coin)
        house.add("box_at", box)
