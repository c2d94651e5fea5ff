"""Seeded generators of tasks in the style of the planning competitions: the ten domains of LLMs4Plan but two.

Gripper and miconic stand in `generators`. Every task with one of everything at least can be solved.
"""

from __future__ import annotations

import itertools
import random

from pddlego.pddl import Problem
from pddlego.tasks.folder import Fact, make_problem, names


def logistics(rng: random.Random, cities: int, places: int, packages: int, airplanes: int) -> Problem:
    """Every city has a truck and so many places, the first of which is its airport."""
    towns = names("c", cities)
    spots = {town: [f"l{number}{letter}" for letter in range(places)] for number, town in enumerate(towns)}
    everywhere = [spot for town in towns for spot in spots[town]]
    airports = [spots[town][0] for town in towns]
    trucks, planes, things = names("t", cities), names("a", airplanes), names("p", packages)
    facts: list[Fact] = [("city", town) for town in towns]
    for town, truck in zip(towns, trucks, strict=True):
        facts += [("truck", truck), ("at", truck, rng.choice(spots[town]))]
        facts += [(word, spot, *args) for spot in spots[town] for word, *args in (("location",), ("in-city", town))]
    facts += [("airport", spot) for spot in airports]
    for plane in planes:
        facts += [("airplane", plane), ("at", plane, rng.choice(airports))]
    for thing in things:
        facts += [("obj", thing), ("at", thing, rng.choice(everywhere))]
    goal = [("at", thing, rng.choice(everywhere)) for thing in things]
    return make_problem("logistics", {"object": [*towns, *everywhere, *trucks, *planes, *things]}, facts, goal)


def movie(rng: random.Random, snacks: int) -> Problem:
    """So many snacks of each of five kinds; the counter is at two hours or not."""
    kinds = ("chips", "dip", "pop", "cheese", "crackers")
    objects = {kind: names(f"{kind}-", snacks) for kind in kinds}
    facts: list[Fact] = [("counter-at-two-hours",)] if rng.random() < 0.5 else []
    goal = [("movie-rewound",), ("counter-at-zero",), *((f"have-{kind}",) for kind in kinds)]
    return make_problem("movie", objects, facts, goal)


def blocks(rng: random.Random, blocks: int) -> Problem:
    """Towers of all blocks, and other towers of them."""
    things = names("b", blocks)

    def towers() -> list[list[str]]:
        towers: list[list[str]] = []
        for thing in rng.sample(things, len(things)):
            number = rng.randrange(len(towers) + 1)
            if number == len(towers):
                towers.append([])
            towers[number].append(thing)
        return towers

    here, there = towers(), towers()
    facts: list[Fact] = [("hand-empty",)]
    for tower in here:
        facts += [("on-table", tower[0]), ("clear", tower[-1])]
        facts += [("on", upper, lower) for lower, upper in itertools.pairwise(tower)]
    goal: list[Fact] = [("on", upper, lower) for tower in there for lower, upper in itertools.pairwise(tower)]
    goal += [("on-table", tower[0]) for tower in there]
    return make_problem("blocks", {"object": things}, facts, goal)


def satellite(
    rng: random.Random, satellites: int, instruments: int, modes: int, directions: int, images: int
) -> Problem:
    """Every satellite has up to so many instruments; every mode is supported by one at least."""
    crafts, ways, places = names("satellite", satellites), names("mode", modes), names("direction", directions)
    tools = {
        craft: [f"instrument{number}-{index}" for index in range(rng.randint(1, instruments))]
        for number, craft in enumerate(crafts)
    }
    every = [tool for craft in crafts for tool in tools[craft]]
    facts: list[Fact] = [("power-available", craft) for craft in crafts]
    facts += [("pointing", craft, rng.choice(places)) for craft in crafts]
    facts += [("on-board", tool, craft) for craft in crafts for tool in tools[craft]]
    facts += [("calibration-target", tool, rng.choice(places)) for tool in every]
    able = {mode: {rng.choice(every)} for mode in ways}
    for tool in every:
        able[rng.choice(ways)].add(tool)
    facts += [("supports", tool, mode) for mode in ways for tool in sorted(able[mode])]
    wanted = rng.sample(sorted(itertools.product(places, ways)), min(images, len(places) * len(ways)))
    objects = {"satellite": crafts, "instrument": every, "mode": ways, "direction": places}
    return make_problem("satellite", objects, facts, [("have-image", place, mode) for place, mode in wanted])


def zenotravel(rng: random.Random, aircraft: int, people: int, cities: int) -> Problem:
    """Seven levels of fuel; every person is wanted in some city."""
    planes, persons, towns = names("plane", aircraft), names("person", people), names("city", cities)
    levels = names("fl", 7)
    facts: list[Fact] = [("next", low, high) for low, high in itertools.pairwise(levels)]
    facts += [("at", plane, rng.choice(towns)) for plane in planes]
    facts += [("fuel", plane, rng.choice(levels)) for plane in planes]
    facts += [("at", person, rng.choice(towns)) for person in persons]
    goal = [("at", person, rng.choice(towns)) for person in persons]
    objects = {"aircraft": planes, "person": persons, "city": towns, "level": levels}
    return make_problem("zenotravel", objects, facts, goal)


def driverlog(rng: random.Random, junctions: int, drivers: int, trucks: int, packages: int) -> Problem:
    """Junctions with roads that connect them all, and paths that do, too, each over a place of its own."""
    places = names("s", junctions)
    facts: list[Fact] = []
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
    people, lorries, things = names("driver", drivers), names("truck", trucks), names("package", packages)
    for thing in (*people, *lorries, *things):
        facts.append(("at", thing, rng.choice(places)))
    facts += [("empty", lorry) for lorry in lorries]
    goal = [("at", thing, rng.choice(places)) for thing in (*rng.sample(people, drivers // 2), *things)]
    objects = {"location": [*places, *between], "driver": people, "truck": lorries, "package": things}
    return make_problem("driverlog", objects, facts, goal)


def woodworking(rng: random.Random, parts: int, boards: int, colours: int, machines: int) -> Problem:
    """Parts of one to three units; there is enough wood of every kind, one saw, and so many of the other machines."""
    pieces, planks, paints = names("part", parts), names("board", boards), names("colour", colours)
    woods = ("oak", "pine")[:boards]
    need = {piece: rng.randint(1, 3) for piece in pieces}
    wood_of = {piece: rng.choice(woods) for piece in pieces}
    facts: list[Fact] = []
    whole = {}
    for number, plank in enumerate(planks):
        wood = woods[number % len(woods)]
        mine = [piece for piece in pieces if wood_of[piece] == wood]
        sharing = len(range(number % len(woods), boards, len(woods)))
        whole[plank] = -(-sum(need[piece] for piece in mine) // sharing) + 2
        facts += [("made-of", plank, wood), ("available", plank), ("surface", plank, "rough")]
    longest = max(max(whole.values()), 3)
    sizes = names("u", longest + 1)
    facts += [("board-size", plank, sizes[whole[plank]]) for plank in planks]
    facts += [
        ("takes", sizes[taken], sizes[before], sizes[before - taken])
        for taken in (1, 2, 3)
        for before in range(taken, longest + 1)
    ]
    tools = {kind: names(kind, machines) for kind in ("planer", "grinder", "sprayer")}
    facts += [("idle", tool) for kind in tools for tool in tools[kind]] + [("empty", "saw0")]
    facts += [("has-colour", rng.choice(tools["sprayer"]), paint) for paint in paints]
    facts += [fact for piece in pieces for fact in (("unused", piece), ("needs-size", piece, sizes[need[piece]]))]
    goal: list[Fact] = []
    for piece in pieces:
        goal += [("available", piece), ("made-of", piece, wood_of[piece])]
        chosen = rng.sample(("surface", "colour"), rng.randint(1, 2))
        goal += [("surface", piece, rng.choice(("smooth", "verysmooth")))] if "surface" in chosen else []
        goal += [("coloured", piece, rng.choice(paints))] if "colour" in chosen else []
    objects = {"part": pieces, "board": planks, "colour": paints, "wood": woods, "size": sizes, "saw": ["saw0"]}
    return make_problem("woodworking", {**objects, **tools}, facts, goal)


def openstacks(rng: random.Random, orders: int, products: int, spare: int) -> Problem:
    """Every order includes some products. There are `spare` stacks more than a greedy way of making them needs."""
    wanted, goods = names("o", orders), names("p", products)
    holds = {order: {rng.choice(goods) for _ in range(rng.randint(1, 3))} for order in wanted}
    for good in goods:
        if not any(good in held for held in holds.values()):
            holds[rng.choice(wanted)].add(good)
    counts = names("n", _stacks(holds, goods) + spare + 1)
    facts: list[Fact] = [("next", low, high) for low, high in itertools.pairwise(counts)]
    facts += [("free-stacks", counts[-1]), *(("waiting", order) for order in wanted)]
    facts += [("includes", order, good) for order in wanted for good in sorted(holds[order])]
    objects = {"order": wanted, "product": goods, "count": counts}
    return make_problem("openstacks", objects, facts, [("shipped", order) for order in wanted])


def _stacks(holds: dict[str, set[str]], goods: list[str]) -> int:
    """How many stacks it takes to make the products in their order, shipping each order as soon as it is complete."""
    made: set[str] = set()
    open_orders: set[str] = set()
    most = 0
    for good in goods:
        open_orders |= {order for order, held in holds.items() if good in held}
        most = max(most, len(open_orders))
        made.add(good)
        open_orders = {order for order in open_orders if not holds[order] <= made}
    return most
