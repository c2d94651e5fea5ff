"""The reader's rules for TextWorld, whose grammar has many sentences for the same fact."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from pddlego.methods.textgames.formalize import Exchange, PromptContext
from pddlego.methods.textgames.reader.houses import CookingRules, House, HouseRules, find_coin, note_recipe, see_room
from pddlego.methods.textgames.reader.text import (
    APPLIANCES,
    HEATERS,
    PREPARED,
    Exit,
    Holder,
    Room,
    Thing,
    read_recipe,
    read_things,
)
from pddlego.pddl import to_name

CONTAINERS = (
    *("basket", "box", "bureau", "cabinet", "case", "chest", "coffer", "crate", "display", "drawer", "dresser"),
    *("freezer", "fridge", "locker", "portmanteau", "refrigerator", "safe", "suitcase", "toolbox", "trunk"),
)
"""The last words of the names of containers."""

KEYS = ("key", "keycard", "latchkey", "passkey")
"""The last words of the names of keys. A key and its lock have the same words before that."""

_WAY = "north|south|east|west"
_ROOM = re.compile(r"^-= (.+?) =-$", re.MULTILINE)
_DOOR = re.compile(rf"There is an? (?P<state>closed|open|opened|locked) (?P<door>[^.]+?) leading (?P<way>{_WAY})\.")
_EXIT = re.compile(rf"(?:exits? to the|try going) (?P<ways>(?:{_WAY})(?:(?:,| and|, and) (?:{_WAY}))*)")
_HOLDER = re.compile(
    r"\b(?:[Aa]n?|[Tt]he) (?:(?P<state>closed|open|opened|locked) )?"
    rf"(?P<name>(?:(?!an? |the |for )[\w-]+ ){{0,3}}?(?:{'|'.join(CONTAINERS)}))\b"
    r"(?:, which looks (?P<looks>[^,.]+),)?"
)
_APPLIANCE = re.compile(rf"\b(?:{'|'.join(APPLIANCES)})\b", re.IGNORECASE)
_EMPTY = re.compile(r"\b(?:is|be) empty\b|^Empty!")
_CONTENTS = (
    re.compile(r"^(?:On|In|Upon) (?:the [^,.]+?|it),? you (?:can )?(?:see|make out) (?P<list>.+)"),
    re.compile(r"^You (?:can )?(?:see|make out) (?P<list>.+) (?:on|in) the (?!room\b|corner\b)[^.]+"),
    re.compile(
        r"^(?:The .+?|It|Something about it) (?:contains|has|is filled with|reveals inside it|holds|shelters|offers you"
        r"|reveals to you) (?P<list>.+)"
    ),
    re.compile(r"\b[Tt]here (?:is|are) (?P<list>.+?) (?:found )?(?:in it|in the [^.]+|in this silly .+|on the floor)"),
    re.compile(r"^Let's see what's inside - (?P<list>.+)"),
    re.compile(r"Oh, how they also \w+(?: \w+)? (?P<list>(?:an?|some) .+)"),
    re.compile(r"^You open the .+?, revealing (?P<list>.+)"),
)
_LIST_END = re.compile(r"(?:, so there's that|[.!])+$")
_TAKEN = re.compile(r"^You (?:pick up|take) the (.+?)(?: from (?:the )?[^.]+)?\.")
_DROPPED = re.compile(r"^You (?:drop|put|insert) the (.+?) (?:on|into) the [^.]+\.")
_PREPARED = re.compile(rf"^You ({'|'.join((*PREPARED, *PREPARED.values()))}) the ([^.]+)\.")
_LOCKED = re.compile(r"You have to unlock the (?P<lock>[^.]+?) with the (?P<key>[^.]+?) first\.")
_UNLOCKED = re.compile(r"^You unlock (?:the )?(?P<lock>[^.]+)\.")
_STUCK = re.compile(r"^The (?P<name>[^.]+) is welded shut\.")
_CARRIED = re.compile(r"^You are carrying: (.+)\.$", re.MULTILINE)
_MEAL = "Adding the meal to your inventory"
_TARGET = re.compile(r"^Find the (?P<thing>.+?), and take it\.")


def read_textworld_room(text: str) -> Room | None:
    """The room that a text describes: visible things, open and closed containers, and exits without named rooms."""
    headings = list(_ROOM.finditer(text))
    if not headings:
        return None
    heading = headings[-1]  # an answer may be followed by what is visible now
    described = text[heading.end() :]
    things, holders = list[Thing](), list[Holder]()
    for sentence in _sentences(described):
        _read_sentence(sentence, things, holders)
    return Room(heading[1], tuple(things), tuple(holders), tuple(_exits(described)))


def _sentences(text: str) -> Iterator[str]:
    for line in text.splitlines():
        yield from re.split(r"(?<=[.!?]) ", line.strip())


def _read_sentence(sentence: str, things: list[Thing], holders: list[Holder]) -> None:
    """Add the things and holders of a sentence. A container is open if the next sentence lists its contents."""
    contents = contents_in(sentence)
    things += contents
    if holders and (contents or _EMPTY.search(sentence)) and "on the floor" not in sentence:
        holders[-1] = Holder(holders[-1].name, holders[-1].surface, False)
    if contents:
        return
    appliance = _APPLIANCE.search(sentence)
    if appliance is not None:
        things.append(Thing(appliance[0].lower(), (), "a"))
    holder = _HOLDER.search(sentence)
    if holder is not None and not _EMPTY.search(sentence):
        name = _without_looks(holder["name"], holder["looks"])
        if name not in {known.name for known in holders}:
            holders.append(Holder(name, closed=holder["state"] in (None, "closed", "locked")))
    elif " leading " not in sentence and re.search(
        r"\b(?:see|seeing|out|just|it's|find|onto|than|to) an? \w", sentence
    ):
        holders.append(Holder("", surface=True))  # the next sentence lists things on a surface, not in a container


def _without_looks(name: str, looks: str | None) -> str:
    """The name of a thing with its looks as an adjective: `red box` for `box, which looks red`."""
    words = name.split()
    if "looking" in words:
        place = words.index("looking")
        looks, words = " ".join(words[:place]), words[place + 1 :]
    usual = ("ordinary", "normal", "typical", "standard", "usual", "conventional", "metallic", "recent")
    return " ".join((*(looks.split() if looks and looks not in usual else ()), *words))


def contents_in(sentence: str) -> tuple[Thing, ...]:
    """The things in a sentence about the contents of a holder or a room."""
    for pattern in _CONTENTS:
        match = pattern.search(sentence)
        if match is not None:
            listed = read_things(_LIST_END.sub("", match["list"]))
            return tuple(thing for thing in listed if not _HOLDER.search(f"a {thing.name}."))
    return ()


def _exits(text: str) -> Iterator[Exit]:
    for door in _DOOR.finditer(text):
        yield Exit(door["way"], None, door["door"], closed=door["state"] in ("closed", "locked"))
    for match in _EXIT.finditer(text):
        for way in re.findall(_WAY, match["ways"]):
            yield Exit(way, None)


class Maze(House):
    """A house whose exits have no named rooms."""

    merges = True
    heaters = {**HEATERS, "grill": ("toaster", "bbq")}  # noqa: RUF012 -- a constant of the class

    def room_in(self, text: str) -> Room | None:
        return read_textworld_room(text)

    def read(self, exchange: Exchange) -> Room | None:
        """Add the rooms and exits of an observation, its containers, and the names of doors, which commands need."""
        room = super().read(exchange)
        for way in room.exits if room else ():
            other = self.exits.get((self.here, way.direction))
            if way.door is not None and other is not None:
                door = self.declare(way.door, "door")
                self.drop("door", door)
                self.add("door", door, self.here, other)
                self.add("door", door, other, self.here)
        for holder in room.holders if room else ():
            if not holder.surface:
                name = self.declare(holder.name, "container")
                self.drop("closed", name)
                if holder.closed:
                    self.add("closed", name, self.here)
        return room


class Chain(Maze):
    """A maze whose rooms are not on a grid, and in which no two exits lead to the same room."""

    def _across(self, room: str, direction: str) -> str | None:
        return None


class MazeRules(HouseRules):
    """Treasure Hunter of TextWorld by rules. Stateless. It cannot choose commands without a planner."""

    house = Maze

    def update(self, house: House, situation: PromptContext) -> None:
        """Add the task with the first observation, and all new observations."""
        target = _TARGET.search(situation.task)
        if target is not None and situation.seen.news and situation.seen.news[0].command is None:
            house.add("wanted", house.declare(target["thing"], "item"))
        super().update(house, situation)

    def read(self, house: House, exchange: Exchange) -> None:
        text = exchange.text
        if locked := _LOCKED.search(text):
            _lock(house, locked["lock"], locked["key"])
        elif unlocked := _UNLOCKED.search(text):
            house.drop("locked", to_name(unlocked["lock"]))
        elif stuck := _STUCK.search(text):
            house.add("stuck", house.declare(stuck["name"], "container"))
        elif taken := _TAKEN.search(text):
            house.take(taken[1], "item_at")
        room = house.read(exchange)
        if room is not None:
            house.forget_here("item_at")
            for thing in room.things:
                house.add("item_at", house.declare(thing.name, "item"), house.here)
        for thing in contents_in(text.split("\n")[0]) if text.startswith("You open") else ():
            house.add("item_at", house.declare(thing.name, "item"), house.here)
        if opened := re.match(r"You open (?:the )?(.+?)(?:, revealing .+)?\.", text):
            house.drop("closed", to_name(opened[1]))


class ChainRules(MazeRules):
    """Coin Collector of TextWorld by rules. Stateless."""

    house = Chain

    def command(self, situation: PromptContext) -> str:
        """Take the coin if it is here, or else go to the nearest unvisited room."""
        return self.answer(find_coin(self.explored(situation)), situation, "look").replace("move", "go")


def _lock(house: House, lock: str, key: str) -> None:
    """Add that a door or container is locked, and its key."""
    name = to_name(lock)
    kind = "container" if lock.split()[-1] in CONTAINERS else "door"
    house.add("locked", house.declare(lock, kind))
    house.add("fits", house.declare(key, "item"), name)


class MealRules(CookingRules):
    """The cooking game of TextWorld by rules. Stateless. It cannot choose commands without a planner."""

    house = Maze

    def read(self, house: House, exchange: Exchange) -> None:
        text = exchange.text
        recipe = read_recipe(text)
        if recipe is not None:
            note_recipe(house, recipe)
        elif taken := _TAKEN.search(text):
            house.take(taken[1], "thing_at")
        elif dropped := _DROPPED.search(text):
            house.drop("have", to_name(dropped[1]))
            house.add("thing_at", house.declare(dropped[1], "item"), house.here)
        elif done := _PREPARED.search(text):
            house.add("is", house.declare(done[2], "item"), PREPARED.get(done[1], done[1]))
        elif text.startswith(_MEAL):
            house.add("have", "meal")
        elif carried := _CARRIED.search(text):
            for thing in read_things(carried[1]):
                house.take(thing.name, "thing_at")
                for way in set(thing.adjectives) & set(PREPARED.values()):
                    house.add("is", to_name(thing.name), way)
        room = house.read(exchange)
        if room is not None:
            see_room(house, replace(room, holders=()))
