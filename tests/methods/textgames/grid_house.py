"""A game in pure Python that speaks like Coin Collector: for the agent's own tests, without Java."""

from __future__ import annotations

from collections.abc import Mapping

from pddlego.methods.textgames.games import Observation

OPPOSITE = {"north": "south", "south": "north", "east": "west", "west": "east"}


class GridHouse:
    """Rooms, exits and closed doors. `exits` maps (room, direction) to a room and is completed both ways."""

    def __init__(
        self,
        exits: Mapping[tuple[str, str], str],
        doors: frozenset[frozenset[str]] = frozenset(),
        coin: str = "",
        start: str = "kitchen",
        tells_looks: bool = False,
    ) -> None:
        self._exits = dict(exits)
        for (room, direction), other in exits.items():
            self._exits[other, OPPOSITE[direction]] = room
        self._doors, self._coin, self._start = doors, coin, start
        self._tells_looks = tells_looks
        self._closed: set[frozenset[str]] = set()
        self._here = start
        self.commands: list[str] = []

    @property
    def task(self) -> str:
        return "Find the coin."

    def start(self) -> Observation:
        self._closed, self._here, self.commands = set(self._doors), self._start, []
        return self._answer(self._look())

    def step(self, command: str) -> Observation:
        self.commands.append(command)
        verb, _, rest = command.partition(" ")
        if command == "take coin" and self._coin == self._here:
            return Observation("You take the coin.", 1.0, True)
        if verb == "move" and (self._here, rest) in self._exits:
            return self._answer(self._move(rest))
        if command.startswith("open door to "):
            return self._answer(self._open(command.rsplit(" ", 1)[-1]))
        if command == "look around":
            return self._answer(self._look())
        return self._answer("Unknown action: I'm not sure what you mean.")

    def _move(self, direction: str) -> str:
        other = self._exits[self._here, direction]
        if frozenset((self._here, other)) in self._closed:
            return "You can't move there, the door is closed. "
        self._here = other
        return self._look()

    def _open(self, direction: str) -> str:
        other = self._exits.get((self._here, direction), "")
        door = frozenset((self._here, other))
        if door not in self._closed:
            return "That is already open. "
        self._closed.discard(door)
        return f"You open the wood door, revealing the {other}. "

    def _look(self) -> str:
        coin = "There is also a coin. " if self._coin == self._here else ""
        text = f"You are in the {self._here}. In one part of the room you see a stove. {coin}\n"
        for direction in OPPOSITE:
            other = self._exits.get((self._here, direction))
            if other is None:
                continue
            door = frozenset((self._here, other))
            if door in self._closed:
                text += f"To the {direction.title()} you see a closed wood door. "
            elif door in self._doors:
                text += f"Through an open wood door, to the {direction.title()} you see the {other}. "
            else:
                text += f"To the {direction.title()} you see the {other}. "
        return text

    def _answer(self, text: str) -> Observation:
        valid = ["look around"]
        for direction in OPPOSITE:
            if (self._here, direction) in self._exits:
                valid += [f"move {direction}", f"open door to {direction}"]
        if self._coin == self._here:
            valid.append("take coin")
        look = self._look().strip() if self._tells_looks else ""
        return Observation(text.strip(), 0.0, False, False, tuple(sorted(valid)), look)


def small_house(coin: str = "living room", tells_looks: bool = False) -> GridHouse:
    """Kitchen, pantry (behind a door) to the north, corridor to the east, living room beyond it behind a door."""
    doors = frozenset({frozenset({"kitchen", "pantry"}), frozenset({"corridor", "living room"})})
    exits = {("kitchen", "north"): "pantry", ("kitchen", "east"): "corridor", ("corridor", "east"): "living room"}
    return GridHouse(exits, doors, coin, tells_looks=tells_looks)
