"""Houses for tests and benchmarks: maps as a half-explored agent knows them, and problems with goals of all kinds."""

from __future__ import annotations

import heapq
import random
from collections.abc import Callable

from pddlego.pddl import Atom, Domain, Formula, Problem, TypedName, parse_domain
from pddlego.pddl.conditions import parse_condition
from pddlego.planning.validation import goal_holds
from pddlego.util import resources

COIN = parse_domain(resources.read("domains", "coin.pddl"))

Place = tuple[int, int]

OFFSETS = {"north": (0, 1), "south": (0, -1), "east": (1, 0), "west": (-1, 0)}
OPPOSITE = {"north": "south", "south": "north", "east": "west", "west": "east"}
UNVISITED = parse_condition("(exists (?x - location) (and (at ?x) (not (visited ?x))))")


class House:
    """Rooms on a random connected patch of a grid; doors on two of three exits, as in Coin Collector."""

    def __init__(self, rooms: int, rng: random.Random, doors: float = 0.68) -> None:
        self.rooms: list[Place] = [(0, 0)]
        taken = {(0, 0)}
        while len(self.rooms) < rooms:
            x, y = rng.choice(self.rooms)
            dx, dy = rng.choice(sorted(OFFSETS.values()))
            place = (x + dx, y + dy)
            if place not in taken:
                taken.add(place)
                self.rooms.append(place)
        self.name = {place: f"room{number}" for number, place in enumerate(self.rooms)}
        self.closed: set[frozenset[Place]] = {
            frozenset((place, other))
            for place in self.rooms
            for _, other in self.exits(place)
            if place < other and rng.random() < doors
        }

    def exits(self, place: Place) -> list[tuple[str, Place]]:
        around = ((direction, (place[0] + dx, place[1] + dy)) for direction, (dx, dy) in OFFSETS.items())
        return [(direction, other) for direction, other in around if other in self.name]


def explored(rooms: int, visited: int, seed: int) -> Problem:
    """What an agent knows that always went to the nearest unvisited room, after `visited` of `rooms` rooms."""
    house = House(rooms, random.Random(seed))
    here, seen = (0, 0), {(0, 0)}
    while len(seen) < visited:
        here = _nearest(house, here, seen)
        seen.add(here)
    facts = {Atom("at", (house.name[here],))}
    names = set()
    for place in seen:
        name = house.name[place]
        names.add(name)
        facts.add(Atom("visited", (name,)))
        for direction, other in house.exits(place):
            names.add(house.name[other])
            facts.add(Atom("connected", (name, house.name[other], direction)))
            facts.add(Atom("connected", (house.name[other], name, OPPOSITE[direction])))
            if frozenset((place, other)) in house.closed:
                facts.add(Atom("closed_door", (name, house.name[other])))
                facts.add(Atom("closed_door", (house.name[other], name)))
    objects = frozenset(TypedName(name, "location") for name in names)
    return Problem("house", "coin-collector", objects, frozenset(facts), UNVISITED)


def _nearest(house: House, start: Place, seen: set[Place]) -> Place:
    """Walk to the nearest room not seen, opening the doors on the way."""
    cost, came = {start: 0}, {start: start}
    waiting = [(0, start)]
    while waiting:
        so_far, place = heapq.heappop(waiting)
        if place not in seen:
            goal = place
            while place != start:
                house.closed.discard(frozenset((place, came[place])))
                place = came[place]
            return goal
        for _, other in house.exits(place):
            price = so_far + 1 + (frozenset((place, other)) in house.closed)
            if price < cost.get(other, price + 1):
                cost[other], came[other] = price, place
                heapq.heappush(waiting, (price, other))
    raise AssertionError("every room was seen")


def random_problem(seed: int) -> Problem:
    """A small map with holes and one-way exits, items, and a goal of any kind; solvable or not."""
    rng = random.Random(seed)
    house = House(rng.randint(2, 6), rng)
    rooms = [house.name[place] for place in house.rooms]
    facts = {Atom("at", (rng.choice(rooms),))}
    for place in house.rooms:
        if rng.random() < 0.5:
            facts.add(Atom("visited", (house.name[place],)))
        for direction, other in house.exits(place):
            if rng.random() < 0.12:
                continue
            facts.add(Atom("connected", (house.name[place], house.name[other], direction)))
            if frozenset((place, other)) in house.closed:
                facts.add(Atom("closed_door", (house.name[place], house.name[other])))
                if rng.random() < 0.9:
                    facts.add(Atom("closed_door", (house.name[other], house.name[place])))
    if rng.random() < 0.6:
        facts.add(Atom("item_at", ("coin", rng.choice(rooms))))
    objects = frozenset(TypedName(name, "location") for name in rooms)
    problem = Problem("house", "coin-collector", objects, frozenset(facts))
    return _with_open_goal(COIN, problem, lambda: random_goal(rng, rooms, 2))


def random_workshop(seed: int) -> Problem:
    """A problem for the domain `WORKSHOP`, which uses all of ADL."""
    rng = random.Random(seed)
    places = [f"p{number}" for number in range(rng.randint(2, 4))]
    things = [f"t{number}" for number in range(rng.randint(1, 2))]
    facts = {Atom("at", (rng.choice(places),))}
    facts |= {Atom("link", (a, b)) for a in places for b in places if a != b and rng.random() < 0.4}
    facts |= {Atom("lit", (place,)) for place in places if rng.random() < 0.4}
    facts |= {Atom("in", (thing, rng.choice(places))) for thing in things}
    objects = {TypedName(place, "place") for place in places} | {TypedName(thing, "thing") for thing in things}
    problem = Problem("shop", "workshop", frozenset(objects), frozenset(facts))
    return _with_open_goal(WORKSHOP, problem, lambda: _workshop_goal(rng, places, things))


def _with_open_goal(domain: Domain, problem: Problem, draw: Callable[[], Formula]) -> Problem:
    """The problem with a goal that is, if a few draws find one, not true from the start."""
    for _ in range(6):
        problem = problem.with_goal(draw())
        if not goal_holds(domain, problem):
            break
    return problem


def _workshop_goal(rng: random.Random, places: list[str], things: list[str]) -> Formula:
    place, thing = rng.choice(places), rng.choice(things)
    goals = [
        parse_condition(f"(in {thing} {place})"),
        parse_condition(f"(and (in {thing} {place}) (not (held {thing})))"),
        parse_condition("(forall (?t - thing) (held ?t))"),
        parse_condition(f"(exists (?p - place) (and (at ?p) (not (lit ?p)) (not (= ?p {place}))))"),
        parse_condition(f"(or (and (lit {place}) (in {thing} {place})) (closed))"),
        parse_condition(f"(imply (lit {place}) (held {thing}))"),
        parse_condition(f"(and (closed) (held {thing}))"),
        parse_condition(f"(forall (?p - place) (imply (lit ?p) (in {thing} ?p)))"),
    ]
    return rng.choice(goals)


WORKSHOP = parse_domain("""(define (domain workshop)
  (:requirements :adl)
  (:types place thing)
  (:predicates (at ?p - place) (in ?t - thing ?p - place) (held ?t - thing) (lit ?p - place)
               (link ?a ?b - place) (closed))
  (:action go
    :parameters (?a ?b - place)
    :precondition (and (at ?a) (or (link ?a ?b) (link ?b ?a)) (not (= ?a ?b)))
    :effect (and (not (at ?a)) (at ?b)
                 (forall (?t - thing) (when (held ?t) (and (in ?t ?b) (not (in ?t ?a)))))))
  (:action switch
    :parameters (?p - place)
    :precondition (at ?p)
    :effect (and (when (lit ?p) (not (lit ?p))) (when (not (lit ?p)) (lit ?p))))
  (:action grab
    :parameters (?t - thing)
    :precondition (exists (?p - place) (and (at ?p) (in ?t ?p) (lit ?p)))
    :effect (held ?t))
  (:action drop_all
    :parameters ()
    :precondition (exists (?t - thing) (held ?t))
    :effect (forall (?t - thing) (not (held ?t))))
  (:action close
    :parameters ()
    :precondition (forall (?t - thing) (imply (held ?t) (exists (?p - place) (and (in ?t ?p) (not (lit ?p))))))
    :effect (closed)))""")


def random_goal(rng: random.Random, rooms: list[str], depth: int) -> Formula:
    """A condition over the predicates of Coin Collector: literals, connectives, quantifiers, equality."""
    kinds = ["at", "have", "unvisited", "open", "shut", "not"] + (
        ["and", "or", "imply", "exists", "forall"] * bool(depth)
    )
    kind = rng.choice(kinds)
    room, other = rng.choice(rooms), rng.choice(rooms)
    if kind == "at":
        return parse_condition(f"(at {room})")
    if kind == "have":
        return parse_condition("(have coin)")
    if kind == "unvisited":
        return UNVISITED
    if kind == "open":
        return parse_condition(f"(not (closed_door {room} {other}))")
    if kind == "shut":
        return parse_condition(f"(closed_door {room} {other})")
    if kind == "not":
        return parse_condition(f"(not (at {room}))")
    if kind in ("and", "or", "imply"):
        return parse_condition(f"({kind} {random_goal(rng, rooms, depth - 1)} {random_goal(rng, rooms, depth - 1)})")
    variable = "(?r - location)"
    if kind == "exists":
        return parse_condition(f"(exists {variable} (and (at ?r) (not (= ?r {room})) (not (closed_door ?r {other}))))")
    return parse_condition(f"(forall {variable} (imply (closed_door ?r {room}) (or (at {room}) (visited ?r))))")
