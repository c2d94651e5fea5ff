"""Ways through a house for rules that choose commands without a planner."""

from __future__ import annotations

import heapq
from collections.abc import Callable

from pddlego.methods.textgames.reader.house import OPPOSITE, House


def towards(house: House, wanted: Callable[[str], bool]) -> str | None:
    """The first command of a cheapest way (a door costs one command more) to a wanted room; None if there is no way."""
    best: dict[str, int] = {house.here: 0}
    queue: list[tuple[int, int, str, str]] = [(0, 0, house.here, "")]
    while queue:
        cost, _, room, first = heapq.heappop(queue)
        if first and wanted(room):
            closed = frozenset((house.here, house.exits[house.here, first])) in house.closed
            return f"open door to {first}" if closed else f"move {first}"
        for direction in OPPOSITE:
            other = house.exits.get((room, direction))
            if other is None:
                continue
            price = cost + 1 + (frozenset((room, other)) in house.closed)
            if price < best.get(other, price + 1):
                best[other] = price
                heapq.heappush(queue, (price, len(best), other, first or direction))
    return None
