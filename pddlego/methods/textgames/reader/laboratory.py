"""The reader's rules for ScienceWorld: descriptions of rooms, and tasks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from pddlego.methods.textgames.formalize import Exchange, PromptContext
from pddlego.pddl import Atom, Edit, Problem, TypedName, edit_between, to_name

BY_LIFE_SPAN = (
    *("giant tortoise", "parrot", "crocodile", "elephant", "brown bear", "beaver", "wolf", "chipmunk", "rabbit"),
    *("frog", "hedgehog", "chameleon", "mouse", "dragonfly", "ant"),
)
"""The animals of the game, sorted by life span, the longest first."""

ANIMALS = (
    *BY_LIFE_SPAN,
    *("bee", "blue jay", "butterfly", "dove", "moth", "toad", "turtle", "snake", "spider", "worm", "bird", "fish"),
)

PLANTS = ("tree", "plant")
"""The last words of the names of plants."""

MOVABLE = ("cup", "stopwatch", "lighter", "pot", "jug", "shovel", "axe", "thermometer")
"""The last words of the names of non-living things that can be carried."""

MIXED = {"orange": ("red", "yellow"), "green": ("blue", "yellow"), "violet": ("blue", "red"), "brown": ("green", "red")}
"""The two colours from which another colour is mixed."""

_ROOM = re.compile(r"^This (?:room|outside location) is called the ([^.\n]+)\.", re.MULTILINE)
_DOOR = re.compile(r"^A door to the (.+) \(that is (open|closed)\)$")
_FIND = re.compile(r"find a\(n\) ([\w -]+)\. .* move it to the ([\w ]+ box) in the ([\w ]+)")
_LIFE_SPAN = re.compile(r"the animal with the (longest|shortest) life span(?:, then the (shortest) life span)?")
_MEASURE = re.compile(
    r"measure the temperature of ([^,]+), .*?above (-?[\d.]+) degrees celsius, place it in the ([\w ]+ box)\."
    r".*?below [^,]+, place it in the ([\w ]+ box)"
)
_LOCATED = re.compile(
    r"(?:\b(?:the|of) )?(?P<thing>[\w-]+(?: [\w-]+){0,2}?)(?:, which)? (?:(?:is|are|can be) )?(?:(?:located|found) )?"
    r"(?:around|in) the '?(?P<room>(?:(?!box)[\w ])+?)'?(?: location)?\.",
    re.IGNORECASE,
)
_USUAL = (
    (r"\banimal\b|(?<!non-)\bliving thing\b", "animal", "outside"),
    (r"\bplant\b", "plant", "greenhouse"),
    (r"\bthermometer\b", "thermometer", "kitchen"),
    (r"\bmelt\b", "substance", "kitchen"),
    (r"\belectrically\b", "battery", "workshop"),
)
"""Patterns of tasks, and where a thing that they need usually is."""

_PAINT = re.compile(r"to create (\w+) paint")


@dataclass(frozen=True)
class Seen:
    """A visible thing with its holder, which is empty without one. `contents` is the text about its contents.

    The name of an animal is that of its species, because it grows, and the game accepts this name at every age.
    """

    name: str
    holder: str = ""
    closed: bool = False
    contents: str = ""


def things_in(line: str, holder: str = "") -> Iterator[Seen]:
    """The thing that a line describes, and all things in it or on it."""
    text = re.sub(r"^(?:an?|the|some) |^a substance called ", "", line.strip().rstrip("."), flags=re.IGNORECASE)
    text = text.removeprefix("substance called ")
    inner = re.search(r"(?: \(containing (?P<inside>.*)\)|\. (?:On|In) the .+? is: (?P<on>.*))$", text)
    contents = (inner["inside"] or inner["on"] or "") if inner else ""
    itself = text[: inner.start()] if inner else text
    name = re.split(r"\. |, | \(| in the \w+ stage", itself, maxsplit=1)[0].strip()
    if not name or name.startswith(("nothing", "which ", "currently ")):
        return
    species = re.sub(r"^(?:baby|juvenile|adult|old) | egg$", "", name)
    name = species if species in ANIMALS else name
    yield Seen(name, holder, "is closed" in itself, contents)
    for part in _parts(contents):
        yield from things_in(part, name)


def _parts(text: str) -> list[str]:
    """The items of a list, split at the commas outside of brackets."""
    parts, depth = [""], 0
    for letter in text:
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if letter == "," and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts if part.strip()]


@dataclass(frozen=True)
class Laboratory:
    """The description of a room."""

    room: str
    things: tuple[Seen, ...]
    doors: tuple[tuple[str, bool], ...]

    @classmethod
    def read(cls, text: str) -> Laboratory | None:
        """The room that the text describes; None if it describes no room."""
        match = _ROOM.search(text)
        if match is None:
            return None
        things, doors = list[Seen](), list[tuple[str, bool]]()
        for line in text[match.end() :].splitlines()[1:]:
            door = _DOOR.match(line.strip())
            if door:
                doors.append((door[1], door[2] == "closed"))
            elif line.strip() and not line.startswith("You also see"):
                things += things_in(line)
        return cls(match[1], _distinct(things), tuple(doors))


def _distinct(things: list[Seen]) -> tuple[Seen, ...]:
    """One thing for each name. The name of a cup with paint is `cup containing red paint`."""
    by_name: dict[str, Seen] = {}
    for thing in things:
        holds_paint = re.fullmatch(r"\w+ paint", thing.contents)
        name = f"{thing.name} containing {thing.contents}" if holds_paint else thing.name
        by_name[name] = replace(thing, name=name)
    return tuple(by_name.values())


class LaboratoryRules:
    """Reads ScienceWorld. Stateless, because all knowledge is in the problem."""

    def edit(self, situation: PromptContext) -> Edit:
        """The edit of the problem that the new observations require."""
        before = after = situation.knowledge.problem
        for exchange in situation.seen.news:
            after = with_seen(exchange, expected(situation.task, exchange, after))
            after = _decided(situation.task, exchange, after)
        return edit_between(before, after)


def expected(task: str, exchange: Exchange, problem: Problem) -> Problem:
    """The problem with the places that the task names, and with usual ones; only for the first observation."""
    if exchange.command is not None:
        return problem
    usual = (atom_of("likely", thing, room) for pattern, thing, room in _USUAL if re.search(pattern, task))
    return with_facts(problem, *usual, *(atom_of("likely", *match.groups()) for match in _LOCATED.finditer(task)))


def atom_of(predicate: str, *names: str) -> Atom:
    return Atom(predicate, tuple(map(to_name, names)))


_LEADING_ROOMS = {"at": 1, "visited": 1, "door": 2, "closed_door": 2}
"""The number of arguments that are rooms, for predicates whose first arguments are rooms."""

_LAST_IS_ROOM = ("is_in", "likely", "closed", "device", "to_join")
"""The predicates whose last argument is a room."""


def with_facts(problem: Problem, *facts: Atom, without: frozenset[Atom] = frozenset()) -> Problem:
    """The problem with additional facts and their objects, and without the facts `without`."""
    known, new = {obj.name for obj in problem.objects}, dict[str, TypedName]()
    for fact in facts:
        for index, name in enumerate(fact.args):
            is_last = index == len(fact.args) - 1
            is_room = index < _LEADING_ROOMS.get(fact.predicate, 0) or (fact.predicate in _LAST_IS_ROOM and is_last)
            if name not in known:
                new.setdefault(name, TypedName(name, "room" if is_room else "thing"))
    objects = problem.objects.union(new.values())
    return replace(problem, objects=objects, facts=(problem.facts - without) | frozenset(facts))


def room_of_agent(problem: Problem) -> str:
    return next((fact.args[0] for fact in problem.facts if fact.predicate == "at"), "")


def facts_of(problem: Problem, predicate: str) -> list[Atom]:
    return [fact for fact in problem.sorted_facts() if fact.predicate == predicate]


def with_seen(exchange: Exchange, problem: Problem) -> Problem:
    """The problem with the described room, and with the effects of the command."""
    command, text = exchange.command or "", exchange.text
    gone, new = set[Atom](), list[Atom]()
    if (took := re.fullmatch(r"pick up (.+)", command)) and re.match(r"You move the .* to the inventory", text):
        new.append(atom_of("held", took[1]))
        gone |= {fact for fact in facts_of(problem, "is_in") if fact.args[0] == to_name(took[1])}
    elif (put := re.fullmatch(r"move (.+) to (.+)", command)) and text.startswith("You move the"):
        new += [atom_of("inside", put[1], put[2]), atom_of("is_in", put[1], room_of_agent(problem))]
        gone.add(atom_of("held", put[1]))
    elif (focus := re.fullmatch(r"focus on (.+)", command)) and text.startswith("You focus on"):
        new.append(atom_of("focused", focus[1]))
    elif (pour := re.fullmatch(r"pour (.+) in (.+)", command)) and text.startswith("You pour"):
        new.append(atom_of("poured", pour[1], pour[2]))
    problem = with_facts(problem, *new, without=frozenset(gone))
    room = Laboratory.read(text)
    return problem if room is None else _entered(room, problem)


def _entered(room: Laboratory, problem: Problem) -> Problem:
    here = to_name(room.room)
    held = {fact.args[0] for fact in facts_of(problem, "held")}
    gone = {fact for fact in problem.facts if fact.predicate in ("is_in", "closed") and fact.args[1] == here}
    gone |= set(facts_of(problem, "at")) | {fact for fact in facts_of(problem, "closed_door") if here in fact.args}
    new = [atom_of("at", room.room), atom_of("visited", room.room)]
    for name, closed in room.doors:
        for predicate in ("door", "closed_door") if closed else ("door",):
            new += [atom_of(predicate, room.room, name), atom_of(predicate, name, room.room)]
    for thing in room.things:
        if to_name(thing.name) not in held:
            new.append(atom_of("is_in", thing.name, room.room))
        if thing.closed:
            new.append(atom_of("closed", thing.name, room.room))
    return with_facts(problem, *new, without=frozenset(gone))


UNDECIDED = Atom("undecided", ())
"""It is not known yet which things the task requires."""


def _decided(task: str, exchange: Exchange, problem: Problem) -> Problem:
    """The problem with the facts that the task requires, as far as they are known."""
    if UNDECIDED not in problem.facts:
        return problem
    room = Laboratory.read(exchange.text)
    things = room.things if room else ()
    required: tuple[Atom, ...] = ()
    if find := _FIND.search(task):
        required = _first_of_kind(find[1], find[2], things)
    elif spans := _LIFE_SPAN.search(task):
        required = _of_life_span(spans, things) if room and room.room == "outside" else ()
    elif measuring := _MEASURE.search(task):
        return _measured(measuring, exchange, problem)
    elif paint := _PAINT.search(task):
        return _painted(paint[1], exchange, things, problem)
    return with_facts(problem, *required, without=frozenset({UNDECIDED})) if required else problem


def _first_of_kind(kind: str, box: str, things: tuple[Seen, ...]) -> tuple[Atom, ...]:
    """The facts that the first thing of a kind is to be focused on, and put into the box."""
    for thing in things:
        last = thing.name.split()[-1]
        kinds = {"animal": thing.name in ANIMALS, "plant": last in PLANTS and bool(thing.holder)}
        kinds |= {"living thing": any(kinds.values()), "non-living thing": last in MOVABLE}
        if kinds.get(kind):
            carried = thing.holder if last in PLANTS else thing.name
            return atom_of("wanted", thing.name), atom_of("belongs", carried, box)
    return ()


def _of_life_span(spans: re.Match[str], things: tuple[Seen, ...]) -> tuple[Atom, ...]:
    names = {thing.name for thing in things}
    animals = [animal for animal in BY_LIFE_SPAN if animal in names]
    if not animals:
        return ()
    longest, shortest = animals[0], animals[-1]
    if spans[2]:
        return atom_of("wanted", longest), atom_of("wanted", shortest), atom_of("before", longest, shortest)
    return (atom_of("wanted", longest if spans[1] == "longest" else shortest),)


def _measured(asked: re.Match[str], exchange: Exchange, problem: Problem) -> Problem:
    substance, limit, above, below = asked[1], float(asked[2]), asked[3], asked[4]
    todo = atom_of("unmeasured", substance)
    reading = re.search(r"measures a temperature of (-?\d+) degrees", exchange.text)
    if reading is None:
        wanted = [atom_of("wanted", "thermometer"), atom_of("wanted", substance)]
        before = atom_of("before", "thermometer", substance)
        return with_facts(problem, atom_of("instrument", "thermometer"), *wanted, before, todo)
    box = above if float(reading[1]) > limit else below
    return with_facts(problem, atom_of("belongs", substance, box), without=frozenset({todo, UNDECIDED}))


def _painted(colour: str, exchange: Exchange, things: tuple[Seen, ...], problem: Problem) -> Problem:
    made = re.search(r"mix to produce (\w+) paint", exchange.text)
    if made and made[1] == colour:
        product = f"{colour} paint"
        facts = atom_of("wanted", product), atom_of("is_in", product, room_of_agent(problem))
        return with_facts(problem, *facts, without=frozenset({UNDECIDED, *facts_of(problem, "ingredient")}))
    empty = (thing.name for thing in things if thing.contents == "nothing")
    vessel = next((name for name in empty if name.split()[-1] in ("cup", "jug", "bowl", "pot")), "")
    by_contents = {thing.contents: thing.name for thing in things}
    cups = [by_contents.get(f"{part} paint", "") for part in MIXED.get(colour, ())]
    if not (vessel and cups and all(cups)) or facts_of(problem, "ingredient"):
        return problem
    return with_facts(problem, *(atom_of("ingredient", cup, vessel) for cup in cups))
