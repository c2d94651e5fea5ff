"""Seeded generators of tasks (the domains of Silver et al., 2024, and of LLMs4Plan; the sizes are in the settings).

Each generator takes numbers drawn from the ranges of a setting. Every task with at least one object of each kind can be
solved.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from inspect import signature

from pddlego.pddl import Atom, Problem, TypedName
from pddlego.pddl.conditions import And, Compare, Term
from pddlego.pddl.numbers import TOTAL_TIME
from pddlego.pddl.problem import Metric

_Generator = Callable[..., Problem]

_Fact = tuple[str, ...]
"""A predicate and its arguments."""


def _names(prefix: str, number: int) -> list[str]:
    """`prefix0`, `prefix1` and so on."""
    return [f"{prefix}{index}" for index in range(number)]


def _make_problem(
    domain: str, objects: Mapping[str, Iterable[str]], facts: Iterable[_Fact], goal: Iterable[_Fact]
) -> Problem:
    """A problem whose goal is a conjunction. `objects` are the names of the objects by type."""
    typed = frozenset(TypedName(name, kind) for kind, names in objects.items() for name in names)
    atoms = frozenset(Atom(head, tuple(args)) for head, *args in facts)
    wanted = And(tuple(Atom(head, tuple(args)) for head, *args in sorted(goal)))
    return Problem(f"{domain}-task", domain, typed, atoms, wanted)


def _delivery(rng: random.Random, places: int, customers: int, extra_papers: int) -> Problem:
    """`customers` of the `places` want a paper; some of the others are not safe to go to."""
    spots = _names("loc", places)
    base, *others = rng.sample(spots, places)
    wanting, rest = others[:customers], others[customers:]
    papers = _names("paper", len(wanting) + extra_papers)
    facts = [("at", base), ("home-base", base), ("safe", base)]
    facts += [(word, place) for place in wanting for word in ("wants-paper", "safe")]
    facts += [("safe", place) for place in rest if rng.random() < 0.5]
    facts += [("unpacked", paper) for paper in papers]
    goal = [("satisfied", place) for place in wanting]
    return _make_problem("delivery", {"place": spots, "paper": papers}, facts, goal)


def _forest(rng: random.Random, rows: int, columns: int) -> Problem:
    """A grid with a trail from left to right. Other squares may have water or hills, the trail only hills."""
    trail, row = [], rng.randrange(rows)
    for column in range(columns):
        target = rng.randrange(rows) if 0 < column < columns - 1 and column % 2 else row
        step = 1 if target >= row else -1
        trail += [(place, column) for place in range(row, target + step, step)]
        row = target
    squares = [(row, column) for row in range(rows) for column in range(columns)]

    def name(square: tuple[int, int]) -> str:
        return f"r{square[0]}-c{square[1]}"

    facts: list[_Fact] = [("at", name(trail[0]))]
    facts += [("trail", name(one), name(other)) for one, other in itertools.pairwise(trail)]
    for row, column in squares:
        near = [(row + 1, column), (row - 1, column), (row, column + 1), (row, column - 1)]
        facts += [("adjacent", name((row, column)), name(other)) for other in near if other in set(squares)]
    for square in squares:
        drawn = rng.random()
        if square in trail:
            facts += [("hill", name(square))] if drawn < 0.25 else []
        elif drawn < 0.6:
            facts.append(("water" if drawn < 0.35 else "hill", name(square)))
    return _make_problem("forest", {"square": map(name, squares)}, facts, [("at", name(trail[-1]))])


def _gripper(rng: random.Random, rooms: int, balls: int) -> Problem:
    """Each ball has a random room and a random goal room."""
    places, things, hands = _names("room", rooms), _names("ball", balls), ("left", "right")
    facts: list[_Fact] = [("robot-at", rng.choice(places))]
    facts += [("room", place) for place in places] + [("ball", place) for place in things]
    facts += [(word, hand) for hand in hands for word in ("gripper", "free")]
    facts += [("at", thing, rng.choice(places)) for thing in things]
    goal = [("at", thing, rng.choice(places)) for thing in things]
    return _make_problem("gripper", {"object": [*places, *things, *hands]}, facts, goal)


def _miconic(rng: random.Random, buildings: int, floors: int, passengers: int) -> Problem:
    """Each building has half to all of `floors`, one to all of `passengers`, and a lift of its own."""
    objects: dict[str, list[str]] = {"floor": [], "passenger": []}
    facts: list[_Fact] = []
    goal = []
    for building in range(buildings):
        levels = [f"f{number}_b{building}" for number in range(rng.randint(max(2, floors // 2), max(2, floors)))]
        people = [f"p{number}_b{building}" for number in range(rng.randint(1, max(1, passengers)))]
        objects["floor"] += levels
        objects["passenger"] += people
        facts += [("above", low, high) for number, low in enumerate(levels) for high in levels[number + 1 :]]
        facts.append(("lift-at", rng.choice(levels)))
        for person in people:
            here, there = rng.sample(levels, 2)
            facts += [("origin", person, here), ("destin", person, there)]
            goal.append(("served", person))
    return _make_problem("miconic", objects, facts, goal)


def _ferry(rng: random.Random, locations: int, cars: int) -> Problem:
    """Each car has a random location and a random goal location."""
    places, vehicles = _names("l", locations), _names("c", cars)
    facts: list[_Fact] = [("empty-ferry",), ("at-ferry", rng.choice(places))]
    facts += [("location", place) for place in places] + [("car", place) for place in vehicles]
    facts += [("not-eq", one, other) for one in places for other in places if one != other]
    facts += [("at", vehicle, rng.choice(places)) for vehicle in vehicles]
    goal = [("at", vehicle, rng.choice(places)) for vehicle in vehicles]
    return _make_problem("ferry", {"object": [*places, *vehicles]}, facts, goal)


def _spanner(rng: random.Random, locations: int, nuts: int, extra_spanners: int) -> Problem:
    """A corridor in which no nut comes before the spanner that it needs."""
    places = ["shed", *_names("location", locations), "gate"]
    bolts, tools = _names("nut", nuts), _names("spanner", nuts + extra_spanners)
    facts: list[_Fact] = [("at", "bob", "shed")]
    facts += [("link", one, other) for one, other in itertools.pairwise(places)]
    for nut, tool in zip(bolts, tools, strict=False):
        first, last = sorted(rng.choices(range(1, len(places)), k=2))
        facts += [("at", tool, places[first]), ("at", nut, places[last]), ("loose", nut)]
    facts += [("at", tool, rng.choice(places[1:])) for tool in tools[nuts:]]
    facts += [("usable", tool) for tool in tools]
    objects = {"location": places, "man": ["bob"], "spanner": tools, "nut": bolts}
    return _make_problem("spanner", objects, facts, [("tightened", nut) for nut in bolts])


def _heavy(rng: random.Random, items: int) -> Problem:
    """Things of different weights, all to be packed."""
    things = _names("item", items)
    order = rng.sample(things, items)
    facts: list[_Fact] = [("box-empty",), *(("unpacked", thing) for thing in things)]
    facts += [("heavier", one, other) for number, one in enumerate(order) for other in order[number + 1 :]]
    return _make_problem("heavy", {"object": things}, facts, [("packed", thing) for thing in things])


def _collector(rng: random.Random, locations: int, doors: int) -> Problem:
    """Coin Collector with a known map: rooms on a grid, some with closed doors between them, and a coin in one room."""
    directions = {(0, 1): ("north", "south"), (1, 0): ("east", "west")}
    places = {(0, 0): "room0"}
    edges: list[tuple[str, str, tuple[str, str]]] = []
    while len(places) < locations:
        x, y = rng.choice(list(places))
        (right, up), ways = rng.choice(list(directions.items()))
        sign = rng.choice((1, -1))
        other = (x + sign * right, y + sign * up)
        if other not in places:
            places[other] = f"room{len(places)}"
            edges.append((places[x, y], places[other], ways if sign == 1 else (ways[1], ways[0])))
    facts: list[_Fact] = [("at", "room0"), ("visited", "room0")]
    for one, two, (there, back) in edges:
        facts += [("connected", one, two, there), ("connected", two, one, back)]
    facts += [("closed_door", one, two) for one, two, _ in rng.sample(edges, min(doors, len(edges)))]
    facts.append(("item_at", "coin", rng.choice(list(places.values())[1:])))
    return _make_problem("coin-collector", {"location": places.values()}, facts, [("have", "coin")])


# domains of LLMs4Plan, in the style of the planning competitions


def _logistics(rng: random.Random, cities: int, places: int, packages: int, airplanes: int) -> Problem:
    """Each city has a truck and `places` places, the first of which is its airport."""
    towns = _names("c", cities)
    spots = {town: [f"l{number}{letter}" for letter in range(places)] for number, town in enumerate(towns)}
    everywhere = [spot for town in towns for spot in spots[town]]
    airports = [spots[town][0] for town in towns]
    trucks, planes, things = _names("t", cities), _names("a", airplanes), _names("p", packages)
    facts: list[_Fact] = [("city", town) for town in towns]
    for town, truck in zip(towns, trucks, strict=True):
        facts += [("truck", truck), ("at", truck, rng.choice(spots[town]))]
        facts += [(word, spot, *args) for spot in spots[town] for word, *args in (("location",), ("in-city", town))]
    facts += [("airport", spot) for spot in airports]
    for plane in planes:
        facts += [("airplane", plane), ("at", plane, rng.choice(airports))]
    for thing in things:
        facts += [("obj", thing), ("at", thing, rng.choice(everywhere))]
    goal = [("at", thing, rng.choice(everywhere)) for thing in things]
    return _make_problem("logistics", {"object": [*towns, *everywhere, *trucks, *planes, *things]}, facts, goal)


def _movie(rng: random.Random, snacks: int) -> Problem:
    """`snacks` snacks of each of five kinds; the counter is at two hours or not."""
    kinds = ("chips", "dip", "pop", "cheese", "crackers")
    objects = {kind: _names(f"{kind}-", snacks) for kind in kinds}
    facts: list[_Fact] = [("counter-at-two-hours",)] if rng.random() < 0.5 else []
    goal = [("movie-rewound",), ("counter-at-zero",), *((f"have-{kind}",) for kind in kinds)]
    return _make_problem("movie", objects, facts, goal)


def _blocks(rng: random.Random, blocks: int) -> Problem:
    """Random towers of all blocks at the beginning and in the goal."""
    things = _names("b", blocks)

    def towers() -> list[list[str]]:
        towers: list[list[str]] = []
        for thing in rng.sample(things, len(things)):
            number = rng.randrange(len(towers) + 1)
            if number == len(towers):
                towers.append([])
            towers[number].append(thing)
        return towers

    here, there = towers(), towers()
    facts: list[_Fact] = [("hand-empty",)]
    for tower in here:
        facts += [("on-table", tower[0]), ("clear", tower[-1])]
        facts += [("on", upper, lower) for lower, upper in itertools.pairwise(tower)]
    goal: list[_Fact] = [("on", upper, lower) for tower in there for lower, upper in itertools.pairwise(tower)]
    goal += [("on-table", tower[0]) for tower in there]
    return _make_problem("blocks", {"object": things}, facts, goal)


def _satellite(
    rng: random.Random, satellites: int, instruments: int, modes: int, directions: int, images: int
) -> Problem:
    """Each satellite has one to `instruments` instruments; each mode is supported by at least one instrument."""
    crafts, ways, places = _names("satellite", satellites), _names("mode", modes), _names("direction", directions)
    tools = {
        craft: [f"instrument{number}-{index}" for index in range(rng.randint(1, instruments))]
        for number, craft in enumerate(crafts)
    }
    every = [tool for craft in crafts for tool in tools[craft]]
    facts: list[_Fact] = [("power-available", craft) for craft in crafts]
    facts += [("pointing", craft, rng.choice(places)) for craft in crafts]
    facts += [("on-board", tool, craft) for craft in crafts for tool in tools[craft]]
    facts += [("calibration-target", tool, rng.choice(places)) for tool in every]
    able = {mode: {rng.choice(every)} for mode in ways}
    for tool in every:
        able[rng.choice(ways)].add(tool)
    facts += [("supports", tool, mode) for mode in ways for tool in sorted(able[mode])]
    wanted = rng.sample(sorted(itertools.product(places, ways)), min(images, len(places) * len(ways)))
    objects = {"satellite": crafts, "instrument": every, "mode": ways, "direction": places}
    return _make_problem("satellite", objects, facts, [("have-image", place, mode) for place, mode in wanted])


def _zenotravel(rng: random.Random, aircraft: int, people: int, cities: int) -> Problem:
    """Seven levels of fuel; each person has a random goal city."""
    planes, persons, towns = _names("plane", aircraft), _names("person", people), _names("city", cities)
    levels = _names("fl", 7)
    facts: list[_Fact] = [("next", low, high) for low, high in itertools.pairwise(levels)]
    facts += [("at", plane, rng.choice(towns)) for plane in planes]
    facts += [("fuel", plane, rng.choice(levels)) for plane in planes]
    facts += [("at", person, rng.choice(towns)) for person in persons]
    goal = [("at", person, rng.choice(towns)) for person in persons]
    objects = {"aircraft": planes, "person": persons, "city": towns, "level": levels}
    return _make_problem("zenotravel", objects, facts, goal)


def _driverlog(rng: random.Random, junctions: int, drivers: int, trucks: int, packages: int) -> Problem:
    """Roads connect all junctions; so do paths, each with a place of its own in the middle."""
    places = _names("s", junctions)
    facts: list[_Fact] = []
    roads = {tuple(sorted((places[number], rng.choice(places[:number])))) for number in range(1, junctions)}
    roads |= {tuple(sorted(rng.sample(places, 2))) for _ in range(junctions // 2)} if junctions > 1 else set()
    between: list[str] = []
    for one, two in sorted(roads):
        facts += [("link", one, two), ("link", two, one)]
    for number in range(1, junctions):
        one, two = places[number], rng.choice(places[:number])
        middle = f"p{number}"
        between.append(middle)
        facts += [("path", here, there) for end in (one, two) for here, there in ((end, middle), (middle, end))]
    people, lorries, things = _names("driver", drivers), _names("truck", trucks), _names("package", packages)
    for thing in (*people, *lorries, *things):
        facts.append(("at", thing, rng.choice(places)))
    facts += [("empty", lorry) for lorry in lorries]
    goal = [("at", thing, rng.choice(places)) for thing in (*rng.sample(people, drivers // 2), *things)]
    objects = {"location": [*places, *between], "driver": people, "truck": lorries, "package": things}
    return _make_problem("driverlog", objects, facts, goal)


def _woodworking(rng: random.Random, parts: int, boards: int, colours: int, machines: int) -> Problem:
    """Parts of one to three units; enough wood of every kind, one saw, and `machines` of each other machine."""
    pieces, planks, paints = _names("part", parts), _names("board", boards), _names("colour", colours)
    woods = ("oak", "pine")[:boards]
    need = {piece: rng.randint(1, 3) for piece in pieces}
    wood_of = {piece: rng.choice(woods) for piece in pieces}
    facts: list[_Fact] = []
    whole = {}
    for number, plank in enumerate(planks):
        wood = woods[number % len(woods)]
        mine = [piece for piece in pieces if wood_of[piece] == wood]
        sharing = len(range(number % len(woods), boards, len(woods)))
        whole[plank] = -(-sum(need[piece] for piece in mine) // sharing) + 2
        facts += [("made-of", plank, wood), ("available", plank), ("surface", plank, "rough")]
    longest = max(max(whole.values()), 3)
    sizes = _names("u", longest + 1)
    facts += [("board-size", plank, sizes[whole[plank]]) for plank in planks]
    facts += [
        ("takes", sizes[taken], sizes[before], sizes[before - taken])
        for taken in (1, 2, 3)
        for before in range(taken, longest + 1)
    ]
    tools = {kind: _names(kind, machines) for kind in ("planer", "grinder", "sprayer")}
    facts += [("idle", tool) for kind in tools for tool in tools[kind]] + [("empty", "saw0")]
    facts += [("has-colour", rng.choice(tools["sprayer"]), paint) for paint in paints]
    facts += [fact for piece in pieces for fact in (("unused", piece), ("needs-size", piece, sizes[need[piece]]))]
    goal: list[_Fact] = []
    for piece in pieces:
        goal += [("available", piece), ("made-of", piece, wood_of[piece])]
        chosen = rng.sample(("surface", "colour"), rng.randint(1, 2))
        goal += [("surface", piece, rng.choice(("smooth", "verysmooth")))] if "surface" in chosen else []
        goal += [("coloured", piece, rng.choice(paints))] if "colour" in chosen else []
    objects = {"part": pieces, "board": planks, "colour": paints, "wood": woods, "size": sizes, "saw": ["saw0"]}
    return _make_problem("woodworking", {**objects, **tools}, facts, goal)


def _openstacks(rng: random.Random, orders: int, products: int, spare: int) -> Problem:
    """Each order includes some products. There are `spare` more stacks than a greedy order of products needs."""
    wanted, goods = _names("o", orders), _names("p", products)
    holds = {order: {rng.choice(goods) for _ in range(rng.randint(1, 3))} for order in wanted}
    for good in goods:
        if not any(good in held for held in holds.values()):
            holds[rng.choice(wanted)].add(good)
    counts = _names("n", _stacks(holds, goods) + spare + 1)
    facts: list[_Fact] = [("next", low, high) for low, high in itertools.pairwise(counts)]
    facts += [("free-stacks", counts[-1]), *(("waiting", order) for order in wanted)]
    facts += [("includes", order, good) for order in wanted for good in sorted(holds[order])]
    objects = {"order": wanted, "product": goods, "count": counts}
    return _make_problem("openstacks", objects, facts, [("shipped", order) for order in wanted])


def _stacks(holds: dict[str, set[str]], goods: list[str]) -> int:
    """The number of stacks for making the products in order, shipping each order as soon as it is complete."""
    made: set[str] = set()
    open_orders: set[str] = set()
    most = 0
    for good in goods:
        open_orders |= {order for order, held in holds.items() if good in held}
        most = max(most, len(open_orders))
        made.add(good)
        open_orders = {order for order in open_orders if not holds[order] <= made}
    return most


# the description with numbers and time


def _battery(rng: random.Random, places: int, parcels: int) -> Problem:
    """A robot on a row of places. Its full battery lasts from a charger to the next one, at every other place."""
    spots, things = _names("place", places), _names("parcel", parcels)
    pairs = list(itertools.pairwise(spots))
    facts: list[_Fact] = [("robot-at", "robot", spots[0]), ("free", "robot")]
    facts += [("charger", spot) for spot in spots[::2]]
    facts += [("road", *pair) for one, other in pairs for pair in ((one, other), (other, one))]
    numbers: dict[_Fact, int] = {("capacity", "robot"): 10, ("charging-time", "robot"): 4}
    numbers["battery", "robot"] = rng.randint(0, 7)
    for one, other in pairs:
        numbers["distance", one, other] = numbers["distance", other, one] = rng.randint(3, 5)
    goal = []
    for thing in things:
        start, end = rng.sample(spots, 2)
        facts.append(("lies-at", thing, start))
        goal.append(("lies-at", thing, end))
    task = _make_problem("battery", {"robot": ["robot"], "place": spots, "parcel": things}, facts, goal)
    terms = ((Term(head, tuple(map(Term, args))), value) for (head, *args), value in numbers.items())
    values = frozenset(Compare("=", term, Term(str(value))) for term, value in terms)
    return replace(task, values=values, metric=Metric("minimize", TOTAL_TIME))


GENERATORS: Mapping[str, _Generator] = {
    generator.__name__.removeprefix("_"): generator
    for generator in (
        *(_delivery, _forest, _gripper, _miconic, _ferry, _spanner, _heavy, _collector),
        *(_logistics, _movie, _blocks, _satellite, _zenotravel, _driverlog, _woodworking, _openstacks, _battery),
    )
}


def parameters_of(name: str) -> tuple[str, ...]:
    """The parameters of the generator with this name. Raises `KeyError`."""
    return tuple(signature(GENERATORS[name]).parameters)[1:]


def generate(name: str, ranges: Mapping[str, Sequence[int]], seed: str) -> Problem:
    """A task of the generator with this name, drawn by `seed`: each parameter from its range, both ends included."""
    rng = random.Random(seed)
    drawn = {parameter: rng.randint(*ranges[parameter]) for parameter in parameters_of(name)}
    return GENERATORS[name](rng, **drawn)
