"""The reader's rules for games in a house: Coin Collector, Map Reader, Cooking World, TextWorld Commonsense."""

from __future__ import annotations

import heapq
import re
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice, permutations
from typing import ClassVar

from pddlego.methods.textgames.formalize import MOST_COMMANDS, SEPARATOR, Exchange, PromptContext
from pddlego.methods.textgames.reader.text import (
    APPLIANCES,
    CUTS,
    FIXTURES,
    HEATERS,
    PREPARED,
    Exit,
    Holder,
    Recipe,
    Room,
    Thing,
    prepared_thing,
    put_thing,
    read_map,
    read_opened,
    read_recipe,
    read_room,
    revealed_room,
    taken_thing,
)
from pddlego.pddl import (
    Atom,
    Domain,
    Edit,
    Problem,
    SectionEdit,
    TypedName,
    apply_edit,
    edit_between,
    from_name,
    to_name,
)
from pddlego.pddl.conditions import And, atoms_of
from pddlego.planning import Rung, Search

OPPOSITE = {"north": "south", "south": "north", "east": "west", "west": "east"}
_OFFSET = {"north": (0, 1), "south": (0, -1), "east": (1, 0), "west": (-1, 0)}

_ROOM = "location"
"""The type of rooms, in every domain that these rules write for."""

_SHUT = "You can't move there, the door is closed"


def _is_placeholder(room: str) -> bool:
    """Whether the name is a placeholder for the unknown room behind a closed door."""
    return re.fullmatch(r"loc\d+", room) is not None


def doors_once(domain: Domain) -> bool:
    """Whether the action `move` checks both directions of a closed door, so that one fact per door is enough."""
    move = domain.actions_by_name.get("move")
    atoms = atoms_of(move.precondition) if move else ()
    rooms = {atom.args for atom in atoms if atom.predicate == "closed_door"}
    return any(pair[::-1] in rooms for pair in rooms)


@dataclass
class House:
    """A mutable problem to which observations are added during one call. Names are PDDL names.

    `number` is the number of the first unused placeholder. With `doors_once` a closed door is one fact with sorted
    arguments, so that both directions give the same fact.
    """

    merges: ClassVar[bool] = False
    """Whether the unknown rooms behind two exits are one room if they have the same place on the grid."""

    heaters: ClassVar[Mapping[str, tuple[str, ...]]] = HEATERS

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
        for obj in problem.objects:
            if obj.type == _ROOM:
                house.rooms.add(obj.name)
            else:
                house.types[obj.name] = obj.type
        for fact in problem.sorted_facts():  # sorted, so that always the same one of two contradictory facts is used
            args = fact.args
            # A room may be a constant of the domain instead of an object of the problem.
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

    # queries

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
            yield TypedName(room, _ROOM)
        for name, kind in self.types.items():
            yield TypedName(name, kind)

    def has(self, predicate: str, *args: str) -> bool:
        return Atom(predicate, args) in self.facts

    def of_predicate(self, predicate: str) -> list[tuple[str, ...]]:
        """The arguments of all facts of one predicate, sorted."""
        return sorted(fact.args for fact in self.facts if fact.predicate == predicate)

    # updates

    def declare(self, name: str, kind: str) -> str:
        """Declare the thing called `name` in the game unless it is declared already, and return its PDDL name."""
        known = to_name(name)
        self.types.setdefault(known, kind)
        return known

    def add(self, predicate: str, *args: str) -> None:
        self.facts.add(Atom(predicate, args))

    def drop(self, predicate: str, *args: str) -> None:
        """Remove all facts of the predicate whose first arguments are `args`."""
        self.facts = {
            fact for fact in self.facts if fact.predicate != predicate or fact.args[: len(args)] != tuple(args)
        }

    def forget_here(self, lies: str) -> None:
        """Remove the things in this room (facts `lies`), because its description lists those that are still there."""
        for name, place in self.of_predicate(lies):
            if place == self.here:
                self.drop(lies, name, place)

    def take(self, name: str, lies: str) -> None:
        """Move the thing called `name` from its place (a fact `lies`) into the agent's hand."""
        known = self.declare(name, "item")
        self.drop(lies, known)
        self.add("have", known)

    def read(self, exchange: Exchange) -> Room | None:
        """Add the rooms and doors of an observation, and return the room if the observation describes one."""
        direction = (exchange.command or "").rsplit(" ", 1)[-1]
        behind = self.exits.get((self.here, direction))
        revealed = revealed_room(exchange.text)
        if revealed is not None and behind is not None:
            other = self._name(behind, to_name(revealed))
            self.closed.discard(frozenset((self.here, other)))
        elif exchange.text.startswith(_SHUT) and behind is not None:
            self.closed.add(frozenset((self.here, behind)))
        room = self.room_in(exchange.text)
        if room is not None:
            self._enter(room, direction)
        return room

    def room_in(self, text: str) -> Room | None:
        """The room that a text describes; None if it describes no room."""
        return read_room(text)

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
        for way in room.exits:
            self._exit(name, way)

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
        """Connect two rooms in both directions. If the way back leads to a placeholder, that is this room."""
        back = (other, OPPOSITE[direction])
        behind = self.exits.get(back)
        if behind is not None and behind != room and _is_placeholder(behind):
            self._name(behind, room)
        self.exits[room, direction] = other
        self.exits[back] = room

    def _placeholder(self) -> str:
        while f"loc{self.number}" in self.rooms:
            self.number += 1
        return f"loc{self.number}"

    def _name(self, old: str, new: str) -> str:
        """Rename the room `old` to `new`. If there is a room called `new` already, both become one room."""
        if old == new or old in self.visited:
            return new

        def name(skip: str) -> str:
            return new if skip == old else skip

        self.rooms = (self.rooms - {old}) | {new}
        self.renamed = {key: name(value) for key, value in self.renamed.items()} | {old: new}
        self.exits = {(name(a), d): name(b) for (a, d), b in self.exits.items()}
        self.closed = {frozenset(name(place) for place in door) for door in self.closed}
        self.facts = {Atom(fact.predicate, tuple(name(candidate) for candidate in fact.args)) for fact in self.facts}
        return new

    def _across(self, room: str, direction: str) -> str | None:
        """The known room behind an exit without a named room, found by its place on the grid; None if unknown."""
        places = self._places(room)
        x, y = places[room]
        dx, dy = _OFFSET[direction]
        neighbours = (other for other, place in places.items() if place == (x + dx, y + dy))
        return next((other for other in neighbours if self.merges or not _is_placeholder(other)), None)

    def _places(self, start: str) -> dict[str, tuple[int, int]]:
        places = {start: (0, 0)}
        waiting = deque([start])
        while waiting:
            room = waiting.popleft()
            for direction, (dx, dy) in _OFFSET.items():
                other = self.exits.get((room, direction))
                if other is not None and other not in places:
                    places[other] = (places[room][0] + dx, places[room][1] + dy)
                    waiting.append(other)
        return places


_FOOD = "ingredient"
"""The type of things in the domain of the paper's Cooking World, where a tool is of the type of its name."""


class HouseRules(ABC):
    """The reading rules of a game in a house. Stateless. `house` is the class of the mutable problem."""

    house: type[House] = House

    @abstractmethod
    def read(self, house: House, exchange: Exchange) -> None:
        """Add an observation to the house."""

    def update(self, house: House, situation: PromptContext) -> None:
        """Add all new observations to the house."""
        for exchange in situation.seen.news:
            self.read(house, exchange)

    def answer(self, commands: Iterable[str], situation: PromptContext, otherwise: str) -> str:
        """The answer with the commands, or with the first one if the request does not offer several."""
        chosen = islice(commands, MOST_COMMANDS if situation.offered else 1)
        return SEPARATOR.join(chosen) or otherwise

    def explored(self, situation: PromptContext) -> House:
        """The house after all observations of the history."""
        house = self.house()
        for exchange in situation.seen.history:
            self.read(house, exchange)
        return house

    def edit(self, situation: PromptContext) -> Edit:
        """The edit from the problem to the house after `update`, in which renamed placeholders are replacements.

        Facts and objects that the domain does not have are left out.
        """
        before = situation.knowledge.problem
        number = int("".join(filter(str.isdigit, situation.placeholder)) or 1)
        house = self.house.of(before, number, doors_once(situation.knowledge.domain))
        self.update(house, situation)
        known = {obj.name for obj in before.objects}
        constants = situation.knowledge.domain.constants
        renamed = ((old, new) for old, new in house.renamed.items() if old in known)
        renaming = Edit(SectionEdit(replace=tuple((f"{old} - {_ROOM}", f"{new} - {_ROOM}") for old, new in renamed)))
        base = apply_edit(before, renaming, constants).problem
        constant_names = {constant.name for constant in constants}
        types, predicates = situation.knowledge.domain.types, situation.knowledge.domain.predicates_by_name
        facts = frozenset(fact for fact in house.all_facts() if fact.predicate in predicates)
        used = {name for fact in facts for name in fact.args}
        own = frozenset(
            obj if obj.type in types else replace(obj, type=obj.name if obj.name in types else _FOOD)
            for obj in house.objects()
            if obj.name not in constant_names and (obj.type in types or obj.name in used)
        )
        after = Problem(before.name, before.domain, own, facts, before.goal)
        change = edit_between(base, after)
        return replace(change, objects=replace(change.objects, replace=renaming.objects.replace))


def way_to(house: House, wanted: Callable[[str], bool]) -> Iterator[str]:
    """The commands of a shortest way to a `wanted` room, where doors cost one more; none without a way.

    The agent is in each room of the way when the next command is computed.
    """
    best: dict[str, int] = {house.here: 0}
    queue: list[tuple[int, int, str, tuple[str, ...]]] = [(0, 0, house.here, ())]
    while queue:
        cost, _, room, way = heapq.heappop(queue)
        if way and wanted(room):
            for direction in way:
                behind = house.exits[house.here, direction]
                if frozenset((house.here, behind)) in house.closed:
                    yield f"open door to {direction}"
                yield f"move {direction}"
                house.here = behind
            return
        for direction in OPPOSITE:
            other = house.exits.get((room, direction))
            if other is None:
                continue
            price = cost + 1 + (frozenset((room, other)) in house.closed)
            if price < best.get(other, price + 1):
                best[other] = price
                heapq.heappush(queue, (price, len(best), other, (*way, direction)))


def find_coin(house: House) -> Iterator[str]:
    """Take the coin if it is here, or else go to the nearest unvisited room; nothing without such a room."""
    if house.has("item_at", "coin", house.here):
        return iter(("take coin",))
    return way_to(house, lambda room: room not in house.visited)


class CoinRules(HouseRules):
    """Coin Collector by rules. Stateless."""

    def read(self, house: House, exchange: Exchange) -> None:
        room = house.read(exchange)
        if room is not None and any(thing.name == "coin" for thing in room.in_sight()):
            house.add("item_at", "coin", house.here)
        if taken_thing(exchange.text) == "coin":
            house.take("coin", "item_at")

    def command(self, situation: PromptContext) -> str:
        """Take the coin if it is here, or else go to the nearest unvisited room."""
        return self.answer(find_coin(self.explored(situation)), situation, "look around")


_TASK = re.compile(
    r"take the coin that is located in the ([^,.\n]+), and put it into the box found in the ([^,.\n]+)\."
)


class MapReaderRules(HouseRules):
    """Map Reader by rules. Stateless. It cannot choose commands without a planner."""

    def update(self, house: House, situation: PromptContext) -> None:
        """Add the task with the first observation, and all new observations."""
        if situation.seen.news and situation.seen.news[0].command is None:
            _read_task(house, situation.task)
        super().update(house, situation)

    def read(self, house: House, exchange: Exchange) -> None:
        room = house.read(exchange)
        if room is not None:
            if any(thing.name == "coin" for thing in room.in_sight()):
                house.add("item_at", "coin", house.here)
            if any(holder.name == "box" for holder in room.holders):
                house.add("box_at", house.here)
        elif pairs := read_map(exchange.text):
            house.add("map_known")
            for one, other in pairs:
                first, second = to_name(one), to_name(other)
                house.rooms |= {first, second}
                if not house.has("on_map", second, first):
                    house.add("on_map", first, second)
        elif taken_thing(exchange.text) == "coin":
            house.take("coin", "item_at")
        elif put_thing(exchange.text) == ("coin", "box"):
            house.drop("have", "coin")
            house.add("in_box", "coin")


def _read_task(house: House, task: str) -> None:
    match = _TASK.search(task)
    if match is not None:
        coin, box = (to_name(name) for name in match.groups())
        house.rooms |= {coin, box}
        house.add("item_at", "coin", coin)
        house.add("box_at", box)


# Patterns of the names of things, and the containers and rooms where they are. The first matching line is used.
_FOUND_IN: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"knife", ("cutlery drawer", "kitchen cupboard")),
    (r"cookbook|toaster|stove|oven", ("kitchen",)),
    (r"barbeque|bbq", ("backyard",)),
    (r"salt|flour|sugar|oil|vinegar|black pepper|rice|pasta", ("pantry",)),
    (r"cheese|milk|butter|egg|chicken|pork|beef|fish|tuna|water|juice", ("fridge", "supermarket")),
    (r"onion|carrot|lettuce|cilantro|parsley|bell pepper", ("fridge", "backyard")),
    (r"banana|apple|potato|hot pepper|tomato", ("backyard",)),
    (r"", ("fridge", "pantry", "backyard", "supermarket")),
)

# Patterns of the doors that lead to unseen rooms, and rooms that lead to no other rooms.
_OUTDOORS = r"patio|screen"
_DOORS = {
    "backyard": _OUTDOORS,
    "supermarket": r"sliding door|commercial",
    "pantry": r"^door$|frosted",
    "kitchen": r"^door$|frosted|patio|screen|wood",
}
_PRIVATE = r"wood"
_LEAD_NOWHERE = ("bedroom", "bathroom", "laundry room", "pantry")


def _likely_places(thing: str, closed: Iterable[str], house: House, history: Iterable[Exchange]) -> Iterator[str]:
    """The PDDL names of closed containers and unvisited rooms where `thing` (a PDDL name) may be."""
    wanted = next(places for words, places in _FOUND_IN if re.search(words, from_name(thing)))
    names = {to_name(place) for place in wanted}
    yield from sorted(names & set(closed))
    unseen = house.rooms - house.visited
    doors = _doors(house, history)
    for place in sorted(names):
        if place in unseen:
            yield place
        elif place not in house.rooms and place in map(to_name, _DOORS):
            yield from sorted(_towards(place, unseen, doors))


def _towards(place: str, unseen: set[str], doors: dict[str, set[str]]) -> set[str]:
    """Rooms that may be `place`, judged by their doors; otherwise rooms from which it may be reached."""
    hidden = {room for room in unseen if _is_placeholder(room)}
    fitting = {room for room in hidden if any(re.search(_DOORS[place], door) for door in doors.get(room, ()))}
    if fitting:
        return fitting
    named = {room for room in unseen - hidden if from_name(room) not in _LEAD_NOWHERE}
    return named or {room for room in hidden if not all(re.search(_PRIVATE, door) for door in doors.get(room, ()))}


def _doors(house: House, history: Iterable[Exchange]) -> dict[str, set[str]]:
    """The kinds of doors that lead to each room."""
    doors: dict[str, set[str]] = {}
    for exchange in history:
        room = read_room(exchange.text)
        for way in room.exits if room else ():
            other = house.exits.get((to_name(room.name if room else ""), way.direction))
            if other is not None and way.door is not None:
                doors.setdefault(other, set()).add(way.door)
    return doors


_CLOTHES = (
    r"shirt|t-shirt|skirt|dress\b|jumper|sweater|cardigan|trousers|pants|jeans|shorts|socks?\b|underwear|suit|blouse"
    r"|panties|hoodie|pyjamas|pajamas|stockings|tights|jacket|coat|blazer|vest|leggings|bra\b|boxers|polo|top\b"
)
_DISHES = (
    r"plate|bowl|cup\b|mug|glass\b|dish|pot\b|pan\b|saucer|teapot|jug|cutlery|fork|spoon|knife|glasses|tray|saucepan"
    r"|cleaver|skillet|ladle|whisk|spatula"
)

# Patterns of the names of things, and the holders where they belong, the best first. All matching lines are used.
_BELONGS_IN: tuple[tuple[str, tuple[str, ...]], ...] = (
    (rf"(dirty|used|stained).*({_DISHES})", ("dishwasher", "sink")),
    (r"(dirty|stained|sweaty)", ("washing machine", "laundry basket", "dishwasher", "sink")),
    (r"\bwet\b|\bdamp\b", ("clothes drier", "clothes line")),
    (
        r"used|waste|rotten|empty|broken|peel|leftover|crumpled|core\b|moldy|tissue|scrap",
        ("trash can", "wastepaper basket"),
    ),
    (r"\bhat\b|beret|\bcap\b|fedora|beanie", ("hat rack",)),
    (r"coat|jacket|parka|scarf", ("coat hanger", "wardrobe")),
    (r"shoe|boot|sandal|sneaker|slipper|heels|loafer|flip.?flop|moccasin", ("shoe cabinet",)),
    (r"umbrella|parasol|walking stick", ("umbrella stand",)),
    (r"\bkeys?\b|keyring|key ring", ("key holder",)),
    (_CLOTHES, ("wardrobe", "chest of drawers")),
    (r"belt|\btie\b|gloves?", ("wardrobe", "chest of drawers", "hat rack")),
    (r"pillow", ("bed", "sofa")),
    (r"duvet|blanket|sheet|quilt|bedspread", ("bed", "wardrobe", "chest of drawers")),
    (r"towel|bathrobe|loofah", ("towel rack", "wall hook")),
    (r"toilet paper|toilet roll", ("toilet roll holder",)),
    (r"tooth|mouthwash|soap|floss|face wash|hand wash", ("sink", "bathroom cabinet")),
    (r"shampoo|conditioner|shower gel|body wash|bath|sponge|rubber duck", ("bath tub", "shower", "bathroom cabinet")),
    (
        r"razor|shav|q-tip|cotton|deodorant|bandage|plaster|medic|pill|painkiller|cream|lotion|thermometer|clipper|tweezers"
        r"|dental",
        ("bathroom cabinet", "sink", "dressing table"),
    ),
    (
        r"lipstick|perfume|mascara|nail|comb\b|brush|eye|make-?up|powder|necklace|ring\b|earring|jewel|bracelet|hair|cologne",
        ("dressing table", "bathroom cabinet"),
    ),
    (
        r"detergent|bleach|washing powder|softener|clothespin|\biron\b|stain remover|laundry",
        ("work table", "shelf", "bench"),
    ),
    (r"book\b|novel|encyclopedia|dictionary|atlas|comic", ("book case", "desk", "night stand")),
    (r"remote|dvd|console|blu-ray|video|controller|tv\b", ("TV stand", "coffee table")),
    (r"magazine|newspaper", ("coffee table", "book case")),
    (
        r"pen\b|pencil|stapler|notebook|copybook|laptop|folder|eraser|ruler|calculator|paperclip|marker|keyboard|mouse\b"
        r"|computer|printer|envelope|glue|scissors",
        ("desk",),
    ),
    (r"alarm clock|reading|\blamp\b|novel", ("night stand", "desk", "end table")),
    (r"cushion", ("sofa", "arm chair")),
    (r"toaster|blender|kettle|microwave|coffee machine|mixer", ("counter", "kitchen cupboard")),
    (r"apron", ("coat hanger", "wall hook", "kitchen cupboard", "wardrobe", "chest of drawers")),
    (r"tea|copybook|notebook", ("coffee table", "end table", "side table")),
    (
        r"vase|picture|candle|photo|frame|figurine|statue|table lamp|plant|flower|coaster|ashtray|decor|clock",
        ("end table", "side table", "coffee table", "night stand", "desk"),
    ),
    (r"fork|spoon|knife|cutlery|chopsticks|ladle|spatula|whisk|peeler|corkscrew|opener", ("cutlery drawer",)),
    (
        rf"{_DISHES}|pitcher|kettle|blender|colander|grater|cutting board|napkin",
        ("kitchen cupboard", "dining table", "counter"),
    ),
    (
        r"milk|cheese|butter|yogh?urt|egg|meat|chicken|beef|pork|fish|ham|sausage|steak|bacon|juice|soda|beer|cola|water|salad"
        r"|lettuce|tomato|cucumber|carrot|cream|mayonnaise|ketchup|mustard|tofu|shrimp|salmon|pie\b|cake|parsley|cilantro|broccoli"
        r"|pepper|onion|cabbage|grape|berr|apple|pear|orange|banana|lemon|melon|peach|plum|fruit|vegetable",
        ("fridge",),
    ),
    (
        r"salt|pepper|spice|sugar|flour|oil|rice|pasta|noodle|cereal|honey|jam|vinegar|tea\b|coffee|cocoa|biscuit|cookie|chips"
        r"|bread|beans|canned|tin\b|sauce|syrup|nuts|oat|yeast|vanilla|cinnamon|poppy|peanut|marmalade|stock|paprika|turmeric"
        r"|curry|ginger|basil|oregano|thyme|crackers|chocolate|candy|sweets|seeds|raisin|lentil|chickpea|corn",
        ("shelf", "kitchen cupboard"),
    ),
    (r"hammer|screw|wrench|nail|drill|tool|saw|tape|paint", ("workbench", "work table", "shelf")),
    (r"book|paper|card|letter|toy|ball|game|puzzle|doll", ("book case", "desk", "shelf")),
)

_ANYWHERE = (
    "kitchen cupboard", "shelf", "counter", "wardrobe", "chest of drawers", "desk", "dressing table", "dining table",
    "bathroom cabinet", "work table", "coffee table", "side table", "end table", "night stand", "book case", "bench",
    "cutlery drawer", "fridge", "sink", "bed", "sofa", "workbench", "shower", "bath tub", "laundry basket",
)  # fmt: skip


def places(thing: str) -> list[list[str]]:
    """The PDDL names of the holders where a thing (a PDDL name) probably belongs, in groups, the best first."""
    name = from_name(thing)
    return [[to_name(place) for place in names] for words, names in _BELONGS_IN if re.search(words, name)]


def last_resort(holder: str) -> tuple[int, str]:
    """A sort key of holders, for things that match no pattern, and for things whose other holders were all wrong."""
    name = from_name(holder)
    return (_ANYWHERE.index(name) if name in _ANYWHERE else len(_ANYWHERE)), name


_MEAL = "Adding the meal to your inventory"


class CookingRules(HouseRules):
    """Cooking World by rules. Stateless."""

    def update(self, house: House, situation: PromptContext) -> None:
        """Add all new observations, and recompute the likely places."""
        super().update(house, situation)
        _guess(house, situation.seen.history)

    def read(self, house: House, exchange: Exchange) -> None:
        room, opened, recipe = house.read(exchange), read_opened(exchange.text), read_recipe(exchange.text)
        if room is not None:
            see_room(house, room)
        elif opened is not None:
            _look_into(house, opened)
        elif recipe is not None:
            note_recipe(house, recipe)
        elif taken := taken_thing(exchange.text):
            house.take(taken, "thing_at")
        elif put := put_thing(exchange.text):
            name = house.declare(put[0], "item")
            house.drop("have", name)
            house.add("thing_at", name, house.here)
        elif done := prepared_thing(exchange.text):
            house.add("is", house.declare(done[1], "item"), PREPARED[done[0]])
        elif exchange.text.startswith(_MEAL):
            house.add("have", house.declare("meal", "item"))

    def command(self, situation: PromptContext) -> str:
        """The commands of the paper's script, or else to the nearest unvisited room; then cook and eat."""
        house, script = self.explored(situation), PaperCooking()
        for exchange in situation.seen.history:
            script.take_in(exchange.command, exchange.text)
        valid = situation.seen.valid_commands
        moves = (command for command in valid if command.startswith("move "))
        unvisited = way_to(house, lambda room: room not in house.visited)
        ways = (_scripted(script, valid), _cook(house, script.left(), valid), unvisited, islice(moves, 1))
        return next(filter(None, (self.answer(commands, situation, "") for commands in ways)), "look around")


def _scripted(script: PaperCooking, valid: Collection[str]) -> Iterator[str]:
    """The commands of the script that are due here. What follows from the recipe is not known before it was read."""
    while (due := script.due()) is not None:
        if due in valid:
            yield due
            if due == "read cookbook":
                return
            script.take_in(due, f"You {due.replace(' ', ' the ', 1)}.")


def _cook(house: House, left: Iterable[tuple[str, str]] | None, valid: Collection[str]) -> Iterator[str]:
    """The commands of cooking with all ingredients in hand: cut, go to a heater and heat, prepare, eat."""
    places = {thing: room for thing, room in house.of_predicate("thing_at") if thing in APPLIANCES}
    for verb, food in left or ():
        heater = next((heater for heater in HEATERS.get(verb, ()) if heater in places), None)
        if heater is not None and places[heater] != house.here:
            yield from way_to(house, places[heater].__eq__)
            if places[heater] != house.here:  # no way is known
                return
        if heater is not None or verb not in HEATERS:
            yield f"{verb} {food}" if heater is None else f"cook {food} in {heater}"
    if left is not None:
        yield from way_to(house, KITCHEN.__eq__) if house.here != KITCHEN else ()
        yield from ("eat meal",) if "eat meal" in valid else ("prepare meal", "eat meal")


def see_room(house: House, room: Room) -> None:
    """Replace the things of this room by those of its description."""
    house.forget_here("thing_at")
    for thing in room.things:
        if thing.name in APPLIANCES:
            house.add("thing_at", thing.name, house.here)
        elif thing.name not in FIXTURES:
            _see(house, thing)
    for holder in room.holders:
        if holder.closed:
            house.add("closed", house.declare(holder.name, "container"), house.here)
        else:
            _look_into(house, holder)


def _look_into(house: House, holder: Holder) -> None:
    if not holder.surface:
        container = house.declare(holder.name, "container")
        house.drop("closed", container, house.here)
    for thing in holder.contents:
        _see(house, thing)


def _see(house: House, thing: Thing) -> None:
    name = house.declare(thing.name, "item")
    house.add("thing_at", name, house.here)
    for adjective in thing.adjectives:
        if adjective in PREPARED.values():
            house.add("is", name, adjective)


def note_recipe(house: House, recipe: Recipe) -> None:
    house.add("recipe_known")
    for food in recipe.ingredients:
        house.add("ingredient", house.declare(food, "item"))
    for verb, food in recipe.directions:
        if verb in PREPARED:
            house.add("wanted", house.declare(food, "item"), PREPARED[verb])


def _guess(house: House, history: Iterable[Exchange]) -> None:
    """Recompute the likely places of each missing thing."""
    house.drop("likely")
    closed = {container for container, _ in house.of_predicate("closed")}
    for thing in sorted(missing_things(house)):
        for place in _likely_places(thing, closed, house, history):
            house.add("likely", thing, place)


def missing_things(house: House) -> set[str]:
    """The needed things that were not seen, as in the derived predicate `missing` of the domain."""
    needed = {args[0] for args in house.of_predicate("ingredient")}
    if not house.has("recipe_known"):
        needed.add("cookbook")
    ways = {way for _, way in house.of_predicate("wanted")}
    if ways & {PREPARED[verb] for verb in CUTS}:
        needed.add("knife")
    seen = {name for name, _ in house.of_predicate("thing_at")} | {args[0] for args in house.of_predicate("have")}
    missing = needed - seen
    for verb, heaters in house.heaters.items():
        if PREPARED[verb] in ways and not seen & set(heaters):
            missing |= set(heaters)
    return missing


class TidyRules(HouseRules):
    """TextWorld Commonsense by rules. Stateless. It cannot choose commands without a planner."""

    def update(self, house: House, situation: PromptContext) -> None:
        """Add all new observations, and choose a place for each thing."""
        super().update(house, situation)
        _assign(house)

    def read(self, house: House, exchange: Exchange) -> None:
        room = house.read(exchange)
        if room is not None:
            _look_for_things(house, room)
        elif taken := taken_thing(exchange.text):
            house.take(taken, "item_at")
        elif put := put_thing(exchange.text):
            _put(house, *put, right=exchange.gained > 0)
        elif opened := read_opened(exchange.text):
            house.drop("closed", house.declare(opened.name, "holder"), house.here)
            for thing in opened.contents:
                _see_things(house, thing.name)


def _look_for_things(house: House, room: Room) -> None:
    for thing in room.things:
        if thing.name not in FIXTURES:
            _see_things(house, thing.name)
    for holder in room.holders:
        name = house.declare(holder.name, "holder")
        house.add("holder_at", name, house.here)
        if holder.closed:
            house.add("closed", name, house.here)
        else:
            house.drop("closed", name, house.here)
        for thing in holder.contents:
            _see_things(house, thing.name)


def _see_things(house: House, thing: str) -> None:
    name = house.declare(thing, "item")
    if not house.has("put_away", name):
        house.add("item_at", name, house.here)


def _put(house: House, thing: str, holder: str, right: bool) -> None:
    name, place = house.declare(thing, "item"), house.declare(holder, "holder")
    for predicate in ("have", "item_at", "belongs"):
        house.drop(predicate, name)
    if right:
        house.add("put_away", name)
    else:
        house.add("tried", name, place)
        house.add("item_at", name, house.here)


def _assign(house: House) -> None:
    """Choose a place for every thing without one.

    While there are unvisited rooms, only the best group of places is used, because a better holder may still be found.
    Then all groups are used, and finally any holder that was not tried.
    """
    seen = [holder for holder, _ in house.of_predicate("holder_at")]
    settled = {name for predicate in ("put_away", "belongs") for name, *_ in house.of_predicate(predicate)}
    for name in sorted(name for name, kind in house.types.items() if kind == "item" and name not in settled):
        left = [holder for holder in seen if not house.has("tried", name, holder)]
        everything_seen = house.rooms <= house.visited
        groups = places(name) if everything_seen else places(name)[:1]
        sensible = [place for group in groups for place in group if place in left]
        if sensible:
            house.add("belongs", name, sensible[0])
        elif left and everything_seen:
            house.add("belongs", name, min(left, key=last_resort))


_PREPARE = "prepare the meal"
"""The name of the goal of cooking on the ladder."""

KITCHEN = "kitchen"


class PaperCooking:
    """The state of the paper's script in one episode of Cooking World: the commands that it sends without a plan."""

    def __init__(self) -> None:
        self._recipe: Recipe | None = None
        self._waiting = deque(["read cookbook"])
        self._here = ""
        self._held: set[str] = set()
        self._seen: dict[str, str] = {}
        self._followed: set[tuple[str, str]] = set()

    def take_in(self, command: str | None, text: str) -> None:
        """Update the state with an observation, and queue the commands that it requires."""
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
        """The goals that are tried before those of the ladder."""
        if not self._ready() or self._recipe is None:
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
        """The things that the agent needs in hand: the ingredients, and a knife if a food must be cut."""
        if self._recipe is None:
            return set()
        cut = any(verb in CUTS for verb, _ in self._recipe.directions)
        return {*self._recipe.ingredients, *(["knife"] if cut else [])}

    def _missing(self) -> bool:
        """Whether the recipe, a thing to take, or an appliance was not found yet."""
        verbs = {verb for verb, _ in self._recipe.directions} if self._recipe is not None else set()
        unheated = any(not self._seen.keys() & set(HEATERS[verb]) for verb in verbs & HEATERS.keys())
        return self._recipe is None or unheated or bool(self._wanted() - self._held)

    def _ready(self) -> bool:
        return not self._missing()
