"""The reader's rules for ScienceWorld: descriptions of rooms, and tasks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
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
    paint = re.compile(r"\w+ paint")
    named = [
        replace(thing, name=f"{thing.name} containing {thing.contents}") if paint.fullmatch(thing.contents) else thing
        for thing in things
    ]
    return tuple({thing.name: thing for thing in named}.values())


class LaboratoryRules:
    """Reads ScienceWorld. Stateless, because all knowledge is in the problem."""

    def edit(self, situation: PromptContext) -> Edit:
        """The edit of the problem that the new observations require."""
        before = after = situation.knowledge.problem
        for exchange in situation.seen.news:
            after = _decided(situation.task, exchange, with_seen(exchange, _expected(situation.task, exchange, after)))
        return edit_between(before, after)


def _expected(task: str, exchange: Exchange, problem: Problem) -> Problem:
    """The problem with the places that the task names, and with usual ones; only for the first observation."""
    if exchange.command is not None:
        return problem
    usual = (atom_of("likely", thing, room) for pattern, thing, room in _USUAL if re.search(pattern, task))
    return with_facts(problem, *usual, *(atom_of("likely", *match.groups()) for match in _LOCATED.finditer(task)))


def atom_of(predicate: str, *names: str) -> Atom:
    return Atom(predicate, tuple(map(to_name, names)))


def with_facts(problem: Problem, *facts: Atom, without: frozenset[Atom] = frozenset()) -> Problem:
    """The problem with additional facts and their objects, and without the facts `without`."""
    rooms = {"at": 1, "visited": 1, "door": 2, "closed_door": 2}
    last_is_room = ("is_in", "likely", "closed", "device", "to_join")
    known = {obj.name for obj in problem.objects}
    objects = set(problem.objects)
    for fact in facts:
        for number, name in enumerate(fact.args):
            is_room = number < rooms.get(fact.predicate, 0) or (
                fact.predicate in last_is_room and number == len(fact.args) - 1
            )
            if name not in known:
                objects.add(TypedName(name, "room" if is_room else "thing"))
                known.add(name)
    return replace(problem, objects=frozenset(objects), facts=(problem.facts - without) | frozenset(facts))


def room_of_agent(problem: Problem) -> str:
    return next((fact.args[0] for fact in problem.facts if fact.predicate == "at"), "")


def facts_of(problem: Problem, predicate: str) -> list[Atom]:
    return [fact for fact in problem.sorted_facts() if fact.predicate == predicate]


def with_seen(exchange: Exchange, problem: Problem) -> Problem:
    """The problem with the described room, and with the effects of the command."""
    text = exchange.text
    done = _command_of(exchange)
    gone, new = set[Atom](), set[Atom]()
    if done and done[0] == "take" and re.match(r"You move the .* to the inventory", text):
        new.add(atom_of("held", done[1]))
        gone |= {fact for fact in facts_of(problem, "is_in") if fact.args[0] == to_name(done[1])}
    elif done and done[0] == "put" and text.startswith("You move the"):
        new |= {atom_of("inside", *done[1:]), atom_of("is_in", done[1], room_of_agent(problem))}
        gone.add(atom_of("held", done[1]))
    elif done and done[0] == "focus" and text.startswith("You focus on"):
        new.add(atom_of("focused", done[1]))
    elif done and done[0] == "pour" and text.startswith("You pour"):
        new.add(atom_of("poured", *done[1:]))
    problem = with_facts(problem, *sorted(new, key=str), without=frozenset(gone))
    room = Laboratory.read(text)
    return problem if room is None else _entered(room, problem)


def _command_of(exchange: Exchange) -> tuple[str, ...]:
    """The action of a command, and its arguments."""
    patterns = (
        ("take", r"pick up (.+)"),
        ("put", r"move (.+) to (.+)"),
        ("focus", r"focus on (.+)"),
        ("pour", r"pour (.+) in (.+)"),
    )
    for name, pattern in patterns:
        match = re.fullmatch(pattern, exchange.command or "")
        if match:
            return (name, *match.groups())
    return ()


def _entered(room: Laboratory, problem: Problem) -> Problem:
    here = to_name(room.room)
    held = {fact.args[0] for fact in facts_of(problem, "held")}
    gone = {fact for fact in problem.facts if fact.predicate in ("is_in", "closed") and fact.args[1] == here}
    gone |= set(facts_of(problem, "at")) | {fact for fact in facts_of(problem, "closed_door") if here in fact.args}
    new = [atom_of("at", room.room), atom_of("visited", room.room)]
    for name, closed in room.doors:
        new += [atom_of("door", room.room, name), atom_of("door", name, room.room)]
        new += [atom_of("closed_door", room.room, name), atom_of("closed_door", name, room.room)] if closed else []
    for thing in room.things:
        new += [atom_of("is_in", thing.name, room.room)] if to_name(thing.name) not in held else []
        new += [atom_of("closed", thing.name, room.room)] if thing.closed else []
    return with_facts(problem, *new, without=frozenset(gone))


def _decided(task: str, exchange: Exchange, problem: Problem) -> Problem:
    """The problem with the facts that the task requires, as far as they are known."""
    undecided = Atom("undecided", ())
    if undecided not in problem.facts:
        return problem
    room = Laboratory.read(exchange.text)
    things = room.things if room else ()
    found: tuple[Atom, ...] = ()
    if find := _FIND.search(task):
        found = _found(find[1], find[2], things)
    elif spans := _LIFE_SPAN.search(task):
        found = _of_life_span(spans, things) if room and room.room == "outside" else ()
    elif measuring := _MEASURE.search(task):
        return _measured(measuring, exchange, problem)
    elif paint := _PAINT.search(task):
        return _painted(paint[1], exchange, things, problem)
    return with_facts(problem, *found, without=frozenset({undecided})) if found else problem


def _found(kind: str, box: str, things: tuple[Seen, ...]) -> tuple[Atom, ...]:
    """The facts that the first thing of a kind is to be focused on, and put into the box."""
    for thing in things:
        last = thing.name.split()[-1]
        fits = {
            "animal": thing.name in ANIMALS,
            "plant": last in PLANTS and bool(thing.holder),
            "living thing": thing.name in ANIMALS or (last in PLANTS and bool(thing.holder)),
            "non-living thing": last in MOVABLE,
        }
        if fits.get(kind):
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
    return with_facts(problem, atom_of("belongs", substance, box), without=frozenset({todo, Atom("undecided", ())}))


def _painted(colour: str, exchange: Exchange, things: tuple[Seen, ...], problem: Problem) -> Problem:
    made = re.search(r"mix to produce (\w+) paint", exchange.text)
    if made and made[1] == colour:
        product = f"{colour} paint"
        facts = atom_of("wanted", product), atom_of("is_in", product, room_of_agent(problem))
        return with_facts(problem, *facts, without=frozenset({Atom("undecided", ()), *facts_of(problem, "ingredient")}))
    vessel = next((thing.name for thing in things if thing.contents == "nothing" and _is_vessel(thing)), "")
    by_contents = {thing.contents: thing.name for thing in things}
    cups = [by_contents.get(f"{part} paint", "") for part in MIXED.get(colour, ())]
    if not (vessel and cups and all(cups)) or facts_of(problem, "ingredient"):
        return problem
    return with_facts(problem, *(atom_of("ingredient", cup, vessel) for cup in cups))


def _is_vessel(thing: Seen) -> bool:
    return thing.name.split()[-1] in ("cup", "jug", "bowl", "pot")


HEATERS = ("stove", "blast furnace")
"""The devices that can melt a substance."""

VESSEL = "metal pot"
"""The vessel in which substances are heated."""

PATIENCE = 6
"""The number of waits for a heater before the agent tries another one."""

_MELT = re.compile(r"task is to melt ([\w -]+)\.")
_GROW = re.compile(r"grow an? ([\w -]+?) plant from seed")
_CONDUCTIVITY = re.compile(
    r"determine if ([\w -]+) is electrically conductive\..*?conductive, place it in the ([\w ]+ box)\."
    r".*?nonconductive, place it in the ([\w ]+ box)"
)


class ExperimentRules:
    """Reads the experiments of ScienceWorld. Stateless, because all knowledge is in the problem and the history."""

    def edit(self, situation: PromptContext) -> Edit:
        """The edit of the problem that the new observations require."""
        before = after = situation.knowledge.problem
        for exchange in map(_resolved, situation.seen.news):
            after = with_seen(exchange, _dropped(exchange, _expected(situation.task, exchange, after)))
            after = _experiment(situation.task, exchange, after)
        if _waits(situation.seen.history) >= PATIENCE:
            after = with_facts(after, *_too_weak(after))
        return edit_between(before, after)


def _resolved(exchange: Exchange) -> Exchange:
    """The exchange with a command that names only the things that it changes, and without remarks on connections.

    The answer to an ambiguous command is a number, and `focus on` may name the holder of the thing.
    """
    text = re.sub(r"^\(disconnecting [^)]*\)", "", exchange.text)
    command = re.sub(r"^(focus on .+) in .+", r"\1", exchange.command or "") or None
    exchange = replace(exchange, text=text, command=command)
    if command != "0":
        return exchange
    patterns = (
        (r"You move the (.+) to the inventory", "pick up {}"),
        (r"You move the (.+) to the ([^.]+)", "move {} to {}"),
        (r"You focus on the ([^.]+)", "focus on {}"),
    )
    for pattern, template in patterns:
        match = re.match(pattern, exchange.text)
        if match:
            return replace(exchange, command=template.format(*match.groups()))
    return exchange


def _dropped(exchange: Exchange, problem: Problem) -> Problem:
    """The problem with a dropped thing in the room instead of the inventory."""
    dropped = re.fullmatch(r"drop (.+)", exchange.command or "")
    if dropped is None or not exchange.text.startswith("You move the"):
        return problem
    here = atom_of("is_in", dropped[1], room_of_agent(problem))
    return with_facts(problem, here, without=frozenset({atom_of("held", dropped[1])}))


def _experiment(task: str, exchange: Exchange, problem: Problem) -> Problem:
    """The problem with the facts that the experiment requires, as far as they are known."""
    device = re.fullmatch(r"activate (.+)", exchange.command or "")
    if device and "is now activated" in exchange.text:
        problem = with_facts(problem, atom_of("active", device[1]))
    elif device and "appears broken" in exchange.text:
        problem = with_facts(problem, atom_of("useless", device[1]))
    room = Laboratory.read(exchange.text)
    if melt := _MELT.search(task):
        return _melting(melt[1], problem)
    if grow := _GROW.search(task):
        return _growing(f"{grow[1]} seed", room, exchange, problem)
    if conductivity := _CONDUCTIVITY.search(task):
        tested = _tested(conductivity, exchange, problem)
        return tested if room is None else _circuit(conductivity[1], room, tested)
    return problem


def _waits(history: Sequence[Exchange]) -> int:
    """The number of waits since the agent last activated a device."""
    count = 0
    for exchange in reversed(history):
        if (exchange.command or "").startswith("activate "):
            return count
        count += exchange.command == "wait"
    return 0


def _too_weak(problem: Problem) -> list[Atom]:
    """A fact `useless` for each heater that is on."""
    heaters = set(map(to_name, HEATERS))
    return [Atom("useless", fact.args) for fact in facts_of(problem, "active") if fact.args[0] in heaters]


def _melting(substance: str, problem: Problem) -> Problem:
    """The problem with the goals of melting: the substance in a vessel, and the vessel on or in a seen heater."""
    rooms = {fact.args[0]: fact.args[1] for fact in facts_of(problem, "is_in")}
    facts = [atom_of("sample", substance), atom_of("goes", substance, VESSEL)]
    for heater in HEATERS:
        if room := rooms.get(to_name(heater)):
            facts += [atom_of("goes", VESSEL, heater), atom_of("device", heater, room)]
    return with_facts(problem, *facts)


def _growing(seed: str, room: Laboratory | None, exchange: Exchange, problem: Problem) -> Problem:
    """The problem with the goals of growing: the seed in a pot with soil, watered from a jug filled at a tap."""
    done = frozenset(facts_of(problem, "poured")) if exchange.command == "wait" else frozenset[Atom]()
    facts = [atom_of("sample", seed), atom_of("digs", "shovel", "ground", "soil")]
    pot = None if room is None or facts_of(problem, "waters") else _pot(room.things)
    if room and pot:
        facts += [atom_of("goes", seed, pot.name), atom_of("waters", "jug", pot.name)]
        facts += [atom_of("goes", "jug", "sink"), atom_of("device", "sink", room.room)]
        facts += [] if "soil" in pot.contents else [atom_of("goes", "soil", pot.name)]
    return with_facts(problem, *facts, without=done)


def _pot(things: Sequence[Seen]) -> Seen | None:
    """A flower pot without a plant, with soil if possible; None without such a pot."""
    pots = [thing for thing in things if re.fullmatch(r"flower pot \d+", thing.name)]
    free = [pot for pot in pots if re.fullmatch(r"nothing|soil|a substance called soil", pot.contents)]
    return max(free, key=lambda pot: "soil" in pot.contents, default=None)


def _circuit(tested: str, room: Laboratory, problem: Problem) -> Problem:
    """The problem with the connections of a battery, a bulb and the tested thing by three wires, if all are seen."""
    names = [thing.name for thing in room.things]
    wires = [name for name in names if name.endswith(" wire") and name != tested]
    bulb = next((name for name in names if name.endswith(" light bulb")), None)
    facts = [atom_of("wanted", tested)]
    if not facts_of(problem, "in_circuit") and "battery" in names and bulb and len(wires) >= 3:
        pairs = (
            ("battery anode", f"{wires[0]} terminal 1"),
            ("battery cathode", f"{wires[1]} terminal 1"),
            (f"{wires[0]} terminal 2", f"{bulb} cathode"),
            (f"{wires[2]} terminal 2", f"{bulb} anode"),
            (f"{tested} terminal 1", f"{wires[1]} terminal 2"),
            (f"{tested} terminal 2", f"{wires[2]} terminal 1"),
        )
        facts += [atom_of("in_circuit", tested)]
        facts += [atom_of("to_join", first, second, room.room) for first, second in pairs]
        facts += [atom_of("loose", first) for first, _ in pairs]
    return with_facts(problem, *facts)


def _tested(asked: re.Match[str], exchange: Exchange, problem: Problem) -> Problem:
    """The problem with the effect of a command in the circuit. The test ends when a bulb is on, or after a wait."""
    joined = re.match(r"connect (.+?) to ", exchange.command or "")
    if joined and "is now connected to" in exchange.text:
        problem = with_facts(problem, without=frozenset({atom_of("loose", joined[1])}))
    is_lit = re.search(r"light bulb, which is on", exchange.text) is not None
    undecided = Atom("undecided", ())
    if undecided not in problem.facts or not (is_lit or exchange.command == "wait1"):
        return problem
    return with_facts(problem, atom_of("belongs", asked[1], asked[2 if is_lit else 3]), without=frozenset({undecided}))
