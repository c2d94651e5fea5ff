"""The script of the paper's Cooking World, which opens, takes and cooks without a model; it parses answers itself."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, replace

from pddlego.methods.textgames.reading.template import read_names, without_words
from pddlego.pddl import Atom, Problem, TypedName, to_name
from pddlego.pddl.conditions import And
from pddlego.planning import Rung, Search

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

_ADJECTIVES = ("raw", *PREPARED.values())

_ROOM = re.compile(r"^You are in the ([^.\n]+)\.")
_SEEN = re.compile(r"(?:part of the room you see|There is also|You also see) ([^.\n]+)\.")
_CLOSED = re.compile(r"an? (.+) that is closed")
_HOLDING = re.compile(r"(?:.+, that contains|.+? that has) (.+?)(?: on it)?")
_OPENED = re.compile(r"^You open the [^.\n]+\. (?:It's empty inside|The .+? contains (?P<list>[^.\n]+))\.")
_TAKEN = re.compile(r"^You take the ([^.\n]+)\.")
_DONE = re.compile(rf"^You ({'|'.join(PREPARED)}) the ([^.\n]+?)(?: with the [^.\n]+)?\.")
_RECIPE = re.compile(r"Ingredients:\n(?P<ingredients>(?:.+\n)*)\s*Directions:\n(?P<directions>(?:.+\n?)*)")


@dataclass(frozen=True)
class _Recipe:
    """The ingredients of a recipe, and its directions as (verb, ingredient)."""

    ingredients: tuple[str, ...]
    directions: tuple[tuple[str, str], ...]


def _read_recipe(text: str) -> _Recipe | None:
    match = _RECIPE.search(text + "\n")
    if match is None:
        return None
    ingredients = tuple(line.strip() for line in match["ingredients"].splitlines() if line.strip())
    lines = (line.strip().partition(" the ") for line in match["directions"].splitlines())
    return _Recipe(ingredients, tuple((verb, food) for verb, the, food in lines if the))


def _things(text: str) -> list[str]:
    return [without_words(name, _ADJECTIVES) for name in read_names(text)]


def seen_in(text: str) -> tuple[str, ...]:
    """The things that an observation of a room or an opened container names, as commands.

    A closed container is to be opened, and any other thing taken: first those that lie about, then those in containers
    and on surfaces.
    """
    if opened := _OPENED.match(text):
        return tuple(f"take {thing}" for thing in _things(opened["list"] or ""))
    named = [match[1] for match in _SEEN.finditer(text)]
    commands = [f"take {thing}" for names in named if " that " not in names for thing in _things(names)]
    for holder in (names for names in named if " that " in names):
        if closed := _CLOSED.fullmatch(holder):
            commands.append(f"open {closed[1]}")
        elif holding := _HOLDING.fullmatch(holder):
            commands += (f"take {thing}" for thing in _things(holding[1]))
    return tuple(commands)


_PREPARE = "prepare the meal"
"""The name of the goal of cooking on the ladder."""

KITCHEN = "kitchen"


class PaperCooking:
    """The state of the paper's script in one episode of Cooking World: the commands that it sends without a plan.

    If it does not `read` what rooms and containers hold, a model lists it (`unread` and `listed`).
    """

    def __init__(self, reads: bool = True) -> None:
        self._reads = reads
        self._unread = deque[tuple[str, str]]()
        self._sent: set[str] = set()
        self._recipe: _Recipe | None = None
        self._waiting = deque(["read cookbook"])
        self._here = ""
        self._held: set[str] = set()
        self.seen: dict[str, str] = {}
        self._followed: set[tuple[str, str]] = set()

    def take_in(self, command: str | None, text: str) -> None:
        """Update the state with an observation, and queue the commands that it requires."""
        if command is not None and command in self._waiting:
            self._waiting.remove(command)
        self._sent.add(command or "")
        room, opened = _ROOM.match(text), _OPENED.match(text)
        self._recipe = self._recipe or _read_recipe(text)
        if done := _DONE.match(text):
            self._followed.add((done[1], done[2]))
        elif taken := _TAKEN.match(text):
            self._held.add(taken[1])
        elif room is not None:
            self._here = to_name(room[1])
        if room is None and opened is None:
            return
        if self._reads:
            self._queue(seen_in(text), self._here)
        elif self._missing():
            self._unread.append((self._here, text))

    @property
    def unread(self) -> str | None:
        """The first observation whose things a model has not listed yet; None without one."""
        return self._unread[0][1] if self._unread else None

    def listed(self, commands: Iterable[str]) -> None:
        """Queue the commands for the things that a model listed in `unread`, each at most once in the episode."""
        place, _ = self._unread.popleft()
        old = self._sent.union(self._waiting)
        self._queue((command for command in dict.fromkeys(commands) if command not in old), place)

    def due(self) -> str | None:
        """Remove the next command from the queue, and return it; None if the queue is empty."""
        while self._waiting:
            command = self._waiting.popleft()
            verb, _, thing = command.partition(" ")
            if verb == "open" and not self._missing():
                continue
            if verb == "take" and (thing in self._held or thing not in self._wanted()):
                continue
            return command
        return None

    def with_script_facts(self, problem: Problem) -> Problem:
        """The problem with the facts that the script knows, as soon as nothing is missing."""
        if self._missing():
            return problem
        held = {name: "knife" if name == "knife" else "ingredient" for name in self._held & self._wanted()}
        objects = {TypedName(to_name(name), kind) for name, kind in held.items()}
        objects |= {TypedName(name, name) for name in self.seen}
        facts = {Atom("have", (to_name(name),)) for name in held}
        facts |= {Atom("obj_at", place) for place in self.seen.items()}
        declared = {obj.name for obj in problem.objects}
        new = {obj for obj in objects if obj.name not in declared}
        return replace(problem, objects=problem.objects | new, facts=problem.facts | facts)

    def goals(self) -> tuple[Rung, ...]:
        """The goals that are tried before those of the ladder."""
        if self._missing() or self._recipe is None:
            return ()
        verbs = ((verb, to_name(food)) for verb, food in self._recipe.directions if verb in PREPARED)
        made = (Atom(PREPARED[verb], (food,)) for verb, food in verbs)
        return (Rung(_PREPARE, And((*made, Atom("at", (KITCHEN,)))), Search.parse("gbf(hff)")),)

    def plan_ended(self, rung: str | None) -> None:
        """Queue the last commands if the executed plan was for the goal of cooking."""
        if rung == _PREPARE:
            self._waiting += ["prepare meal", "eat meal"]

    def left(self) -> tuple[tuple[str, str], ...] | None:
        """The remaining directions of the recipe as (verb, food); None while something is missing."""
        if self._missing() or self._recipe is None:
            return None
        return tuple(
            direction
            for direction in self._recipe.directions
            if direction[0] in PREPARED and direction not in self._followed
        )

    def _queue(self, commands: Iterable[str], place: str) -> None:
        for command in commands:
            verb, _, thing = command.partition(" ")
            if verb == "take" and thing in APPLIANCES:
                self.seen.setdefault(thing, place)
            self._waiting.append(command)

    def _wanted(self) -> set[str]:
        """The things that the agent needs in hand: the ingredients, and a knife if a food must be cut."""
        if self._recipe is None:
            return set()
        cut = any(verb in CUTS for verb, _ in self._recipe.directions)
        return {*self._recipe.ingredients, *(["knife"] if cut else [])}

    def _missing(self) -> bool:
        """Whether the recipe, a thing to take, or an appliance was not found yet."""
        verbs = {verb for verb, _ in self._recipe.directions} if self._recipe is not None else set()
        unheated = any(not self.seen.keys() & set(HEATERS[verb]) for verb in verbs & HEATERS.keys())
        return self._recipe is None or unheated or bool(self._wanted() - self._held)
