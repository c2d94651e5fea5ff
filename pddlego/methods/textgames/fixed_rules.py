"""Fixed rules: commands that are sent because the game said something, without a plan and without a model.

The scripts of the paper take what is seen in this way, and open containers. A setting states such rules as data; what
they cannot say (the recipe of Cooking World) is a script in Python, which may also state facts and set a goal.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import replace

from pddlego.methods.textgames.reader.text import (
    APPLIANCES,
    CUTS,
    HEATERS,
    PREPARED,
    Holder,
    Recipe,
    Thing,
    prepared_thing,
    read_opened,
    read_recipe,
    read_room,
    taken_thing,
)
from pddlego.methods.textgames.settings import FixedRule
from pddlego.pddl import Atom, Problem, TypedName, to_name
from pddlego.pddl.conditions import And
from pddlego.planning import Rung, Search
from pddlego.util.text import filled

_PREPARE = "prepare the meal"
"""The goal of cooking, as it is called on the ladder."""

KITCHEN = "kitchen"


class PaperCooking:
    """What the script does by itself. Lives for one episode."""

    def __init__(self) -> None:
        self._recipe: Recipe | None = None
        self._waiting = deque(["read cookbook"])
        self._here = ""
        self._held: set[str] = set()
        self._seen: dict[str, str] = {}
        self._followed: set[tuple[str, str]] = set()

    def take_in(self, command: str | None, text: str) -> None:
        """The game answered."""
        if command is not None and command in self._waiting:
            self._waiting.remove(command)
        room, opened = read_room(text), read_opened(text)
        self._recipe = self._recipe or read_recipe(text)
        if done := prepared_thing(text):
            self._followed.add(done)
        elif taken := taken_thing(text):
            self._held.add(taken)
        elif room is not None:
            self._here = to_name(room.name)
            self._look(room.things)
            for holder in room.holders:
                self._look_into(holder)
        elif opened is not None:
            self._look_into(opened)

    def due(self) -> str | None:
        """The next command to send immediately, or None."""
        while self._waiting:
            command = self._waiting.popleft()
            verb, _, thing = command.partition(" ")
            if verb == "open" and not self._missing():
                continue
            if verb == "take" and (thing in self._held or thing not in self._wanted()):
                continue
            return command
        return None

    def known(self, problem: Problem) -> Problem:
        """The problem with the facts that the script states itself."""
        if not self._ready():
            return problem
        held = {name: "knife" if name == "knife" else "ingredient" for name in self._held & self._wanted()}
        objects = {TypedName(to_name(name), kind) for name, kind in held.items()}
        objects |= {TypedName(name, name) for name in self._seen}
        facts = {Atom("have", (to_name(name),)) for name in held}
        facts |= {Atom("obj_at", place) for place in self._seen.items()}
        declared = {obj.name for obj in problem.objects}
        new = {obj for obj in objects if obj.name not in declared}
        return replace(problem, objects=problem.objects | new, facts=problem.facts | facts)

    def goals(self) -> tuple[Rung, ...]:
        """Goals that come before those of the ladder now."""
        if not self._ready() or self._recipe is None:
            return ()
        verbs = ((verb, to_name(food)) for verb, food in self._recipe.directions if verb in PREPARED)
        made = (Atom(PREPARED[verb], (food,)) for verb, food in verbs)
        return (Rung(_PREPARE, And((*made, Atom("at", (KITCHEN,)))), Search.parse("gbf(hff)")),)

    def plan_ended(self, rung: str | None) -> None:
        """A plan for the goal was carried out to its end."""
        if rung == _PREPARE:
            self._waiting += ["prepare meal", "eat meal"]

    def left(self) -> tuple[tuple[str, str], ...] | None:
        """Directions of the recipe that were not followed yet, as (verb, food); None while something is missing."""
        if not self._ready() or self._recipe is None:
            return None
        return tuple(
            direction
            for direction in self._recipe.directions
            if direction[0] in PREPARED and direction not in self._followed
        )

    def _look(self, things: Iterable[Thing]) -> None:
        for thing in things:
            if thing.name in APPLIANCES:
                self._seen.setdefault(thing.name, self._here)
            self._waiting.append(f"take {thing.name}")

    def _look_into(self, holder: Holder) -> None:
        if holder.closed:
            self._waiting.append(f"open {holder.name}")
        self._look(holder.contents)

    def _wanted(self) -> set[str]:
        """What is to be in hand: the ingredients, and the knife if something is to be cut."""
        if self._recipe is None:
            return set()
        cut = any(verb in CUTS for verb, _ in self._recipe.directions)
        return {*self._recipe.ingredients, *(["knife"] if cut else [])}

    def _missing(self) -> bool:
        """Whether something was not found yet: to be taken, or to heat with."""
        verbs = {verb for verb, _ in self._recipe.directions} if self._recipe is not None else set()
        unheated = any(not self._seen.keys() & set(HEATERS[verb]) for verb in verbs & HEATERS.keys())
        return self._recipe is None or unheated or bool(self._wanted() - self._held)

    def _ready(self) -> bool:
        return not self._missing()


class FixedRules:
    """The rules of a setting during one episode, and its script."""

    def __init__(self, rules: Sequence[FixedRule], script: str = "") -> None:
        self._rules = rules
        self._script = PaperCooking() if script else None
        self._waiting: deque[str] = deque()
        self._sent: set[str] = set()

    @property
    def is_reported(self) -> bool:
        """Whether a model reads what came of them: a script states what it found itself."""
        return self._script is None

    def take_in(self, command: str | None, text: str) -> None:
        """The game answered `text`."""
        if command is not None and command in self._waiting:  # an episode that is brought to where it was
            self._waiting.remove(command)
            self._sent.add(command)
        if self._script is not None:
            self._script.take_in(command, text)
        for rule in self._rules:
            for match in re.finditer(rule.when, text):
                due = filled(rule.command, match.groupdict(default=""))
                if due not in self._waiting and not (rule.once and due in self._sent):
                    self._waiting.append(due)

    def due(self) -> str | None:
        """The next command to send immediately, or None."""
        command = self._waiting.popleft() if self._waiting else self._script.due() if self._script else None
        if command is not None:
            self._sent.add(command)
        return command

    def known(self, problem: Problem) -> Problem:
        """The problem with the facts that a script states itself."""
        return self._script.known(problem) if self._script is not None else problem

    def ladder(self, ladder: tuple[Rung, ...]) -> tuple[Rung, ...]:
        """The goals, with those of a script before them."""
        return (*(self._script.goals() if self._script is not None else ()), *ladder)

    def plan_ended(self, rung: str | None) -> None:
        """A plan for the goal was carried out to its end."""
        if self._script is not None:
            self._script.plan_ended(rung)
