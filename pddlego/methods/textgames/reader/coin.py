"""Reading rules for Coin Collector: the house and the coin."""

from __future__ import annotations

from pddlego.methods.textgames.reader.house import OPPOSITE, House, edit_of
from pddlego.methods.textgames.reader.text import taken_thing
from pddlego.methods.textgames.situation import Exchange, Situation
from pddlego.pddl import Edit


class CoinRules:
    """Coin Collector by rule. Stateless."""

    def edit(self, situation: Situation) -> Edit:
        """The difference between the problem and what the news makes of it, with placeholders renamed."""

        def update(house: House) -> None:
            for exchange in situation.news:
                _read(house, exchange)

        return edit_of(situation, update)

    def command(self, situation: Situation) -> str:
        """Take the coin if it is here, else go towards the nearest room that was not visited."""
        house = House()
        for exchange in situation.history:
            _read(house, exchange)
        if house.has("item_at", "coin", house.here):
            return "take coin"
        direction = _towards_unvisited(house)
        if direction is None:
            return "look around"
        behind_door = frozenset((house.here, house.exits[house.here, direction])) in house.closed
        return f"open door to {direction}" if behind_door else f"move {direction}"


def _read(house: House, exchange: Exchange) -> None:
    room = house.read(exchange)
    if room is not None and any(thing.name == "coin" for thing in room.in_sight()):
        house.add("item_at", "coin", house.here)
    if taken_thing(exchange.text) == "coin":
        house.take("coin", "item_at")


def _towards_unvisited(house: House) -> str | None:
    """The first direction of a cheapest way (a door costs one command more) to a room that was not visited."""
    best: dict[str, int] = {house.here: 0}
    queue: list[tuple[int, int, str, str | None]] = [(0, 0, house.here, None)]
    while queue:
        queue.sort()
        cost, _, room, first = queue.pop(0)
        if room not in house.visited:
            return first
        for direction in OPPOSITE:
            other = house.exits.get((room, direction))
            if other is None:
                continue
            price = cost + 1 + (frozenset((room, other)) in house.closed)
            if price < best.get(other, price + 1):
                best[other] = price
                queue.append((price, len(best), other, first or direction))
    return None
