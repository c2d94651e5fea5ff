"""The reader's common sense about kitchens: in which closed containers and unseen rooms a thing is likely to be.

Written by people who had seen the games, so it is an optimistic stand-in for what a language model knows.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from pddlego.methods.textgames.reader.house import House, is_placeholder
from pddlego.methods.textgames.reader.text import read_room
from pddlego.methods.textgames.situation import Exchange
from pddlego.pddl import from_name, to_name

# Words of a thing's name, and where such things are: containers and rooms. The first line that fits counts.
_FOUND_IN: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"knife", ("cutlery drawer", "kitchen cupboard")),
    (r"cookbook|toaster|stove|oven", ("kitchen",)),
    (r"barbeque", ("backyard",)),
    (r"salt|flour|sugar|oil|vinegar|black pepper|rice|pasta", ("pantry",)),
    (r"cheese|milk|butter|egg|chicken|pork|beef|fish|tuna|water|juice", ("fridge", "supermarket")),
    (r"onion|carrot|lettuce|cilantro|parsley|bell pepper", ("fridge", "backyard")),
    (r"banana|apple|potato|hot pepper|tomato", ("backyard",)),
    (r"", ("fridge", "pantry", "backyard", "supermarket")),
)

# Which doors lead to a room that was not seen yet, and which rooms lead on towards it.
_OUTDOORS = r"patio|screen"
_DOORS = {
    "backyard": _OUTDOORS,
    "supermarket": r"sliding door|commercial",
    "pantry": r"^door$|frosted",
    "kitchen": r"^door$|frosted|patio|screen|wood",
}
_PRIVATE = r"wood"
_LEAD_NOWHERE = ("bedroom", "bathroom", "laundry room", "pantry")


def likely_places(thing: str, closed: Iterable[str], house: House, history: Iterable[Exchange]) -> Iterator[str]:
    """The PDDL names of closed containers and rooms not yet visited where `thing` (a PDDL name) may be."""
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
    """Rooms that may be `place`, judged by their doors; if there are none, rooms from which one may get there."""
    hidden = {room for room in unseen if is_placeholder(room)}
    fitting = {room for room in hidden if any(re.search(_DOORS[place], door) for door in doors.get(room, ()))}
    if fitting:
        return fitting
    named = {room for room in unseen - hidden if from_name(room) not in _LEAD_NOWHERE}
    return named or {room for room in hidden if not all(re.search(_PRIVATE, door) for door in doors.get(room, ()))}


def _doors(house: House, history: Iterable[Exchange]) -> dict[str, set[str]]:
    """The kinds of doors that lead to each room."""
    found: dict[str, set[str]] = {}
    for exchange in history:
        room = read_room(exchange.text)
        for each in room.exits if room else ():
            other = house.exits.get((to_name(room.name if room else ""), each.direction))
            if other is not None and each.door is not None:
                found.setdefault(other, set()).add(each.door)
    return found


_CLOTHES = (
    r"shirt|t-shirt|skirt|dress\b|jumper|sweater|cardigan|trousers|pants|jeans|shorts|socks?\b|underwear|suit|blouse"
    r"|panties|hoodie|pyjamas|pajamas|stockings|tights|jacket|coat|blazer|vest|leggings|bra\b|boxers|polo|top\b"
)
_DISHES = (
    r"plate|bowl|cup\b|mug|glass\b|dish|pot\b|pan\b|saucer|teapot|jug|cutlery|fork|spoon|knife|glasses|tray|saucepan"
    r"|cleaver|skillet|ladle|whisk|spatula"
)

# Words of a thing's name, and the holders where such things belong, the best first. Every line that fits counts.
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
    """The PDDL names of the holders where the thing with this PDDL name may well belong, in groups, the best first."""
    name = from_name(thing)
    return [[to_name(place) for place in listed] for words, listed in _BELONGS_IN if re.search(words, name)]


def last_resort(holder: str) -> tuple[int, str]:
    """A sort key of holders: where a thing is put of which nothing is known, or for which all else was wrong."""
    name = from_name(holder)
    return (_ANYWHERE.index(name) if name in _ANYWHERE else len(_ANYWHERE)), name
