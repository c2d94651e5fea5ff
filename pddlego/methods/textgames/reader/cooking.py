"""Reading rules for Cooking World: recipe, rooms, containers and their contents, and where things are likely to be."""

from __future__ import annotations

from collections.abc import Iterable

from pddlego.methods.textgames.reader.house import House, HouseRules, towards
from pddlego.methods.textgames.reader.paper_cooking import KITCHEN, PaperCooking
from pddlego.methods.textgames.reader.sense import likely_places
from pddlego.methods.textgames.reader.text import (
    APPLIANCES,
    CUTS,
    FIXTURES,
    HEATERS,
    PREPARED,
    Holder,
    Recipe,
    Room,
    Thing,
    prepared_thing,
    put_thing,
    read_opened,
    read_recipe,
    taken_thing,
)
from pddlego.methods.textgames.situation import Exchange, Situation

_MEAL = "Adding the meal to your inventory"


class CookingRules(HouseRules):
    """Cooking World by rule. Stateless."""

    def update(self, house: House, situation: Situation) -> None:
        """Take in all that is new, and state anew what is likely."""
        super().update(house, situation)
        _guess(house, situation.seen.history)

    def read(self, house: House, exchange: Exchange) -> None:
        room, opened, recipe = house.read(exchange), read_opened(exchange.text), read_recipe(exchange.text)
        if room is not None:
            _look(house, room)
        elif opened is not None:
            _look_into(house, opened)
        elif recipe is not None:
            _note(house, recipe)
        elif taken := taken_thing(exchange.text):
            house.take(taken, "thing_at")
        elif put := put_thing(exchange.text):
            name = house.declare(put[0], "item")
            house.drop("have", name)
            house.add("thing_at", name, house.here)
        elif done := prepared_thing(exchange.text):
            house.add("is", house.declare(done[1], "item"), PREPARED[done[0]])
        elif exchange.text.startswith(_MEAL):
            house.add("have", "meal")

    def command(self, situation: Situation) -> str:
        """What the script of the paper would do, else the nearest room that was not visited; then cook and eat."""
        house, script = House(), PaperCooking()
        for exchange in situation.seen.history:
            self.read(house, exchange)
            script.take_in(exchange.command, exchange.text)
        valid = situation.seen.valid_commands
        while (due := script.due()) is not None:
            if due in valid:
                return due
        return (
            _cook(house, script.left(), valid)
            or towards(house, lambda room: room not in house.visited)
            or next((each for each in valid if each.startswith("move ")), "look around")
        )


def _cook(house: House, left: Iterable[tuple[str, str]] | None, valid: Iterable[str]) -> str | None:
    """The next command of cooking, when everything is at hand: cut, heat where that is possible, prepare, eat."""
    if left is None:
        return None
    places = {thing: room for thing, room in house.of_predicate("thing_at") if thing in APPLIANCES}
    for verb, food in left:
        if verb not in HEATERS:
            return f"{verb} {food}"
        heater = next((each for each in HEATERS[verb] if each in places), None)
        if heater is not None and places[heater] == house.here:
            return f"cook {food} in {heater}"
        if heater is not None:
            return towards(house, places[heater].__eq__)
    if house.here != KITCHEN:
        return towards(house, KITCHEN.__eq__)
    return next((each for each in ("eat meal", "prepare meal") if each in valid), None)


def _look(house: House, room: Room) -> None:
    """Take in everything that is seen in a room, and that what was there and is not seen has gone."""
    for name, place in house.of_predicate("thing_at"):
        if place == house.here:
            house.drop("thing_at", name, place)
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


def _note(house: House, recipe: Recipe) -> None:
    house.add("recipe_known")
    for food in recipe.ingredients:
        house.add("ingredient", house.declare(food, "item"))
    for verb, food in recipe.directions:
        if verb in PREPARED:
            house.add("wanted", house.declare(food, "item"), PREPARED[verb])


def _guess(house: House, history: Iterable[Exchange]) -> None:
    """State anew where each missing thing is likely to be: the rules' common sense."""
    house.drop("likely")
    closed = {container for container, _ in house.of_predicate("closed")}
    for thing in sorted(missing_things(house)):
        for place in likely_places(thing, closed, house, history):
            house.add("likely", thing, place)


def missing_things(house: House) -> set[str]:
    """What is needed and was not seen: the domain's derived predicate `missing`, for the rules."""
    needed = {args[0] for args in house.of_predicate("ingredient")}
    if not house.has("recipe_known"):
        needed.add("cookbook")
    ways = {way for _, way in house.of_predicate("wanted")}
    if ways & {PREPARED[verb] for verb in CUTS}:
        needed.add("knife")
    seen = {name for name, _ in house.of_predicate("thing_at")} | {args[0] for args in house.of_predicate("have")}
    missing = needed - seen
    for verb, heaters in HEATERS.items():
        if PREPARED[verb] in ways and not seen & set(heaters):
            missing |= set(heaters)
    return missing
