"""What the built-in reader does besides reading in games in a house: opinions, and commands without a planner.

Opinions are facts that no sentence states, such as where a thing probably is. They are computed from the problem that
the reading rules have read. The commands of mode `act` need the same problem, read from the whole history.
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice

from pddlego.methods.textgames.formalize import MOST_COMMANDS, SEPARATOR, Exchange, PromptContext
from pddlego.methods.textgames.reader.paper_cooking import APPLIANCES, CUTS, HEATERS, KITCHEN, PREPARED, PaperCooking
from pddlego.methods.textgames.reading.engine import HistoryReader
from pddlego.pddl import Atom, Problem, from_name, to_name

OPPOSITE = {"north": "south", "south": "north", "east": "west", "west": "east"}

_ROOM = "location"
"""The type of rooms, in every domain of a game in a house."""


@dataclass
class House:
    """A problem as opinions and commands look at it. Names are PDDL names."""

    here: str = ""
    rooms: set[str] = field(default_factory=set)
    visited: set[str] = field(default_factory=set)
    exits: dict[tuple[str, str], str] = field(default_factory=dict)
    closed: set[frozenset[str]] = field(default_factory=set)
    types: dict[str, str] = field(default_factory=dict)
    facts: set[Atom] = field(default_factory=set)

    @classmethod
    def of(cls, problem: Problem) -> House:
        house = cls(facts=set(problem.facts))
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
        return house

    def has(self, predicate: str, *args: str) -> bool:
        return Atom(predicate, args) in self.facts

    def of_predicate(self, predicate: str) -> list[tuple[str, ...]]:
        """The arguments of all facts of one predicate, sorted."""
        return sorted(fact.args for fact in self.facts if fact.predicate == predicate)

    def add(self, predicate: str, *args: str) -> None:
        self.facts.add(Atom(predicate, args))


# Commands of mode `act`


def explored(situation: PromptContext, reader: HistoryReader) -> House:
    """The house after all observations of the history."""
    knowledge = situation.knowledge
    nothing = knowledge.with_problem(Problem(knowledge.problem.name, knowledge.domain.name))
    return House.of(reader.read(situation, nothing, situation.reader.rules).problem)


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


def _answer(commands: Iterable[str], situation: PromptContext, otherwise: str) -> str:
    """The answer with the commands, or with the first one if the request does not offer several."""
    chosen = islice(commands, MOST_COMMANDS if situation.offered else 1)
    return SEPARATOR.join(chosen) or otherwise


def find_coin(house: House) -> Iterator[str]:
    """Take the coin if it is here, or else go to the nearest unvisited room; nothing without such a room."""
    if house.has("item_at", "coin", house.here):
        return iter(("take coin",))
    return way_to(house, lambda room: room not in house.visited)


def coin_command(situation: PromptContext, reader: HistoryReader) -> str:
    """Take the coin if it is here, or else go to the nearest unvisited room."""
    house = explored(situation, reader)
    if "take coin" in situation.valid_commands:  # the domain of the paper has no things
        house.add("item_at", "coin", house.here)
    return _answer(find_coin(house), situation, "look around")


def chain_command(situation: PromptContext, reader: HistoryReader) -> str:
    """The same in TextWorld."""
    return _answer(find_coin(explored(situation, reader)), situation, "look").replace("move", "go")


def cook_command(situation: PromptContext, reader: HistoryReader) -> str:
    """The commands of the paper's script, or else to the nearest unvisited room; then cook and eat."""
    house, script = explored(situation, reader), PaperCooking()
    for exchange in situation.seen.history:
        script.take_in(exchange.command, exchange.text)
    for place in script.seen.items():  # the domain of the paper has no other facts about things
        house.add("thing_at", *place)
    valid = situation.seen.valid_commands
    moves = (command for command in valid if command.startswith("move "))
    unvisited = way_to(house, lambda room: room not in house.visited)
    ways = (_scripted(script, valid), _cook(house, script.left(), valid), unvisited, islice(moves, 1))
    return next(filter(None, (_answer(commands, situation, "") for commands in ways)), "look around")


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


# Opinions

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


def _is_placeholder(room: str) -> bool:
    """Whether the name is a placeholder for the unknown room behind a closed door."""
    return re.fullmatch(r"loc\d+", room) is not None


def _towards(place: str, unseen: set[str], doors: dict[str, set[str]]) -> set[str]:
    """Rooms that may be `place`, judged by their doors; otherwise rooms from which it may be reached."""
    hidden = {room for room in unseen if _is_placeholder(room)}
    fitting = {room for room in hidden if any(re.search(_DOORS[place], door) for door in doors.get(room, ()))}
    if fitting:
        return fitting
    named = {room for room in unseen - hidden if from_name(room) not in _LEAD_NOWHERE}
    return named or {room for room in hidden if not all(re.search(_PRIVATE, door) for door in doors.get(room, ()))}


_DESCRIBED = re.compile(r"^You are in the ([^.\n]+)\.")
_DOOR = re.compile(
    r"(?:Through an open (?P<open>[^,.\n]+), to|To) the (?P<direction>North|South|East|West) you see "
    r"(?:a closed (?P<closed>[^.\n]+)|the [^.\n]+)\."
)


def doors_in(text: str) -> tuple[str, tuple[tuple[str, str], ...]]:
    """The PDDL name of the room that a text describes, and its doors as (direction, kind); empty without a room."""
    room = _DESCRIBED.match(text)
    if room is None:
        return "", ()
    doors = ((match["direction"].lower(), match["closed"] or match["open"]) for match in _DOOR.finditer(text))
    return to_name(room[1]), tuple((direction, kind) for direction, kind in doors if kind)


def _doors(house: House, history: Iterable[Exchange]) -> dict[str, set[str]]:
    """The kinds of doors that lead to each room."""
    doors: dict[str, set[str]] = {}
    for exchange in history:
        room, ways = doors_in(exchange.text)
        for direction, kind in ways:
            if (room, direction) in house.exits:
                doors.setdefault(house.exits[room, direction], set()).add(kind)
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


Opinion = Callable[[House, Iterable[Exchange]], Iterable[tuple[str, ...]]]
"""The arguments of all facts of a predicate that the reader holds to be true."""


def guessed(
    house: House, history: Iterable[Exchange], heaters: Mapping[str, tuple[str, ...]] = HEATERS
) -> Iterator[tuple[str, str]]:
    """The likely places of each missing thing."""
    closed = {container for container, _ in house.of_predicate("closed")}
    for thing in sorted(missing_things(house, heaters)):
        for place in _likely_places(thing, closed, house, history):
            yield thing, place


def missing_things(house: House, heaters: Mapping[str, tuple[str, ...]] = HEATERS) -> set[str]:
    """The needed things that were not seen, as in the derived predicate `missing` of the domain."""
    needed = {args[0] for args in house.of_predicate("ingredient")}
    if not house.has("recipe_known"):
        needed.add("cookbook")
    ways = {way for _, way in house.of_predicate("wanted")}
    if ways & {PREPARED[verb] for verb in CUTS}:
        needed.add("knife")
    seen = {name for name, _ in house.of_predicate("thing_at")} | {args[0] for args in house.of_predicate("have")}
    missing = needed - seen
    for verb, appliances in heaters.items():
        if PREPARED[verb] in ways and not seen & set(appliances):
            missing |= set(appliances)
    return missing


def assigned(house: House, _: Iterable[Exchange]) -> Iterator[tuple[str, ...]]:
    """The chosen place of each thing.

    While there are unvisited rooms, only the best group of places is used, because a better holder may still be found.
    Then all groups are used, and finally any holder that was not tried.
    """
    seen = [holder for holder, _ in house.of_predicate("holder_at")]
    chosen = [place for place in house.of_predicate("belongs") if not house.has("tried", *place)]
    yield from chosen
    settled = {name for name, *_ in (*house.of_predicate("put_away"), *chosen)}
    for name in sorted(name for name, kind in house.types.items() if kind == "item" and name not in settled):
        left = [holder for holder in seen if not house.has("tried", name, holder)]
        everything_seen = house.rooms <= house.visited
        groups = places(name) if everything_seen else places(name)[:1]
        sensible = [place for group in groups for place in group if place in left]
        if sensible:
            yield name, sensible[0]
        elif left and everything_seen:
            yield name, min(left, key=last_resort)


def _guessed_in_textworld(house: House, history: Iterable[Exchange]) -> Iterator[tuple[str, str]]:
    return guessed(house, history, {**HEATERS, "grill": ("toaster", "bbq")})


OPINIONS: Mapping[str, tuple[str, Opinion]] = {
    "cooking": ("likely", guessed),
    "meal": ("likely", _guessed_in_textworld),
    "twc": ("belongs", assigned),
}
"""The predicates of opinions, and the functions that compute their facts after reading, by the reader's name."""


def with_opinion(problem: Problem, situation: PromptContext) -> Problem:
    """The problem with the opinion that the reader has in this game; unchanged in a game or domain without one."""
    predicate, opinion = OPINIONS.get(situation.reader.name, ("", assigned))
    if predicate not in situation.knowledge.domain.predicates_by_name:
        return problem
    held = {Atom(predicate, args) for args in opinion(House.of(problem), situation.seen.history)}
    others = {fact for fact in problem.facts if fact.predicate != predicate}
    return replace(problem, facts=frozenset(others | held))
