"""The reader's rules for ALFWorld: places, what is in them, and six types of tasks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from pddlego.methods.textgames.formalize import Exchange, Situation
from pddlego.pddl import Atom, Edit, Problem, TypedName, edit_between, to_name

_START = re.compile(r"you see (?P<list>[^.]+)\.\s*Your task is to: ", re.DOTALL)
_SEEN = re.compile(r"(?:On the (?P<on>[^.,]+)|The (?P<in>[^.]+) is open\. In it), you see (?P<list>[^.]+)\.")
_CLOSED = re.compile(r"The (?P<place>[^.]+) is closed\.")
_ARRIVED = re.compile(r"^You arrive at (?P<place>[^.]+)\.")
_TAKEN = re.compile(r"^You pick up the (?P<thing>.+?) from the (?P<place>[^.]+)\.")
_PUT = re.compile(r"^You (?:move|put) the (?P<thing>.+?) (?:to|in/on) the (?P<place>[^.]+)\.")
_CHANGED = re.compile(r"^You (?P<verb>clean|heat|cool) the (?P<thing>.+?) using the ")
_LIT = re.compile(r"^You turn on the (?P<thing>[^.]+)\.")
_REFUSED = re.compile(r"^Nothing happens\.")
_GO = re.compile(r"go to (?P<place>.+)")

_STATES = {"clean": "clean", "heat": "hot", "cool": "cool"}
_GIVES = {"sinkbasin": "clean", "microwave": "hot", "fridge": "cool"}
_LAMPS = ("desklamp", "floorlamp")
_KIND = re.compile(
    r"^(?:put|clean|heat|cool|find|look at|examine) (?:the |an? |some |two )?(?:clean |hot |cool )?(?P<thing>\w+)"
)
_TARGET = re.compile(r"\b(?:in|on) (?P<place>\w+)$")
_NEEDS = (
    (r"\bclean\b", "needs", "clean"),
    (r"\b(?:hot|heat)\b", "needs", "hot"),
    (r"\bcool\b", "needs", "cool"),
    (r"\btwo\b", "needs_two"),
    (r"^(?:look at|examine) ", "needs_light"),
)


def _kind(name: str) -> str:
    """The type of a thing or place: `cabinet` for `cabinet 2`."""
    return name.rpartition(" ")[0] or name


def _listed(text: str) -> Iterator[str]:
    """The names in a list such as `a mug 1, and a plate 2`; none in `nothing`."""
    for part in re.split(r",\s*(?:and\s+)?|\s+and\s+(?=an? )", text):
        name = re.sub(r"^an? ", "", part.strip())
        if name and name != "nothing":
            yield name


class HouseholdRules:
    """Reads ALFWorld. Stateless, because all knowledge is in the problem."""

    def edit(self, situation: Situation) -> Edit:
        """The edit of the problem that the new observations require."""
        before = situation.knowledge.problem
        room = _Room(before, situation.task)
        for exchange in situation.seen.news:
            room.read(exchange)
        return edit_between(before, room.problem())


class _Room:
    """A mutable problem to which observations are added during one call."""

    def __init__(self, problem: Problem, task: str) -> None:
        self._problem, self._facts = problem, set(problem.facts)
        self._objects = {obj.name: obj for obj in problem.objects}
        kind, target = _KIND.search(task), _TARGET.search(task)
        self._wanted, self._target = (kind["thing"] if kind else ""), (target["place"] if target else "")
        self._task = task

    def problem(self) -> Problem:
        return replace(self._problem, objects=frozenset(self._objects.values()), facts=frozenset(self._facts))

    def read(self, exchange: Exchange) -> None:
        """Add an observation."""
        text, went = exchange.text, _GO.fullmatch(exchange.command or "")
        if start := _START.search(text):
            self._begin(start["list"])
        if arrived := _ARRIVED.search(text):
            self._move(arrived["place"])
        elif went and _REFUSED.search(text):
            self._move(went["place"])  # it is beside the agent: official games have several receptacles at one location
        elif taken := _TAKEN.search(text):
            self._drop("is_in", to_name(taken["thing"]))
            self._drop("hands_free")
            self._add("holding", to_name(taken["thing"]))
        elif put := _PUT.search(text):
            self._drop("holding")
            self._add("hands_free")
            self._add("is_in", to_name(put["thing"]), to_name(put["place"]))
        elif changed := _CHANGED.search(text):
            self._change(to_name(changed["thing"]), _STATES[changed["verb"]])
        elif lit := _LIT.search(text):
            self._add("lit", to_name(lit["thing"]))
        for seen in _SEEN.finditer(text):
            self._look(seen["on"] or seen["in"], seen["list"])
        for closed in _CLOSED.finditer(text):
            self._add("visited", self._declared(closed["place"], "place"))
            self._add("closed", to_name(closed["place"]))

    def _begin(self, places: str) -> None:
        for place in _listed(places):
            name = self._declared(place, "place")
            if _kind(place) in _GIVES:
                self._add("gives", name, _GIVES[_kind(place)])
            if _kind(place) == self._target:
                self._add("target", name)
        for pattern, *fact in _NEEDS:
            if re.search(pattern, self._task):
                self._add(*fact)

    def _move(self, place: str) -> None:
        self._drop("at")
        self._add("at", self._declared(place, "place"))

    def _look(self, place: str, things: str) -> None:
        """The contents of a place are seen, and all of them."""
        name = self._declared(place, "place")
        self._facts = {fact for fact in self._facts if fact.predicate != "is_in" or fact.args[1] != name}
        self._drop("closed", name)
        self._add("visited", name)
        for thing in _listed(things):
            seen = self._declared(thing, "thing")
            self._drop("is_in", seen)
            self._add("is_in", seen, name)
            if _kind(thing) in _LAMPS:
                self._add("lamp", seen)
            if _kind(thing) == self._wanted:
                self._add("wanted", seen)

    def _change(self, thing: str, state: str) -> None:
        for opposite in {"hot": ("cool",), "cool": ("hot",)}.get(state, ()):
            self._drop("is", thing, opposite)
        self._add("is", thing, state)

    def _declared(self, name: str, kind: str) -> str:
        word = to_name(name)
        self._objects.setdefault(word, TypedName(word, kind))
        return word

    def _add(self, *fact: str) -> None:
        self._facts.add(Atom(fact[0], tuple(fact[1:])))

    def _drop(self, *fact: str) -> None:
        """Remove the facts that begin with these words."""
        self._facts = {known for known in self._facts if (known.predicate, *known.args)[: len(fact)] != fact}
