"""Reading rules for Coin Collector: rooms, exits, doors and the coin."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from pddlego.pddl import Atom, Edit, Problem, SectionEdit, TypedName, apply_edit, diff, to_name
from pddlego.situation import Exchange, Situation

OPPOSITE = {"north": "south", "south": "north", "east": "west", "west": "east"}
OFFSET = {"north": (0, 1), "south": (0, -1), "east": (1, 0), "west": (-1, 0)}

_ROOM = re.compile(r"^You are in the ([^.]+)\.")
_OPEN_EXIT = re.compile(r"(?:Through an open [^,.]+, to|To) the (North|South|East|West) you see the ([^.]+)\.")
_CLOSED_EXIT = re.compile(r"To the (North|South|East|West) you see a closed [^.]+\.")
_REVEALED = re.compile(r"^You open the .+, revealing the ([^.]+)\.")
_SHUT = re.compile(r"^You can't move there, the door is closed")
_COIN = re.compile(r"\ba coin\.")
_TAKEN = re.compile(r"^You take the (.+)\.")


@dataclass
class _Draft:
    """The problem while the news is read into it: what is known, by room and direction. Lives for one call."""

    rooms: set[str] = field(default_factory=set)
    renamed: dict[str, str] = field(default_factory=dict)
    exits: dict[tuple[str, str], str] = field(default_factory=dict)
    closed: set[frozenset[str]] = field(default_factory=set)
    visited: set[str] = field(default_factory=set)
    things: set[tuple[str, str]] = field(default_factory=set)
    held: set[str] = field(default_factory=set)
    here: str = ""

    @classmethod
    def of(cls, problem: Problem) -> _Draft:
        draft = cls(rooms={each.name for each in problem.objects if each.type == "location"})
        for fact in problem.facts:
            draft._take_in(fact)
        return draft

    def _take_in(self, fact: Atom) -> None:
        args = fact.args
        if fact.predicate == "at":
            self.here = args[0]
        elif fact.predicate == "visited":
            self.visited.add(args[0])
        elif fact.predicate == "connected":
            self.exits[args[0], args[2]] = args[1]
        elif fact.predicate == "closed_door":
            self.closed.add(frozenset(args))
        elif fact.predicate == "item_at":
            self.things.add((args[0], args[1]))
        elif fact.predicate == "have":
            self.held.add(args[0])

    def facts(self) -> Iterator[Atom]:
        if self.here:
            yield Atom("at", (self.here,))
        for room in self.visited:
            yield Atom("visited", (room,))
        for (room, direction), other in self.exits.items():
            yield Atom("connected", (room, other, direction))
            if frozenset((room, other)) in self.closed:
                yield Atom("closed_door", (room, other))
        for thing, room in self.things:
            yield Atom("item_at", (thing, room))
        for thing in self.held:
            yield Atom("have", (thing,))

    def read(self, exchange: Exchange) -> None:
        """Take in one answer of the game."""
        direction = (exchange.command or "").rsplit(" ", 1)[-1]
        room, revealed = _ROOM.match(exchange.text), _REVEALED.match(exchange.text)
        taken, behind = _TAKEN.match(exchange.text), self.exits.get((self.here, direction))
        if revealed and behind is not None:
            other = self._name(behind, to_name(revealed.group(1)))
            self.closed.discard(frozenset((self.here, other)))
        elif _SHUT.match(exchange.text) and behind is not None:
            self.closed.add(frozenset((self.here, behind)))
        elif room:
            self._enter(to_name(room.group(1)), direction, exchange.text)
        elif taken:
            thing = to_name(taken.group(1))
            self.things = {each for each in self.things if each[0] != thing}
            self.held.add(thing)

    def _enter(self, name: str, direction: str, text: str) -> None:
        if direction in OPPOSITE and self.here and self.here != name:
            behind = self.exits.get((self.here, direction))
            if behind is not None:
                self._name(behind, name)
            self._connect(self.here, name, direction)
        self.rooms.add(name)
        self.here = name
        self.visited.add(name)
        for each in _OPEN_EXIT.finditer(text):
            self._exit(name, each.group(1).lower(), to_name(each.group(2)), closed=False)
        for each in _CLOSED_EXIT.finditer(text):
            self._exit(name, each.group(1).lower(), None, closed=True)
        if _COIN.search(text):
            self.things.add(("coin", name))

    def _exit(self, room: str, direction: str, seen: str | None, closed: bool) -> None:
        behind = self.exits.get((room, direction))
        if seen is None:
            other = behind or self._across(room, direction) or self._placeholder()
        else:
            other = seen if behind is None else self._name(behind, seen)
        self.rooms.add(other)
        self._connect(room, other, direction)
        door = frozenset((room, other))
        (self.closed.add if closed else self.closed.discard)(door)

    def _connect(self, room: str, other: str, direction: str) -> None:
        self.exits[room, direction] = other
        self.exits[other, OPPOSITE[direction]] = room

    def _placeholder(self) -> str:
        number = 1
        while f"loc{number}" in self.rooms:
            number += 1
        return f"loc{number}"

    def _name(self, old: str, new: str) -> str:
        """Give the room `old` its name, and make two rooms one if there is already a room of that name."""
        if old == new or old in self.visited:
            return new
        self.rooms = (self.rooms - {old}) | {new}
        self.renamed = {key: new if value == old else value for key, value in self.renamed.items()} | {old: new}
        self.exits = {(new if a == old else a, d): new if b == old else b for (a, d), b in self.exits.items()}
        self.closed = {frozenset(new if each == old else each for each in door) for door in self.closed}
        return new

    def _across(self, room: str, direction: str) -> str | None:
        """The known room that lies behind a closed door, if the map tells: rooms lie on a grid."""
        places = self._places(room)
        x, y = places[room]
        dx, dy = OFFSET[direction]
        found = (other for other, place in places.items() if place == (x + dx, y + dy))
        return next(found, None)

    def _places(self, start: str) -> dict[str, tuple[int, int]]:
        places = {start: (0, 0)}
        waiting = deque([start])
        while waiting:
            room = waiting.popleft()
            for direction, (dx, dy) in OFFSET.items():
                other = self.exits.get((room, direction))
                if other is not None and other not in places:
                    places[other] = (places[room][0] + dx, places[room][1] + dy)
                    waiting.append(other)
        return places


class CoinRules:
    """Coin Collector by rule. Stateless."""

    def edit(self, situation: Situation) -> Edit:
        """The difference between the problem and what the news makes of it, with placeholders renamed."""
        before = situation.problem
        draft = _Draft.of(before)
        for exchange in situation.news:
            draft.read(exchange)
        known = {each.name for each in before.objects}
        renamed = ((old, new) for old, new in draft.renamed.items() if old in known)
        renaming = Edit(SectionEdit(replace=tuple((f"{old} - location", f"{new} - location") for old, new in renamed)))
        base = apply_edit(before, renaming, situation.domain.constants).problem
        own = frozenset(TypedName(name, "location") for name in draft.rooms)
        after = Problem(before.name, before.domain, own, frozenset(draft.facts()), before.goal)
        return _with_difference(renaming, base, after)

    def command(self, situation: Situation) -> str:
        """Take the coin if it is here, else go towards the nearest room that was not visited."""
        draft = _Draft()
        for exchange in situation.history:
            draft.read(exchange)
        if ("coin", draft.here) in draft.things:
            return "take coin"
        direction = _towards_unvisited(draft)
        if direction is None:
            return "look around"
        behind_door = frozenset((draft.here, draft.exits[draft.here, direction])) in draft.closed
        return f"open door to {direction}" if behind_door else f"move {direction}"


def _with_difference(edit: Edit, before: Problem, after: Problem) -> Edit:
    changed = diff(before, after)
    added = tuple(str(each) for each in changed.added_objects)
    removed = tuple(str(each) for each in changed.removed_objects)
    return Edit(
        replace(edit.objects, add=added, delete=removed),
        replace(
            edit.init,
            add=tuple(str(each) for each in changed.added_facts),
            delete=tuple(str(each) for each in changed.removed_facts),
        ),
    )


def _towards_unvisited(draft: _Draft) -> str | None:
    """The first direction of a cheapest way (a door costs one command more) to a room that was not visited."""
    best: dict[str, int] = {draft.here: 0}
    queue: list[tuple[int, int, str, str | None]] = [(0, 0, draft.here, None)]
    while queue:
        queue.sort()
        cost, _, room, first = queue.pop(0)
        if room not in draft.visited:
            return first
        for direction in OPPOSITE:
            other = draft.exits.get((room, direction))
            if other is None:
                continue
            price = cost + 1 + (frozenset((room, other)) in draft.closed)
            if price < best.get(other, price + 1):
                best[other] = price
                queue.append((price, len(best), other, first or direction))
    return None
