"""Reading rules for Coin Collector: the house and the coin."""

from __future__ import annotations

from pddlego.methods.textgames.reader.house import House, HouseRules
from pddlego.methods.textgames.reader.text import taken_thing
from pddlego.methods.textgames.reader.walking import towards
from pddlego.methods.textgames.situation import Exchange, Situation


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
        for exchange in situation.history:
            self.read(house, exchange)
        if house.has("item_at", "coin", house.here):
            return "take coin"
        return towards(house, lambda room: room not in house.visited) or "look around"
