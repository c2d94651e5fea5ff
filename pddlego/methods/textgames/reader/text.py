"""Parses the sentences of TextWorldExpress. The functions never raise: other sentences are ignored."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

PREPARED = {
    "slice": "sliced",
    "chop": "chopped",
    "dice": "diced",
    "fry": "fried",
    "roast": "roasted",
    "grill": "grilled",
}
"""The state of a food after a preparation, by the verb of the recipe and of the game's observations."""

CUTS = ("slice", "chop", "dice")
"""Preparations that require a knife."""

HEATERS = {"fry": ("stove",), "roast": ("oven",), "grill": ("toaster", "barbeque")}
"""The appliances for each way of heating a food; any one of them can be used."""

APPLIANCES = (*(name for names in HEATERS.values() for name in names), "bbq")


ADJECTIVES = ("raw", "fried", "roasted", "grilled", "chopped", "sliced", "diced")
"""Adjectives before the name of a food that are not part of the name, in the order in which the game prints them."""

FIXTURES = ("stove", "oven", "barbeque", "bath mat", "toilet")
"""Things outside of holders that cannot be taken; all other things outside of holders can be taken."""


@dataclass(frozen=True)
class Thing:
    """A thing in a sentence: `a raw sliced carrot` has the name `carrot` and two adjectives."""

    name: str
    adjectives: tuple[str, ...] = ()
    article: str = "a"


@dataclass(frozen=True)
class Holder:
    """A container, which can be opened, or a surface, with its visible contents (empty for a closed container)."""

    name: str
    surface: bool = False
    closed: bool = False
    contents: tuple[Thing, ...] = ()


@dataclass(frozen=True)
class Exit:
    """An exit of a room. `door` is None without a door; `room` is None if the game does not name the room behind it."""

    direction: str
    room: str | None
    door: str | None = None
    closed: bool = False


@dataclass(frozen=True)
class Room:
    """The description of a room: things outside of holders, holders, and exits."""

    name: str
    things: tuple[Thing, ...] = ()
    holders: tuple[Holder, ...] = ()
    exits: tuple[Exit, ...] = ()

    def in_sight(self) -> Iterator[Thing]:
        """All visible things, including those on surfaces and in open containers."""
        yield from self.things
        for holder in self.holders:
            yield from holder.contents


@dataclass(frozen=True)
class Recipe:
    """The ingredients of a recipe, and its directions as (verb, ingredient)."""

    ingredients: tuple[str, ...]
    directions: tuple[tuple[str, str], ...]


_ROOM = re.compile(r"^You are in the ([^.\n]+)\.")
_SENTENCE = re.compile(
    r"(?:In one part of the room you see|There is also|You also see|In another part of the room you see) ([^.\n]+)\."
)
_HOLDERS = (
    (re.compile(r"an? (?P<name>.+) that is closed"), False, True),
    (re.compile(r"[Aa]n? (?:open )?(?P<name>.+), that is empty"), False, False),
    (re.compile(r"[Aa]n? (?:open )?(?P<name>.+), that contains (?P<list>.+)"), False, False),
    (re.compile(r"an? (?P<name>.+), that has nothing on it"), True, False),
    (re.compile(r"an? (?P<name>.+?) that has (?P<list>.+) on it"), True, False),
)
_EXIT = re.compile(
    r"(?:Through an open (?P<open>[^,.\n]+), to|To) the (?P<direction>North|South|East|West) you see "
    r"(?:a closed (?P<closed>[^.\n]+)|the (?P<room>[^.\n]+))\."
)
_THING = re.compile(rf"(a|an|some) ((?:(?:{'|'.join(ADJECTIVES)}) )*)(.+)")
_OPENED = re.compile(r"^You open the (?P<name>[^.\n]+)\. (?:It's empty inside|The .+? contains (?P<list>[^.\n]+))\.")
_TAKEN = re.compile(r"^You take the ([^.\n]+)\.")
_PREPARED = re.compile(rf"^You ({'|'.join(PREPARED)}) the ([^.\n]+?)(?: with the [^.\n]+)?\.")
_PUT = re.compile(r"^You put the (.+) in the ([^.\n]+)\.")
_REVEALED = re.compile(r"^You open the .+, revealing the ([^.\n]+)\.")
_RECIPE = re.compile(r"Ingredients:\n(?P<ingredients>(?:.+\n)*)\s*Directions:\n(?P<directions>(?:.+\n?)*)")
_MAP = re.compile(r"The ([^.\n]+?) connects to the ([^.\n]+)\.")


def read_room(text: str) -> Room | None:
    """The room that `text` describes; None if it does not begin with a description."""
    match = _ROOM.match(text)
    if match is None:
        return None
    seen = [_holder(match.group(1)) or read_thing(match.group(1)) for match in _SENTENCE.finditer(text)]
    things = tuple(thing for thing in seen if isinstance(thing, Thing))
    holders = tuple(thing for thing in seen if isinstance(thing, Holder))
    exits = tuple(
        Exit(match["direction"].lower(), match["room"], match["closed"] or match["open"], bool(match["closed"]))
        for match in _EXIT.finditer(text)
    )
    return Room(match.group(1), things, holders, exits)


def read_thing(text: str) -> Thing | None:
    """The thing that `text` names with its article. Adjectives are separate; the last word belongs to the name."""
    match = _THING.fullmatch(text.strip())
    if match is None:
        return None
    article, adjectives, name = match.groups()
    return Thing(name, tuple(adjectives.split()), article)


def read_things(text: str) -> tuple[Thing, ...]:
    """A list of things: `a knife, some salt, and a raw pork chop`, with or without the `and`."""
    parts = re.split(r", (?:and )?(?=(?:an?|some) )|(?<!,) and (?=(?:an?|some) )", text.strip())
    return tuple(thing for part in parts for thing in [read_thing(part)] if thing)


def read_opened(text: str) -> Holder | None:
    """The container that was opened, with its contents, if `text` says so."""
    match = _OPENED.match(text)
    if match is None:
        return None
    return Holder(match["name"], contents=read_things(match["list"] or ""))


def taken_thing(text: str) -> str | None:
    """The thing that was taken, if `text` says so."""
    match = _TAKEN.match(text)
    return match.group(1) if match else None


def prepared_thing(text: str) -> tuple[str, str] | None:
    """The verb of the recipe and the food that was prepared, if `text` says so."""
    match = _PREPARED.match(text)
    return (match.group(1), match.group(2)) if match else None


def put_thing(text: str) -> tuple[str, str] | None:
    """The thing that was put somewhere, and the place, if `text` says so."""
    match = _PUT.match(text)
    return (match.group(1), match.group(2)) if match else None


def revealed_room(text: str) -> str | None:
    """The room behind the door that was opened, if `text` says so."""
    match = _REVEALED.match(text)
    return match.group(1) if match else None


def read_recipe(text: str) -> Recipe | None:
    """The recipe in `text`; None without one."""
    match = _RECIPE.search(text + "\n")
    if match is None:
        return None
    ingredients = tuple(line.strip() for line in match["ingredients"].splitlines() if line.strip())
    lines = (line.strip().partition(" the ") for line in match["directions"].splitlines())
    return Recipe(ingredients, tuple((verb, food) for verb, the, food in lines if the))


def read_map(text: str) -> tuple[tuple[str, str], ...]:
    """The pairs of rooms that a map connects, in its order."""
    pairs = []
    for match in _MAP.finditer(text):
        others = re.split(r", | and ", match.group(2))
        pairs += [(match.group(1), other.strip()) for other in others if other.strip()]
    return tuple(pairs)


def _holder(text: str) -> Holder | None:
    for pattern, surface, closed in _HOLDERS:
        match = pattern.fullmatch(text)
        if match is not None:
            contents = read_things(match.groupdict().get("list") or "")
            return Holder(match["name"], surface, closed, contents)
    return None
