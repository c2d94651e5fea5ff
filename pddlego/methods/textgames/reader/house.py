"""What all reading rules share: a house of rooms, exits and doors, read from the problem and brought up to date.

The facts about rooms (`at`, `visited`, `connected`, `closed_door`) are kept by room and direction; all other facts are
kept as they stand, so that what a person or a model wrote into the problem stays there.
"""

from __future__ import annotations

import heapq
import re
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import permutations

from pddlego.methods.textgames.reader.text import Exit, Room, read_room, revealed_room
from pddlego.methods.textgames.situation import Exchange, Situation
from pddlego.pddl import Atom, Domain, Edit, Problem, SectionEdit, TypedName, apply_edit, edit_between, to_name
from pddlego.pddl.conditions import atoms_of

OPPOSITE = {"north": "south", "south": "north", "east": "west", "west": "east"}
OFFSET = {"north": (0, 1), "south": (0, -1), "east": (1, 0), "west": (-1, 0)}

ROOM = "location"
"""The type of rooms, in every domain that these rules write for."""

SHUT = "You can't move there, the door is closed"


def is_placeholder(room: str) -> bool:
    """Whether the room is one that stands behind a closed door and has no name yet."""
    return re.fullmatch(r"loc\d+", room) is not None


def doors_once(domain: Domain) -> bool:
    """Whether moving in this domain looks at a closed door both ways, so that one fact is enough for both."""
    move = domain.actions_by_name.get("move")
    atoms = atoms_of(move.precondition) if move else ()
    rooms = {atom.args for atom in atoms if atom.predicate == "closed_door"}
    return any(each[::-1] in rooms for each in rooms)


@dataclass
class House:
    """The problem while the news is read into it. Lives for one call. Names are PDDL names.

    `number` is that of the first placeholder that was never used. `doors_once` says that a closed door is one fact for
    both ways, which is then sorted, so that the same door is always the same fact.
    """

    here: str = ""
    rooms: set[str] = field(default_factory=set)
    visited: set[str] = field(default_factory=set)
    exits: dict[tuple[str, str], str] = field(default_factory=dict)
    closed: set[frozenset[str]] = field(default_factory=set)
    types: dict[str, str] = field(default_factory=dict)
    facts: set[Atom] = field(default_factory=set)
    renamed: dict[str, str] = field(default_factory=dict)
    number: int = 1
    doors_once: bool = False

    @classmethod
    def of(cls, problem: Problem, number: int = 1, doors_once: bool = False) -> House:
        house = cls(number=number, doors_once=doors_once)
        for each in problem.objects:
            if each.type == ROOM:
                house.rooms.add(each.name)
            else:
                house.types[each.name] = each.type
        for fact in problem.sorted_facts():  # of two facts that contradict each other the same one wins everywhere
            args = fact.args
            # A room may be a constant of the domain, and then it is no object of the problem.
            if fact.predicate == "at":
                house.here = args[0]
                house.rooms.add(args[0])
            elif fact.predicate == "visited":
                house.visited.add(args[0])
                house.rooms.add(args[0])
            elif fact.predicate == "connected":
                house.exits[args[0], args[2]] = args[1]
                house.rooms |= {args[0], args[1]}
            elif fact.predicate == "closed_door":
                house.closed.add(frozenset(args))
            else:
                house.facts.add(fact)
        return house

    # what is known

    def all_facts(self) -> Iterator[Atom]:
        if self.here:
            yield Atom("at", (self.here,))
        for room in self.visited:
            yield Atom("visited", (room,))
        for (room, direction), other in self.exits.items():
            yield Atom("connected", (room, other, direction))
        for door in self.closed:
            for rooms in list(permutations(sorted(door)))[: 1 if self.doors_once else None]:
                yield Atom("closed_door", rooms)
        yield from self.facts

    def objects(self) -> Iterator[TypedName]:
        for room in self.rooms:
            yield TypedName(room, ROOM)
        for name, kind in self.types.items():
            yield TypedName(name, kind)

    def has(self, predicate: str, *args: str) -> bool:
        return Atom(predicate, args) in self.facts

    def of_predicate(self, predicate: str) -> list[tuple[str, ...]]:
        """The arguments of all facts of one predicate, sorted."""
        return sorted(fact.args for fact in self.facts if fact.predicate == predicate)

    # what is learned

    def declare(self, name: str, kind: str) -> str:
        """Make sure that the thing called `name` in the game is an object; its PDDL name."""
        known = to_name(name)
        self.types.setdefault(known, kind)
        return known

    def add(self, predicate: str, *args: str) -> None:
        self.facts.add(Atom(predicate, args))

    def drop(self, predicate: str, *args: str) -> None:
        """Forget all facts of the predicate that begin with these arguments."""
        self.facts = {
            fact for fact in self.facts if fact.predicate != predicate or fact.args[: len(args)] != tuple(args)
        }

    def take(self, name: str, lies: str) -> None:
        """The thing called `name` was taken: it is in hand, and lies (a fact `lies`) nowhere."""
        known = self.declare(name, "item")
        self.drop(lies, known)
        self.add("have", known)

    def read(self, exchange: Exchange) -> Room | None:
        """Take in what one answer of the game says of rooms and doors; the room, if it describes one."""
        direction = (exchange.command or "").rsplit(" ", 1)[-1]
        behind = self.exits.get((self.here, direction))
        revealed = revealed_room(exchange.text)
        if revealed is not None and behind is not None:
            other = self._name(behind, to_name(revealed))
            self.closed.discard(frozenset((self.here, other)))
        elif exchange.text.startswith(SHUT) and behind is not None:
            self.closed.add(frozenset((self.here, behind)))
        room = read_room(exchange.text)
        if room is not None:
            self._enter(room, direction)
        return room

    def _enter(self, room: Room, direction: str) -> None:
        name = to_name(room.name)
        if direction in OPPOSITE and self.here and self.here != name:
            behind = self.exits.get((self.here, direction))
            if behind is not None:
                self._name(behind, name)
            self._connect(self.here, name, direction)
        self.rooms.add(name)
        self.here = name
        self.visited.add(name)
        for each in room.exits:
            self._exit(name, each)

    def _exit(self, room: str, seen: Exit) -> None:
        behind = self.exits.get((room, seen.direction))
        if seen.room is None:
            other = behind or self._across(room, seen.direction) or self._placeholder()
        else:
            name = to_name(seen.room)
            other = name if behind is None else self._name(behind, name)
        self.rooms.add(other)
        self._connect(room, other, seen.direction)
        door = frozenset((room, other))
        (self.closed.add if seen.closed else self.closed.discard)(door)

    def _connect(self, room: str, other: str, direction: str) -> None:
        """Connect both ways; a placeholder that stood in the way back turns out to be this room."""
        back = (other, OPPOSITE[direction])
        behind = self.exits.get(back)
        if behind is not None and behind != room and is_placeholder(behind):
            self._name(behind, room)
        self.exits[room, direction] = other
        self.exits[back] = room

    def _placeholder(self) -> str:
        while f"loc{self.number}" in self.rooms:
            self.number += 1
        return f"loc{self.number}"

    def _name(self, old: str, new: str) -> str:
        """Give the room `old` its name, and make two rooms one if there is already a room of that name."""
        if old == new or old in self.visited:
            return new

        def name(each: str) -> str:
            return new if each == old else each

        self.rooms = (self.rooms - {old}) | {new}
        self.renamed = {key: name(value) for key, value in self.renamed.items()} | {old: new}
        self.exits = {(name(a), d): name(b) for (a, d), b in self.exits.items()}
        self.closed = {frozenset(name(each) for each in door) for door in self.closed}
        self.facts = {Atom(fact.predicate, tuple(name(each) for each in fact.args)) for fact in self.facts}
        return new

    def _across(self, room: str, direction: str) -> str | None:
        """The known room that lies behind a closed door, if the map tells: rooms lie on a grid."""
        places = self._places(room)
        x, y = places[room]
        dx, dy = OFFSET[direction]
        found = (other for other, place in places.items() if place == (x + dx, y + dy) and not is_placeholder(other))
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


class HouseRules(ABC):
    """Reading rules of a game that is played in a house. Stateless."""

    @abstractmethod
    def read(self, house: House, exchange: Exchange) -> None:
        """Take in one answer of the game."""

    def update(self, house: House, situation: Situation) -> None:
        """Take in all that is new."""
        for exchange in situation.seen.news:
            self.read(house, exchange)

    def edit(self, situation: Situation) -> Edit:
        """The difference between the problem and what `update` makes of its house, with placeholders renamed.

        What the domain has no words for is left out.
        """
        before = situation.knowledge.problem
        number = int("".join(filter(str.isdigit, situation.placeholder)) or 1)
        house = House.of(before, number, doors_once(situation.knowledge.domain))
        self.update(house, situation)
        known = {each.name for each in before.objects}
        constants = situation.knowledge.domain.constants
        renamed = ((old, new) for old, new in house.renamed.items() if old in known)
        renaming = Edit(SectionEdit(replace=tuple((f"{old} - {ROOM}", f"{new} - {ROOM}") for old, new in renamed)))
        base = apply_edit(before, renaming, constants).problem
        given = {each.name for each in constants}
        types, predicates = situation.knowledge.domain.types, situation.knowledge.domain.predicates_by_name
        own = frozenset(each for each in house.objects() if each.name not in given and each.type in types)
        facts = frozenset(fact for fact in house.all_facts() if fact.predicate in predicates)
        after = Problem(before.name, before.domain, own, facts, before.goal)
        change = edit_between(base, after)
        return replace(change, objects=replace(change.objects, replace=renaming.objects.replace))


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
