"""Seeded generators of tasks for our planning domains (Silver et al., 2024; the sizes are in the settings).

Each takes numbers drawn from the ranges of a setting; every task that can be made of them can be solved.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Mapping, Sequence
from inspect import signature

from pddlego.pddl import Problem
from pddlego.tasks import competition
from pddlego.tasks.folder import Fact, make_problem, names

Generator = Callable[..., Problem]


def delivery(rng: random.Random, places: int, customers: int, extra_papers: int) -> Problem:
    """`customers` of the `places` want a paper; some of the others are not safe to go to."""
    spots = names("loc", places)
    base, *others = rng.sample(spots, places)
    wanting, rest = others[:customers], others[customers:]
    papers = names("paper", len(wanting) + extra_papers)
    facts = [("at", base), ("home-base", base), ("safe", base)]
    facts += [(word, place) for place in wanting for word in ("wants-paper", "safe")]
    facts += [("safe", place) for place in rest if rng.random() < 0.5]
    facts += [("unpacked", paper) for paper in papers]
    goal = [("satisfied", place) for place in wanting]
    return make_problem("delivery", {"place": spots, "paper": papers}, facts, goal)


def forest(rng: random.Random, rows: int, columns: int) -> Problem:
    """A grid with a trail from the left side to the right; water and hills are everywhere else, hills on it, too."""
    trail, row = [], rng.randrange(rows)
    for column in range(columns):
        target = rng.randrange(rows) if 0 < column < columns - 1 and column % 2 else row
        step = 1 if target >= row else -1
        trail += [(place, column) for place in range(row, target + step, step)]
        row = target
    squares = [(row, column) for row in range(rows) for column in range(columns)]

    def name(square: tuple[int, int]) -> str:
        return f"r{square[0]}-c{square[1]}"

    facts: list[Fact] = [("at", name(trail[0]))]
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
    return make_problem("forest", {"square": map(name, squares)}, facts, [("at", name(trail[-1]))])


def gripper(rng: random.Random, rooms: int, balls: int) -> Problem:
    """Every ball is in some room and wanted in another, or where it is."""
    places, things, hands = names("room", rooms), names("ball", balls), ("left", "right")
    facts: list[Fact] = [("robot-at", rng.choice(places))]
    facts += [("room", place) for place in places] + [("ball", place) for place in things]
    facts += [(word, hand) for hand in hands for word in ("gripper", "free")]
    facts += [("at", thing, rng.choice(places)) for thing in things]
    goal = [("at", thing, rng.choice(places)) for thing in things]
    return make_problem("gripper", {"object": [*places, *things, *hands]}, facts, goal)


def miconic(rng: random.Random, buildings: int, floors: int, passengers: int) -> Problem:
    """Every building has at most that many `floors`, and at least half of it, `passengers`, and a lift of its own."""
    objects: dict[str, list[str]] = {"floor": [], "passenger": []}
    facts: list[Fact] = []
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
    return make_problem("miconic", objects, facts, goal)


def ferry(rng: random.Random, locations: int, cars: int) -> Problem:
    """Every car is somewhere and wanted somewhere."""
    places, vehicles = names("l", locations), names("c", cars)
    facts: list[Fact] = [("empty-ferry",), ("at-ferry", rng.choice(places))]
    facts += [("location", place) for place in places] + [("car", place) for place in vehicles]
    facts += [("not-eq", one, other) for one in places for other in places if one != other]
    facts += [("at", vehicle, rng.choice(places)) for vehicle in vehicles]
    goal = [("at", vehicle, rng.choice(places)) for vehicle in vehicles]
    return make_problem("ferry", {"object": [*places, *vehicles]}, facts, goal)


def spanner(rng: random.Random, locations: int, nuts: int, extra_spanners: int) -> Problem:
    """A corridor in which no nut comes before the spanner that it needs."""
    places = ["shed", *names("location", locations), "gate"]
    bolts, tools = names("nut", nuts), names("spanner", nuts + extra_spanners)
    facts: list[Fact] = [("at", "bob", "shed")]
    facts += [("link", one, other) for one, other in itertools.pairwise(places)]
    for nut, tool in zip(bolts, tools, strict=False):
        first, last = sorted(rng.choices(range(1, len(places)), k=2))
        facts += [("at", tool, places[first]), ("at", nut, places[last]), ("loose", nut)]
    facts += [("at", tool, rng.choice(places[1:])) for tool in tools[nuts:]]
    facts += [("usable", tool) for tool in tools]
    objects = {"location": places, "man": ["bob"], "spanner": tools, "nut": bolts}
    return make_problem("spanner", objects, facts, [("tightened", nut) for nut in bolts])


def heavy(rng: random.Random, items: int) -> Problem:
    """Things of different weights, all to be packed."""
    things = names("item", items)
    order = rng.sample(things, items)
    facts: list[Fact] = [("box-empty",), *(("unpacked", thing) for thing in things)]
    facts += [("heavier", one, other) for number, one in enumerate(order) for other in order[number + 1 :]]
    return make_problem("heavy", {"object": things}, facts, [("packed", thing) for thing in things])


def collector(rng: random.Random, locations: int, doors: int) -> Problem:
    """Coin Collector with a known map: rooms on a grid, some with closed doors between, and a coin in one."""
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
    facts: list[Fact] = [("at", "room0"), ("visited", "room0")]
    for one, two, (there, back) in edges:
        facts += [("connected", one, two, there), ("connected", two, one, back)]
    facts += [("closed_door", one, two) for one, two, _ in rng.sample(edges, min(doors, len(edges)))]
    facts.append(("item_at", "coin", rng.choice(list(places.values())[1:])))
    return make_problem("coin-collector", {"location": places.values()}, facts, [("have", "coin")])


GENERATORS: Mapping[str, Generator] = {
    made.__name__: made
    for made in (
        *(delivery, forest, gripper, miconic, ferry, spanner, heavy, collector),
        *(competition.logistics, competition.movie, competition.blocks, competition.satellite, competition.zenotravel),
        *(competition.driverlog, competition.woodworking, competition.openstacks),
    )
}


def parameters_of(name: str) -> tuple[str, ...]:
    """The parameters of the generator of that name. Raises `KeyError`."""
    return tuple(signature(GENERATORS[name]).parameters)[1:]


def generate(name: str, ranges: Mapping[str, Sequence[int]], seed: str) -> Problem:
    """A task of the generator of that name, drawn by `seed`: each parameter from its range, both ends included."""
    rng = random.Random(seed)
    drawn = {parameter: rng.randint(*ranges[parameter]) for parameter in parameters_of(name)}
    return GENERATORS[name](rng, **drawn)
